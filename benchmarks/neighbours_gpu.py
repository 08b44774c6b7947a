"""Exact nearest pages on a GPU, for ``benchmarks.neighbours``; it imports numpy and cupy only."""

import sys

import numpy as np

from benchmarks.report import BenchmarkResult, report, seconds
from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import Float32Array
from freshet.relate.semantic.exact_index import ExactIndex
from freshet.relate.semantic.unit_vectors import unit_rows

DIMENSIONS, NEIGHBOURS, CLUSTERS = 192, 30, 2000
MAX_SECONDS = 3.0
CHECKED_ROWS, REPEATS, WARM_UP_PAGES = 500, 3, 2000
TOLERANCE = 1e-5


def random_vectors(count: int) -> Float32Array:
    """Return vectors in clusters."""
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((CLUSTERS, DIMENSIONS), np.float32)
    noise = rng.standard_normal((count, DIMENSIONS), np.float32)
    return unit_rows(centres[rng.integers(0, CLUSTERS, count)] + noise)


def check(vectors: Float32Array, related: RelatedPages) -> None:
    """Compare the cosines of some pages with those of numpy; stop if they differ."""
    rows = np.linspace(0, len(vectors) - 1, min(CHECKED_ROWS, len(vectors))).astype(int)
    cosines = vectors[rows] @ vectors.T
    cosines[np.arange(len(rows)), rows] = -1
    expected = -np.sort(-np.partition(cosines, -NEIGHBOURS)[:, -NEIGHBOURS:])
    for row, row_cosines in zip(rows.tolist(), expected, strict=True):
        pages, weights, _ = related.of(row)
        products = vectors[pages] @ vectors[row]
        if np.abs(weights - row_cosines).max() > TOLERANCE or len(set(pages.tolist())) != len(
            pages
        ):
            sys.exit(f"page {row}: cosines {weights} instead of {row_cosines}")
        if np.abs(weights - products).max() > TOLERANCE:
            sys.exit(f"page {row}: cosines {weights} of pages with {products}")


def main(page_count: int) -> None:
    """Print the pages searched a second, against those of the required time."""
    vectors = random_vectors(page_count)
    index = ExactIndex(vectors, device="cuda")
    ExactIndex(vectors[:WARM_UP_PAGES], device="cuda").neighbours(NEIGHBOURS)
    results: list[RelatedPages] = []
    times = [seconds(lambda: results.append(index.neighbours(NEIGHBOURS))) for _ in range(REPEATS)]
    check(vectors, results[-1])
    sys.stderr.write(f"seconds of each search: {', '.join(f'{time:.2f}' for time in times)}\n")
    name = f"exact {page_count} in {min(times):.2f} s"
    required_rate = page_count / MAX_SECONDS
    report(BenchmarkResult(name, page_count / min(times), required_rate, "pages/s"))
