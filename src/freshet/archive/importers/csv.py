"""Import observations from a CSV file: page, time, changed and optionally the number of new links.

The header names the columns, in any order, separated by comma, semicolon or tab. Other columns are
ignored and named in a note. A time is in ISO 8601, in UTC by default, or in epoch seconds.
``changed`` says whether the page differs from its previous observation.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from unicodedata import category

from freshet.archive.importers.base import (
    MAX_LINK_COUNT,
    HistoryReader,
    input_name,
    parse_time,
    row_uid,
)
from freshet.archive.importers.line_reader import LineReader
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.redaction import redact_url
from freshet.core.types import BadRow, Change, Outcome

DELIMITERS = (",", ";", "\t")
REQUIRED_COLUMNS = ("page", "time", "changed")
OPTIONAL_COLUMNS = ("new_links",)
YES_NO = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
UNFIT_CATEGORIES = {"Cc", "Cs"}
FIRST_ROW = 2
MAX_NAMED_COLUMNS = 20
QUOTES_ADVICE = "check the quotes of this line"
MAX_QUOTED_CHARS = 100


@dataclass(frozen=True, slots=True)
class CsvColumns:
    """Positions of the columns in a file, and the names of the ignored ones."""

    delimiter: str
    width: int
    page: int
    time: int
    changed: int
    new_links: int | None
    ignored: tuple[str, ...]


def read(path: Path, *, source: str | None = None) -> "CsvReader":
    """Read observations from a CSV file; the default source is the file's name."""
    return CsvReader(path, input_name(path) if source is None else source)


class CsvReader(HistoryReader):
    """Reads the observations of one CSV file; progress is counted in bytes."""

    def __init__(self, path: Path, source: str) -> None:
        self._lines = LineReader(path)
        self._name = path.name
        super().__init__(self._lines.size, source)
        self._stream = iter(self._lines)
        self._columns = find_columns(next(self._stream, ""), path)
        if ignored := self._columns.ignored[:MAX_NAMED_COLUMNS]:
            self.notes.append(f"{path.name}: ignored columns {', '.join(ignored)}")

    @property
    def done(self) -> int:
        """Return the number of bytes read of the file."""
        return self._lines.position

    def __iter__(self) -> Iterator[Observation | BadRow]:
        return self._read_rows(self._stream, FIRST_ROW)

    def _read_rows(self, lines: Iterable[str], number: int) -> Iterator[Observation | BadRow]:
        """Read rows; lines that an unbalanced quote has swallowed are read again one by one."""
        consumed_lines: list[str] = []
        logged_lines = _log_lines(lines, consumed_lines)
        rows = csv.reader(logged_lines, delimiter=self._columns.delimiter, strict=True)
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield BadRow(f"{self._name}, line {number}", f"{error}; {QUOTES_ADVICE}")
                for offset, line in enumerate(consumed_lines[1:], 1):
                    yield from self._read_rows([line], number + offset)
            else:
                if row:
                    yield self._observation_or_bad_row(row, number)
            number += len(consumed_lines)
            consumed_lines.clear()

    def _observation_or_bad_row(self, row: list[str], line: int) -> Observation | BadRow:
        """Return the observation of a row, or a bad row."""
        try:
            return self._parse_observation(row, line)
        except (ValueError, OverflowError) as error:
            return BadRow(f"{self._name}, line {line}", str(error))

    def _parse_observation(self, row: list[str], line: int) -> Observation:
        """Parse a row; raise ValueError if it is invalid."""
        columns = self._columns
        if len(row) < columns.width:
            raise ValueError(f"has {len(row)} columns where the header has {columns.width}")
        page, time = clean_page(row[columns.page]), parse_time(row[columns.time])
        links = "" if columns.new_links is None else row[columns.new_links]
        return Observation(
            page,
            self.source,
            time,
            row_uid("csv", self.source, page, time),
            change=parse_change(row[columns.changed], links),
            outcome=Outcome.REPORTED,
            place=f"{self._name}, line {line}",
        )


def _log_lines(lines: Iterable[str], consumed_lines: list[str]) -> Iterator[str]:
    """Yield lines and append each to ``consumed_lines``."""
    for line in lines:
        consumed_lines.append(line)
        yield line


def find_columns(header: str, path: Path) -> CsvColumns:
    """Find the delimiter and the columns of a header line."""
    splits = [(delimiter, _column_names(header, delimiter)) for delimiter in DELIMITERS]
    delimiter, names = max(splits, key=lambda split: len({*REQUIRED_COLUMNS} & {*split[1]}))
    missing = [name for name in REQUIRED_COLUMNS if name not in names]
    if missing:
        raise BadInputError(
            f"{path}: the first line names no column {', '.join(missing)};"
            f" it must name {', '.join(REQUIRED_COLUMNS)}, in UTF-8"
        )
    used = [name for name in (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS) if name in names]
    positions = {name: names.index(name) for name in used}
    return CsvColumns(
        delimiter,
        width=max(positions.values()) + 1,
        page=positions["page"],
        time=positions["time"],
        changed=positions["changed"],
        new_links=positions.get("new_links"),
        ignored=tuple(name for name in names if name not in positions),
    )


def _column_names(header: str, delimiter: str) -> list[str]:
    """Return the column names of a header in lower case."""
    try:
        names = next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [name.strip().lower() for name in names]


def clean_page(text: str) -> str:
    """Return a page's URL or name without surrounding white space."""
    page = text.strip()
    if not page:
        raise ValueError("page is empty")
    if not page.isprintable() and {*map(category, page)} & UNFIT_CATEGORIES:
        quoted = redact_url(page)[:MAX_QUOTED_CHARS]
        raise ValueError(f"page {quoted!r} has control characters or is not UTF-8")
    return page


@lru_cache(maxsize=4096)
def parse_change(changed: str, new_links: str) -> Change:
    """Parse the columns ``changed`` and ``new_links``.

    The file does not say which kind of links are new. They count as external ones. A positive
    number means that the links changed; 0 leaves that open.
    """
    is_changed = YES_NO.get(changed.strip().lower())
    if is_changed is None:
        raise ValueError(
            f"changed {changed[:MAX_QUOTED_CHARS]!r} is none of 0, 1, true, false, yes, no"
        )
    count = _parse_link_count(new_links.strip())
    return Change(is_changed, links=True if count else None, new_external=count)


def _parse_link_count(text: str) -> int | None:
    """Parse a number of links; an empty text means unknown."""
    if text and not (text.isascii() and text.isdigit()):
        raise ValueError(f"new_links {text[:MAX_QUOTED_CHARS]!r} is not a whole number")
    if len(text) > len(str(MAX_LINK_COUNT)) or int(text or 0) > MAX_LINK_COUNT:
        raise ValueError(f"new_links {text[:30]!r} is more than {MAX_LINK_COUNT:,}")
    return int(text) if text else None
