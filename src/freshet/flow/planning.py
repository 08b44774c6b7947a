"""A policy that knows a collection: its live pages, and everything that visits have shown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from freshet.archive.catalog.base import Catalog
from freshet.archive.catalog.rows import PageColumns
from freshet.core.clock import to_epoch
from freshet.core.errors import SettingsError, UsageError
from freshet.core.policy import Policy
from freshet.core.settings import Settings
from freshet.core.tables import DAY_SECONDS, Caps, PageIds, PageTable, VisitTable, keys_of
from freshet.core.types import Change, Visit
from freshet.flow.models import resolved
from freshet.schedule.policies import Ranking, make

# As many pages of one directory as make the look-around clock run.
REHEARSED = 8
PLANNED_FOR = ("freshness", "changes")


def policy_name(settings: Settings) -> str:
    """Return the name of the policy that the settings ask for, or of the objective's own.

    >>> policy_name(Settings(objective="changes")), policy_name(Settings(policy="t*X"))
    ('bayes-changes', 't * X')
    """
    wanted = wanted_policy(settings)
    return wanted if isinstance(wanted, str) else wanted.title


def wanted_policy(settings: Settings) -> str | Ranking:
    """Return the policy that the settings ask for: a known one, a formula or a learned model."""
    if settings.policy:
        return _named(settings.policy)
    if settings.objective not in PLANNED_FOR:
        raise SettingsError(
            f"objective {settings.objective!r} cannot be planned for yet; "
            f"set it to {' or '.join(PLANNED_FOR)}"
        )
    return f"bayes-{settings.objective}"


def _named(name: str) -> str | Ranking:
    try:
        return resolved(name)
    except UsageError as error:
        raise type(error)(f"setting policy: {error}") from error


def informed_policy(
    catalog: Catalog,
    settings: Settings,
    *,
    now: datetime | None = None,
    beside: Callable[[VisitTable], None] | None = None,
) -> Policy:
    """Return a policy that has learnt every visit of the live pages, paused ones too.

    Visits ahead of ``now``, which a clock that was wrong has left, count as made just now.
    ``beside`` is shown the same visits, so that they are read once.
    """
    policy = make(
        wanted_policy(settings),
        live=True,
        page_interval=settings.politeness.page_interval,
        longest_backoff_days=settings.politeness.longest_backoff,
    )
    weights = catalog.weights()
    for batch in catalog.page_columns():
        policy.add(page_table(batch, weights, settings.page.importance))
    for visits in catalog.visit_columns():
        policy.learn(visits if now is None else _until(visits, to_epoch(now)))
        if beside is not None:
            beside(visits)
    return policy


def _until(visits: VisitTable, now: float) -> VisitTable:
    return replace(visits, times=np.minimum(visits.times, now))


def rehearse(settings: Settings, now: datetime) -> None:
    """Let a policy of its own learn and choose once, so that its compiled code is loaded."""
    policy = make(wanted_policy(settings), live=True)
    ids, same = np.arange(1, REHEARSED + 1), np.zeros(REHEARSED, np.uint64)
    unknown, ones = np.full(REHEARSED, np.nan), np.ones(REHEARSED)
    policy.add(PageTable(ids, same, same, same, ones, unknown))
    yes = np.ones(REHEARSED, np.bool_)
    for days in (2, 1):
        times = np.full(REHEARSED, to_epoch(now) - days * DAY_SECONDS)
        links = np.full(REHEARSED, -1, np.int32)
        policy.learn(VisitTable(ids, times, yes, yes, yes, links))
    policy.choose(now, 1, Caps())


def page_table(pages: PageColumns, weights: Mapping[int, float], usual: float) -> PageTable:
    """Turn pages into what a policy takes."""
    importance = [weights.get(page, usual) for page in pages.ids]
    return PageTable(
        np.array(pages.ids, np.int64),
        keys_of(pages.hosts),
        keys_of(pages.sites),
        keys_of(pages.directories),
        np.array(importance, np.float64),
        np.full(len(pages.ids), np.nan),
    )


def visit_table(learnt: Sequence[tuple[Visit, Change | None]]) -> VisitTable:
    """Turn visits just recorded into what a policy learns."""
    ordered = sorted(learnt, key=lambda item: (item[0].page, item[0].time))
    links = [change.new_link_count if change else None for _, change in ordered]
    return VisitTable(
        np.array([visit.page for visit, _ in ordered], np.int64),
        np.array([visit.time.timestamp() for visit, _ in ordered], np.float64),
        np.array([visit.outcome.is_look for visit, _ in ordered], np.bool_),
        np.array([change is not None for _, change in ordered], np.bool_),
        np.array([change is not None and change.changed for _, change in ordered], np.bool_),
        np.array([-1 if count is None else count for count in links], np.int32),
    )


def ids_of(pages: Iterable[int]) -> PageIds:
    """Return page ids as a column."""
    return np.fromiter(pages, np.int64)
