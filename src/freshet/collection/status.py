"""Reports the status of a collection: its counts, its growth, the budget and failing pages."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from freshet.archive.catalog.rows import CollectionCounts, DailyGrowth, FailingPage, ImportRecord
from freshet.archive.warc.lock import ArchiveLock
from freshet.archive.warc.read import archive_files
from freshet.collection.listing import list_failing_pages
from freshet.core.errors import NotFoundError, UsageError
from freshet.core.settings import planning_objective
from freshet.core.types import BadRow
from freshet.crawl.budget_status import (
    DayBudgetStatus,
    current_budget,
    day_budget_status,
    failing_page_counts,
)
from freshet.crawl.follow import FollowStatus, follow_status
from freshet.crawl.hosts import HostSummary, closed_hosts
from freshet.crawl.learned_correction import LearnedForecastStatus, current_learned_forecast
from freshet.crawl.live_policy import policy_name
from freshet.crawl.plan import objective_origin
from freshet.crawl.policy_status import (
    ExplorationStatus,
    PolicyStatus,
    exploration_status,
    policy_status,
)
from freshet.record.collection_store import CATALOG_FILE, CollectionStore

MAX_SHOWN_IMPORTS = 10
MAX_SHOWN_FAILING = 5


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """The status of a collection; ``writer`` is the process that writes to the archive now.

    ``objective_origin`` says whose objective it is, if it is not that of the settings.

    ``growth`` counts visits by their own day, not by that of an import. ``failing`` counts pages
    whose last visit showed no content, by outcome; ``failing_pages`` are the few that failed last.
    ``followed`` counts the new links that were added as pages, by tag.
    ``policy`` is the last report of the configured policy, ``learned`` that of its learned model.
    """

    path: str
    objective: str
    objective_origin: str
    contact: str
    counts: CollectionCounts
    archive_bytes: int
    catalog_bytes: int
    free_bytes: int
    writer: str
    growth: list[DailyGrowth]
    imports: list[ImportRecord]
    today: DayBudgetStatus
    exploration: ExplorationStatus
    policy: PolicyStatus | None
    learned: LearnedForecastStatus | None
    closed_hosts: list[HostSummary]
    failing: dict[str, int]
    failing_pages: list[FailingPage]
    followed: list[FollowStatus]


def collection_status(collection: CollectionStore, *, days: int) -> CollectionStatus:
    """Return the status of a collection, with its growth on the last days."""
    outcomes = collection.catalog.last_outcome_counts()
    hosts, politeness = collection.catalog.host_states(), collection.settings.politeness
    return CollectionStatus(
        path=str(collection.path.resolve()),
        objective=planning_objective(collection.planning_settings()),
        objective_origin=objective_origin(collection),
        contact=collection.settings.contact,
        counts=collection.catalog.counts(),
        archive_bytes=sum(path.stat().st_size for path in archive_files(collection.archive_folder)),
        catalog_bytes=(collection.path / CATALOG_FILE).stat().st_size,
        free_bytes=shutil.disk_usage(collection.path).free,
        writer=ArchiveLock(collection.archive_folder).holder(),
        growth=growth_of_last_days(collection.catalog.daily_growth(), days),
        imports=collection.catalog.imports()[-MAX_SHOWN_IMPORTS:],
        today=day_budget_status(collection, outcomes, budget=current_budget(collection)),
        exploration=exploration_status(collection.catalog, collection.clock.now(), days=days),
        policy=_policy_status(collection),
        learned=current_learned_forecast(collection, collection.clock.now()),
        closed_hosts=closed_hosts(hosts, politeness, collection.clock.now()),
        failing=failing_page_counts(outcomes),
        failing_pages=list_failing_pages(collection, source="", limit=MAX_SHOWN_FAILING),
        followed=follow_status(collection.catalog, collection.clock.now()),
    )


def _policy_status(collection: CollectionStore) -> PolicyStatus | None:
    """Return the last report of the configured policy; None if the setting cannot be used."""
    try:
        policy = policy_name(collection.planning_settings())
    except UsageError:
        return None
    return policy_status(collection.catalog, policy)


def growth_of_last_days(growth: Sequence[DailyGrowth], days: int) -> list[DailyGrowth]:
    """Return the growth on the last calendar days before and including that of the last visit."""
    if not growth:
        return []
    last_day = growth[-1].day
    return [row for row in growth if (last_day - row.day).days < days]


def bad_rows_of_import(collection: CollectionStore, number: int) -> list[BadRow]:
    """Return every row that an import refused."""
    if number not in {row.id for row in collection.catalog.imports()}:
        raise NotFoundError(f"there is no import {number}; 'freshet status' numbers them")
    return collection.catalog.bad_rows(number)
