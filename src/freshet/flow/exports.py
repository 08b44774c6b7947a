"""Take tables out: visits and changes as Parquet, CSV or a CDXJ index."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from freshet.archive.exporters import cdxj, csv, parquet
from freshet.archive.exporters.base import ChangeRow, VisitRow
from freshet.core.errors import NotFound, UsageError
from freshet.core.types import Visit
from freshet.flow.collection import Collection

WRITERS: Mapping[str, Callable[[Path, Collection, str | None], int]] = {
    "parquet": lambda path, source, part: parquet.write_visits(path, visit_rows(source, part)),
    "changes": lambda path, source, part: parquet.write_changes(path, change_rows(source, part)),
    "csv": lambda path, source, part: csv.write(path, change_rows(source, part)),
    "cdxj": lambda path, source, part: cdxj.write(path, visit_rows(source, part)),
}


def export(collection: Collection, kind: str, path: Path, *, source: str | None = None) -> int:
    """Write a table of the collection, and return how many rows it has."""
    if kind not in WRITERS:
        raise UsageError(f"{kind!r} is no kind of export; choose {', '.join(WRITERS)}")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the file to write")
    if source and next(collection.pages(source=source), None) is None:
        raise NotFound(f"no page has source {source!r}; 'freshet list' shows the sources")
    return WRITERS[kind](path, collection, source)


def visit_rows(collection: Collection, source: str | None) -> Iterator[VisitRow]:
    """Yield every visit with its page, page by page in time order."""
    for page in collection.pages(source=source):
        rows = collection.catalog.history(page.id)
        originals = _originals(row.visit for row in rows)
        for row in rows:
            again = row.visit.digest is not None and row.visit.id not in originals
            yield VisitRow(page, row.visit, row.view.language if row.view else "", revisit=again)


def _originals(visits: Iterable[Visit]) -> set[int | None]:
    """Return the visits of a page that were the first to be stored with their bytes."""
    first: dict[tuple[bytes | None, int | None], int | None] = {}
    for visit in sorted(visits, key=lambda visit: visit.id or 0):
        first.setdefault((visit.digest, visit.size), visit.id)
    return set(first.values())


def change_rows(collection: Collection, source: str | None) -> Iterator[ChangeRow]:
    """Yield every measured change with its page, page by page in time order."""
    for page in collection.pages(source=source):
        for row in page.history():
            if row.change is not None:
                yield ChangeRow(page, row.visit, row.change)
