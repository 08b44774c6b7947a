"""The rounds of all pages: who is in one, who waits for one, and whose sample is due.

What visits make of it is told first (``learnt``) and taken over later (``take_over``), so that it
can be written down in between, and what could not be written is tried again whole.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import numpy as np

from freshet.core.bursts import Course
from freshet.core.tables import VisitTable
from freshet.schedule.bursts import (
    FAST,
    Glance,
    after_look,
    after_sample,
    dropped,
    first_course,
    is_candidate,
    level,
    overtaken,
    remaining,
    run_after,
    runs,
)

# A page that waits for a round and cannot be asked now is thought of again after so many seconds.
PATIENCE = 60.0
FEWEST = 2

IsWelcome = Callable[[int], bool]
Due = list[tuple[int, Course]]


@dataclass(frozen=True, slots=True)
class Learnt:
    """What visits make of courses and of runs of changed looks, and how many were samples.

    ``denied`` says of pages whether their servers called them the same though they had changed.
    """

    courses: dict[int, Course] = field(default_factory=dict)
    runs: dict[int, int] = field(default_factory=dict)
    samples: dict[int, int] = field(default_factory=dict)
    denied: dict[int, bool] = field(default_factory=dict)


@dataclass(slots=True)
class Agenda:
    """Every page's course, and how often each changed in a row; ``most`` rounds make a series."""

    most: int
    courses: dict[int, Course] = field(default_factory=dict)
    _runs: dict[int, int] = field(default_factory=dict)
    _denied: set[int] = field(default_factory=set)
    _out: dict[int, int] = field(default_factory=dict)
    _under_way: set[int] = field(default_factory=set)
    _queues: dict[int, list[tuple[float, int]]] = field(default_factory=dict)

    def read(self, visits: VisitTable, courses: Mapping[int, Course]) -> None:
        """Count how often pages changed in a row, given whole histories; rests do not count."""
        pages, lengths = runs(_outside_rests(visits, courses))
        self._runs.update(zip(pages.tolist(), lengths.tolist(), strict=True))

    def begin(self, courses: Mapping[int, Course], now: float) -> None:
        """Take over the courses that were kept, and let pages wait that changed at every look."""
        for page, course in courses.items():
            self._put(page, course)
        for page, run in self._runs.items():
            if is_candidate(run):
                self._invite(page, now)

    def learnt(
        self, seen: Iterable[tuple[int, Glance]], seeming: Set[int] = frozenset()
    ) -> Learnt:  # fmt: skip
        """Return what visits, each page's in time order, make of this; it stays as it is.

        ``seeming`` are pages that only seemed to change: under the masks learnt of them from these
        visits they do not at every look, and need no more rounds.
        """
        found = Learnt()
        for page, glance in seen:
            course = found.courses.get(page, self.courses.get(page))
            out = self._out.get(page, 0) - found.samples.get(page, 0)
            if course is not None and out > 0:
                found.samples[page] = found.samples.get(page, 0) + 1
                after = after_sample(course, glance, self.most)
                found.courses[page] = (
                    _held(course, glance) if _is_over(after) and out > 1 else after
                )
            elif glance.is_look and not self._is_empty_word(page, glance, found):
                self._note(page, glance, found)
            if page in seeming and out <= 1:
                _drop(page, glance.time, found)
        changed = (item for item in found.courses.items() if item[1] != self.courses.get(item[0]))
        return replace(found, courses=dict(changed))

    def _is_empty_word(self, page: int, glance: Glance, found: Learnt) -> bool:
        """Whether a server only says that a page is the same, which it said of a changed one."""
        return glance.is_hearsay and found.denied.get(page, page in self._denied)

    def _note(self, page: int, glance: Glance, found: Learnt) -> None:
        """Add what a look that was no sample makes of its page."""
        course = found.courses.get(page, self.courses.get(page))
        run = found.runs.get(page, self._runs.get(page, 0))
        found.runs[page] = 0 if _rests(course, glance) else run_after(run, glance)
        found.denied[page] = glance.is_denied
        if course is not None:
            found.courses[page] = after_look(course, glance)

    def take_over(self, learnt: Learnt, now: float) -> None:
        """Go on from what was learnt."""
        for page, count in learnt.samples.items():
            self.back(page, count)
        for page, course in learnt.courses.items():
            self._put(page, course)
        for page, run in learnt.runs.items():
            self._runs[page] = run
            if is_candidate(run):
                self._invite(page, now)
        for page, is_denied in learnt.denied.items():
            (self._denied.add if is_denied else self._denied.discard)(page)
        for page in learnt.runs.keys() | learnt.courses.keys():
            if not self._runs.get(page) or _is_over(learnt.courses.get(page)):
                self._runs.pop(page, None)

    def due(self, now: float, until: float, room: int, is_welcome: IsWelcome) -> Due:
        """Return pages whose next sample is due, with the courses by which it is taken.

        Rounds under way come first, whatever the room: it was reserved for them. The others begin
        as long as there is room for all of their samples, pages with the fewest rounds first.
        """
        found = [item for item in self._going_on(now, until) if is_welcome(item[0])]
        return found + (self._beginning(until, room, is_welcome) if room >= FEWEST else [])

    def send(self, page: int, course: Course, times: int) -> None:
        """Note that requests for a page's sample are out."""
        self._out[page] = self._out.get(page, 0) + times
        self._put(page, course)

    def back(self, page: int, times: int = 1) -> None:
        """Note that requests are back, whether anything came of them or not."""
        left = self._out.pop(page, 0) - times
        if left > 0:
            self._out[page] = left
        elif page in self.courses:
            self._put(page, self.courses[page])

    def leave_out(self, page: int) -> None:
        """Forget a page's rounds until they are read anew."""
        self.courses.pop(page, None)
        self._runs.pop(page, None)
        self._under_way.discard(page)

    def is_out(self, page: int) -> bool:
        """Whether requests for a sample of a page are out."""
        return page in self._out

    @property
    def under_way(self) -> int:
        """Return how many pages are in a round."""
        return len(self._under_way | self._out.keys())

    @property
    def reserved(self) -> int:
        """Return how many samples the rounds under way still need beside those that are out."""
        pages = self._under_way | self._out.keys()
        needs = (remaining(self.courses[page]) - self._out.get(page, 0) for page in pages)
        return sum(max(0, need) for need in needs)

    def next_due(self, after: float) -> float | None:
        """Return when the next sample after a time is due; None where none is."""
        waiting = (queue[0][0] for queue in self._queues.values() if queue)
        going = (self.courses[page].due for page in self._under_way)
        return min((due for due in (*waiting, *going) if due > after), default=None)

    def _going_on(self, now: float, until: float) -> Due:
        """Return the rounds under way whose next sample is due; those that are too late end.

        A sample that is farther away than a round lasts is left over from a clock that was set
        back.
        """
        dues = ((page, self.courses[page]) for page in self._under_way - self._out.keys())
        late = [item for item in dues if not until < item[1].due <= now + FAST[-1]]
        met = [(page, overtaken(course, now, self.most)) for page, course in late]
        for page, course in met:
            if not course.step:
                self._put(page, course)
        ready = [item for item in met if item[1].step and item[1].due <= until]
        return sorted(ready, key=lambda item: item[1].due)

    def _beginning(self, until: float, room: int, is_welcome: IsWelcome) -> Due:
        """Return the rounds to begin; a page that cannot be asked now leaves others its turn."""
        found: dict[int, Course] = {}
        for page, course in self._waiting(until):
            if page in found:
                continue
            if remaining(course) > room:
                self._put(page, course)
                break
            if is_welcome(page):
                found[page] = course
                room -= remaining(course)
            else:
                self._put(page, replace(course, due=until + PATIENCE))
        for page, course in found.items():
            self._put(page, course)
        return list(found.items())

    def _waiting(self, until: float) -> Iterator[tuple[int, Course]]:
        """Take pages that wait for a round off the queues, fewest rounds first, then by time.

        A page leaves its queue without being looked for there, so an old entry may be met.
        """
        for place in sorted(self._queues):
            queue = self._queues[place]
            while queue and queue[0][0] <= until:
                due, page = heappop(queue)
                course = self.courses.get(page)
                if course is not None and self._waits(page, course) and course.due == due:
                    yield page, course

    def _waits(self, page: int, course: Course) -> bool:
        return course.kind is not None and course.step == 0 and page not in self._out

    def _put(self, page: int, course: Course) -> None:
        self.courses[page] = course
        self._under_way.discard(page)
        if self._waits(page, course):
            heappush(self._queues.setdefault(level(course), []), (course.due, page))
        elif course.step:
            self._under_way.add(page)

    def _invite(self, page: int, now: float) -> None:
        """Let a page wait for a round, unless it has rounds or rests from them."""
        course = self.courses.get(page)
        if course is None or (course.kind is None and course.due <= now):
            self._put(page, first_course(now, course))


def _held(course: Course, glance: Glance) -> Course:
    """Return the course of a page whose round goes on, for its other look at once is out."""
    return replace(course, step=course.step + 1, due=glance.time)


def _drop(page: int, now: float, found: Learnt) -> None:
    """End the series of a page, if it has one, and count its changed looks from here."""
    found.runs[page] = 0
    course = found.courses.get(page)
    if course is not None and course.kind is not None:
        found.courses[page] = dropped(course, now)


def _rests(course: Course | None, glance: Glance) -> bool:
    return _is_over(course) and course is not None and glance.time < course.due


def _is_over(course: Course | None) -> bool:
    return course is not None and course.kind is None


def _outside_rests(visits: VisitTable, courses: Mapping[int, Course]) -> VisitTable:
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
