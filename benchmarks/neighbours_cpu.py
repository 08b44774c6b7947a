"""Nearest pages on the processor, for ``benchmarks.neighbours``."""

import resource
import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.report import BenchmarkResult, report
from benchmarks.semantic_vectors import generate_vectors
from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import Float32Array
from freshet.relate.recall import neighbour_recall
from freshet.relate.semantic.approximate_index import ApproximateIndex
from freshet.relate.semantic.exact_index import ExactIndex

NEIGHBOURS, QUERIES, WARM_UP_PAGES, REPEATS = 30, 8192, 2000, 3
MIN_AGREEMENT = 0.999
KILOBYTE = 1024 if sys.platform.startswith("linux") else 1


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Return the CPU time of a piece of work in all threads."""
    started = time.process_time()
    work()
    return time.process_time() - started


def peak_megabytes() -> float:
    """Return the peak memory of this process until now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE / 1e6


def generate_in_process(page_count: int) -> Float32Array:
    """Return generated vectors, made by another process, so that its memory does not count."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        process = get_context("spawn").Process(target=save_vectors, args=(path, page_count))
        process.start()
        process.join()
        return np.load(path)


def save_vectors(path: Path, page_count: int) -> None:
    """Generate vectors and write them to a file."""
    np.save(path, generate_vectors(page_count))


def measure_indexes(vectors: Float32Array) -> tuple[float, BenchmarkResult]:
    """Return the CPU seconds of the exact search of all pages, and the approximate one's ratio."""
    exact: list[RelatedPages] = []
    approximate: list[RelatedPages] = []
    memory_before = peak_megabytes()
    exact_seconds = cpu_seconds(lambda: exact.append(ExactIndex(vectors).neighbours(NEIGHBOURS)))
    memory = vectors.nbytes / 1e6 + peak_megabytes() - memory_before
    sys.stderr.write(
        f"exact: {exact_seconds:.1f} CPU-s for {len(vectors)} pages,"
        f" {memory * 1e6 / vectors.nbytes:.2f} times the memory of the vectors\n"
    )
    approximate_seconds = cpu_seconds(
        lambda: approximate.append(ApproximateIndex(vectors).neighbours(NEIGHBOURS))
    )
    recall = neighbour_recall(approximate[0], exact[0])
    rates = len(vectors) / approximate_seconds, len(vectors) / exact_seconds
    return exact_seconds, BenchmarkResult(f"approximate {recall:.3f}", *rates, "pages/CPU-s")


def compare_with_faiss(vectors: Float32Array, exact_seconds: float) -> list[BenchmarkResult]:
    """Return the rates of a batch of queries and of all pages against faiss's for the batch."""
    faiss = import_module("faiss")
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    index, queries = ExactIndex(vectors, workers=1), vectors[:QUERIES]
    with threadpool_limits(1):  # threads that wait for each other would count as CPU time
        check(index.query(queries, NEIGHBOURS), flat.search(queries, NEIGHBOURS)[1])
        times = [
            (
                cpu_seconds(lambda: index.query(queries, NEIGHBOURS)),
                cpu_seconds(lambda: flat.search(queries, NEIGHBOURS)),
            )
            for _ in range(REPEATS)
        ]
    seconds, faiss_seconds = (statistics.median(column) for column in zip(*times, strict=True))
    faiss_rate = len(queries) / faiss_seconds
    return [
        BenchmarkResult("exact queries", len(queries) / seconds, faiss_rate, "pages/CPU-s"),
        BenchmarkResult("exact all", len(vectors) / exact_seconds, faiss_rate, "pages/CPU-s"),
    ]


def check(related: RelatedPages, faiss_pages: Any) -> None:
    """Stop if faiss found other pages; pages with equal cosines may differ."""
    rows = np.repeat(np.arange(len(related)), np.diff(related.starts))
    agreement = (faiss_pages[rows] == related.pages[:, None]).any(axis=1).mean()
    if agreement < MIN_AGREEMENT:
        sys.exit(f"only {agreement:.4f} of the neighbours are those of faiss")


def main(page_count: int, *, with_faiss: bool) -> None:
    """Print the ratios."""
    vectors = generate_in_process(page_count)
    for index_class in (ExactIndex, ApproximateIndex):
        index_class(vectors[:WARM_UP_PAGES]).neighbours(NEIGHBOURS)
    ExactIndex(vectors[:WARM_UP_PAGES]).query(vectors[:1])
    exact_seconds, approximate = measure_indexes(vectors)
    results = compare_with_faiss(vectors, exact_seconds) if with_faiss else []
    report(*results, approximate)
