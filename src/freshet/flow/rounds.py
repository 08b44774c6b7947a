"""What rounds have shown: each page's rounds as visits, and how many pages change how fast."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import groupby
from typing import NamedTuple

from freshet.archive.catalog.base import Catalog
from freshet.archive.catalog.rows import HistoryRow
from freshet.core.rounds import RoundKind, Sample
from freshet.core.types import Change
from freshet.flow.collection import Collection
from freshet.flow.gauge import Gauge, gauges
from freshet.flow.page import CollectionPage
from freshet.measure.rounds import TOLERANCE, Interval, Pairs
from freshet.measure.rounds import rounds_table as table_of

# The look before a round tells of an hour's change where it was about an hour before.
HOUR = timedelta(hours=1)

Pair = tuple[int, float, bool, float, bool]


class PageRound(NamedTuple):
    """One round of a page: its visits in time order; an instant one may have them apart."""

    kind: RoundKind
    visits: list[int]
    apart: bool


def rounds_of(catalog: Catalog, page_id: int) -> list[PageRound]:
    """Return a page's rounds as far as they were taken, the first one first."""
    return [_round(samples) for samples in _by_round(catalog.samples(page_id))]


def rounds_table(collection: Collection) -> list[Interval]:
    """Return how many pages of a collection change within an hour, minutes or at once."""
    known = collection.catalog.pages_by_id(collection.catalog.sampled_pages()).values()
    pages = (collection.page(page.url, source=page.source) for page in known)
    return table_of(Pairs.of(pair for page in pages for pair in _pairs(collection, page)))


def _by_round(samples: Iterable[Sample]) -> Iterator[list[Sample]]:
    """Part a page's samples, in time order, into rounds."""
    for _, of_round in groupby(samples, key=lambda sample: sample.first):
        yield list(of_round)


def _round(samples: list[Sample]) -> PageRound:
    apart = any(sample.apart for sample in samples)
    return PageRound(samples[0].kind, [sample.visit for sample in samples], apart)


def _pairs(collection: Collection, page: CollectionPage) -> Iterator[Pair]:
    """Yield every sample of a page with the first of its round, and that with the look before."""
    gauge = gauges(collection.catalog, collection.settings, [page.id])[page.id]
    rows = {row.visit.id: row for row in collection.catalog.history(page.id)}
    for each in rounds_of(collection.catalog, page.id):
        looks = [rows[visit] for visit in each.visits if rows[visit].visit.outcome.is_look]
        if not looks or looks[0].visit.id != each.visits[0]:
            continue
        yield from _since_look_before(page.id, looks[0], rows)
        yield from _since_first(page, gauge, looks, apart=each.apart)


def _since_first(
    page: CollectionPage, gauge: Gauge, looks: list[HistoryRow], *, apart: bool
) -> Iterator[Pair]:
    """Yield the samples after the first, each held against it; none where bytes are lost."""
    first = page.view_of(looks[0], dom=gauge.reads_dom)
    for look in looks[1:]:
        later = page.view_of(look, dom=gauge.reads_dom)
        if first is None or later is None:
            continue
        change = gauge.compare(first, later)
        seconds = (look.visit.time - looks[0].visit.time).total_seconds()
        yield page.id, seconds, bool(change.text), _dice(change), apart


def _since_look_before(
    page: int, look: HistoryRow, rows: Mapping[int | None, HistoryRow]
) -> Iterator[Pair]:
    """Yield a round's first sample held against the look before, where that was an hour ago."""
    before = rows.get(look.since)
    if before is None or look.change is None:
        return
    span = look.visit.time - before.visit.time
    if HOUR / TOLERANCE <= span <= HOUR * TOLERANCE:
        yield page, span.total_seconds(), bool(look.change.text), _dice(look.change), False


def _dice(change: Change) -> float:
    return float("nan") if change.dice is None else change.dice
