"""Measure stored versions again, as after a change of settings or masks."""

from collections.abc import Iterable, Sequence

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.types import Page
from freshet.record.change_criteria import criteria_of_pages
from freshet.record.remeasurement import HistoryRemeasurement, HistoryViews, remeasure_history
from freshet.record.store import CollectionStore


def remeasure_pages(
    collection: CollectionStore, pages: Iterable[Page], *, max_bytes: int | None = None
) -> int:
    """Compare the stored versions of pages anew; return how many visits were measured.

    ``max_bytes`` bounds how much of a page is read: its latest visits are measured, earlier ones
    stay as they are.
    """
    return sum(_measure_page(collection, page, max_bytes) for page in pages)


def _measure_page(collection: CollectionStore, page: Page, most_bytes: int | None) -> int:
    gauge = criteria_of_pages(collection.catalog, collection.settings, [page.id])[page.id]
    view_of = collection.page(page.url, source=page.source, removed=True).view_of_visit
    views = HistoryViews(lambda row: view_of(row, dom=gauge.reads_dom), {})
    uids = None
    if most_bytes is not None:
        uids = _latest(collection.catalog.history(page.id), most_bytes)
    remeasurement = HistoryRemeasurement(gauge, views, collection.catalog.link_delta, uids)
    return remeasure_history(collection.catalog, page.id, remeasurement)


def _latest(rows: Sequence[HistoryRow], most_bytes: int) -> frozenset[bytes] | None:
    """Return the uids of the latest visits that are so large together; None where all are."""
    uids: set[bytes] = set()
    for row in reversed(rows):
        most_bytes -= row.view.facts.bytes if row.view else 0
        if most_bytes < 0:
            return frozenset(uids)
        uids.add(row.visit.uid)
    return None
