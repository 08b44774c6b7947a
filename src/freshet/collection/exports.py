"""Exports visits and changes as Parquet or CSV, a CDXJ index, or the collection as WACZ."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from freshet.archive.exporters import cdxj, csv, wacz
from freshet.archive.exporters.base import ChangeRow, VisitRow
from freshet.archive.warc.captures import WarcCapture, group_captures
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import archive_files, closed_name, read_records
from freshet.archive.warc.record import uid_of_record_id
from freshet.core.errors import NotFoundError, UsageError
from freshet.core.extras import OptionalPackage
from freshet.core.types import Visit
from freshet.record.collection_reader import SOFTWARE
from freshet.record.collection_store import CollectionStore

if TYPE_CHECKING:
    from freshet.archive.exporters import parquet
else:
    parquet = OptionalPackage("freshet.archive.exporters.parquet", extra="parquet")

ExportWriter = Callable[[Path, CollectionStore, str | None], int]

EXPORT_WRITERS: Mapping[str, ExportWriter] = {
    "parquet": lambda path, store, source: parquet.write_visits(path, visit_rows(store, source)),
    "changes": lambda path, store, source: parquet.write_changes(path, change_rows(store, source)),
    "csv": lambda path, store, source: csv.write(path, change_rows(store, source)),
    "cdxj": lambda path, store, source: cdxj.write(path, indexed_records(store, source)),
    "wacz": lambda path, store, source: wacz.write(path, wacz_package(store, source)),
}
PAGE_BATCH = 1_000


def export_table(
    collection: CollectionStore, kind: str, path: Path, *, source: str | None = None
) -> int:
    """Write an export of the collection to a file; return the number of its rows."""
    if kind not in EXPORT_WRITERS:
        raise UsageError(f"{kind!r} is not a kind of export; choose {', '.join(EXPORT_WRITERS)}")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the file to write")
    if source and next(collection.pages(source=source), None) is None:
        raise NotFoundError(f"no page has source {source!r}; 'freshet list' shows the sources")
    return EXPORT_WRITERS[kind](path, collection, source)


def visit_rows(collection: CollectionStore, source: str | None) -> Iterator[VisitRow]:
    """Yield every visit with its page, page by page in time order."""
    for page in collection.pages(source=source):
        rows = collection.catalog.history(page.id)
        original_ids = _original_visit_ids(row.visit for row in rows)
        for row in rows:
            is_revisit = row.visit.digest is not None and row.visit.id not in original_ids
            language = row.view.language if row.view else ""
            yield VisitRow(page, row.visit, language, has_revisit_record=is_revisit)


def indexed_records(collection: CollectionStore, source: str | None) -> Iterator[LocatedRecord]:
    """Yield the records of every visit and of the redirects that led to it, file by file."""
    for capture in visit_captures(collection, source):
        yield from (capture.located, *capture.companions)


def visit_captures(collection: CollectionStore, source: str | None) -> Iterator[WarcCapture]:
    """Yield the captures of pages that were not removed, in the order of the archive's files."""
    page_ids = array("q", (page.id for page in collection.pages(source=source)))
    for path in archive_files(collection.archive_folder):
        visits = collection.catalog.visits_in_file(closed_name(path))
        uids = {visit.uid for visit in visits if _is_among(page_ids, visit.page)}
        for item in group_captures(read_records(path)) if uids else ():
            if isinstance(item, WarcCapture) and uid_of_record_id(item.located.record.id) in uids:
                yield item


def wacz_package(collection: CollectionStore, source: str | None) -> wacz.WaczPackage:
    """Return the contents of a WACZ file of the collection."""
    captures = visit_captures(collection, source)
    return wacz.WaczPackage(
        title=source or collection.path.resolve().name,
        software=SOFTWARE,
        created=collection.clock.now(),
        captures=((capture.located, *capture.companions) for capture in captures),
        pages=listed_pages(collection, source),
    )


def listed_pages(collection: CollectionStore, source: str | None) -> Iterator[wacz.ListedPage]:
    """Yield each page with stored bytes, at the time of its newest version."""
    pages = collection.pages(source=source)
    while batch := list(islice(pages, PAGE_BATCH)):
        looks = collection.catalog.last_looks([page.id for page in batch])
        for page in batch:
            row = looks.get(page.id)
            if row is not None and row.visit.location is not None:
                title = row.view.title if row.view else ""
                time = f"{row.visit.time:%Y-%m-%dT%H:%M:%SZ}"
                yield wacz.ListedPage(row.visit.uid.hex(), page.url, time, title)


def _is_among(sorted_ids: Sequence[int], page_id: int) -> bool:
    index = bisect_left(sorted_ids, page_id)
    return index < len(sorted_ids) and sorted_ids[index] == page_id


def _original_visit_ids(visits: Iterable[Visit]) -> set[int | None]:
    """Return the visits of a page that were the first to be stored with their payload."""
    first_ids: dict[tuple[bytes | None, int | None], int | None] = {}
    for visit in sorted(visits, key=lambda visit: visit.id or 0):
        first_ids.setdefault((visit.digest, visit.size), visit.id)
    return set(first_ids.values())


def change_rows(collection: CollectionStore, source: str | None) -> Iterator[ChangeRow]:
    """Yield every measured change with its page, page by page in time order."""
    for page in collection.pages(source=source):
        for row in page.history():
            if row.change is not None:
                yield ChangeRow(page, row.visit, row.change)
