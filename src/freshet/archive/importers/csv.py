"""Observations in a CSV file: page, time, changed and, if known, the number of new links.

The header names the columns, in any order and separated by comma, semicolon or tab; further columns
are ignored and named once in the notes. A time is ISO 8601, in UTC unless it says otherwise, or
epoch seconds. ``changed`` tells whether the page differs from its previous observation.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from unicodedata import category

from freshet.archive.importers.base import (
    MAX_LINK_COUNT,
    HistoryReader,
    Observation,
    input_name,
    parse_time,
    row_uid,
)
from freshet.archive.importers.line_reader import LineReader
from freshet.core.errors import BadInputError
from freshet.core.redaction import redact_url
from freshet.core.types import BadRow, Change, Outcome

DELIMITERS = (",", ";", "\t")
REQUIRED_COLUMNS = ("page", "time", "changed")
OPTIONAL_COLUMNS = ("new_links",)
YES_NO = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
UNFIT = ("Cc", "Cs")
FIRST_ROW = 2
NAMED_COLUMNS = 20
QUOTES = "check the quotes of this line"
LONGEST_QUOTED = 100


@dataclass(frozen=True, slots=True)
class CsvColumns:
    """Where a file keeps what, and the names of the columns nobody asked for."""

    delimiter: str
    width: int
    page: int
    time: int
    changed: int
    new_links: int | None
    ignored: tuple[str, ...]


def read(path: Path, *, source: str | None = None) -> "CsvReader":
    """Read observations from a CSV file; their source is the file's name unless given."""
    return CsvReader(path, input_name(path) if source is None else source)


class CsvReader(HistoryReader):
    """The observations of one CSV file, counted in bytes."""

    def __init__(self, path: Path, source: str) -> None:
        self._lines = LineReader(path)
        self._name = path.name
        super().__init__(self._lines.size, source)
        self._stream = iter(self._lines)
        self._columns = find_columns(next(self._stream, ""), path)
        if self._columns.ignored:
            self.notes.append(
                f"{path.name}: ignored columns {', '.join(self._columns.ignored[:NAMED_COLUMNS])}"
            )

    @property
    def done(self) -> int:
        """Return how many bytes of the file were read."""
        return self._lines.position

    def __iter__(self) -> Iterator[Observation | BadRow]:
        taken: list[str] = []
        rows = self._parsed(_noted(self._stream, taken))
        number = FIRST_ROW
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield BadRow(f"{self._name}, line {number}", f"{error}; {QUOTES}")
                yield from self._one_by_one(taken[1:], number + 1)
            else:
                if row:
                    yield self._item(row, number)
            number += len(taken)
            taken.clear()

    def _one_by_one(self, lines: Sequence[str], number: int) -> Iterator[Observation | BadRow]:
        """Yield what lines tell that a stray quote before them had swallowed."""
        for line in lines:
            try:
                row = next(self._parsed([line]), None)
            except csv.Error as error:
                yield BadRow(f"{self._name}, line {number}", f"{error}; {QUOTES}")
            else:
                if row:
                    yield self._item(row, number)
            number += 1

    def _parsed(self, lines: Iterable[str]) -> Iterator[list[str]]:
        return csv.reader(lines, delimiter=self._columns.delimiter, strict=True)

    def _item(self, row: list[str], line: int) -> Observation | BadRow:
        """Return what a row tells, or what is wrong with it."""
        try:
            return self._arrival(row, line)
        except (ValueError, OverflowError) as error:
            return BadRow(f"{self._name}, line {line}", str(error))

    def _arrival(self, row: list[str], line: int) -> Observation:
        """Return what a row tells; ValueError says what is wrong with it."""
        at = self._columns
        if len(row) < at.width:
            raise ValueError(f"has {len(row)} columns where the header has {at.width}")
        page, time = clean_page(row[at.page]), parse_time(row[at.time])
        links = "" if at.new_links is None else row[at.new_links]
        return Observation(
            page,
            self.source,
            time,
            row_uid("csv", self.source, page, time),
            change=parse_change(row[at.changed], links),
            outcome=Outcome.REPORTED,
            place=f"{self._name}, line {line}",
        )


def _noted(lines: Iterable[str], taken: list[str]) -> Iterator[str]:
    """Yield lines, adding each to those taken."""
    for line in lines:
        taken.append(line)
        yield line


def find_columns(header: str, path: Path) -> CsvColumns:
    """Find the delimiter and the columns in a header line."""
    splits = {mark: _names(header, mark) for mark in DELIMITERS}
    mark = max(splits, key=lambda mark: sum(name in splits[mark] for name in REQUIRED_COLUMNS))
    names = splits[mark]
    missing = [name for name in REQUIRED_COLUMNS if name not in names]
    if missing:
        raise BadInputError(
            f"{path}: the first line names no column {', '.join(missing)};"
            f" it must name {', '.join(REQUIRED_COLUMNS)}, in UTF-8"
        )
    places = {
        name: names.index(name) for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS) if name in names
    }
    ignored = tuple(name for name in names if name not in places)
    needed = (places["page"], places["time"], places["changed"])
    return CsvColumns(mark, max(places.values()) + 1, *needed, places.get("new_links"), ignored)


def _names(header: str, delimiter: str) -> list[str]:
    """Return the column names of a header, lower case."""
    try:
        names = next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [name.strip().lower() for name in names]


def clean_page(text: str) -> str:
    """Return a page's URL or name without the white space around it."""
    page = text.strip()
    if not page:
        raise ValueError("page is empty")
    if not page.isprintable() and any(category(letter) in UNFIT for letter in page):
        quoted = redact_url(page)[:LONGEST_QUOTED]
        raise ValueError(f"page {quoted!r} has control characters or is not UTF-8")
    return page


@lru_cache(maxsize=4096)
def parse_change(changed: str, new_links: str) -> Change:
    """Return what the last two columns tell; of which kind new links are is not told.

    New links count as external ones; some are proof that the links changed, none proves nothing.
    """
    answer = YES_NO.get(changed.strip().lower())
    if answer is None:
        raise ValueError(
            f"changed {changed[:LONGEST_QUOTED]!r} is none of 0, 1, true, false, yes, no"
        )
    count = _count(new_links.strip())
    return Change(answer, links=True if count else None, new_external=count)


def _count(text: str) -> int | None:
    """Read a number of links; nothing means not known."""
    if text and not (text.isascii() and text.isdigit()):
        raise ValueError(f"new_links {text[:LONGEST_QUOTED]!r} is not a whole number")
    if len(text) > len(str(MAX_LINK_COUNT)) or int(text or 0) > MAX_LINK_COUNT:
        raise ValueError(f"new_links {text[:30]!r} is more than {MAX_LINK_COUNT:,}")
    return int(text) if text else None
