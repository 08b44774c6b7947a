"""Page histories in Parquet: files of versions with their bytes, or of daily observations.

A versions file has page, time, html, kind, and may have commit and source; its arrivals carry
snapshots. An observations file has page, day, changed, and may have changed_html, counts of new
links and part; it tells what the versions tell, so a folder stands for its ``versions_*.parquet``
alone. An observation tells the state that a day ended with, and is placed in its last second
(23:59:59 UTC).
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from freshet.archive.importers.base import (
    MAX_BODY_BYTES,
    MAX_LINK_COUNT,
    HistoryReader,
    Observation,
    input_name,
    row_uid,
)
from freshet.archive.importers.base import parse_time as iso_moment
from freshet.archive.importers.parquet_pages import RowSlice, row_slices
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Change, Outcome, Snapshot

VERSION_SCHEMA = pl.Schema({
    "source": pl.String(),
    "page": pl.String(),
    "time": pl.Datetime("us", "UTC"),
    "html": pl.Binary(),
    "kind": pl.String(),
    "commit": pl.String(),
})
OBSERVATION_SCHEMA = pl.Schema({
    "part": pl.String(),
    "page": pl.String(),
    "day": pl.Date(),
    "changed": pl.Boolean(),
    "changed_html": pl.Boolean(),
    "n_new_links_internal": pl.Float64(),
    "n_new_links_external": pl.Float64(),
    "n_new_links_never_seen": pl.Float64(),
})
VERSIONS_REQUIRED = ("page", "time", "html", "kind")
OBSERVATIONS_REQUIRED = ("page", "day", "changed")
PAGE_LIST_COLUMNS = ("page", "n_versions", "first", "last")
MEDIA_TYPES = {"html": "text/html", "markdown": "text/markdown", "text": "text/plain"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_END = time(23, 59, 59, tzinfo=UTC)
ROWS_AT_ONCE = 50_000
BUFFER_BYTES = 64_000_000
MAX_BUFFERED_ROWS = 64

Read = TypeVar("Read")
Row = tuple[Any, ...]
Take = Callable[[Row, str | None], Observation]


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """One file: which columns are read, how many rows there are, and what a row becomes.

    ``source`` is that of all rows; None where each row names its own.
    """

    path: Path
    columns: Sequence[pl.Expr]
    rows: int
    parse_row: Take
    source: str | None = None


def read(path: Path, *, source: str | None = None) -> "ParquetReader":
    """Read a file of versions or observations, or a folder's versions.

    The source is the one given, else the part in ``versions_<versions_part>.parquet``, else the file's own
    column, else the name of the file.
    """
    files = sorted(path.glob("versions_*.parquet")) if path.is_dir() else [path]
    if not files:
        raise BadInputError(f"{path}: holds no versions_*.parquet; give such a file or its folder")
    return ParquetReader(files, source)


class ParquetReader(HistoryReader):
    """The histories of some Parquet files, counted in rows."""

    def __init__(self, files: Sequence[Path], source: str | None) -> None:
        self._given = source
        self._done = 0
        super().__init__(0, "" if source is None else source)
        self._tables = [table for path in files if (table := self._open(path))]
        if source is None:
            self.source = ", ".join(
                sorted({table.source for table in self._tables if table.source})
            )
        self.total = sum(table.rows for table in self._tables)

    @property
    def done(self) -> int:
        """Return how many rows were read."""
        return self._done

    def __iter__(self) -> Iterator[Observation | BadRow]:
        for table in self._tables:
            for number, row in enumerate(read_rows(table), 1):
                self._done += 1
                place = f"{table.path.name}, row {number}"
                yield (
                    BadRow(place, row)
                    if isinstance(row, str)
                    else observation_or_bad_row(table, place, row)
                )

    def _open(self, path: Path) -> ParquetTable | None:
        """Return what is to be read of a file, or nothing for a list of pages."""
        names = refuse_unreadable(path, lambda: pl.read_parquet_schema(path))
        if set(VERSIONS_REQUIRED) <= set(names):
            source = self._source(path, names, "source")
            return ParquetTable(
                path,
                column_expressions(VERSION_SCHEMA, names),
                _height(path),
                parse_version,
                source,
            )
        if set(OBSERVATIONS_REQUIRED) <= set(names):
            source = self._source(path, names, "part")
            return ParquetTable(
                path,
                column_expressions(OBSERVATION_SCHEMA, names),
                _height(path),
                parse_observation,
                source,
            )
        if set(PAGE_LIST_COLUMNS) <= set(names):
            self.notes.append(f"{path.name}: a list of pages holds no history; skipped")
            return None
        raise BadInputError(
            f"{path}: has neither the columns {', '.join(VERSIONS_REQUIRED)}"
            f" nor {', '.join(OBSERVATIONS_REQUIRED)}; see 'freshet import parquet --help'"
        )

    def _source(self, path: Path, names: Container[str], column: str) -> str | None:
        """Return the source of all rows of a file; None where a column names it row by row."""
        if self._given is not None:
            return self._given
        return versions_part(path) or (None if column in names else input_name(path))


def column_expressions(columns: pl.Schema, found: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """Return how each column is read, whatever type the file has it in; null where it has none."""
    return [
        _column(name, kind, found[name]) if name in found else pl.lit(None, kind).alias(name)
        for name, kind in columns.items()
    ]


def _column(name: str, kind: pl.DataType, found: pl.DataType) -> pl.Expr:
    """Return how a column is read: times as numbers, since Python has no date for some of them."""
    column = pl.col(name)
    if kind.is_temporal() and found == pl.String:
        return column
    return (
        column.cast(kind, strict=False).to_physical() if kind.is_temporal() else column.cast(kind)
    )


def read_rows(table: ParquetTable) -> Iterator[Row | str]:
    """Yield a file's rows, or why one cannot be read, in memory bounded by some of its pages.

    Polars' own batches read ahead, and it unpacks pages of any size.
    """
    lazy = scan_file(table.path).select(table.columns)
    for piece in plan_slices(table):
        if piece.fault:
            yield from repeat(piece.fault, piece.rows)
            continue
        found = refuse_unreadable(table.path, lazy.slice(piece.start, piece.rows).collect)
        buffered = BUFFER_BYTES // max(1, piece.page_bytes)
        yield from found.iter_rows(buffer_size=min(max(1, buffered), MAX_BUFFERED_ROWS))


def plan_slices(table: ParquetTable) -> Iterator[RowSlice]:
    """Yield the slices in which a file is to be read."""
    names = [name for column in table.columns for name in column.meta.root_names()]
    try:
        yield from row_slices(table.path, names, max_rows=ROWS_AT_ONCE)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, OverflowError) as error:
        reason = str(error) if type(error) is ValueError else "its footer or a page header is wrong"
        raise _unreadable(table.path, reason) from error


def observation_or_bad_row(table: ParquetTable, place: str, row: Row) -> Observation | BadRow:
    """Return what a row tells, or that it lacks something."""
    try:
        return replace(table.parse_row(row, table.source), place=place)
    except (ValueError, OverflowError) as error:
        return BadRow(place, str(error))


def parse_version(row: Row, source: str | None) -> Observation:
    """Return a version with its bytes."""
    origin, page, moment, html, kind, commit = row
    _require(page=page, time=moment, html=html)
    if len(html) > MAX_BODY_BYTES:
        raise ValueError(f"html has {len(html):,} bytes, more than the {MAX_BODY_BYTES:,} taken")
    source = (origin or "") if source is None else source
    when = parse_instant(moment)
    media_type = MEDIA_TYPES.get(kind, "text/plain")
    headers = (("content-type", f"{media_type}; charset=utf-8"),)
    uid = row_uid("version", source, page, when, commit or "")
    return Observation(page, source, when, uid, Snapshot(page, html, headers=headers))


def parse_observation(row: Row, source: str | None) -> Observation:
    """Return a day's observation, at the end of that day."""
    origin, page, day, changed, changed_html, *new_links = row
    _require(page=page, day=day, changed=changed)
    source = (origin or "") if source is None else source
    when = parse_day_end(day)
    return Observation(
        page,
        source,
        when,
        row_uid("observation", source, page, when),
        change=reported_change(changed, changed_html, *map(parse_link_count, new_links)),
        outcome=Outcome.REPORTED,
    )


@lru_cache(maxsize=4096)
def reported_change(
    changed: bool,
    changed_html: bool | None,
    internal: int | None,
    external: int | None,
    never_seen: int | None,
) -> Change:
    """Return what an observation says of a change.

    ``changed`` compares the visible text, ``changed_html`` the whole stored document: its bytes. A
    document that stayed the same kept its structure and links; one that changed leaves them open.
    """
    still = False if changed_html is False else None
    return Change(
        changed,
        bytes=changed_html,
        text=changed,
        structure=still,
        links=True if (internal or external) else still,
        new_internal=internal,
        new_external=external,
        never_seen=never_seen,
    )


def parse_instant(value: int | str) -> datetime:
    """Return a time that is told in microseconds since 1970 or in ISO 8601.

    >>> parse_instant(1_500_000).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    if isinstance(value, str):
        return iso_moment(value)
    try:
        return EPOCH + timedelta(microseconds=value)
    except OverflowError:
        raise ValueError(
            f"time {value} microseconds since 1970 is not in the years 1 to 9999"
        ) from None


@lru_cache(maxsize=4096)
def parse_day_end(value: int | str) -> datetime:
    """Return the end of a day, told in either way."""
    return day_end(parse_day(value))


def parse_day(value: int | str) -> date:
    """Return a day that is told in days since 1970 or in ISO 8601.

    >>> parse_day(31).isoformat()
    '1970-02-01'
    """
    if isinstance(value, str):
        return iso_moment(value).date()
    try:
        return EPOCH.date() + timedelta(days=value)
    except OverflowError:
        raise ValueError(f"day {value} since 1970 is not in the years 1 to 9999") from None


def parse_link_count(value: float | None) -> int | None:
    """Return a number of links; None means not known."""
    if value is not None and not (0 <= value <= MAX_LINK_COUNT and value == int(value)):
        raise ValueError(f"{value:g} new links are no whole number from 0 to {MAX_LINK_COUNT:,}")
    return None if value is None else int(value)


def day_end(day: date) -> datetime:
    """Return the last second of a UTC day.

    >>> day_end(date(2024, 2, 29)).isoformat()
    '2024-02-29T23:59:59+00:00'
    """
    return datetime.combine(day, DAY_END)


def versions_part(path: Path) -> str | None:
    """Return the part that a versions file is named after.

    >>> versions_part(Path("versions_stalker.parquet"))
    'stalker'
    """
    name = input_name(path)
    return name.removeprefix("versions_") if name.startswith("versions_") else None


def scan_file(path: Path) -> pl.LazyFrame:
    """Return the lazy table of one file, its name taken literally."""
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _height(path: Path) -> int:
    """Return the number of rows of a file."""
    return int(refuse_unreadable(path, lambda: scan_file(path).select(pl.len()).collect().item()))


def refuse_unreadable(path: Path, action: Callable[[], Read]) -> Read:
    """Run a reading step, and name the file when polars cannot read it."""
    try:
        return action()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _unreadable(path, str(error).partition("\n")[0]) from error


def _unreadable(path: Path, reason: str) -> BadInputError:
    return BadInputError(f"{path}: is not readable as Parquet ({reason}); check the file")


def _require(**values: object) -> None:
    """Refuse a row that lacks one of the values."""
    for name, value in values.items():
        if value is None or value == "":
            raise ValueError(f"{name} is missing")
