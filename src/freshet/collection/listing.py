"""Lists the pages of a collection with their totals."""

from itertools import islice

from freshet.archive.catalog.rows import FailingPage, PageTotals
from freshet.record.collection_store import CollectionStore


def list_page_totals(
    collection: CollectionStore,
    *,
    tag: str | None = None,
    source: str | None = None,
    changed: bool = False,
    limit: int | None = None,
) -> list[PageTotals]:
    """Return pages with their totals by id, or the ``changed`` ones, latest change first.

    Totals are counted for ``limit`` pages only, unless the order depends on them.
    """
    pages = collection.catalog.pages(tag=tag, source=source)
    if not changed:
        return list(collection.catalog.page_totals(islice(pages, limit)))
    rows = [row for row in collection.catalog.page_totals(pages) if row.last_change]
    return sorted(rows, key=lambda row: row.last_change or row.page.added, reverse=True)[:limit]


def list_failing_pages(
    collection: CollectionStore,
    *,
    tag: str | None = None,
    source: str | None = None,
    limit: int | None = None,
) -> list[FailingPage]:
    """Return pages whose last visit showed no content, the latest such visit first."""
    pages = collection.catalog.failing_pages(tag=tag, source=source)
    last_visits = collection.catalog.last_visits([page.id for page in pages])
    visits = {page_id: row.visit for page_id, row in last_visits.items()}
    latest = sorted(pages, key=lambda page: visits[page.id].time, reverse=True)[:limit]
    return [
        FailingPage(
            row.page, row.visits, row.looks, row.changes, row.last_look, row.last_change,
            visits[row.page.id].time, visits[row.page.id].outcome, visits[row.page.id].why,
        )
        for row in collection.catalog.page_totals(latest)
    ]  # fmt: skip
