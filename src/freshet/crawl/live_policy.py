"""Builds the policy of a live crawl from a collection's pages and visits, and keeps it current."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import PageColumns
from freshet.core.clock import to_epoch
from freshet.core.errors import UsageError
from freshet.core.policy import Policy, RefittingPolicy
from freshet.core.settings import Settings
from freshet.core.tables import (
    DAY_SECONDS,
    HostCaps,
    PageIdArray,
    PageTable,
    VisitTable,
    concatenate_tables,
    hash_names,
)
from freshet.core.types import Change, Page, Visit
from freshet.crawl.history_replay import first_replayed_time, replay_visits
from freshet.crawl.policy_state import (
    StoredPolicyState,
    outdated_pages,
    read_policy_state,
    restore_policy,
)
from freshet.crawl.policy_status import resume_policy
from freshet.crawl.threads.post_curves import learn_threads
from freshet.predict.threads.rate_model import RateModel, pooled_hazard
from freshet.record.fault_isolation import isolate_faults
from freshet.schedule.links.link_policy import LinkPolicy
from freshet.schedule.model_file import resolve_policy
from freshet.schedule.policies import (
    LINK_FORECAST_POLICY,
    THREAD_POLICY,
    FormulaRanking,
    make_policy,
)
from freshet.schedule.visit_steps import select_visits

# Enough pages of one host and directory to learn shared events.
WARM_UP_PAGES = 8
DEFAULT_POLICIES = {
    "freshness": "guarded-freshness",
    "changes": "guarded-changes",
    "links": LINK_FORECAST_POLICY,
    "timeliness": THREAD_POLICY,
}


def policy_name(settings: Settings) -> str:
    """Return the name of the configured policy, or of the objective's default.

    >>> policy_name(Settings(objective="changes")), policy_name(Settings(policy="t*X"))
    ('guarded-changes', 't * X')
    """
    policy_choice = configured_policy(settings)
    return policy_choice if isinstance(policy_choice, str) else policy_choice.title


def configured_policy(settings: Settings) -> str | FormulaRanking:
    """Return the configured policy: a built-in one, a formula or a learned model."""
    if settings.policy:
        try:
            return resolve_policy(settings.policy)
        except UsageError as error:
            raise type(error)(f"setting policy: {error}") from error
    return DEFAULT_POLICIES[settings.objective]


def build_live_policy(
    catalog: Catalog,
    settings: Settings,
    *,
    now: datetime | None = None,
    also_read: Callable[[VisitTable], None] | None = None,
    hazard: RateModel | None = None,
) -> Policy:
    """Return a policy that has learned all visits of the live pages, paused ones too.

    It continues from the state that the last crawl by the same policy has stored. Without a state
    it learns all visits in the order of time, and continues from the report of that crawl. Visits
    after ``now``, as a wrong clock leaves them, count as made now. ``also_read`` receives the same
    visits, so that they are read once. ``hazard`` forecasts the posts of threads, by default the
    one that the package has.
    """
    latest = np.inf if now is None else to_epoch(now)
    tables: Iterable[VisitTable] = catalog.live_visit_tables()
    if also_read is not None:
        tables = _read_also(tables, also_read)
    stored, policy = read_policy_state(catalog, policy_name(settings), latest), None
    if stored is not None:
        tables = list(tables)
        policy = _resumed_policy(catalog, settings, tables, latest, stored)
    policy = policy or _replayed_policy(catalog, settings, tables, latest)
    if isinstance(policy, LinkPolicy):
        ids = policy.page_states.ids
        policy.learn_page_links(ids, catalog.link_totals().known_at(ids, np.inf))
    learn_threads(policy, catalog, hazard or pooled_hazard())
    return policy


def build_fitted_policy(
    catalog: Catalog, settings: Settings, *, now: datetime, hazard: RateModel | None = None
) -> Policy:
    """Return a live policy that is fitted to all its visits, for forecasts that are shown.

    A stored state may have been fitted before the last visits of its crawl.
    """
    policy = build_live_policy(catalog, settings, now=now, hazard=hazard)
    if isinstance(policy, RefittingPolicy):
        with isolate_faults("fitting it", f"policy {policy.name}"):
            policy.refit(now)
    return policy


def _read_also(
    tables: Iterable[VisitTable], also_read: Callable[[VisitTable], None]
) -> Iterator[VisitTable]:
    """Yield tables of visits; ``also_read`` receives them too."""
    for visits in tables:
        with isolate_faults("learning which pages change at every visit", "plan"):
            also_read(visits)
        yield visits


def _replayed_policy(
    catalog: Catalog, settings: Settings, tables: Iterable[VisitTable], latest: float
) -> Policy:
    """Return a policy that has learned all visits in the order of time."""
    policy, page_count, replayed = _new_policy(settings), 0, []
    for pages in _live_pages(catalog, settings):
        policy.add(pages)
        page_count += len(pages)
    replay_start = first_replayed_time(policy, latest, catalog.last_visit_id())
    load_pages = partial(_load_pages, catalog, settings)

    def learn(visits: VisitTable, history: VisitTable) -> None:
        learn_visits(policy, visits, PageLookup(load_pages, partial(_visits_of, history)))

    for visits in tables:
        bounded = replace(visits, times=np.minimum(visits.times, latest))
        is_replayed = bounded.times >= replay_start
        replayed.append(select_visits(bounded, is_replayed))
        earlier = select_visits(bounded, ~is_replayed)
        learn(earlier, earlier)
    if isinstance(policy, RefittingPolicy) and replayed:
        replay_visits(policy, concatenate_tables(replayed), page_count, learn)
    with isolate_faults("continuing from its last report", f"policy {policy.name}"):
        resume_policy(catalog, policy)
    return policy


def _resumed_policy(
    catalog: Catalog,
    settings: Settings,
    tables: Sequence[VisitTable],
    latest: float,
    stored: StoredPolicyState,
) -> Policy | None:
    """Return a policy that continues from a stored state; None if that fails."""
    policy, page_tables = _new_policy(settings), list(_live_pages(catalog, settings))
    newer = list(catalog.live_visit_tables(after_visit_id=stored.last_visit_id))
    if not (isinstance(policy, RefittingPolicy) and tables and page_tables):
        return None
    with isolate_faults("continuing from its stored state", f"policy {policy.name}"):
        pages, history = concatenate_tables(page_tables), concatenate_tables(tables)
        history = replace(history, times=np.minimum(history.times, latest))
        lookup = PageLookup(partial(_load_pages, catalog, settings), partial(_visits_of, history))
        restore_policy(policy, stored, pages)
        if newer:
            visits = concatenate_tables(newer)
            visits = replace(visits, times=np.minimum(visits.times, latest))
            replay_visits(
                policy, visits, len(pages), lambda step, _: learn_visits(policy, step, lookup)
            )
        relearn_pages(policy, outdated_pages(policy, pages, history), lookup)
        return policy
    return None


def _new_policy(settings: Settings) -> Policy:
    """Return the configured policy without pages."""
    return make_policy(
        configured_policy(settings),
        live=True,
        page_interval=settings.politeness.page_interval,
        longest_backoff_days=settings.politeness.longest_backoff,
    )


def _live_pages(catalog: Catalog, settings: Settings) -> Iterator[PageTable]:
    """Yield the live pages."""
    weights = catalog.importance_by_page()
    for batch in catalog.live_page_columns():
        yield page_table(batch, weights, settings.page.importance)


def _load_pages(catalog: Catalog, settings: Settings, ids: Sequence[int]) -> PageTable:
    columns = page_columns(catalog.pages_by_id(ids).values())
    return page_table(columns, catalog.importance_by_page(), settings.page.importance)


@dataclass(frozen=True, slots=True)
class PageLookup:
    """Functions that load a policy's pages and their histories by ids."""

    pages: Callable[[Sequence[int]], PageTable]
    history: Callable[[Sequence[int]], VisitTable]


def visit_histories(catalog: Catalog, pages: Sequence[int]) -> VisitTable:
    """Return all visits of pages."""
    rows = (row for page in pages for row in catalog.history(page))
    return visit_table([(row.visit, row.change) for row in rows])


def learn_visits(policy: Policy, visits: VisitTable, lookup: PageLookup) -> None:
    """Make a policy learn visits; if that fails, learn the histories of their pages separately."""
    with isolate_faults("learning them", f"{len(visits):,} visits"):
        policy.learn(visits)
        return
    relearn_pages(policy, np.unique(visits.pages), lookup)


def learn_page_links(policy: Policy, catalog: Catalog, pages: Sequence[int]) -> None:
    """Make a policy of new links learn how many links pages had at their last looks."""
    if isinstance(policy, LinkPolicy):
        views = {page: look.view for page, look in catalog.last_looks(pages).items() if look.view}
        facts = [view.facts for view in views.values()]
        links = [float(fact.links_internal + fact.links_external) for fact in facts]
        policy.learn_page_links(id_array(views), np.array(links))


def relearn_pages(policy: Policy, pages: PageIdArray, lookup: PageLookup) -> None:
    """Make a policy forget pages and learn their histories again.

    If that fails, the pages are halved until the faulty page is alone. A page whose visits cannot
    be learned counts as failed at each of them.
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
    """Make a policy back off a page; a page that it cannot learn at all is left out."""
    policy.forget(page)
    with isolate_faults("backing it off", f"page {page[0]}"):
        policy.add(lookup.pages(page.tolist()))
        visits = lookup.history(page.tolist())
        all_false = np.zeros(len(visits), np.bool_)
        policy.learn(replace(visits, looks=all_false, measured=all_false, changed=all_false))
        return
    policy.forget(page)


def _visits_of(visits: VisitTable, pages: Sequence[int]) -> VisitTable:
    return select_visits(visits, np.isin(visits.pages, pages))


def warm_up_policy(settings: Settings, now: datetime) -> None:
    """Make a policy learn, choose and forget, so that its compiled code is loaded.

    The last looks are at a page that was chosen before and had changed then. The last choice
    follows a single look within the hour without a new fit. Other functions are used for both.
    """
    policy = make_policy(configured_policy(settings), live=True)
    ids, same = np.arange(1, WARM_UP_PAGES + 1), np.zeros(WARM_UP_PAGES, np.uint64)
    unknown, ones = np.full(WARM_UP_PAGES, np.nan), np.ones(WARM_UP_PAGES)
    policy.add(PageTable(ids, same, same, same, ones, unknown))
    chosen = ids[:0]
    for days in (3, 2, 1, 0):
        looked_at = ids if days > 1 else chosen
        times = np.full(len(looked_at), to_epoch(now) - days * DAY_SECONDS)
        flags, links = np.ones(len(looked_at), np.bool_), np.full(len(looked_at), -1, np.int32)
        policy.learn(VisitTable(looked_at, times, flags, flags, flags, links))
        choices = policy.choose(now, 1, HostCaps())
        chosen = choices.pages if days == 3 else chosen
    policy.forget(ids[:1])


def page_columns(pages: Iterable[Page]) -> PageColumns:
    """Return pages as columns."""
    rows = [(page.id, page.host, page.site, page.directory, page.paused) for page in pages]
    return PageColumns(*zip(*rows, strict=True)) if rows else PageColumns((), (), (), (), ())


def page_table(
    pages: PageColumns, weights: Mapping[int, float], default_importance: float
) -> PageTable:
    """Return pages as the table that a policy takes."""
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
    """Return visits as the table that a policy learns; links that come and go count once."""
    ordered = sorted(visits, key=lambda item: (item[0].page, item[0].time))
    links = [change.fresh_link_count if change else None for _, change in ordered]
    return VisitTable(
        np.array([visit.page for visit, _ in ordered], np.int64),
        np.array([visit.time.timestamp() for visit, _ in ordered], np.float64),
        np.array([visit.outcome.is_look for visit, _ in ordered], np.bool_),
        np.array([change is not None for _, change in ordered], np.bool_),
        np.array([change is not None and change.changed for _, change in ordered], np.bool_),
        np.array([-1 if count is None else count for count in links], np.int32),
    )


def id_array(pages: Iterable[int]) -> PageIdArray:
    """Return page ids as an array."""
    return np.fromiter(pages, np.int64)
