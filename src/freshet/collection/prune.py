"""Thin old versions: rows stay, the bytes of most old versions go, and only when asked."""

from collections.abc import Collection as Items
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from freshet.core.errors import UsageError
from freshet.core.types import Outcome, Visit
from freshet.record.rewrite import dependent_visits, drop_records
from freshet.record.store import CollectionStore

KEEP_PERIODS = {"day": "%Y-%m-%d", "week": "%G-%V", "month": "%Y-%m", "year": "%Y"}

PayloadId = tuple[bytes | None, int | None]


@dataclass(frozen=True, slots=True)
class PruneSummary:
    """What a prune would drop, or has dropped."""

    versions: int
    pages: int
    stored_bytes: int
    freed_bytes: int = 0


def prune(
    collection: CollectionStore,
    *,
    older_than: timedelta,
    keep: str,
    source: str | None,
    apply: bool,
) -> PruneSummary:
    """Of versions older than that keep the last of each period; without ``apply`` only say so."""
    if keep not in KEEP_PERIODS:
        raise UsageError(f"--keep {keep!r} is not known; choose {', '.join(KEEP_PERIODS)}")
    before = collection.clock.now() - older_than
    if not apply:
        return _thinning(visits_to_prune(collection, before, keep, source))
    with collection.appending() as lock:
        doomed = visits_to_prune(collection, before, keep, source)
        planned = _thinning(doomed)
        freed = drop_records(collection, lock, doomed)
    return PruneSummary(planned.versions, planned.pages, planned.stored_bytes, freed)


def visits_to_prune(
    collection: CollectionStore, before: datetime, keep: str, source: str | None
) -> list[Visit]:
    """Return the visits whose bytes may go, of pages that are on the live list."""
    doomed = [
        visit
        for page in collection.pages(source=source)
        for visit in prunable_visits(_visits(collection, page.id), before, keep)
    ]
    needed = {(visit.digest, visit.size) for visit, _ in dependent_visits(collection, doomed)}
    versions = [visit for visit in doomed if (visit.digest, visit.size) not in needed]
    pages = dict.fromkeys(visit.page for visit in versions)
    going = {visit.uid for visit in versions}
    return versions + [
        visit for page in pages for visit in not_modified_visits(_visits(collection, page), going)
    ]


def not_modified_visits(visits: Iterable[Visit], going: Items[bytes]) -> Iterator[Visit]:
    """Yield the "not modified" visits whose version goes: their records would refer to nothing."""
    goes = False
    for visit in visits:
        if visit.outcome is Outcome.OK:
            goes = visit.uid in going
        elif goes and visit.outcome is Outcome.NOT_MODIFIED and visit.location is not None:
            yield visit


def _visits(collection: CollectionStore, page: int) -> list[Visit]:
    return [row.visit for row in collection.catalog.history(page)]


def prunable_visits(visits: Sequence[Visit], before: datetime, keep: str) -> list[Visit]:
    """Return which of a page's visits may lose their bytes.

    The first and the last version stay, as do the last of each period, everything newer, and
    whatever has the same bytes as a version that stays (a revisit may point to it).
    """
    kept = [visit for visit in visits if visit.location and visit.outcome is Outcome.OK]
    old = [visit for visit in kept[1:-1] if visit.time < before]
    last_of = {visit.time.strftime(KEEP_PERIODS[keep]): visit.uid for visit in kept}
    spared = set(last_of.values())
    doomed = [visit for visit in old if visit.uid not in spared]
    needed = _payloads({v.uid for v in kept} - {v.uid for v in doomed}, kept)
    return [visit for visit in doomed if (visit.digest, visit.size) not in needed]


def _payloads(uids: set[bytes], visits: Iterable[Visit]) -> set[PayloadId]:
    return {(visit.digest, visit.size) for visit in visits if visit.uid in uids}


def _thinning(doomed: Sequence[Visit]) -> PruneSummary:
    stored = sum(visit.location.length for visit in doomed if visit.location)
    versions = sum(visit.outcome is not Outcome.NOT_MODIFIED for visit in doomed)
    return PruneSummary(versions, len({visit.page for visit in doomed}), stored)
