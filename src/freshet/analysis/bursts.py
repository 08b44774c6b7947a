"""How many pages of a collection change within an hour, minutes or at once, by their rounds."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.types import Change
from freshet.measure.statistics.burst_table import INTERVAL_TOLERANCE, BurstInterval, LookPairs
from freshet.measure.statistics.burst_table import burst_table as table_of
from freshet.record.change_criteria import ChangeCriteria, page_criteria
from freshet.record.page_bursts import page_bursts
from freshet.record.store import CollectionStore
from freshet.record.stored_page import StoredPage

# The look before a round tells of an hour's change where it was about an hour before.
HOUR = timedelta(hours=1)

LookPair = tuple[int, float, bool, float, bool]


def collection_burst_table(collection: CollectionStore) -> list[BurstInterval]:
    """Return how many pages of a collection change within an hour, minutes or at once."""
    known = collection.catalog.pages_by_id(collection.catalog.pages_with_samples()).values()
    pages = (collection.page(page.url, source=page.source) for page in known)
    return table_of(
        LookPairs.from_rows(pair for page in pages for pair in _pairs(collection, page))
    )


def _pairs(collection: CollectionStore, page: StoredPage) -> Iterator[LookPair]:
    """Yield every sample of a page with the first of its round, and that with the look before."""
    gauge = page_criteria(collection, page)
    rows = {row.visit.id: row for row in collection.catalog.history(page.id)}
    for each in page_bursts(collection.catalog, page.id):
        looks = [rows[visit] for visit in each.visits if rows[visit].visit.outcome.is_look]
        if not looks or looks[0].visit.id != each.visits[0]:
            continue
        yield from _since_look_before(page.id, looks[0], rows)
        yield from _since_first(page, gauge, looks, apart=each.is_spaced)


def _since_first(
    page: StoredPage, gauge: ChangeCriteria, looks: list[HistoryRow], *, apart: bool
) -> Iterator[LookPair]:
    """Yield the samples after the first, each held against it; none where bytes are lost."""
    first = page.view_of_visit(looks[0], dom=gauge.reads_dom)
    for look in looks[1:]:
        later = page.view_of_visit(look, dom=gauge.reads_dom)
        if first is None or later is None:
            continue
        change = gauge.compare(first, later)
        seconds = (look.visit.time - looks[0].visit.time).total_seconds()
        yield page.id, seconds, bool(change.text), _dice(change), apart


def _since_look_before(
    page: int, look: HistoryRow, rows: Mapping[int | None, HistoryRow]
) -> Iterator[LookPair]:
    """Yield a round's first sample held against the look before, where that was an hour ago."""
    before = rows.get(look.since)
    if before is None or look.change is None:
        return
    span = look.visit.time - before.visit.time
    if HOUR / INTERVAL_TOLERANCE <= span <= HOUR * INTERVAL_TOLERANCE:
        yield page, span.total_seconds(), bool(look.change.text), _dice(look.change), False


def _dice(change: Change) -> float:
    return float("nan") if change.dice is None else change.dice
