"""Which pages get rounds, of which kind, and when the next sample of each is due.

Adar et al. 2009, section 4.1.2, sampled pages that changed every hour at 0, 2, 16 and 32 minutes,
in eight rounds shifted by four hours, and pages that changed within two minutes twice at once. Here
a page gets rounds when it changed at every one of its last looks, whatever lay between them, and
keeps them as long as it does. A series begins with an instant round: two looks tell whether the
page only seems to change, and where they teach its mask no fast round is needed. A change that the
server does not admit counts as two, for the look before was "not modified" only by its word.
"""

from dataclasses import dataclass, replace

import numpy as np

from freshet.core.bursts import Course, RoundKind
from freshet.core.tables import DAY_SECONDS, PageIds, VisitTable
from freshet.core.types import Indices

MINUTE, HOUR = 60.0, 3_600.0
FAST = (0.0, 2 * MINUTE, 16 * MINUTE, 32 * MINUTE)
OFFSETS = {RoundKind.FAST: FAST, RoundKind.INSTANT: (0.0, 0.0)}
SHIFT = 4 * HOUR
# As many looks in a row must have found the page changed.
CHANGED_LOOKS = 4
# What comes later than this is no longer the change of two minutes.
QUICK = 2 * FAST[1]
# A sample that is held back longer is given up, and its round with it. The second look of an
# instant round may have to wait for its host, by an hour's Crawl-delay too.
LATEST = 16 * MINUTE
LATEST_SECOND = SHIFT
# Standing still for less than this says nothing of a page that changes from hour to hour.
TELLING = HOUR
FIRST_PAUSE = 2 * DAY_SECONDS
MOST_DOUBLINGS = 7


@dataclass(frozen=True, slots=True)
class Glance:
    """What a visit showed, as far as rounds go by it; its time is in epoch seconds.

    ``gap`` is how many seconds before it the page was last visited. ``is_hearsay`` says that the
    server called the page the same and did not send it, ``is_denied`` that the page had changed
    though the server calls it the same.
    """

    time: float
    is_look: bool
    changed: bool
    gap: float = np.inf
    is_hearsay: bool = False
    is_denied: bool = False

    @property
    def stands_still(self) -> bool:
        """Whether the page was seen to be the same as long before as it usually changes within."""
        return self.is_look and not self.changed and self.gap >= TELLING


def is_candidate(run: int) -> bool:
    """Whether a page that changed at so many looks in a row gets rounds.

    >>> is_candidate(3), is_candidate(4)
    (False, True)
    """
    return run >= CHANGED_LOOKS


def run_after(run: int, seen: Glance) -> int:
    """Return how many looks in a row found a change, given how many did before this one.

    >>> changed = Glance(0.0, is_look=True, changed=True)
    >>> run_after(1, changed), run_after(1, replace(changed, is_denied=True))
    (2, 3)
    """
    if not seen.changed:
        return 0
    return run + (2 if seen.is_denied else 1)


def runs(visits: VisitTable) -> tuple[PageIds, Indices]:
    """Return the pages whose last look found a change, and how many in a row did.

    >>> yes = np.ones(4, bool)
    >>> table = VisitTable(np.array([1, 1, 1, 2]), np.arange(4.0), yes, yes,
    ...     np.array([False, True, True, False]), np.full(4, -1, np.int32))
    >>> [column.tolist() for column in runs(table)]
    [[1], [2]]
    """
    pages, changed = visits.pages[visits.looks], visits.changed[visits.looks]
    if not len(pages):
        return np.empty(0, np.int64), np.empty(0, np.int32)
    places = np.arange(len(pages))
    last = np.append(np.flatnonzero(np.diff(pages)), len(pages) - 1)
    first = np.append(0, last[:-1] + 1)
    still = np.maximum.accumulate(np.where(changed, -1, places))
    lengths = last - np.maximum(still[last], first - 1)
    return pages[last][lengths > 0], lengths[lengths > 0].astype(np.int32)


def first_course(now: float, before: Course | None = None) -> Course:
    """Return the course of a page that is to begin a series of rounds; one may have been before."""
    return Course(RoundKind.INSTANT, now, pauses=before.pauses if before else 0)


def level(course: Course) -> int:
    """Return how many rounds a page has had: of those that wait, the ones with fewest come first.

    >>> quick = Course(RoundKind.INSTANT, 9_000.0, began=7_000.0, finished=1)
    >>> level(first_course(0.0)), level(quick)
    (-1, 0)
    """
    if is_untold(course):
        return -1
    return course.finished - (course.kind is RoundKind.INSTANT)


def is_untold(course: Course) -> bool:
    """Whether a page has not had the instant round yet that a series begins with."""
    return course.kind is RoundKind.INSTANT and course.began is None


def remaining(course: Course) -> int:
    """Return how many samples the present round still takes."""
    return 0 if course.kind is None else len(OFFSETS[course.kind]) - course.step


def overtaken(course: Course, now: float, most: int) -> Course:
    """Return the course with the sample that is due now: those it was too late for are left out.

    Where the last one of the round is too late as well, or the clock was set back, the round ends.

    >>> late = Course(RoundKind.FAST, 120.0, step=1, began=0.0)
    >>> overtaken(late, 1000.0, 8).step, overtaken(late, 9000.0, 8).finished
    (2, 1)
    """
    if course.step == 0:
        return course
    return _after_failure(course, now, most) if _is_over(course, now) else _skip(course, now)


def after_sample(course: Course, seen: Glance, most: int) -> Course:
    """Return the course after a sample; ``most`` fast rounds make a series."""
    if course.kind is None:
        return course
    if not seen.is_look:
        return _after_failure(course, seen.time, most)
    if _asks_whether_it_stands_still(course) and seen.stands_still:
        return resting(course, seen.time)
    if course.kind is RoundKind.FAST:
        began = seen.time if course.step == 0 or course.began is None else course.began
        is_soon = course.step > 0 and seen.time - began <= QUICK
        quick = course.is_quick or (is_soon and seen.changed)
        course = replace(course, began=began, is_quick=quick)
    if remaining(course) <= 1:
        return _after_round(course, seen.time, most)
    return _next_step(replace(course, step=course.step + 1), seen.time)


def after_look(course: Course, seen: Glance) -> Course:
    """Return the course after a look that was no sample: standing still ends a series.

    A page whose first round has not begun needs no rest from any.
    """
    if course.kind is None or course.step or not seen.stands_still:
        return course
    return dropped(course, seen.time) if is_untold(course) else resting(course, seen.time)


def dropped(course: Course, now: float) -> Course:
    """Return the course of a page that needs no rounds now, and no rest from any."""
    return Course(None, now, pauses=course.pauses)


def resting(course: Course, now: float) -> Course:
    """Return the course of a page whose series is over: it rests, each time twice as long.

    >>> [resting(Course(None, 0.0, pauses=n), 0.0).due / 86_400 for n in (0, 1, 2)]
    [2.0, 4.0, 8.0]
    """
    pause = FIRST_PAUSE * 2.0 ** min(course.pauses, MOST_DOUBLINGS)
    return Course(None, now + pause, pauses=course.pauses + 1)


def room_for_samples(share: int, spent: int, reserved: int, passed: float) -> int:
    """Return how many samples may be begun now, of a day's share of which some are spent.

    The share comes free as the day passes (0 to 1), so that rounds lie all over it; one round's
    worth of it does at once. ``reserved`` are the samples that rounds under way still need.

    >>> room_for_samples(50, 0, 0, 0.0), room_for_samples(50, 10, 3, 0.5)
    (4, 12)
    """
    free = max(len(FAST), int(share * passed))
    return max(0, min(share, free) - spent - reserved)


def _asks_whether_it_stands_still(course: Course) -> bool:
    """Whether the next sample is the first one of a round that comes long after the one before."""
    return course.step == 0 and (course.kind is RoundKind.FAST or is_untold(course))


def _is_over(course: Course, now: float) -> bool:
    """Whether even the last sample of a round under way comes too late, or before it began."""
    if course.kind is RoundKind.INSTANT or course.began is None:
        return not course.due <= now <= course.due + LATEST_SECOND
    return not course.began <= now <= course.began + FAST[-1] + LATEST


def _skip(course: Course, now: float) -> Course:
    """Leave out samples of a fast round whose successor is due already."""
    while course.kind is RoundKind.FAST and remaining(course) > 1:
        following = _next_step(replace(course, step=course.step + 1), now)
        if following.due > now:
            return course
        course = following
    return course


def _next_step(course: Course, now: float) -> Course:
    if course.kind is not RoundKind.FAST or course.began is None:
        return replace(course, due=now)
    return replace(course, due=course.began + FAST[course.step])


def _after_failure(course: Course, now: float, most: int) -> Course:
    """Return what comes after a round that was cut short.

    The instant round that a series begins with is tried again, and each time counts as a round.
    """
    if not is_untold(course):
        return _after_round(course, now, most)
    if course.finished + 1 >= most:
        return resting(course, now)
    return replace(course, due=now + SHIFT, step=0, finished=course.finished + 1)


def _after_round(course: Course, now: float, most: int) -> Course:
    """Return what comes after a round: an instant one, the next fast one, or a rest."""
    is_fast = course.kind is RoundKind.FAST
    course = replace(course, step=0, finished=course.finished + is_fast)
    if is_fast and course.is_quick:
        return replace(course, kind=RoundKind.INSTANT, due=now, is_quick=False)
    if course.finished >= most:
        return resting(course, now)
    due = (now if course.began is None else course.began) + SHIFT
    return replace(course, kind=RoundKind.FAST, due=due, is_quick=False)
