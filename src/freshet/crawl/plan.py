"""The plan: which pages a crawl would fetch next, and for what value.

A plan simulates the crawl's own choices without fetching, so it learns nothing new on the way.
Followed links whose address was refused are left out: no request is sent to them.
Each page appears once, with its next visit. All planned visits stay under way to the policy, which
takes no further sentinel of a host for what they will show.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from math import isfinite

import numpy as np

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.budget import Budget, RequestPace, next_midnight, utc_day
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.policy import Policy, ReportingPolicy
from freshet.core.settings import Settings, planning_objective
from freshet.core.tables import HostCaps, PageIdArray
from freshet.core.types import PageChoice, Plan, PlannedVisit, Visit
from freshet.crawl.budget_status import current_budget
from freshet.crawl.frontier import Frontier
from freshet.crawl.hosts import HostTurns
from freshet.crawl.learned_correction import LearnedCorrection
from freshet.crawl.live_policy import build_fitted_policy, id_array, visit_table
from freshet.crawl.obstacles import waits_for_start
from freshet.crawl.policy_status import exploration_share
from freshet.crawl.threads.post_model import choose_post_model
from freshet.record.collection_store import CollectionStore
from freshet.record.fault_isolation import isolate_faults
from freshet.record.writer_lock import running_crawl

HORIZON = timedelta(days=1)
REQUESTED_REASON = "asked for"
# A step of the plan grows with the visits planned before, so that a long plan takes few steps.
STEPS, MAX_UNPACED_STEP = 64, 256


def make_plan(
    collection: CollectionStore,
    *,
    budget: str | int = "",
    objective: str = "",
    limit: int | None = None,
) -> Plan:
    """Return the visits of the next day in order, at most ``limit`` or a day's budget."""
    settings = collection.planning_settings(objective)
    preview = CrawlPreview(collection, settings, budget=str(budget))
    max_visits = preview.budget if limit is None else limit
    visits = islice(preview.visits(), max_visits)
    choices = with_scores(sorted(visits, key=lambda visit: visit.expected))
    return Plan(
        preview.now,
        planning_objective(settings),
        preview.policy.name,
        preview.budget,
        tuple(choices),
        _exploratory_share(preview.policy, choices),
    )


def _exploratory_share(policy: Policy, visits: Sequence[PlannedVisit]) -> float | None:
    if not isinstance(policy, ReportingPolicy):
        return None
    return exploration_share(sum(visit.exploratory for visit in visits), len(visits))


def with_scores(visits: Sequence[PlannedVisit]) -> list[PlannedVisit]:
    """Return visits with scores from 0 to 100; 100 is the greatest value."""
    greatest = max((visit.value for visit in visits if isfinite(visit.value)), default=0.0)
    if greatest <= 0:
        return list(visits)
    return [
        replace(visit, score=round(100 * max(0.0, visit.value / greatest)))
        if isfinite(visit.value)
        else visit
        for visit in visits
    ]


def objective_origin(collection: CollectionStore) -> str:
    """Say whose objective plans use, if it is not that of the settings; else return ''."""
    setting = planning_objective(collection.settings)
    if planning_objective(collection.planning_settings()) == setting:
        return ""
    crawl = "running" if running_crawl(collection.archive_folder) else "last"
    return f"of the {crawl} crawl; the setting is {setting}"


class CrawlPreview:
    """A simulation of a crawl that starts now, without fetching."""

    def __init__(
        self, collection: CollectionStore, settings: Settings, *, budget: str = ""
    ) -> None:
        self.settings = settings
        self._catalog = collection.catalog
        self._frontier = Frontier(collection.catalog, settings)
        self._frontier.reload()
        self.now = collection.clock.now()
        self._turns = HostTurns(
            collection.catalog.host_states(), settings.politeness, to_epoch(self.now)
        )
        self.post_model = choose_post_model(collection.models_folder)
        self.policy = build_fitted_policy(
            collection.catalog, settings, now=self.now, hazard=self.post_model.hazard
        )
        self.is_crawl_running = bool(running_crawl(collection.archive_folder))
        if self.is_crawl_running:
            self._learn_refusals()
        # A crawl that starts tries them again, but sends no request as long as they are refused.
        self._refused_links = collection.catalog.refused_found_pages()
        self._frontier.mark_refused(self._refused_links)
        self._learned_correction = LearnedCorrection(collection)
        self._learned_correction.apply_to_preview(self.policy, self.now)
        self.learned = self._learned_correction.status(self.now)
        self.budget = Budget.parse(budget or current_budget(collection)).requests_per_day(
            self._frontier.size
        )
        self.spent = collection.catalog.spending(utc_day(self.now)).requests

    def _learn_refusals(self) -> None:
        """Make the policy learn visits that were refused; only a crawl that starts forgets them."""
        last_visits = self._catalog.last_visits(self._catalog.unvisited_pages())
        refused = [row.visit for row in last_visits.values() if waits_for_start(row.visit)]
        self._frontier.mark_refused(visit.page for visit in refused)
        if refused:
            with isolate_faults("learning refused visits", f"policy {self.policy.name}"):
                self.policy.learn(visit_table([(visit, None) for visit in refused]))

    def learned_chance(self, page: int) -> float | None:
        """Return the chance that a page has changed by now, as a learned model corrects it.

        None if no model is in use.
        """
        return self._learned_correction.change_chance(self.policy, page, self.now)

    def visits(self) -> Iterator[PlannedVisit]:
        """Yield the visits of the next day in the order of choice, however many are taken.

        Those that need not wait for the pace come first.
        """
        start, spent, planned = self.now, self.spent, 0
        if spent >= self.budget:
            start, spent = next_midnight(self.now), 0
        for visit in self._choose_unpaced(start, self.budget - spent):
            planned += 1
            yield visit
        yield from self._choose_paced(RequestPace(start, spent + planned, self.budget), planned)

    def _choose_unpaced(self, start: datetime, room: int) -> Iterator[PlannedVisit]:
        """Yield the requested pages, then the pages never visited, some at a time."""
        waiting = self._frontier.requested(room)
        requested = [PageChoice(page, np.inf, REQUESTED_REASON) for page in waiting]
        for first in range(0, len(requested), MAX_UNPACED_STEP):
            choices = requested[first : first + MAX_UNPACED_STEP]
            yield from self._plan_turns(choices, [start] * len(choices))
        room = min(room, self._frontier.count_unpaced()) - len(requested)
        caps = HostCaps(excluded_pages=self._excluded_pages(start))
        while (k := min(room, MAX_UNPACED_STEP)) > 0:
            choices = list(self.policy.choose(start, k, caps))
            unseen = [choice for choice in choices if self._frontier.is_unpaced(choice.page)]
            paced = {choice.page for choice in choices}.difference(choice.page for choice in unseen)
            self.policy.release(id_array(sorted(paced)))
            yield from self._plan_turns(unseen, [start] * len(unseen))
            room = room - k if len(unseen) == k else 0

    def _choose_paced(self, pace: RequestPace, planned: int) -> Iterator[PlannedVisit]:
        """Yield the visits that the pace allows, at first one by one, then more at a time."""
        at, number = pace.start, pace.spent
        end = pace.start + HORIZON
        while at < end:
            if number >= pace.total or pace.due_time(number) >= next_midnight(pace.start):
                pace, number = RequestPace(next_midnight(pace.start), 0, pace.total), 0
            at, k = max(at, pace.due_time(number)), 1 + planned // STEPS
            choices = self._choose(at, max(at, pace.due_time(number + k)), k)
            times = [max(at, pace.due_time(number + index)) for index in range(len(choices))]
            yield from self._plan_turns(choices, times)
            planned, number = planned + len(choices), number + len(choices)
            if not choices:
                at = self._next_event(at) or end

    def _choose(self, at: datetime, until: datetime, k: int) -> list[PageChoice]:
        caps = self._turns.host_caps(to_epoch(at), to_epoch(until), self._excluded_pages(at))
        return list(self.policy.choose(at, k, caps))

    def _excluded_pages(self, at: datetime) -> PageIdArray:
        requested = self._frontier.requested(self._frontier.count_unpaced())
        return np.union1d(
            self._frontier.barred_pages(at), id_array([*requested, *self._refused_links])
        )

    def _plan_turns(
        self, choices: Sequence[PageChoice], times: Sequence[datetime]
    ) -> Iterator[PlannedVisit]:
        """Yield a planned visit in its host's next turn for each choice.

        Pages whose content was never seen have no value, whatever the policy gives them.
        """
        pages = self._catalog.pages_by_id([choice.page for choice in choices])
        last_visits = self._catalog.last_visits(list(pages))
        unseen = self._unseen_pages(list(pages), last_visits)
        for choice, time in zip(choices, times, strict=True):
            page = pages[choice.page]
            turn = from_epoch(self._turns.take_turn(page.host, to_epoch(time)))
            row = last_visits.get(page.id)
            last_visit = row.visit if row else None
            reason = _reason(choice, last_visit, is_crawl_running=self.is_crawl_running)
            value = np.inf if page.id in unseen else choice.value
            yield PlannedVisit(page, turn, value, reason, exploratory=choice.is_exploratory)

    def _unseen_pages(
        self, pages: Sequence[int], last_visits: Mapping[int, HistoryRow]
    ) -> set[int]:
        """Return the pages without a look; only pages whose last visit failed are read again."""
        without_look = [
            page
            for page in pages
            if page not in last_visits or not last_visits[page].visit.outcome.is_look
        ]
        return set(without_look).difference(
            self._catalog.last_looks(without_look, with_content=False)
        )

    def _next_event(self, at: datetime) -> datetime | None:
        """Return the next time at which a host or a page may become available."""
        opening = self._turns.next_opening(to_epoch(at))
        events = (
            None if opening is None else from_epoch(opening),
            self.policy.next_time(at),
            self._frontier.next_active_start(at),
        )
        return min((event for event in events if event is not None and event > at), default=None)


def _reason(choice: PageChoice, last_visit: Visit | None, *, is_crawl_running: bool) -> str:
    """Return the reason of a choice; if the last visit of the page failed, the failure."""
    is_requested = choice.reason == REQUESTED_REASON
    if is_requested or last_visit is None or last_visit.outcome.is_look:
        return choice.reason
    why = f" ({last_visit.why})" if last_visit.why else ""
    if waits_for_start(last_visit) and not is_crawl_running:
        return f"failed: {last_visit.outcome}{why}; tried again when 'freshet run' starts"
    return f"failed: {last_visit.outcome}{why}; tried again after its back-off"
