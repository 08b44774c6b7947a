"""Take tables out: visits and changes as Parquet or CSV, a CDXJ index, or all in a WACZ file."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from freshet.archive.exporters import cdxj, csv, parquet, wacz
from freshet.archive.exporters.base import ChangeRow, VisitRow
from freshet.archive.warc.captures import WarcCapture, group_captures
from freshet.archive.warc.located_record import LocatedRecord
from freshet.archive.warc.read import archive_files, closed_name, read_records
from freshet.archive.warc.record import uid_of_record_id
from freshet.core.errors import NotFoundError, UsageError
from freshet.core.types import Visit
from freshet.record.store import SOFTWARE, CollectionStore

EXPORT_WRITERS: Mapping[str, Callable[[Path, CollectionStore, str | None], int]] = {
    "parquet": lambda path, source, part: parquet.write_visits(path, visit_rows(source, part)),
    "changes": lambda path, source, part: parquet.write_changes(path, change_rows(source, part)),
    "csv": lambda path, source, part: csv.write(path, change_rows(source, part)),
    "cdxj": lambda path, source, part: cdxj.write(path, indexed_records(source, part)),
    "wacz": lambda path, source, part: wacz.write(path, wacz_package(source, part)),
}
PAGE_BATCH = 1_000


def export_table(
    collection: CollectionStore, kind: str, path: Path, *, source: str | None = None
) -> int:
    """Write a table of the collection, and return how many rows it has."""
    if kind not in EXPORT_WRITERS:
        raise UsageError(f"{kind!r} is no kind of export; choose {', '.join(EXPORT_WRITERS)}")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the file to write")
    if source and next(collection.pages(source=source), None) is None:
        raise NotFoundError(f"no page has source {source!r}; 'freshet list' shows the sources")
    return EXPORT_WRITERS[kind](path, collection, source)


def visit_rows(collection: CollectionStore, source: str | None) -> Iterator[VisitRow]:
    """Yield every visit with its page, page by page in time order."""
    for page in collection.pages(source=source):
        rows = collection.catalog.history(page.id)
        originals = _originals(row.visit for row in rows)
        for row in rows:
            again = row.visit.digest is not None and row.visit.id not in originals
            yield VisitRow(
                page, row.visit, row.view.language if row.view else "", has_revisit_record=again
            )


def indexed_records(collection: CollectionStore, source: str | None) -> Iterator[LocatedRecord]:
    """Yield the records of every visit and of the redirects that led to it, file by file."""
    for capture in visit_captures(collection, source):
        yield from (capture.located, *capture.companions)


def visit_captures(collection: CollectionStore, source: str | None) -> Iterator[WarcCapture]:
    """Yield the captures of pages that were not removed, in the order of the archive's files."""
    pages = array("q", (page.id for page in collection.pages(source=source)))
    for path in archive_files(collection.archive_folder):
        visits = collection.catalog.visits_in_file(closed_name(path))
        wanted = {visit.uid for visit in visits if _is_among(pages, visit.page)}
        for found in group_captures(read_records(path)) if wanted else ():
            if (
                isinstance(found, WarcCapture)
                and uid_of_record_id(found.located.record.id) in wanted
            ):
                yield found


def wacz_package(collection: CollectionStore, source: str | None) -> wacz.WaczPackage:
    """Return what a WACZ file of the collection holds."""
    captures = visit_captures(collection, source)
    return wacz.WaczPackage(
        title=source or collection.path.resolve().name,
        software=SOFTWARE,
        created=collection.clock.now(),
        captures=((capture.located, *capture.companions) for capture in captures),
        pages=listed_pages(collection, source),
    )


def listed_pages(collection: CollectionStore, source: str | None) -> Iterator[wacz.ListedPage]:
    """Yield each page of which bytes are kept, at the time of its newest version."""
    pages = collection.pages(source=source)
    while batch := list(islice(pages, PAGE_BATCH)):
        looks = collection.catalog.last_looks([page.id for page in batch])
        for page in batch:
            row = looks.get(page.id)
            if row is not None and row.visit.location is not None:
                title = row.view.title if row.view else ""
                time = f"{row.visit.time:%Y-%m-%dT%H:%M:%SZ}"
                yield wacz.ListedPage(row.visit.uid.hex(), page.url, time, title)


def _is_among(pages: Sequence[int], page: int) -> bool:
    """Whether a page is one of those, whose ids are in order."""
    at = bisect_left(pages, page)
    return at < len(pages) and pages[at] == page


def _originals(visits: Iterable[Visit]) -> set[int | None]:
    """Return the visits of a page that were the first to be stored with their bytes."""
    first: dict[tuple[bytes | None, int | None], int | None] = {}
    for visit in sorted(visits, key=lambda visit: visit.id or 0):
        first.setdefault((visit.digest, visit.size), visit.id)
    return set(first.values())


def change_rows(collection: CollectionStore, source: str | None) -> Iterator[ChangeRow]:
    """Yield every measured change with its page, page by page in time order."""
    for page in collection.pages(source=source):
        for row in page.history():
            if row.change is not None:
                yield ChangeRow(page, row.visit, row.change)
