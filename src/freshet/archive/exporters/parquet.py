"""Export visits and changes as Parquet, with the column names of Common Crawl's index.

Batches are written to small files beside the target and then joined into one. Polars could write
one file from a stream, but it would read the catalog from threads of its own, which is not allowed.
"""

from base64 import b32encode
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
from ada_url import URL

from freshet.archive.exporters.base import ChangeRow, VisitRow
from freshet.core.files import atomic_output
from freshet.core.types import Page, RecordLocation

BATCH_ROWS = 50_000
NO_LOCATION = RecordLocation("", 0, 0)
ADDRESS_COLUMNS = {
    "url": pl.String(),
    "url_host_name": pl.String(),
    "url_host_registered_domain": pl.String(),
    "url_path": pl.String(),
    "source": pl.String(),
}
VISIT_SCHEMA = pl.Schema({
    **ADDRESS_COLUMNS,
    "fetch_time": pl.Datetime("us", "UTC"),
    "fetch_status": pl.Int16(),
    "content_digest": pl.String(),
    "content_mime_type": pl.String(),
    "content_languages": pl.String(),
    "warc_filename": pl.String(),
    "warc_record_offset": pl.Int64(),
    "warc_record_length": pl.Int64(),
    "outcome": pl.String(),
    "content_length": pl.Int64(),
    "final_url": pl.String(),
    "revisit": pl.Boolean(),
    "uid": pl.Binary(),
})
CHANGE_SCHEMA = pl.Schema({
    **ADDRESS_COLUMNS,
    "fetch_time": pl.Datetime("us", "UTC"),
    "uid": pl.Binary(),
    "changed": pl.Boolean(),
    "mask": pl.Int64(),
    "bytes": pl.Boolean(),
    "text": pl.Boolean(),
    "significant": pl.Boolean(),
    "structure": pl.Boolean(),
    "links": pl.Boolean(),
    "moved": pl.Boolean(),
    "dice": pl.Float64(),
    "words": pl.Int64(),
    "new_internal": pl.Int64(),
    "new_external": pl.Int64(),
    "never_seen": pl.Int64(),
    "new_links": pl.List(pl.String()),
    "removed_links": pl.List(pl.String()),
})

Cells = tuple[Any, ...]


def write_visits(path: Path, rows: Iterable[VisitRow]) -> int:
    """Write a row per visit; return their number."""
    return write_rows(path, VISIT_SCHEMA, map(visit_cells, rows))


def write_changes(path: Path, rows: Iterable[ChangeRow]) -> int:
    """Write a row per change; return their number."""
    return write_rows(path, CHANGE_SCHEMA, map(change_cells, rows))


def write_rows(path: Path, schema: pl.Schema, rows: Iterator[Cells]) -> int:
    """Write rows in batches; return their number."""
    written = 0
    with (
        atomic_output(path) as partial_path,
        TemporaryDirectory(prefix=f"{partial_path.name}.", dir=path.parent) as folder,
    ):
        batch_files = [Path(folder) / "0.parquet"]
        pl.DataFrame(schema=schema).write_parquet(batch_files[0])
        while batch := list(islice(rows, BATCH_ROWS)):
            batch_files.append(Path(folder) / f"{len(batch_files)}.parquet")
            pl.DataFrame(batch, schema, orient="row").write_parquet(batch_files[-1])
            written += len(batch)
        table = pl.scan_parquet(batch_files, glob=False)
        table.sink_parquet(partial_path, row_group_size=BATCH_ROWS)
    return written


def visit_cells(row: VisitRow) -> Cells:
    """Return the cells of a visit."""
    visit = row.visit
    location = visit.location or NO_LOCATION
    return (
        *address_cells(row.page),
        visit.time,
        visit.status,
        b32encode(visit.digest).decode() if visit.digest else None,
        visit.media_type or None,
        row.language or None,
        location.file or None,
        location.offset if visit.location else None,
        location.length if visit.location else None,
        visit.outcome.value,
        visit.size,
        visit.final_url,
        row.is_revisit,
        visit.uid,
    )


def change_cells(row: ChangeRow) -> Cells:
    """Return the cells of a change; the lists of links are None if links were not compared."""
    change = row.change
    links_compared = change.links is not None
    return (
        *address_cells(row.page),
        row.visit.time,
        row.visit.uid,
        change.changed,
        change.mask,
        change.bytes,
        change.text,
        change.significant,
        change.structure,
        change.links,
        change.moved,
        change.dice,
        change.words,
        change.new_internal,
        change.new_external,
        change.never_seen,
        list(change.new_links) if links_compared else None,
        list(change.removed_links) if links_compared else None,
    )


def address_cells(page: Page) -> tuple[str, str, str, str, str]:
    """Return URL, host name, registrable domain, path and source of a page."""
    try:
        parts = URL(page.url)
    except ValueError:
        return page.url, page.host, page.site, "", page.source
    return page.url, parts.hostname or page.host, page.site, parts.pathname, page.source
