"""Importing observations into SQLite, and importing a WARC.

Observations are compared with plain sqlite3 inserting the same rows; required are 20,000 a second.
A WARC is held against fastwarc just reading it plus the view; the bar is 0.5.
"""

import csv
import sqlite3
import tempfile
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.pages import load_pages
from benchmarks.report import compare_rates, report
from freshet.archive.warc.build import ArchiveOrigin, build_response
from freshet.archive.warc.writer import WarcWriter
from freshet.collection.collection import Collection
from freshet.core.types import Snapshot
from freshet.view.parse import parse_snapshot

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecordType

OBSERVATIONS = 100_000
PAGES, VERSIONS = 200, 3
START = datetime(2026, 1, 1, tzinfo=UTC)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
HEADERS = (("content-type", "text/html; charset=utf-8"),)


def write_observations(path: Path) -> None:
    """Write a CSV of daily observations of a thousand pages."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("page", "time", "changed"))
        for number in range(OBSERVATIONS):
            day, page = divmod(number, 1000)
            time = START + timedelta(days=day, seconds=page)
            table.writerow((f"https://h{page % 50}.org/{page}", time.isoformat(), number % 7 == 0))


def insert_plainly(path: Path, folder: Path) -> int:
    """Insert the rows of the CSV by sqlite3 alone, in one transaction."""
    with path.open() as file, sqlite3.connect(folder / "plain.db") as table:
        table.execute("CREATE TABLE visit (page TEXT, time TEXT, changed TEXT)")
        table.executemany("INSERT INTO visit VALUES (:page, :time, :changed)", csv.DictReader(file))
        return int(table.execute("SELECT count(*) FROM visit").fetchone()[0])


def write_warc(folder: Path) -> Path:
    """Write a WARC with a few versions of many pages, in time order."""
    pages = load_pages(PAGES, versions=VERSIONS)
    with WarcWriter(folder, ArchiveOrigin("benchmark")) as writer:
        for version in range(VERSIONS):
            for number, page in enumerate(pages):
                url = f"https://h{number}.org/"
                http = HEAD + page[version].encode()
                place = writer.append([build_response(url, START + timedelta(days=version), http)])[
                    0
                ]
    return folder / place.file


def read_and_view(path: Path, folder: Path) -> int:
    """Read a WARC by fastwarc, and view every page; return how many there were."""
    with path.open("rb") as file:
        bodies = (
            (record.headers["WARC-Target-URI"], record.reader.read())
            for record in ArchiveIterator(file, record_types=WarcRecordType.response)
        )
        return sum(bool(parse_snapshot(Snapshot(url, body, 200, HEADERS))) for url, body in bodies)


def import_into(kind: str) -> Callable[[Path, Path], int]:
    """Return what imports a file of that kind into a new collection."""

    def run(path: Path, folder: Path) -> int:
        with Collection.create(folder / "collection", contact="benchmark") as collection:
            return collection.import_history(kind, path).visits

    return run


def in_new_folder(work: Callable[[Path, Path], int], path: Path, expected: int) -> None:
    """Do a piece of work in a folder of its own, and stop unless it took in everything."""
    with tempfile.TemporaryDirectory(prefix="freshet-benchmark-") as folder:
        found = work(path, Path(folder))
    if found != expected:
        raise SystemExit(f"import: {found} visits of {expected} were taken in")


def main() -> None:
    """Print both ratios."""
    with tempfile.TemporaryDirectory(prefix="freshet-benchmark-") as folder:
        table, warc = Path(folder) / "observations.csv", write_warc(Path(folder))
        write_observations(table)
        visits = PAGES * VERSIONS
        report(
            compare_rates(
                "import observations",
                lambda: in_new_folder(import_into("csv"), table, OBSERVATIONS),
                lambda: in_new_folder(insert_plainly, table, OBSERVATIONS),
                amount=OBSERVATIONS,
                unit="visits/s",
            ),
            compare_rates(
                "import warc",
                lambda: in_new_folder(import_into("warc"), warc, visits),
                lambda: in_new_folder(read_and_view, warc, visits),
                amount=visits,
                unit="visits/s",
            ),
        )


if __name__ == "__main__":
    main()
