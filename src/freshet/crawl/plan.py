"""What would be fetched next and for what value: the crawl's own choices, played ahead.

Nothing is fetched, so nothing is learnt on the way: a plan is what is known now, carried forward.
Every page comes once, at its next visit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import isfinite

import numpy as np

from freshet.core.budget import Budget, RequestPace, next_midnight, utc_day
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.settings import Settings, merge_settings, planning_objective
from freshet.core.tables import NEVER_SEEN_REASON, HostCaps, PageIdArray
from freshet.core.types import PageChoice, Plan, PlannedVisit, Visit
from freshet.crawl.budget_status import current_budget
from freshet.crawl.frontier import Frontier
from freshet.crawl.hosts import HostTurns
from freshet.crawl.live_policy import build_live_policy, id_array
from freshet.record.store import CollectionStore

HORIZON = timedelta(days=1)
STEPS = 64


def make_plan(
    collection: CollectionStore,
    *,
    budget: str | int = "",
    objective: str = "",
    limit: int | None = None,
) -> Plan:
    """Return what would be fetched within a day, in order; at most a day's budget, or ``limit``."""
    settings = settings_for_objective(collection.settings, objective)
    ahead = CrawlPreview(collection, settings, budget=str(budget))
    most = ahead.budget if limit is None else limit
    choices = with_scores(sorted(ahead.visits(most), key=lambda visit: visit.expected))
    return Plan(
        ahead.now, planning_objective(settings), ahead.policy.name, ahead.budget, tuple(choices)
    )


def with_scores(visits: Sequence[PlannedVisit]) -> list[PlannedVisit]:
    """Return visits with their values on a scale from 0 to 100, where 100 is the greatest."""
    greatest = max((visit.value for visit in visits if isfinite(visit.value)), default=0.0)
    if greatest <= 0:
        return list(visits)
    return [
        replace(visit, score=round(100 * max(0.0, visit.value / greatest)))
        if isfinite(visit.value)
        else visit
        for visit in visits
    ]


def settings_for_objective(settings: Settings, objective: str) -> Settings:
    """Return settings that plan for another objective, where one is given."""
    if not objective:
        return settings
    return merge_settings(settings, {"objective": objective, "policy": ""}, origin="plan")


class CrawlPreview:
    """A crawl that begins now, played ahead without fetching."""

    def __init__(
        self, collection: CollectionStore, settings: Settings, *, budget: str = ""
    ) -> None:
        self._catalog = collection.catalog
        self._roll = Frontier(collection.catalog, settings)
        self._roll.reload()
        self.now = collection.clock.now()
        self._turns = HostTurns(
            collection.catalog.host_states(), settings.politeness, to_epoch(self.now)
        )
        self.policy = build_live_policy(collection.catalog, settings, now=self.now)
        self.budget = Budget.parse(budget or current_budget(collection)).requests_per_day(
            self._roll.size
        )
        self.spent = collection.catalog.spending(utc_day(self.now)).requests

    def visits(self, limit: int) -> Iterator[PlannedVisit]:
        """Yield visits in the order in which they are chosen: those that wait for no pace first."""
        start, spent = self.now, self.spent
        if spent >= self.budget:
            start, spent = next_midnight(self.now), 0
        first = self._eager(start, min(limit, self.budget - spent))
        yield from self._placed(first, [start] * len(first))
        yield from self._paced(
            RequestPace(start, spent + len(first), self.budget), limit - len(first)
        )

    def _eager(self, start: datetime, most: int) -> list[PageChoice]:
        """Return the pages that someone asked for, then those never seen."""
        asked = [PageChoice(page, np.inf, "asked for") for page in self._roll.requested(most)]
        unseen = min(most, self._roll.count_unpaced()) - len(asked)
        if unseen <= 0:
            return asked
        found = list(
            self.policy.choose(start, unseen, HostCaps(excluded_pages=self._barred(start)))
        )
        later = [choice.page for choice in found if not self._roll.is_unpaced(choice.page)]
        self.policy.release(id_array(later))
        return asked + [choice for choice in found if choice.page not in later]

    def _paced(self, pace: RequestPace, most: int) -> Iterator[PlannedVisit]:
        """Yield the visits that the pace comes to, a few at a time."""
        step = 1 + most // STEPS
        at, number = pace.start, pace.spent
        end = pace.start + HORIZON
        while most > 0 and at < end:
            if number >= pace.total or pace.due_time(number) >= next_midnight(pace.start):
                pace, number = RequestPace(next_midnight(pace.start), 0, pace.total), 0
            at, k = max(at, pace.due_time(number)), min(step, most)
            found = self._choose(at, max(at, pace.due_time(number + k)), k)
            times = [max(at, pace.due_time(number + place)) for place in range(len(found))]
            yield from self._placed(found, times)
            most, number = most - len(found), number + len(found)
            if not found:
                at = self._next_event(at) or end

    def _choose(self, at: datetime, until: datetime, k: int) -> list[PageChoice]:
        caps = self._turns.host_caps(to_epoch(at), to_epoch(until), self._barred(at))
        return list(self.policy.choose(at, k, caps))

    def _barred(self, at: datetime) -> PageIdArray:
        return np.union1d(
            self._roll.barred_pages(at), id_array(self._roll.requested(self._roll.count_unpaced()))
        )

    def _placed(
        self, choices: Sequence[PageChoice], times: Sequence[datetime]
    ) -> Iterator[PlannedVisit]:
        """Give every choice its host's next turn."""
        pages = self._catalog.pages_by_id([choice.page for choice in choices])
        unseen = [choice.page for choice in choices if choice.reason == NEVER_SEEN_REASON]
        visited = self._catalog.last_visits(unseen) if unseen else {}
        for choice, time in zip(choices, times, strict=True):
            page = pages[choice.page]
            turn = from_epoch(self._turns.take_turn(page.host, to_epoch(time)))
            row = visited.get(page.id)
            reason = _reason(choice, row.visit if row else None)
            yield PlannedVisit(page, turn, choice.value, reason)

    def _next_event(self, at: datetime) -> datetime | None:
        """Return when there may be something to choose again: a host opens, or a page may be."""
        opening = self._turns.next_opening(to_epoch(at))
        events = (
            None if opening is None else from_epoch(opening),
            self.policy.next_time(at),
            self._roll.next_active_start(at),
        )
        return min((event for event in events if event is not None and event > at), default=None)


def _reason(choice: PageChoice, last_visit: Visit | None) -> str:
    """Say why a page was chosen; where all its visits so far have failed, what the last one met."""
    if last_visit is None or last_visit.outcome.is_look:
        return choice.reason
    why = f" ({last_visit.why})" if last_visit.why else ""
    return f"failed: {last_visit.outcome}{why}; tried again after its back-off"
