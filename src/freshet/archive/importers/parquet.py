"""Import page histories from Parquet: files of versions with content, or of daily observations.

A versions file has the columns page, time, html and kind, and optionally commit and source; its
observations carry snapshots. An observations file has page, day and changed, and optionally
changed_html, counts of new links, and part. Observations are derived from the versions, so of a
folder only ``versions_*.parquet`` is read. An observation describes the state at the end of a day;
its time is the last second of that day (23:59:59 UTC).
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import polars as pl

from freshet.archive.importers.base import (
    MAX_BODY_BYTES,
    MAX_LINK_COUNT,
    HistoryReader,
    input_name,
    parse_time,
    row_uid,
)
from freshet.archive.importers.parquet_pages import RowSlice, row_slices
from freshet.archive.observation import Observation
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

Row = tuple[Any, ...]
RowParser = Callable[[Row, str | None], Observation]


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """One file: the columns to read, the number of rows, and the parser of a row.

    ``source`` is the source of all rows, or None if each row has its own.
    """

    path: Path
    columns: Sequence[pl.Expr]
    rows: int
    parse_row: RowParser
    source: str | None = None


def read(path: Path, *, source: str | None = None) -> "ParquetReader":
    """Read a file of versions or observations, or the versions in a folder.

    The source is the given one, else the part in ``versions_<part>.parquet``, else the file's own
    column, else the name of the file.
    """
    files = sorted(path.glob("versions_*.parquet")) if path.is_dir() else [path]
    if not files:
        raise BadInputError(
            f"{path}: contains no versions_*.parquet; give such a file or its folder"
        )
    return ParquetReader(files, source)


class ParquetReader(HistoryReader):
    """Reads the histories of Parquet files; progress is counted in rows."""

    def __init__(self, files: Sequence[Path], source: str | None) -> None:
        self._given_source = source
        super().__init__(0, "" if source is None else source)
        self._tables = [table for path in files if (table := self._open_table(path))]
        if source is None:
            self.source = ", ".join(
                sorted({table.source for table in self._tables if table.source})
            )
        self.total = sum(table.rows for table in self._tables)

    def __iter__(self) -> Iterator[Observation | BadRow]:
        for table in self._tables:
            for number, row in enumerate(read_rows(table), 1):
                self._done += 1
                place = f"{table.path.name}, row {number}"
                yield observation_or_bad_row(table, place, row)

    def _open_table(self, path: Path) -> ParquetTable | None:
        """Return the table of a file, or None for a list of pages."""
        with parquet_errors(path):
            schema = pl.read_parquet_schema(path)
            row_count = int(scan_file(path).select(pl.len()).collect().item())
        if set(VERSIONS_REQUIRED) <= set(schema):
            columns = column_expressions(VERSION_SCHEMA, schema)
            source = self._table_source(path, schema, "source")
            return ParquetTable(path, columns, row_count, parse_version, source)
        if set(OBSERVATIONS_REQUIRED) <= set(schema):
            columns = column_expressions(OBSERVATION_SCHEMA, schema)
            source = self._table_source(path, schema, "part")
            return ParquetTable(path, columns, row_count, parse_observation, source)
        if set(PAGE_LIST_COLUMNS) <= set(schema):
            self.notes.append(f"{path.name}: a list of pages has no history; skipped")
            return None
        raise BadInputError(
            f"{path}: has neither the columns {', '.join(VERSIONS_REQUIRED)}"
            f" nor {', '.join(OBSERVATIONS_REQUIRED)}; see 'freshet import parquet --help'"
        )

    def _table_source(self, path: Path, schema: Container[str], column: str) -> str | None:
        """Return the source of all rows of a file, or None if a column has it."""
        if self._given_source is not None:
            return self._given_source
        return versions_part(path) or (None if column in schema else input_name(path))


def column_expressions(columns: pl.Schema, schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """Return an expression for each column, cast to its type; null if it is missing."""
    return [
        _column_expression(name, data_type, schema[name])
        if name in schema
        else pl.lit(None, data_type).alias(name)
        for name, data_type in columns.items()
    ]


def _column_expression(name: str, data_type: pl.DataType, stored_type: pl.DataType) -> pl.Expr:
    """Return the expression of a column; times become numbers, for Python's range is small."""
    column = pl.col(name)
    if data_type.is_temporal() and stored_type == pl.String:
        return column
    if data_type.is_temporal():
        return column.cast(data_type, strict=False).to_physical()
    return column.cast(data_type)


def read_rows(table: ParquetTable) -> Iterator[Row | str]:
    """Yield a file's rows, or the fault of a row, in memory for a few Parquet pages.

    Polars reads batches ahead and decompresses Parquet pages of any size, so slices are planned
    here.
    """
    lazy_table = scan_file(table.path).select(table.columns)
    for row_slice in plan_slices(table):
        if row_slice.fault:
            yield from repeat(row_slice.fault, row_slice.rows)
            continue
        with parquet_errors(table.path):
            frame = lazy_table.slice(row_slice.start, row_slice.rows).collect()
        buffered_rows = BUFFER_BYTES // max(1, row_slice.page_bytes)
        yield from frame.iter_rows(buffer_size=min(max(1, buffered_rows), MAX_BUFFERED_ROWS))


def plan_slices(table: ParquetTable) -> Iterator[RowSlice]:
    """Yield the row slices in which to read a file."""
    names = [name for column in table.columns for name in column.meta.root_names()]
    try:
        yield from row_slices(table.path, names, max_rows=ROWS_AT_ONCE)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, OverflowError) as error:
        reason = str(error) if type(error) is ValueError else "a footer or page header is invalid"
        raise _unreadable(table.path, reason) from error


def observation_or_bad_row(table: ParquetTable, place: str, row: Row | str) -> Observation | BadRow:
    """Return the observation of a row, or a bad row; ``row`` is the fault of an unreadable row."""
    if isinstance(row, str):
        return BadRow(place, row)
    try:
        return replace(table.parse_row(row, table.source), place=place)
    except (ValueError, OverflowError) as error:
        return BadRow(place, str(error))


def parse_version(row: Row, source: str | None) -> Observation:
    """Return a version with its content."""
    row_source, page, time_value, html, kind, commit = row
    _require_values(page=page, time=time_value, html=html)
    if len(html) > MAX_BODY_BYTES:
        raise ValueError(f"html has {len(html):,} bytes, more than the limit of {MAX_BODY_BYTES:,}")
    source = (row_source or "") if source is None else source
    version_time = parse_instant(time_value)
    media_type = MEDIA_TYPES.get(kind, "text/plain")
    headers = (("content-type", f"{media_type}; charset=utf-8"),)
    uid = row_uid("version", source, page, version_time, commit or "")
    return Observation(page, source, version_time, uid, Snapshot(page, html, headers=headers))


def parse_observation(row: Row, source: str | None) -> Observation:
    """Return a day's observation at the end of that day."""
    row_source, page, day, changed, changed_html, *new_links = row
    _require_values(page=page, day=day, changed=changed)
    source = (row_source or "") if source is None else source
    day_end = parse_day_end(day)
    return Observation(
        page,
        source,
        day_end,
        row_uid("observation", source, page, day_end),
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
    """Return the change that an observation reports.

    ``changed`` compares the visible text, ``changed_html`` the bytes of the whole document. An
    unchanged document has the same structure and links; for a changed one they are unknown.
    """
    unchanged = False if changed_html is False else None
    return Change(
        changed,
        bytes=changed_html,
        text=changed,
        structure=unchanged,
        links=True if (internal or external) else unchanged,
        new_internal=internal,
        new_external=external,
        never_seen=never_seen,
    )


def parse_instant(value: int | str) -> datetime:
    """Parse a time in microseconds since 1970 or in ISO 8601.

    >>> parse_instant(1_500_000).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    if isinstance(value, str):
        return parse_time(value)
    try:
        return EPOCH + timedelta(microseconds=value)
    except OverflowError:
        raise ValueError(
            f"time {value} microseconds since 1970 is not in the years 1 to 9999"
        ) from None


@lru_cache(maxsize=4096)
def parse_day_end(value: int | str) -> datetime:
    """Parse a day and return its last second.

    >>> parse_day_end("2024-02-29").isoformat()
    '2024-02-29T23:59:59+00:00'
    """
    return datetime.combine(parse_day(value), DAY_END)


def parse_day(value: int | str) -> date:
    """Parse a day in days since 1970 or in ISO 8601.

    >>> parse_day(31).isoformat()
    '1970-02-01'
    """
    if isinstance(value, str):
        return parse_time(value).date()
    try:
        return EPOCH.date() + timedelta(days=value)
    except OverflowError:
        raise ValueError(f"day {value} since 1970 is not in the years 1 to 9999") from None


def parse_link_count(value: float | None) -> int | None:
    """Parse a number of links; None means unknown."""
    if value is not None and not (0 <= value <= MAX_LINK_COUNT and value == int(value)):
        raise ValueError(f"{value:g} new links is not a whole number from 0 to {MAX_LINK_COUNT:,}")
    return None if value is None else int(value)


def versions_part(path: Path) -> str | None:
    """Return the part in the name of a versions file, or None.

    >>> versions_part(Path("versions_stalker.parquet"))
    'stalker'
    """
    name = input_name(path)
    return name.removeprefix("versions_") if name.startswith("versions_") else None


def scan_file(path: Path) -> pl.LazyFrame:
    """Return the lazy table of one file; its name is taken literally."""
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Raise an error with the file's name if polars cannot read it."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _unreadable(path, str(error).partition("\n")[0]) from error


def _unreadable(path: Path, reason: str) -> BadInputError:
    return BadInputError(f"{path}: is not readable as Parquet ({reason}); check the file")


def _require_values(**values: object) -> None:
    """Raise ValueError if one of the values is missing."""
    for name, value in values.items():
        if value is None or value == "":
            raise ValueError(f"{name} is missing")
