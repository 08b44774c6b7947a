"""Analysing stored pages, against a plain DOM walk that hashes every node (required: 0.45).

Both read the same versions in one process. Ours parses them, makes DOM rows, counts words, takes
hashes, compares each version with the one before by Dice, and measures curve, words and elements of
every page; the reference begins with text already decoded, ours with bytes. The second figure is
the peak memory of analysing a whole collection in two processes, all of them together, against the
limit of 1 GB. Real pages are read from the folder that ``--data`` or FRESHET_DATA names.
"""

import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.pages import PageVersions, generate_pages, read_pages
from benchmarks.report import BenchmarkResult, compare_rates, report
from benchmarks.view import plain_walk
from freshet.analysis.page_traits import page_traits
from freshet.analysis.page_versions import read_page_versions
from freshet.archive.catalog.rows import HistoryRow
from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.settings import LimitSettings
from freshet.core.types import Outcome, RecordLocation, Snapshot, Visit
from freshet.measure.change.similarity import dice

PAGES, VERSIONS = 40, 8
COLLECTION_PAGES, PROCESSES = 150, 2
MAX_MEGABYTES = 1_000.0
START = datetime(2026, 1, 1, tzinfo=UTC)
HEADERS = (("content-type", "text/html; charset=utf-8"),)
KILOBYTE = 1024 if sys.platform.startswith("linux") else 1


def analyse_page(number: int, bodies: Sequence[bytes]) -> list[float]:
    """Measure a page by all of its versions, and return the Dice of each with the one before."""
    url = f"https://example.org/{number}"
    rows = [_row(version) for version in range(len(bodies))]
    versions = read_page_versions(
        rows, lambda visit: _snapshot(url, bodies, visit), LimitSettings()
    )
    page_traits(versions, url)
    terms = versions.series.terms
    return [dice(old, new) for old, new in pairwise(terms)]


def _row(number: int) -> HistoryRow:
    uid, time = number.to_bytes(16), START + timedelta(days=number)
    return HistoryRow(Visit(uid, 1, time, Outcome.OK, location=RecordLocation("", number, 1)))


def _snapshot(url: str, bodies: Sequence[bytes], visit: Visit) -> Snapshot:
    return Snapshot(url, bodies[int.from_bytes(visit.uid)], headers=HEADERS)


def measure_speed(pages: list[PageVersions]) -> BenchmarkResult:
    """Return versions analysed a second beside versions walked a second."""
    bodies = [[html.encode() for html in page] for page in pages]
    analyses = [analyse_page(number, page) for number, page in enumerate(bodies)]
    if sum(map(len, analyses)) < len(pages):
        raise SystemExit("analyse: too few versions were compared")
    return compare_rates(
        "analyse",
        lambda: [analyse_page(number, page) for number, page in enumerate(bodies)],
        lambda: [plain_walk(html) for page in pages for html in page],
        amount=sum(map(len, pages)),
        unit="versions/s",
    )


def measure_memory(folder: str | None) -> BenchmarkResult:
    """Return the peak memory of analysing a whole collection, in processes of their own.

    A process counts as its own what the one that started it held then, so that this one must not
    hold any pages yet.
    """
    with tempfile.TemporaryDirectory(prefix="freshet-benchmark-") as temporary_folder:
        path = Path(temporary_folder) / "collection"
        for function, arguments in ((make_collection, (path, folder)), (peak_megabytes, (path,))):
            with get_context("spawn").Pool(1) as pool:
                result = pool.apply(function, arguments)
        return BenchmarkResult("analyse memory", result, MAX_MEGABYTES, "MB")


def make_collection(path: Path, folder: str | None) -> float:
    """Make a collection of pages, their versions a day apart."""
    pages = load_versions(folder, COLLECTION_PAGES, VERSIONS)
    with (
        Collection.create(path, contact="benchmark") as collection,
        collection.recording() as recorder,
    ):
        for number, versions in enumerate(pages):
            url = f"https://h{number % 50}.example.org/{number}"
            recorder.record([_observation(url, number, version, html)
                           for version, html in enumerate(versions)])  # fmt: skip
    return float(len(pages))


def _observation(url: str, number: int, version: int, html: str) -> Observation:
    uid = (number << 32 | version).to_bytes(16)
    snapshot = Snapshot(url, html.encode(), headers=HEADERS)
    return Observation(url, "", START + timedelta(days=version), uid, snapshot)


def peak_megabytes(path: Path) -> float:
    """Analyse a collection, and return the peak memory of this process and its workers, in MB."""
    with Collection.open(path) as collection:
        if not collection.analyse("host", processes=PROCESSES).pages:
            raise SystemExit("analyse: nothing was analysed")
    own_peak, worker_peak = (
        resource.getrusage(who).ru_maxrss * KILOBYTE / 1e6
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own_peak + PROCESSES * worker_peak


def load_versions(folder: str | None, count: int, versions: int) -> list[PageVersions]:
    """Return pages with their first versions, real ones where a folder has them."""
    if not folder:
        return generate_pages(count, versions, np.random.default_rng(1))
    return read_pages(Path(folder), count, versions)


def main() -> None:
    """Print the ratio, and the peak memory."""
    folders = [after for before, after in zip(sys.argv, sys.argv[1:], strict=False)
             if before == "--data"]  # fmt: skip
    folder = folders[0] if folders else os.environ.get("FRESHET_DATA")
    sys.stdout.write(f"{'real' if folder else 'generated'} pages\n")
    memory_result = measure_memory(folder)
    report(measure_speed(load_versions(folder, PAGES, VERSIONS)), memory_result)


if __name__ == "__main__":
    main()
