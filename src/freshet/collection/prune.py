"""Prunes old versions: most of them lose their bytes; all rows stay."""

from collections.abc import Collection as Items
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from freshet.core.errors import UsageError
from freshet.core.types import Outcome, Visit
from freshet.record.collection_store import CollectionStore
from freshet.record.rewrite import dependent_visits, drop_records, payload_id

KEEP_PERIODS = {"day": "%Y-%m-%d", "week": "%G-%V", "month": "%Y-%m", "year": "%Y"}


@dataclass(frozen=True, slots=True)
class PruneSummary:
    """The size of what a prune would drop, or has dropped."""

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
    """Keep only the last version of each period among old versions; ``apply`` drops the others."""
    if keep not in KEEP_PERIODS:
        raise UsageError(f"--keep {keep!r} is not known; choose {', '.join(KEEP_PERIODS)}")
    before = collection.clock.now() - older_than
    if not apply:
        return _summary(visits_to_prune(collection, before, keep, source))
    with collection.appending() as lock:
        visits = visits_to_prune(collection, before, keep, source)
        freed_bytes = drop_records(collection, lock, visits)
    return replace(_summary(visits), freed_bytes=freed_bytes)


def visits_to_prune(
    collection: CollectionStore, before: datetime, keep: str, source: str | None
) -> list[Visit]:
    """Return the visits that lose their bytes, of all pages that were not removed."""
    prunable = [
        visit
        for page in collection.pages(source=source)
        for visit in prunable_visits(_page_visits(collection, page.id), before, keep)
    ]
    needed = {payload_id(visit) for visit, _ in dependent_visits(collection, prunable)}
    versions = [visit for visit in prunable if payload_id(visit) not in needed]
    page_ids = dict.fromkeys(visit.page for visit in versions)
    pruned_uids = {visit.uid for visit in versions}
    return versions + [
        visit
        for page_id in page_ids
        for visit in not_modified_visits(_page_visits(collection, page_id), pruned_uids)
    ]


def not_modified_visits(visits: Iterable[Visit], pruned_uids: Items[bytes]) -> Iterator[Visit]:
    """Yield the "not modified" visits of pruned versions; their records would refer to nothing."""
    is_pruned = False
    for visit in visits:
        if visit.outcome is Outcome.OK:
            is_pruned = visit.uid in pruned_uids
        elif is_pruned and visit.outcome is Outcome.NOT_MODIFIED and visit.location is not None:
            yield visit


def prunable_visits(visits: Sequence[Visit], before: datetime, keep: str) -> list[Visit]:
    """Return the visits of a page that may lose their bytes.

    The first and the last version stay, and so do the last of each period, all newer versions, and
    versions with the same bytes as one that stays (a revisit may refer to them).
    """
    stored = [visit for visit in visits if visit.location and visit.outcome is Outcome.OK]
    last_uids = {visit.time.strftime(KEEP_PERIODS[keep]): visit.uid for visit in stored}
    kept_uids = set(last_uids.values())
    prunable = [
        visit for visit in stored[1:-1] if visit.time < before and visit.uid not in kept_uids
    ]
    prunable_uids = {visit.uid for visit in prunable}
    needed = {payload_id(visit) for visit in stored if visit.uid not in prunable_uids}
    return [visit for visit in prunable if payload_id(visit) not in needed]


def _page_visits(collection: CollectionStore, page_id: int) -> list[Visit]:
    return [row.visit for row in collection.catalog.history(page_id)]


def _summary(visits: Sequence[Visit]) -> PruneSummary:
    stored_bytes = sum(visit.location.length for visit in visits if visit.location)
    versions = sum(visit.outcome is not Outcome.NOT_MODIFIED for visit in visits)
    return PruneSummary(versions, len({visit.page for visit in visits}), stored_bytes)
