"""The rounds of all pages: who is in one, who waits for one, and whose sample is due.

What visits make of it is told first (``update_from_visits``) and taken over later (``apply``), so that it
can be written down in between, and what could not be written is tried again whole.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import numpy as np

from freshet.core.bursts import BurstProgress
from freshet.core.tables import VisitTable
from freshet.schedule.bursts import (
    FAST_OFFSETS,
    BurstVisit,
    burst_priority,
    change_run_after,
    change_runs,
    end_series,
    is_candidate,
    progress_after_look,
    progress_after_sample,
    remaining_samples,
    skip_missed_samples,
    start_series,
)

# A page that waits for a round and cannot be asked now is thought of again after so many seconds.
RETRY_SECONDS = 60.0
MIN_SAMPLES = 2

IsAvailable = Callable[[int], bool]
DueSamples = list[tuple[int, BurstProgress]]


@dataclass(frozen=True, slots=True)
class BurstUpdate:
    """What visits make of courses and of runs of changed looks, and how many were samples.

    ``server_denials`` says of pages whether their servers called them the same though they had changed.
    """

    progress_by_page: dict[int, BurstProgress] = field(default_factory=dict)
    change_runs: dict[int, int] = field(default_factory=dict)
    sample_counts: dict[int, int] = field(default_factory=dict)
    server_denials: dict[int, bool] = field(default_factory=dict)


@dataclass(slots=True)
class BurstQueue:
    """Every page's course, and how often each changed in a row; ``max_bursts`` rounds make a series."""

    max_bursts: int
    progress_by_page: dict[int, BurstProgress] = field(default_factory=dict)
    _runs: dict[int, int] = field(default_factory=dict)
    _denied: set[int] = field(default_factory=set)
    _out: dict[int, int] = field(default_factory=dict)
    _under_way: set[int] = field(default_factory=set)
    _queues: dict[int, list[tuple[float, int]]] = field(default_factory=dict)

    def count_change_runs(self, visits: VisitTable, courses: Mapping[int, BurstProgress]) -> None:
        """Count how often pages changed in a row, given whole histories; rests do not count."""
        pages, lengths = change_runs(_outside_rests(visits, courses))
        self._runs.update(zip(pages.tolist(), lengths.tolist(), strict=True))

    def restore(self, courses: Mapping[int, BurstProgress], now: float) -> None:
        """Take over the courses that were kept, and let pages wait that changed at every look."""
        for page, course in courses.items():
            self._put(page, course)
        for page, run in self._runs.items():
            if is_candidate(run):
                self._invite(page, now)

    def update_from_visits(
        self, seen: Iterable[tuple[int, BurstVisit]], seeming: Set[int] = frozenset()
    ) -> BurstUpdate:  # fmt: skip
        """Return what visits, each page's in time order, make of this; it stays as it is.

        ``seeming`` are pages that only seemed to change: under the masks learnt of them from these
        visits they do not at every look, and need no more rounds.
        """
        found = BurstUpdate()
        for page, glance in seen:
            course = found.progress_by_page.get(page, self.progress_by_page.get(page))
            out = self._out.get(page, 0) - found.sample_counts.get(page, 0)
            if course is not None and out > 0:
                found.sample_counts[page] = found.sample_counts.get(page, 0) + 1
                after = progress_after_sample(course, glance, self.max_bursts)
                found.progress_by_page[page] = (
                    _held(course, glance) if _is_over(after) and out > 1 else after
                )
            elif glance.is_look and not self._is_empty_word(page, glance, found):
                self._note(page, glance, found)
            if page in seeming and out <= 1:
                _drop(page, glance.time, found)
        changed = (
            item
            for item in found.progress_by_page.items()
            if item[1] != self.progress_by_page.get(item[0])
        )
        return replace(found, progress_by_page=dict(changed))

    def _is_empty_word(self, page: int, glance: BurstVisit, found: BurstUpdate) -> bool:
        """Whether a server only says that a page is the same, which it said of a changed one."""
        return glance.is_unverified and found.server_denials.get(page, page in self._denied)

    def _note(self, page: int, glance: BurstVisit, found: BurstUpdate) -> None:
        """Add what a look that was no sample makes of its page."""
        course = found.progress_by_page.get(page, self.progress_by_page.get(page))
        run = found.change_runs.get(page, self._runs.get(page, 0))
        found.change_runs[page] = 0 if _rests(course, glance) else change_run_after(run, glance)
        found.server_denials[page] = glance.is_denied_by_server
        if course is not None:
            found.progress_by_page[page] = progress_after_look(course, glance)

    def apply(self, learnt: BurstUpdate, now: float) -> None:
        """Go on from what was learnt."""
        for page, count in learnt.sample_counts.items():
            self.mark_returned(page, count)
        for page, course in learnt.progress_by_page.items():
            self._put(page, course)
        for page, run in learnt.change_runs.items():
            self._runs[page] = run
            if is_candidate(run):
                self._invite(page, now)
        for page, is_denied in learnt.server_denials.items():
            (self._denied.add if is_denied else self._denied.discard)(page)
        for page in learnt.change_runs.keys() | learnt.progress_by_page.keys():
            if not self._runs.get(page) or _is_over(learnt.progress_by_page.get(page)):
                self._runs.pop(page, None)

    def due_samples(
        self, now: float, until: float, room: int, is_welcome: IsAvailable
    ) -> DueSamples:
        """Return pages whose next sample is due, with the courses by which it is taken.

        Rounds under way come first, whatever the room: it was reserved for them. The others begin
        as long as there is room for all of their samples, pages with the fewest rounds first.
        """
        found = [item for item in self._going_on(now, until) if is_welcome(item[0])]
        return found + (self._beginning(until, room, is_welcome) if room >= MIN_SAMPLES else [])

    def mark_sent(self, page: int, course: BurstProgress, times: int) -> None:
        """Note that requests for a page's sample are out."""
        self._out[page] = self._out.get(page, 0) + times
        self._put(page, course)

    def mark_returned(self, page: int, times: int = 1) -> None:
        """Note that requests are back, whether anything came of them or not."""
        left = self._out.pop(page, 0) - times
        if left > 0:
            self._out[page] = left
        elif page in self.progress_by_page:
            self._put(page, self.progress_by_page[page])

    def forget_page(self, page: int) -> None:
        """Forget a page's rounds until they are read anew."""
        self.progress_by_page.pop(page, None)
        self._runs.pop(page, None)
        self._under_way.discard(page)

    def is_sent(self, page: int) -> bool:
        """Whether requests for a sample of a page are out."""
        return page in self._out

    @property
    def active_count(self) -> int:
        """Return how many pages are in a round."""
        return len(self._under_way | self._out.keys())

    @property
    def reserved_samples(self) -> int:
        """Return how many samples the rounds under way still need beside those that are out."""
        pages = self._under_way | self._out.keys()
        needs = (
            remaining_samples(self.progress_by_page[page]) - self._out.get(page, 0)
            for page in pages
        )
        return sum(max(0, need) for need in needs)

    def next_due_time(self, after: float) -> float | None:
        """Return when the next sample after a time is due; None where none is."""
        waiting = (queue[0][0] for queue in self._queues.values() if queue)
        going = (self.progress_by_page[page].due for page in self._under_way)
        return min((due for due in (*waiting, *going) if due > after), default=None)

    def _going_on(self, now: float, until: float) -> DueSamples:
        """Return the rounds under way whose next sample is due; those that are too late end.

        A sample that is farther away than a round lasts is left over from a clock that was set
        back.
        """
        dues = ((page, self.progress_by_page[page]) for page in self._under_way - self._out.keys())
        late = [item for item in dues if not until < item[1].due <= now + FAST_OFFSETS[-1]]
        met = [(page, skip_missed_samples(course, now, self.max_bursts)) for page, course in late]
        for page, course in met:
            if not course.step:
                self._put(page, course)
        ready = [item for item in met if item[1].step and item[1].due <= until]
        return sorted(ready, key=lambda item: item[1].due)

    def _beginning(self, until: float, room: int, is_welcome: IsAvailable) -> DueSamples:
        """Return the rounds to begin; a page that cannot be asked now leaves others its turn."""
        found: dict[int, BurstProgress] = {}
        for page, course in self._waiting(until):
            if page in found:
                continue
            if remaining_samples(course) > room:
                self._put(page, course)
                break
            if is_welcome(page):
                found[page] = course
                room -= remaining_samples(course)
            else:
                self._put(page, replace(course, due=until + RETRY_SECONDS))
        for page, course in found.items():
            self._put(page, course)
        return list(found.items())

    def _waiting(self, until: float) -> Iterator[tuple[int, BurstProgress]]:
        """Take pages that wait for a round off the queues, fewest rounds first, then by time.

        A page leaves its queue without being looked for there, so an old entry may be met.
        """
        for place in sorted(self._queues):
            queue = self._queues[place]
            while queue and queue[0][0] <= until:
                due, page = heappop(queue)
                course = self.progress_by_page.get(page)
                if course is not None and self._waits(page, course) and course.due == due:
                    yield page, course

    def _waits(self, page: int, course: BurstProgress) -> bool:
        return course.kind is not None and course.step == 0 and page not in self._out

    def _put(self, page: int, course: BurstProgress) -> None:
        self.progress_by_page[page] = course
        self._under_way.discard(page)
        if self._waits(page, course):
            heappush(self._queues.setdefault(burst_priority(course), []), (course.due, page))
        elif course.step:
            self._under_way.add(page)

    def _invite(self, page: int, now: float) -> None:
        """Let a page wait for a round, unless it has rounds or rests from them."""
        course = self.progress_by_page.get(page)
        if course is None or (course.kind is None and course.due <= now):
            self._put(page, start_series(now, course))


def _held(course: BurstProgress, glance: BurstVisit) -> BurstProgress:
    """Return the course of a page whose round goes on, for its other look at once is out."""
    return replace(course, step=course.step + 1, due=glance.time)


def _drop(page: int, now: float, found: BurstUpdate) -> None:
    """End the series of a page, if it has one, and count its changed looks from here."""
    found.change_runs[page] = 0
    course = found.progress_by_page.get(page)
    if course is not None and course.kind is not None:
        found.progress_by_page[page] = end_series(course, now)


def _rests(course: BurstProgress | None, glance: BurstVisit) -> bool:
    return _is_over(course) and course is not None and glance.time < course.due


def _is_over(course: BurstProgress | None) -> bool:
    return course is not None and course.kind is None


def _outside_rests(visits: VisitTable, courses: Mapping[int, BurstProgress]) -> VisitTable:
    """Return the visits of pages that did not rest then; whoever has rounds has had its run."""
    ends = {page: course.due for page, course in courses.items() if course.kind is None}
    if not ends:
        return visits
    resting = np.flatnonzero(np.isin(visits.pages, np.fromiter(ends, np.int64)))
    until = np.array([ends[page] for page in visits.pages[resting].tolist()])
    keep = np.ones(len(visits), np.bool_)
    keep[resting[visits.times[resting] < until]] = False
    return VisitTable(
        visits.pages[keep], visits.times[keep], visits.looks[keep], visits.measured[keep],
        visits.changed[keep], visits.new_links[keep],
    )  # fmt: skip
