"""How many pages of a collection change within an hour, minutes or at once, from their bursts."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.types import Change
from freshet.measure.statistics.burst_table import (
    INTERVAL_TOLERANCE,
    BurstInterval,
    LookPairs,
    burst_table,
)
from freshet.record.change_criteria import ChangeCriteria, page_criteria
from freshet.record.collection_store import CollectionStore
from freshet.record.page_bursts import page_bursts
from freshet.record.stored_page import StoredPage

# The look before a burst is a sample of one hour if it was about an hour before.
HOUR = timedelta(hours=1)

LookPair = tuple[int, float, bool, float, bool]


def collection_burst_table(collection: CollectionStore) -> list[BurstInterval]:
    """Return the shares of pages that change within an hour, minutes or at once."""
    sampled_pages = collection.catalog.pages_by_id(collection.catalog.pages_with_samples()).values()
    pages = (collection.page(page.url, source=page.source) for page in sampled_pages)
    return burst_table(
        LookPairs.from_rows(pair for page in pages for pair in _look_pairs(collection, page))
    )


def _look_pairs(collection: CollectionStore, page: StoredPage) -> Iterator[LookPair]:
    """Yield the samples of each burst paired with its first, and that with the look before."""
    criteria = page_criteria(collection, page)
    rows = {row.visit.id: row for row in collection.catalog.history(page.id)}
    for burst in page_bursts(collection.catalog, page.id):
        looks = [rows[visit] for visit in burst.visits if rows[visit].visit.outcome.is_look]
        if not looks or looks[0].visit.id != burst.visits[0]:
            continue
        yield from _pair_before_burst(page.id, looks[0], rows)
        yield from _pairs_within_burst(page, criteria, looks, apart=burst.is_spaced)


def _pairs_within_burst(
    page: StoredPage, criteria: ChangeCriteria, looks: list[HistoryRow], *, apart: bool
) -> Iterator[LookPair]:
    """Yield the samples after the first, each compared with it, where both can be read."""
    first = page.view_of_visit(looks[0], dom=criteria.reads_dom)
    for look in looks[1:]:
        later = page.view_of_visit(look, dom=criteria.reads_dom)
        if first is None or later is None:
            continue
        change = criteria.compare(first, later)
        seconds = (look.visit.time - looks[0].visit.time).total_seconds()
        yield page.id, seconds, bool(change.text), _dice(change), apart


def _pair_before_burst(
    page: int, look: HistoryRow, rows: Mapping[int | None, HistoryRow]
) -> Iterator[LookPair]:
    """Yield a burst's first sample compared with the look before, if that was an hour ago."""
    before = rows.get(look.since)
    if before is None or look.change is None:
        return
    span = look.visit.time - before.visit.time
    if HOUR / INTERVAL_TOLERANCE <= span <= HOUR * INTERVAL_TOLERANCE:
        yield page, span.total_seconds(), bool(look.change.text), _dice(look.change), False


def _dice(change: Change) -> float:
    return float("nan") if change.dice is None else change.dice
