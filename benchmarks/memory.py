"""Peak memory of an import, ten times as long an input against the short one (1 is flat)."""

import csv
import resource
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

from benchmarks.pages import load_pages
from benchmarks.report import BenchmarkResult, report
from freshet.archive.warc.build import ArchiveOrigin, build_response
from freshet.archive.warc.writer import WarcWriter
from freshet.collection.collection import Collection

START = datetime(2026, 1, 1, tzinfo=UTC)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
ROWS, CAPTURES, TIMES = 30_000, 500, 10
KILOBYTE = 1024 if sys.platform.startswith("linux") else 1

InputWriter = Callable[[Path, int], Path]


def write_observations(folder: Path, times: int) -> Path:
    """Write a CSV of daily observations, that many times as long."""
    path = folder / "observations.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("page", "time", "changed"))
        for number in range(ROWS * times):
            day, page = divmod(number, 3000)
            time = START + timedelta(days=day, seconds=page)
            table.writerow((f"https://h{page % 50}.org/{page}", time.isoformat(), number % 7 == 0))
    return path


def write_captures(folder: Path, times: int) -> Path:
    """Write a WARC of daily captures, that many times as long."""
    pages = load_pages(50, versions=2)
    with WarcWriter(folder, ArchiveOrigin("benchmark")) as writer:
        for number in range(CAPTURES * times):
            day, page = divmod(number, len(pages))
            http = HEAD + f"<p>{number}</p>{pages[page][day % 2]}".encode()
            url, time = f"https://h{page}.org/", START + timedelta(days=day)
            location = writer.append([build_response(url, time, http)])[0]
    return folder / location.file


def peak_megabytes(kind: str, write_input: InputWriter, times: int) -> float:
    """Return the peak memory of an import in a process of its own, in megabytes."""
    with tempfile.TemporaryDirectory(prefix="freshet-benchmark-") as folder:
        path = write_input(Path(folder), times)
        with get_context("spawn").Pool(1) as pool:
            return pool.apply(import_alone, (kind, path, Path(folder) / "collection"))


def import_alone(kind: str, path: Path, folder: Path) -> float:
    """Import a file, and return this process's peak memory in megabytes."""
    with Collection.create(folder, contact="benchmark") as collection:
        if not collection.import_history(kind, path).visits:
            raise SystemExit("memory: nothing was imported")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE / 1e6


def main() -> None:
    """Print both ratios."""
    kinds: dict[str, InputWriter] = {"csv": write_observations, "warc": write_captures}
    report(
        *(
            BenchmarkResult(
                f"memory {kind}",
                peak_megabytes(kind, write_input, TIMES),
                peak_megabytes(kind, write_input, 1),
                "MB",
            )
            for kind, write_input in kinds.items()
        )
    )


if __name__ == "__main__":
    main()
