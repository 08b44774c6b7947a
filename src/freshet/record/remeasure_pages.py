"""Compares stored versions again, after a change of settings or masks."""

from collections.abc import Iterable, Sequence

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.types import Page
from freshet.record.change_criteria import page_criteria
from freshet.record.collection_store import CollectionStore
from freshet.record.remeasurement import HistoryRemeasurement, HistoryViews, remeasure_history


def remeasure_pages(
    collection: CollectionStore, pages: Iterable[Page], *, max_bytes: int | None = None
) -> int:
    """Compare the stored versions of pages again; return the number of visits compared.

    ``max_bytes`` limits how much of each page is read: only its latest visits are compared then.
    """
    return sum(_remeasure_page(collection, page, max_bytes) for page in pages)


def _remeasure_page(collection: CollectionStore, page: Page, max_bytes: int | None) -> int:
    catalog, criteria = collection.catalog, page_criteria(collection, page)
    stored_page = collection.page(page.url, source=page.source, removed=True)
    views = HistoryViews(lambda row: stored_page.view_of_visit(row, dom=criteria.reads_dom), {})
    uids = None if max_bytes is None else _latest_uids(catalog.history(page.id), max_bytes)
    remeasurement = HistoryRemeasurement(criteria, views, catalog.link_delta, uids)
    return remeasure_history(catalog, page.id, remeasurement)


def _latest_uids(rows: Sequence[HistoryRow], max_bytes: int) -> frozenset[bytes] | None:
    """Return the uids of the latest visits that together fit; None if all visits do."""
    uids: set[bytes] = set()
    for row in reversed(rows):
        max_bytes -= row.view.facts.bytes if row.view else 0
        if max_bytes < 0:
            return frozenset(uids)
        uids.add(row.visit.uid)
    return None
