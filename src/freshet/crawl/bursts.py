"""Rounds in a crawl: the samples that are due within their share, and what becomes of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby, islice
from math import inf

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import Conditions, HistoryRow, HostState, Lease
from freshet.core.budget import day_of, next_midnight
from freshet.core.bursts import Course, RoundKind, Sampling
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.humanize import span
from freshet.core.settings import Settings
from freshet.core.tables import DAY_SECONDS, VisitTable
from freshet.core.types import Change, Outcome, Visit
from freshet.crawl.hosts import delay_of
from freshet.record.fault_isolation import isolated
from freshet.schedule.burst_queue import Agenda, Learnt
from freshet.schedule.bursts import (
    CHANGED_LOOKS,
    OFFSETS,
    Glance,
    after_sample,
    room_for_samples,
)

TOGETHER = 2
INSTANT_BEFORE = timedelta(microseconds=1)

Visits = Sequence[tuple[Visit, Change | None]]


@dataclass(frozen=True, slots=True)
class Moment:
    """When samples are drawn: now, up to when, and of which day's budget.

    ``began`` is when the crawl began to spend that budget, None: with the day.
    """

    now: datetime
    until: datetime
    budget: int
    began: datetime | None = None

    @property
    def passed(self) -> float:
        """Return how much of a day has passed since the budget is being spent, 0 to 1."""
        start = self.began or next_midnight(self.now) - timedelta(days=1)
        return max(0.0, (self.now - start).total_seconds() / DAY_SECONDS)


class Rounds:
    """Plans the samples of a crawl, within their share of the budget, and keeps what it plans."""

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self._catalog = catalog
        self._settings = settings
        self._agenda = Agenda(settings.rounds.fast)
        self._courses: Mapping[int, Course] = catalog.courses()
        self._rows: set[int] = set(self._courses)
        self._seen: dict[int, float] = {}
        self._day = ""
        self._spent = 0
        self._before: tuple[datetime | None, int] = (None, 0)

    @property
    def are_wanted(self) -> bool:
        """Whether there are rounds at all."""
        return self._settings.rounds.share > 0 and self._settings.rounds.fast > 0

    def read(self, visits: VisitTable) -> None:
        """Learn from whole histories which pages change at every visit."""
        if self.are_wanted:
            self._agenda.read(visits, self._courses)

    def begin(self, now: datetime) -> dict[int, int]:
        """Go on where a crawl left off; return how many requests a dead one had out, by page."""
        out = self._catalog.return_samples()
        self._courses = self._catalog.courses()
        heeded: dict[int, Course] = {}
        for row in self._catalog.unheeded_samples():
            course = self._courses.get(row.visit.page)
            with isolated("going on with its round", f"page {row.visit.page}"):
                if course is not None:
                    glance = self._glance_back(row)
                    heeded[row.visit.page] = after_sample(course, glance, self._agenda.most)
        if heeded:
            self._catalog.set_courses(heeded)
        if self.are_wanted:
            self._agenda.begin({**self._courses, **heeded}, to_epoch(now))
        return out

    def due(
        self, moment: Moment, room: int, is_welcome: Callable[[int], bool]
    ) -> list[Sampling]:  # fmt: skip
        """Return the samples that are due by a time, at most as many requests as there is room."""
        share = int(self._settings.rounds.share * moment.budget)
        left = min(room, share - self._spent_on(day_of(moment.now)))
        if left <= 0 or not self.are_wanted:
            return []
        since = self._spent - self._spent_before(moment)
        begin = room_for_samples(share, since, self._agenda.reserved, moment.passed)
        now, until = to_epoch(moment.now), to_epoch(moment.until)

        def is_free(page: int) -> bool:
            return is_welcome(page) and self._left_alone_until(page, now) <= until

        found: list[Sampling] = []
        for page, course in self._agenda.due(now, until, begin, is_free):
            sampling = None
            with isolated("preparing its next sample", f"page {page}"):
                sampling = self._sampling(page, course)
            if sampling is None:
                self._agenda.leave_out(page)
            elif sampling.times <= left:
                found.append(sampling)
                left -= sampling.times
        return found

    def start(self, sampling: Sampling, now: datetime) -> datetime:
        """Return when a sample is to be taken: it is due, and its page was left alone enough."""
        at = max(sampling.course.due, self._left_alone_until(sampling.page, to_epoch(now)))
        return max(now, from_epoch(at))

    def next_due(self, moment: Moment) -> datetime | None:
        """Return when the next sample is due; None where none is, or the share is spent."""
        share = int(self._settings.rounds.share * moment.budget)
        if not self.are_wanted or self._spent_on(day_of(moment.now)) >= share:
            return None
        due = self._agenda.next_due(to_epoch(moment.until))
        return None if due is None else from_epoch(due)

    def send(self, samplings: Sequence[Sampling], lease: Lease, day: str) -> list[Sampling]:
        """Lease and book samples; return those that were."""
        held = set(self._catalog.send_samples(lease, samplings, day=day))
        sent = [sampling for sampling in samplings if sampling.page in held]
        for sampling in sent:
            self._agenda.send(sampling.page, sampling.course, sampling.times)
            self._spent += sampling.times
        self._rows |= held
        return sent

    def recall(self, worker: str, pages: Sequence[int], day: str) -> None:
        """Take back samples that were not taken, a page for each request."""
        if not pages:
            return
        self._catalog.recall_samples(worker, pages, day=day)
        self._day = ""
        for page in pages:
            self._agenda.back(page)

    def give_back(self, requests: int) -> None:
        """Note that requests for samples of this day were not made after all."""
        self._spent -= requests

    def is_out(self, page: int) -> bool:
        """Whether a sample of a page is out."""
        return self._agenda.is_out(page)

    def learnt(self, visits: Visits, masked: Set[int] = frozenset()) -> Learnt:
        """Return what visits make of rounds, and keep it; it is taken over afterwards.

        ``masked`` are pages whose masks were learnt from these visits.
        """
        if not self.are_wanted:
            return Learnt()
        learnt = self._learnt_apart(list(self._glances(visits)), self._seeming(masked))
        kept = {p: c for p, c in learnt.courses.items() if p in learnt.samples or p in self._rows}
        if kept:
            self._catalog.set_courses(kept)
        return learnt

    def _learnt_apart(
        self, glances: Sequence[tuple[int, Glance]], seeming: Set[int]
    ) -> Learnt:  # fmt: skip
        """Return what visits make of rounds, page by page; a fault ends only its page's sample."""
        found = Learnt()
        for page, of_page in groupby(glances, key=lambda item: item[0]):
            seen = list(of_page)
            learnt = Learnt(samples={page: len(seen)} if self.is_out(page) else {})
            with isolated("going on with its round", f"page {page}"):
                learnt = self._agenda.learnt(seen, seeming)
            found.courses.update(learnt.courses)
            found.runs.update(learnt.runs)
            found.samples.update(learnt.samples)
            found.denied.update(learnt.denied)
        return found

    def take_over(self, learnt: Learnt, visits: Visits, now: datetime) -> None:
        """Go on from what was learnt."""
        self._agenda.take_over(learnt, to_epoch(now))
        for visit, _ in visits:
            if visit.page in self._agenda.courses:
                seen = self._seen.get(visit.page, 0.0)
                self._seen[visit.page] = max(seen, to_epoch(visit.time))

    def _glances(self, visits: Visits) -> Iterator[tuple[int, Glance]]:
        """Yield visits by page and time, with how long before each its page was last visited.

        That is remembered of pages which have rounds, or may have some.
        """
        seen: dict[int, float] = {}
        denied = self._denied(visits)
        for visit, change in sorted(visits, key=lambda item: (item[0].page, item[0].time)):
            before = seen.get(visit.page, self._seen.get(visit.page, -inf))
            seen[visit.page] = to_epoch(visit.time)
            glance = _glance(visit, change, before)
            yield visit.page, replace(glance, is_denied=glance.changed and visit.page in denied)

    def _denied(self, visits: Visits) -> frozenset[int]:
        """Return pages that had changed though their servers call them what they were before."""
        times = {
            visit.page: visit.time
            for visit, change in visits
            if visit.outcome is Outcome.OK and change is not None and change.changed
        }
        now = self._catalog.conditions([page for page in times if not self.is_out(page)])
        moments = {page: times[page] - INSTANT_BEFORE for page in now}
        before = self._catalog.last_looks(list(now), moments)
        return frozenset(page for page in before if _is_called_the_same(before[page], now[page]))

    def _seeming(self, masked: Set[int]) -> frozenset[int]:
        """Return those of pages with new masks that do not change at every look under them."""
        return frozenset(page for page in masked if not self._changes_at_every_look(page))

    def _changes_at_every_look(self, page: int) -> bool:
        """Whether each of a page's last looks that were no samples found a change, as measured."""
        samples = {sample.visit for sample in self._catalog.samples(page)}
        past = (row for row in reversed(self._catalog.history(page)) if row.visit.id not in samples)
        whole = (row.change for row in past if row.visit.outcome is Outcome.OK)
        last = islice((change for change in whole if change is not None), CHANGED_LOOKS)
        return all(change.changed for change in last)

    def _glance_back(self, row: HistoryRow) -> Glance:
        """Return what a visit of a dead crawl showed, and how long before it the page was seen."""
        page, before = row.visit.page, row.visit.time - INSTANT_BEFORE
        seen = self._catalog.last_looks([page], {page: before}, content=False).get(page)
        return _glance(row.visit, row.change, to_epoch(seen.visit.time) if seen else -inf)

    def _spent_on(self, day: str) -> int:
        """Return how many requests rounds have used on a day."""
        if day != self._day:
            self._day = day
            self._spent = self._catalog.spending(day).samples
        return self._spent

    def _spent_before(self, moment: Moment) -> int:
        """Return how many requests rounds had used when the crawl began to spend the budget."""
        if self._before[0] != moment.began:
            self._before = (moment.began, self._spent if moment.began else 0)
        return self._before[1]

    def _left_alone_until(self, page: int, now: float) -> float:
        """Return until when a page is to be left alone; not between the looks of an instant round.

        The clock may have been set back since it was seen.
        """
        course = self._agenda.courses[page]
        if course.kind is RoundKind.INSTANT and course.step:
            return 0.0
        if page not in self._seen:
            last = self._catalog.last_visits([page]).get(page)
            self._seen[page] = to_epoch(last.visit.time) if last else 0.0
        return min(self._seen[page], now) + self._settings.politeness.page_interval

    def _sampling(self, page: int, course: Course) -> Sampling:
        """Return the sample to be taken next; two at once where the host allows them."""
        kind = course.kind or RoundKind.FAST
        if kind is RoundKind.FAST:
            return Sampling(page, course, OFFSETS[kind][course.step])
        if course.step == 0 and self._allows_two(page):
            return Sampling(page, course, 0.0, times=TOGETHER)
        return Sampling(page, course, 0.0, apart=True)

    def _allows_two(self, page: int) -> bool:
        """Whether a page's host may be asked twice at once."""
        politeness = self._settings.politeness
        if politeness.per_host < TOGETHER:
            return False
        name = self._catalog.pages_by_id([page])[page].host
        state = self._catalog.host(name) or HostState(name)
        return delay_of(politeness, state.delay) == 0


def reason(sampling: Sampling) -> str:
    """Say in words what a sample is for.

    >>> reason(Sampling(1, Course(RoundKind.FAST, 0.0, step=1), 120.0))
    'fast round, 2 minutes after the first'
    >>> reason(Sampling(1, Course(RoundKind.INSTANT, 0.0), 0.0, times=2))
    'instant round, two at once'
    """
    course = sampling.course
    if sampling.times > 1:
        return f"{course.kind} round, two at once"
    if course.step == 0:
        return f"{course.kind} round, the first"
    if course.kind is RoundKind.INSTANT:
        return f"{course.kind} round, a host's delay after the first"
    return f"{course.kind} round, {span(sampling.offset / DAY_SECONDS)} after the first"


def _glance(visit: Visit, change: Change | None, before: float = -inf) -> Glance:
    changed, time = change is not None and change.changed, to_epoch(visit.time)
    is_hearsay = visit.outcome is Outcome.NOT_MODIFIED
    return Glance(time, visit.outcome.is_look, changed, time - before, is_hearsay)


def _is_called_the_same(before: HistoryRow, now: Conditions) -> bool:
    """Whether a server gave two looks the same ETag, or without any the same date."""
    if before.etag or now.etag:
        return before.etag == now.etag
    return before.last_modified == now.last_modified
