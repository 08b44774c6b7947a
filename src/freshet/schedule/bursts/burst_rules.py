"""The rules of bursts: which pages get them, of which kind, and when the next sample is due.

Adar et al. 2009, section 4.1.2, sampled pages that changed every hour at 0, 2, 16 and 32 minutes,
in eight bursts four hours apart, and sampled pages that changed within two minutes twice at once.
Here a page gets bursts when each of its last looks found a change, whatever the time between them,
and keeps getting them as long as it changes. A series begins with an instant burst: two looks show
whether the page changes only by noise, and if a mask removes that noise, no fast burst is needed. A
change that the server denies counts as two, because the look before was "not modified" only by the
server's word.
"""

from dataclasses import dataclass, replace

import numpy as np

from freshet.core.bursts import BurstKind, BurstProgress
from freshet.core.tables import DAY_SECONDS, HOUR_SECONDS, PageIdArray, VisitTable
from freshet.core.types import IndexArray

MINUTE_SECONDS = 60.0
FAST_OFFSETS = (0.0, 2 * MINUTE_SECONDS, 16 * MINUTE_SECONDS, 32 * MINUTE_SECONDS)
SAMPLE_OFFSETS = {BurstKind.FAST: FAST_OFFSETS, BurstKind.INSTANT: (0.0, 0.0)}
BURST_INTERVAL = 4 * HOUR_SECONDS
# The number of changed looks in a row that makes a page a candidate.
CANDIDATE_RUN = 4
# A change that is found later than this is not a change within two minutes.
QUICK_CHANGE_SECONDS = 2 * FAST_OFFSETS[1]
# A burst ends when a sample is delayed for longer. The second look of an instant burst may have to
# wait for its host, even for a Crawl-delay of an hour.
MAX_DELAY = 16 * MINUTE_SECONDS
MAX_SECOND_LOOK_DELAY = BURST_INTERVAL
# Being unchanged for a shorter time says nothing about a page that changes from hour to hour.
MIN_STABLE_SECONDS = HOUR_SECONDS
FIRST_PAUSE_SECONDS = 2 * DAY_SECONDS
MAX_PAUSE_DOUBLINGS = 7


@dataclass(frozen=True, slots=True)
class BurstVisit:
    """The facts about a visit that bursts depend on; its time is in epoch seconds.

    ``gap_seconds`` is the time since the page's previous visit. ``is_unverified`` means that the
    server called the page unchanged and did not send it, ``is_denied_by_server`` that the page had
    changed although the server called it unchanged.
    """

    time: float
    is_look: bool
    changed: bool
    gap_seconds: float = np.inf
    is_unverified: bool = False
    is_denied_by_server: bool = False

    @property
    def shows_stability(self) -> bool:
        """Whether the page was unchanged for longer than it usually takes to change."""
        return self.is_look and not self.changed and self.gap_seconds >= MIN_STABLE_SECONDS


def is_candidate(run: int) -> bool:
    """Whether a page gets bursts after that many changed looks in a row.

    >>> is_candidate(3), is_candidate(4)
    (False, True)
    """
    return run >= CANDIDATE_RUN


def change_run_after(run: int, visit: BurstVisit) -> int:
    """Return the number of changed looks in a row after one more look.

    >>> changed = BurstVisit(0.0, is_look=True, changed=True)
    >>> denied = replace(changed, is_denied_by_server=True)
    >>> change_run_after(1, changed), change_run_after(1, denied)
    (2, 3)
    """
    if not visit.changed:
        return 0
    return run + (2 if visit.is_denied_by_server else 1)


def change_runs(visits: VisitTable) -> tuple[PageIdArray, IndexArray]:
    """Return the pages whose last look found a change, and their numbers of such looks in a row.

    >>> yes = np.ones(4, bool)
    >>> table = VisitTable(np.array([1, 1, 1, 2]), np.arange(4.0), yes, yes,
    ...     np.array([False, True, True, False]), np.full(4, -1, np.int32))
    >>> [column.tolist() for column in change_runs(table)]
    [[1], [2]]
    """
    pages, changed = visits.pages[visits.looks], visits.changed[visits.looks]
    if not len(pages):
        return np.empty(0, np.int64), np.empty(0, np.int32)
    positions = np.arange(len(pages))
    last = np.append(np.flatnonzero(np.diff(pages)), len(pages) - 1)
    first = np.append(0, last[:-1] + 1)
    last_unchanged = np.maximum.accumulate(np.where(changed, -1, positions))
    lengths = last - np.maximum(last_unchanged[last], first - 1)
    return pages[last][lengths > 0], lengths[lengths > 0].astype(np.int32)


def start_series(now: float, previous: BurstProgress | None = None) -> BurstProgress:
    """Return the progress of a page that begins a series, possibly after an earlier series."""
    return BurstProgress(
        BurstKind.INSTANT, now, pause_count=previous.pause_count if previous else 0
    )


def burst_priority(progress: BurstProgress) -> int:
    """Return the order in which waiting pages come: those with the fewest bursts first.

    >>> quick = BurstProgress(BurstKind.INSTANT, 9_000.0, fast_start=7_000.0, finished_bursts=1)
    >>> burst_priority(start_series(0.0)), burst_priority(quick)
    (-1, 0)
    """
    if is_before_first_burst(progress):
        return -1
    return progress.finished_bursts - (progress.kind is BurstKind.INSTANT)


def is_before_first_burst(progress: BurstProgress) -> bool:
    """Whether a page still waits for the instant burst that begins a series."""
    return progress.kind is BurstKind.INSTANT and progress.fast_start is None


def remaining_samples(progress: BurstProgress) -> int:
    """Return the number of samples that the current burst still needs."""
    return 0 if progress.kind is None else len(SAMPLE_OFFSETS[progress.kind]) - progress.step


def skip_missed_samples(progress: BurstProgress, now: float, max_bursts: int) -> BurstProgress:
    """Return the progress at the sample that is due now, without the samples that were missed.

    The burst ends if its last sample is too late as well, or if the clock was set back.

    >>> late = BurstProgress(BurstKind.FAST, 120.0, step=1, fast_start=0.0)
    >>> skip_missed_samples(late, 1000.0, 8).step
    2
    >>> skip_missed_samples(late, 9000.0, 8).finished_bursts
    1
    """
    if progress.step == 0:
        return progress
    if _is_over(progress, now):
        return _after_failure(progress, now, max_bursts)
    return _skip(progress, now)


def progress_after_sample(
    progress: BurstProgress, visit: BurstVisit, max_bursts: int
) -> BurstProgress:
    """Return the progress after a sample; a series has ``max_bursts`` fast bursts."""
    if progress.kind is None:
        return progress
    if not visit.is_look:
        return _after_failure(progress, visit.time, max_bursts)
    if _begins_after_interval(progress) and visit.shows_stability:
        return pause_series(progress, visit.time)
    if progress.kind is BurstKind.FAST:
        began = (
            visit.time if progress.step == 0 or progress.fast_start is None else progress.fast_start
        )
        is_soon = progress.step > 0 and visit.time - began <= QUICK_CHANGE_SECONDS
        quick = progress.changed_quickly or (is_soon and visit.changed)
        progress = replace(progress, fast_start=began, changed_quickly=quick)
    if remaining_samples(progress) <= 1:
        return _after_burst(progress, visit.time, max_bursts)
    return _set_due(replace(progress, step=progress.step + 1), visit.time)


def progress_after_look(progress: BurstProgress, visit: BurstVisit) -> BurstProgress:
    """Return the progress after a look that was not a sample: a stable page ends its series.

    A page whose first burst has not begun needs no pause.
    """
    if progress.kind is None or progress.step or not visit.shows_stability:
        return progress
    if is_before_first_burst(progress):
        return end_series(progress, visit.time)
    return pause_series(progress, visit.time)


def end_series(progress: BurstProgress, now: float) -> BurstProgress:
    """Return the progress of a page that needs neither bursts nor a pause now."""
    return BurstProgress(None, now, pause_count=progress.pause_count)


def pause_series(progress: BurstProgress, now: float) -> BurstProgress:
    """Return the progress of a page that pauses after a series, each time twice as long.

    >>> [pause_series(BurstProgress(None, 0.0, pause_count=n), 0.0).due / 86_400 for n in (0, 1, 2)]
    [2.0, 4.0, 8.0]
    """
    pause = FIRST_PAUSE_SECONDS * 2.0 ** min(progress.pause_count, MAX_PAUSE_DOUBLINGS)
    return BurstProgress(None, now + pause, pause_count=progress.pause_count + 1)


def room_for_samples(share: int, spent: int, reserved: int, passed: float) -> int:
    """Return how many samples new bursts may take now, given the day's share for samples.

    The share becomes available in proportion to ``passed``, the part of the day that is over (0 to
    1), so that bursts are spread over the day; enough for one burst is available at once.
    ``reserved`` is the number of samples that active bursts still need.

    >>> room_for_samples(50, 0, 0, 0.0), room_for_samples(50, 10, 3, 0.5)
    (4, 12)
    """
    available = max(len(FAST_OFFSETS), int(share * passed))
    return max(0, min(share, available) - spent - reserved)


def _begins_after_interval(progress: BurstProgress) -> bool:
    """Whether the next sample begins a burst long after the previous visit."""
    return progress.step == 0 and (
        progress.kind is BurstKind.FAST or is_before_first_burst(progress)
    )


def _is_over(progress: BurstProgress, now: float) -> bool:
    """Whether even the last sample of the burst is too late, or the clock was set back."""
    if progress.kind is BurstKind.INSTANT or progress.fast_start is None:
        return not progress.due <= now <= progress.due + MAX_SECOND_LOOK_DELAY
    return not progress.fast_start <= now <= progress.fast_start + FAST_OFFSETS[-1] + MAX_DELAY


def _skip(progress: BurstProgress, now: float) -> BurstProgress:
    """Skip the samples of a fast burst whose successor is due already."""
    while progress.kind is BurstKind.FAST and remaining_samples(progress) > 1:
        following = _set_due(replace(progress, step=progress.step + 1), now)
        if following.due > now:
            return progress
        progress = following
    return progress


def _set_due(progress: BurstProgress, now: float) -> BurstProgress:
    """Return the progress with the due time of its next sample."""
    if progress.kind is not BurstKind.FAST or progress.fast_start is None:
        return replace(progress, due=now)
    return replace(progress, due=progress.fast_start + FAST_OFFSETS[progress.step])


def _after_failure(progress: BurstProgress, now: float, max_bursts: int) -> BurstProgress:
    """Return the progress after a burst that was cut short.

    The instant burst that begins a series is tried again, and each try counts as a burst.
    """
    if not is_before_first_burst(progress):
        return _after_burst(progress, now, max_bursts)
    if progress.finished_bursts + 1 >= max_bursts:
        return pause_series(progress, now)
    return replace(
        progress, due=now + BURST_INTERVAL, step=0, finished_bursts=progress.finished_bursts + 1
    )


def _after_burst(progress: BurstProgress, now: float, max_bursts: int) -> BurstProgress:
    """Return the progress after a burst: an instant burst, the next fast burst, or a pause."""
    is_fast = progress.kind is BurstKind.FAST
    progress = replace(progress, step=0, finished_bursts=progress.finished_bursts + is_fast)
    if is_fast and progress.changed_quickly:
        return replace(progress, kind=BurstKind.INSTANT, due=now, changed_quickly=False)
    if progress.finished_bursts >= max_bursts:
        return pause_series(progress, now)
    due = (now if progress.fast_start is None else progress.fast_start) + BURST_INTERVAL
    return replace(progress, kind=BurstKind.FAST, due=due, changed_quickly=False)
