"""A policy that knows a collection: its live pages, and everything that visits have shown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import PageColumns
from freshet.core.clock import to_epoch
from freshet.core.errors import SettingsError, UsageError
from freshet.core.policy import Policy
from freshet.core.settings import Settings
from freshet.core.tables import (
    DAY_SECONDS,
    HostCaps,
    PageIdArray,
    PageTable,
    VisitTable,
    hash_names,
)
from freshet.core.types import Change, Page, Visit
from freshet.record.fault_isolation import isolate_faults
from freshet.schedule.model_file import resolve_policy
from freshet.schedule.policies import FormulaRanking, make_policy

# As many pages of one directory as make the look-around clock run.
WARM_UP_PAGES = 8
PLANNABLE_OBJECTIVES = ("freshness", "changes")


def policy_name(settings: Settings) -> str:
    """Return the name of the policy that the settings ask for, or of the objective's own.

    >>> policy_name(Settings(objective="changes")), policy_name(Settings(policy="t*X"))
    ('bayes-changes', 't * X')
    """
    wanted = configured_policy(settings)
    return wanted if isinstance(wanted, str) else wanted.title


def configured_policy(settings: Settings) -> str | FormulaRanking:
    """Return the policy that the settings ask for: a known one, a formula or a learned model."""
    if settings.policy:
        return _named(settings.policy)
    if settings.objective not in PLANNABLE_OBJECTIVES:
        raise SettingsError(
            f"objective {settings.objective!r} cannot be planned for yet; "
            f"set it to {' or '.join(PLANNABLE_OBJECTIVES)}"
        )
    return f"bayes-{settings.objective}"


def _named(name: str) -> str | FormulaRanking:
    try:
        return resolve_policy(name)
    except UsageError as error:
        raise type(error)(f"setting policy: {error}") from error


def build_live_policy(
    catalog: Catalog,
    settings: Settings,
    *,
    now: datetime | None = None,
    also_read: Callable[[VisitTable], None] | None = None,
) -> Policy:
    """Return a policy that has learnt every visit of the live pages, paused ones too.

    Visits ahead of ``now``, which a clock that was wrong has left, count as made just now.
    ``also_read`` is shown the same visits, so that they are read once.
    """
    policy = make_policy(
        configured_policy(settings),
        live=True,
        page_interval=settings.politeness.page_interval,
        longest_backoff_days=settings.politeness.longest_backoff,
    )
    weights = catalog.importance_by_page()

    def pages(ids: Sequence[int]) -> PageTable:
        found = page_columns(catalog.pages_by_id(ids).values())
        return page_table(found, weights, settings.page.importance)

    for batch in catalog.live_page_columns():
        policy.add(page_table(batch, weights, settings.page.importance))
    for visits in catalog.live_visit_tables():
        known = visits if now is None else _until(visits, to_epoch(now))
        learn_visits(policy, known, PageLookup(pages, partial(_visits_of, known)))
        if also_read is not None:
            with isolate_faults("learning which pages change at every visit", "plan"):
                also_read(visits)
    return policy


@dataclass(frozen=True, slots=True)
class PageLookup:
    """Where a policy's pages and their whole histories are found, by ids."""

    pages: Callable[[Sequence[int]], PageTable]
    history: Callable[[Sequence[int]], VisitTable]


def visit_histories(catalog: Catalog, pages: Sequence[int]) -> VisitTable:
    """Return all visits of pages."""
    past = (row for page in pages for row in catalog.history(page))
    return visit_table([(row.visit, row.change) for row in past])


def learn_visits(policy: Policy, visits: VisitTable, lookup: PageLookup) -> None:
    """Let a policy learn visits; where that fails, its pages' whole histories, apart."""
    with isolate_faults("learning them", f"{len(visits):,} visits"):
        policy.learn(visits)
        return
    relearn_pages(policy, np.unique(visits.pages), lookup)


def relearn_pages(policy: Policy, pages: PageIdArray, lookup: PageLookup) -> None:
    """Let a policy forget pages and learn their histories; those that raise errors are parted.

    A page whose visits cannot be learnt counts as one that failed at each of them.
    """
    if not len(pages):
        return
    policy.forget(pages)
    policy.add(lookup.pages(pages.tolist()))
    with isolate_faults("learning their visits", f"pages {pages[0]} to {pages[-1]}"):
        policy.learn(lookup.history(pages.tolist()))
        return
    if len(pages) == 1:
        _learn_as_failing(policy, pages, lookup)
        return
    for half in np.array_split(pages, 2):
        relearn_pages(policy, half, lookup)


def _learn_as_failing(policy: Policy, page: PageIdArray, lookup: PageLookup) -> None:
    """Let a policy back a page off; one that it cannot learn at all it leaves out."""
    policy.forget(page)
    with isolate_faults("backing it off", f"page {page[0]}"):
        policy.add(lookup.pages(page.tolist()))
        visits = lookup.history(page.tolist())
        none = np.zeros(len(visits), np.bool_)
        policy.learn(replace(visits, looks=none, measured=none, changed=none))
        return
    policy.forget(page)


def _visits_of(visits: VisitTable, pages: Sequence[int]) -> VisitTable:
    kept = np.isin(visits.pages, pages)
    return VisitTable(
        visits.pages[kept], visits.times[kept], visits.looks[kept], visits.measured[kept],
        visits.changed[kept], visits.new_links[kept],
    )  # fmt: skip


def _until(visits: VisitTable, now: float) -> VisitTable:
    return replace(visits, times=np.minimum(visits.times, now))


def warm_up_policy(settings: Settings, now: datetime) -> None:
    """Let a policy of its own learn and choose once, so that its compiled code is loaded."""
    policy = make_policy(configured_policy(settings), live=True)
    ids, same = np.arange(1, WARM_UP_PAGES + 1), np.zeros(WARM_UP_PAGES, np.uint64)
    unknown, ones = np.full(WARM_UP_PAGES, np.nan), np.ones(WARM_UP_PAGES)
    policy.add(PageTable(ids, same, same, same, ones, unknown))
    yes = np.ones(WARM_UP_PAGES, np.bool_)
    for days in (2, 1):
        times = np.full(WARM_UP_PAGES, to_epoch(now) - days * DAY_SECONDS)
        links = np.full(WARM_UP_PAGES, -1, np.int32)
        policy.learn(VisitTable(ids, times, yes, yes, yes, links))
    policy.choose(now, 1, HostCaps())


def page_columns(pages: Iterable[Page]) -> PageColumns:
    """Return pages as columns."""
    rows = [(page.id, page.host, page.site, page.directory, page.paused) for page in pages]
    return PageColumns(*zip(*rows, strict=True)) if rows else PageColumns((), (), (), (), ())


def page_table(
    pages: PageColumns, weights: Mapping[int, float], default_importance: float
) -> PageTable:
    """Turn pages into what a policy takes."""
    importance = [weights.get(page, default_importance) for page in pages.ids]
    return PageTable(
        np.array(pages.ids, np.int64),
        hash_names(pages.hosts),
        hash_names(pages.sites),
        hash_names(pages.directories),
        np.array(importance, np.float64),
        np.full(len(pages.ids), np.nan),
    )


def visit_table(visits: Sequence[tuple[Visit, Change | None]]) -> VisitTable:
    """Turn visits just recorded into what a policy learns."""
    ordered = sorted(visits, key=lambda item: (item[0].page, item[0].time))
    links = [change.new_link_count if change else None for _, change in ordered]
    return VisitTable(
        np.array([visit.page for visit, _ in ordered], np.int64),
        np.array([visit.time.timestamp() for visit, _ in ordered], np.float64),
        np.array([visit.outcome.is_look for visit, _ in ordered], np.bool_),
        np.array([change is not None for _, change in ordered], np.bool_),
        np.array([change is not None and change.changed for _, change in ordered], np.bool_),
        np.array([-1 if count is None else count for count in links], np.int32),
    )


def id_array(pages: Iterable[int]) -> PageIdArray:
    """Return page ids as a column."""
    return np.fromiter(pages, np.int64)
