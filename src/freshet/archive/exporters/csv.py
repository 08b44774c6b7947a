"""Export changes as CSV in the form that ``import csv`` reads: page, time, changed, new_links.

The file identifies a page by its URL alone, so it should hold the rows of one source only.
"""

import csv
from collections.abc import Iterable
from pathlib import Path

from freshet.archive.exporters.base import ChangeRow
from freshet.core.files import atomic_output

HEADER = ("page", "time", "changed", "new_links")


def write(path: Path, rows: Iterable[ChangeRow]) -> int:
    """Write a line per change; return their number."""
    written = 0
    with atomic_output(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        for row in rows:
            table.writerow(csv_row(row))
            written += 1
    return written


def csv_row(row: ChangeRow) -> tuple[str, str, int, int | str]:
    """Return the four columns of a change; an unknown number of links is empty."""
    links = row.change.new_link_count
    return (
        row.page.url,
        row.visit.time.isoformat(),
        int(row.change.changed),
        "" if links is None else links,
    )
