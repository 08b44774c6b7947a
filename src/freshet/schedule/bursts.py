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

from freshet.core.bursts import BurstKind, BurstProgress
from freshet.core.tables import DAY_SECONDS, PageIdArray, VisitTable
from freshet.core.types import IndexArray

MINUTE_SECONDS, HOUR_SECONDS = 60.0, 3_600.0
FAST_OFFSETS = (0.0, 2 * MINUTE_SECONDS, 16 * MINUTE_SECONDS, 32 * MINUTE_SECONDS)
SAMPLE_OFFSETS = {BurstKind.FAST: FAST_OFFSETS, BurstKind.INSTANT: (0.0, 0.0)}
BURST_INTERVAL = 4 * HOUR_SECONDS
# As many looks in a row must have found the page changed.
CANDIDATE_RUN = 4
# What comes later than this is no longer the change of two minutes.
QUICK_CHANGE_SECONDS = 2 * FAST_OFFSETS[1]
# A sample that is held back longer is given up, and its round with it. The second look of an
# instant round may have to wait for its host, by an hour's Crawl-delay too.
MAX_DELAY = 16 * MINUTE_SECONDS
MAX_SECOND_LOOK_DELAY = BURST_INTERVAL
# Standing still for less than this says nothing of a page that changes from hour to hour.
MIN_STABLE_SECONDS = HOUR_SECONDS
FIRST_PAUSE_SECONDS = 2 * DAY_SECONDS
MAX_PAUSE_DOUBLINGS = 7


@dataclass(frozen=True, slots=True)
class BurstVisit:
    """What a visit showed, as far as rounds go by it; its time is in epoch seconds.

    ``gap_seconds`` is how many seconds before it the page was last visited. ``is_unverified`` says that the
    server called the page the same and did not send it, ``is_denied_by_server`` that the page had changed
    though the server calls it the same.
    """

    time: float
    is_look: bool
    changed: bool
    gap_seconds: float = np.inf
    is_unverified: bool = False
    is_denied_by_server: bool = False

    @property
    def shows_stability(self) -> bool:
        """Whether the page was seen to be the same as long before as it usually changes within."""
        return self.is_look and not self.changed and self.gap_seconds >= MIN_STABLE_SECONDS


def is_candidate(run: int) -> bool:
    """Whether a page that changed at so many looks in a row gets rounds.

    >>> is_candidate(3), is_candidate(4)
    (False, True)
    """
    return run >= CANDIDATE_RUN


def change_run_after(run: int, seen: BurstVisit) -> int:
    """Return how many looks in a row found a change, given how many did before this one.

    >>> changed = BurstVisit(0.0, is_look=True, changed=True)
    >>> change_run_after(1, changed), change_run_after(1, replace(changed, is_denied_by_server=True))
    (2, 3)
    """
    if not seen.changed:
        return 0
    return run + (2 if seen.is_denied_by_server else 1)


def change_runs(visits: VisitTable) -> tuple[PageIdArray, IndexArray]:
    """Return the pages whose last look found a change, and how many in a row did.

    >>> yes = np.ones(4, bool)
    >>> table = VisitTable(np.array([1, 1, 1, 2]), np.arange(4.0), yes, yes,
    ...     np.array([False, True, True, False]), np.full(4, -1, np.int32))
    >>> [column.tolist() for column in change_runs(table)]
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


def start_series(now: float, before: BurstProgress | None = None) -> BurstProgress:
    """Return the course of a page that is to begin a series of rounds; one may have been before."""
    return BurstProgress(BurstKind.INSTANT, now, pauses=before.pauses if before else 0)


def burst_priority(course: BurstProgress) -> int:
    """Return how many rounds a page has had: of those that wait, the ones with fewest come first.

    >>> quick = BurstProgress(BurstKind.INSTANT, 9_000.0, began=7_000.0, finished=1)
    >>> burst_priority(start_series(0.0)), burst_priority(quick)
    (-1, 0)
    """
    if is_before_first_burst(course):
        return -1
    return course.finished - (course.kind is BurstKind.INSTANT)


def is_before_first_burst(course: BurstProgress) -> bool:
    """Whether a page has not had the instant round yet that a series begins with."""
    return course.kind is BurstKind.INSTANT and course.began is None


def remaining_samples(course: BurstProgress) -> int:
    """Return how many samples the present round still takes."""
    return 0 if course.kind is None else len(SAMPLE_OFFSETS[course.kind]) - course.step


def skip_missed_samples(course: BurstProgress, now: float, most: int) -> BurstProgress:
    """Return the course with the sample that is due now: those it was too late for are left out.

    Where the last one of the round is too late as well, or the clock was set back, the round ends.

    >>> late = BurstProgress(BurstKind.FAST, 120.0, step=1, began=0.0)
    >>> skip_missed_samples(late, 1000.0, 8).step, skip_missed_samples(late, 9000.0, 8).finished
    (2, 1)
    """
    if course.step == 0:
        return course
    return _after_failure(course, now, most) if _is_over(course, now) else _skip(course, now)


def progress_after_sample(course: BurstProgress, seen: BurstVisit, most: int) -> BurstProgress:
    """Return the course after a sample; ``most`` fast rounds make a series."""
    if course.kind is None:
        return course
    if not seen.is_look:
        return _after_failure(course, seen.time, most)
    if _asks_whether_it_stands_still(course) and seen.shows_stability:
        return pause_series(course, seen.time)
    if course.kind is BurstKind.FAST:
        began = seen.time if course.step == 0 or course.began is None else course.began
        is_soon = course.step > 0 and seen.time - began <= QUICK_CHANGE_SECONDS
        quick = course.is_quick or (is_soon and seen.changed)
        course = replace(course, began=began, is_quick=quick)
    if remaining_samples(course) <= 1:
        return _after_round(course, seen.time, most)
    return _next_step(replace(course, step=course.step + 1), seen.time)


def progress_after_look(course: BurstProgress, seen: BurstVisit) -> BurstProgress:
    """Return the course after a look that was no sample: standing still ends a series.

    A page whose first round has not begun needs no rest from any.
    """
    if course.kind is None or course.step or not seen.shows_stability:
        return course
    return (
        end_series(course, seen.time)
        if is_before_first_burst(course)
        else pause_series(course, seen.time)
    )


def end_series(course: BurstProgress, now: float) -> BurstProgress:
    """Return the course of a page that needs no rounds now, and no rest from any."""
    return BurstProgress(None, now, pauses=course.pauses)


def pause_series(course: BurstProgress, now: float) -> BurstProgress:
    """Return the course of a page whose series is over: it rests, each time twice as long.

    >>> [pause_series(BurstProgress(None, 0.0, pauses=n), 0.0).due / 86_400 for n in (0, 1, 2)]
    [2.0, 4.0, 8.0]
    """
    pause = FIRST_PAUSE_SECONDS * 2.0 ** min(course.pauses, MAX_PAUSE_DOUBLINGS)
    return BurstProgress(None, now + pause, pauses=course.pauses + 1)


def room_for_samples(share: int, spent: int, reserved: int, passed: float) -> int:
    """Return how many samples may be begun now, of a day's share of which some are spent.

    The share comes free as the day passes (0 to 1), so that rounds lie all over it; one round's
    worth of it does at once. ``reserved`` are the samples that rounds under way still need.

    >>> room_for_samples(50, 0, 0, 0.0), room_for_samples(50, 10, 3, 0.5)
    (4, 12)
    """
    free = max(len(FAST_OFFSETS), int(share * passed))
    return max(0, min(share, free) - spent - reserved)


def _asks_whether_it_stands_still(course: BurstProgress) -> bool:
    """Whether the next sample is the first one of a round that comes long after the one before."""
    return course.step == 0 and (course.kind is BurstKind.FAST or is_before_first_burst(course))


def _is_over(course: BurstProgress, now: float) -> bool:
    """Whether even the last sample of a round under way comes too late, or before it began."""
    if course.kind is BurstKind.INSTANT or course.began is None:
        return not course.due <= now <= course.due + MAX_SECOND_LOOK_DELAY
    return not course.began <= now <= course.began + FAST_OFFSETS[-1] + MAX_DELAY


def _skip(course: BurstProgress, now: float) -> BurstProgress:
    """Leave out samples of a fast round whose successor is due already."""
    while course.kind is BurstKind.FAST and remaining_samples(course) > 1:
        following = _next_step(replace(course, step=course.step + 1), now)
        if following.due > now:
            return course
        course = following
    return course


def _next_step(course: BurstProgress, now: float) -> BurstProgress:
    if course.kind is not BurstKind.FAST or course.began is None:
        return replace(course, due=now)
    return replace(course, due=course.began + FAST_OFFSETS[course.step])


def _after_failure(course: BurstProgress, now: float, most: int) -> BurstProgress:
    """Return what comes after a round that was cut short.

    The instant round that a series begins with is tried again, and each time counts as a round.
    """
    if not is_before_first_burst(course):
        return _after_round(course, now, most)
    if course.finished + 1 >= most:
        return pause_series(course, now)
    return replace(course, due=now + BURST_INTERVAL, step=0, finished=course.finished + 1)


def _after_round(course: BurstProgress, now: float, most: int) -> BurstProgress:
    """Return what comes after a round: an instant one, the next fast one, or a rest."""
    is_fast = course.kind is BurstKind.FAST
    course = replace(course, step=0, finished=course.finished + is_fast)
    if is_fast and course.is_quick:
        return replace(course, kind=BurstKind.INSTANT, due=now, is_quick=False)
    if course.finished >= most:
        return pause_series(course, now)
    due = (now if course.began is None else course.began) + BURST_INTERVAL
    return replace(course, kind=BurstKind.FAST, due=due, is_quick=False)
