"""The burst queue: which pages are in a burst, wait for one, and have a sample due.

``update_from_visits`` returns the effect of visits without applying it, and ``apply`` applies it.
The caller stores the update in between; an update that could not be stored is computed again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import numpy as np

from freshet.core.bursts import BurstProgress
from freshet.core.tables import VisitTable
from freshet.schedule.bursts.burst_rules import (
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

# A page that waits for a burst and cannot be fetched now is considered again after this delay.
RETRY_SECONDS = 60.0
MIN_SAMPLES = 2

IsAvailable = Callable[[int], bool]
DueSamples = list[tuple[int, BurstProgress]]


@dataclass(frozen=True, slots=True)
class BurstUpdate:
    """The effect of visits, by page: burst progress, runs of changed looks, samples taken.

    ``server_denials`` says whether the server called a page unchanged that had changed.
    """

    progress_by_page: dict[int, BurstProgress] = field(default_factory=dict)
    change_runs: dict[int, int] = field(default_factory=dict)
    sample_counts: dict[int, int] = field(default_factory=dict)
    server_denials: dict[int, bool] = field(default_factory=dict)


@dataclass(slots=True)
class BurstQueue:
    """The burst progress of every page, and how many looks in a row found each page changed.

    A series has ``max_bursts`` bursts.
    """

    max_bursts: int
    progress_by_page: dict[int, BurstProgress] = field(default_factory=dict)
    _change_runs: dict[int, int] = field(default_factory=dict)
    _denied_pages: set[int] = field(default_factory=set)
    _sent_requests: dict[int, int] = field(default_factory=dict)
    _active_pages: set[int] = field(default_factory=set)
    _queues: dict[int, list[tuple[float, int]]] = field(default_factory=dict)

    def count_change_runs(
        self, visits: VisitTable, progress_by_page: Mapping[int, BurstProgress]
    ) -> None:
        """Count the changed looks in a row of pages, given whole histories; pauses are left out."""
        pages, lengths = change_runs(_visits_outside_pauses(visits, progress_by_page))
        self._change_runs.update(zip(pages.tolist(), lengths.tolist(), strict=True))

    def restore(self, progress_by_page: Mapping[int, BurstProgress], now: float) -> None:
        """Take over stored progress, and queue the pages that changed at every recent look."""
        for page, progress in progress_by_page.items():
            self._set_progress(page, progress)
        for page, run in self._change_runs.items():
            if is_candidate(run):
                self._enqueue_candidate(page, now)

    def update_from_visits(
        self, visits: Iterable[tuple[int, BurstVisit]], masked_pages: Set[int] = frozenset()
    ) -> BurstUpdate:
        """Return the effect of visits, each page's in time order, without applying it.

        ``masked_pages`` have a new mask, learned from these visits, under which they do not change
        at every look. They need no more bursts.
        """
        update = BurstUpdate()
        for page, visit in visits:
            progress = update.progress_by_page.get(page, self.progress_by_page.get(page))
            requests_out = self._sent_requests.get(page, 0) - update.sample_counts.get(page, 0)
            if progress is not None and requests_out > 0:
                update.sample_counts[page] = update.sample_counts.get(page, 0) + 1
                next_progress = progress_after_sample(progress, visit, self.max_bursts)
                if _is_paused(next_progress) and requests_out > 1:
                    # The burst goes on: the other request of this instant burst is still out.
                    next_progress = replace(progress, step=progress.step + 1, due=visit.time)
                update.progress_by_page[page] = next_progress
            elif visit.is_look and not self._is_unreliable(page, visit, update):
                self._add_look(page, visit, update)
            if page in masked_pages and requests_out <= 1:
                _end_page_series(page, visit.time, update)
        changed = {
            page: progress
            for page, progress in update.progress_by_page.items()
            if progress != self.progress_by_page.get(page)
        }
        return replace(update, progress_by_page=changed)

    def _is_unreliable(self, page: int, visit: BurstVisit, update: BurstUpdate) -> bool:
        """Whether only a server says "unchanged" that said so before of a changed page."""
        return visit.is_unverified and update.server_denials.get(page, page in self._denied_pages)

    def _add_look(self, page: int, visit: BurstVisit, update: BurstUpdate) -> None:
        """Add the effect of a look that was not a sample."""
        progress = update.progress_by_page.get(page, self.progress_by_page.get(page))
        run = update.change_runs.get(page, self._change_runs.get(page, 0))
        is_in_pause = progress is not None and _is_paused(progress) and visit.time < progress.due
        update.change_runs[page] = 0 if is_in_pause else change_run_after(run, visit)
        update.server_denials[page] = visit.is_denied_by_server
        if progress is not None:
            update.progress_by_page[page] = progress_after_look(progress, visit)

    def apply(self, update: BurstUpdate, now: float) -> None:
        """Apply the effect of visits."""
        for page, count in update.sample_counts.items():
            self.mark_returned(page, count)
        for page, progress in update.progress_by_page.items():
            self._set_progress(page, progress)
        for page, run in update.change_runs.items():
            self._change_runs[page] = run
            if is_candidate(run):
                self._enqueue_candidate(page, now)
        for page, is_denied in update.server_denials.items():
            (self._denied_pages.add if is_denied else self._denied_pages.discard)(page)
        for page in update.change_runs.keys() | update.progress_by_page.keys():
            if not self._change_runs.get(page) or _is_paused(update.progress_by_page.get(page)):
                self._change_runs.pop(page, None)

    def due_samples(
        self, now: float, until: float, max_new_samples: int, is_available: IsAvailable
    ) -> DueSamples:
        """Return the pages whose next sample is due, with their progress.

        Active bursts come first, and their samples are not limited: they were reserved when the
        burst began. Waiting bursts begin as long as all of their samples fit, pages with the
        fewest bursts first.
        """
        due = [item for item in self._due_in_active_bursts(now, until) if is_available(item[0])]
        if max_new_samples < MIN_SAMPLES:
            return due
        return due + self._start_bursts(until, max_new_samples, is_available)

    def mark_sent(self, page: int, progress: BurstProgress, request_count: int) -> None:
        """Note that requests for a page's sample were sent."""
        self._sent_requests[page] = self._sent_requests.get(page, 0) + request_count
        self._set_progress(page, progress)

    def mark_returned(self, page: int, request_count: int = 1) -> None:
        """Note that requests ended, with or without a result."""
        requests_out = self._sent_requests.pop(page, 0) - request_count
        if requests_out > 0:
            self._sent_requests[page] = requests_out
        elif page in self.progress_by_page:
            self._set_progress(page, self.progress_by_page[page])

    def forget_page(self, page: int) -> None:
        """Forget a page's bursts until they are restored."""
        self.progress_by_page.pop(page, None)
        self._change_runs.pop(page, None)
        self._active_pages.discard(page)

    def is_sent(self, page: int) -> bool:
        """Whether requests for a sample of a page are out."""
        return page in self._sent_requests

    @property
    def active_count(self) -> int:
        """Return the number of pages that are in a burst."""
        return len(self._active_pages | self._sent_requests.keys())

    @property
    def reserved_samples(self) -> int:
        """Return the number of samples that active bursts still need, without those sent."""
        pages = self._active_pages | self._sent_requests.keys()
        return sum(
            max(
                0, remaining_samples(self.progress_by_page[page]) - self._sent_requests.get(page, 0)
            )
            for page in pages
        )

    def next_due_time(self, after: float) -> float | None:
        """Return when the next sample after a time is due, None if there is none."""
        waiting = (queue[0][0] for queue in self._queues.values() if queue)
        active = (self.progress_by_page[page].due for page in self._active_pages)
        return min((due for due in (*waiting, *active) if due > after), default=None)

    def _due_in_active_bursts(self, now: float, until: float) -> DueSamples:
        """Return the active bursts whose next sample is due; bursts that are too late end.

        A sample that is further ahead than a burst lasts shows that the clock was set back.
        """
        due: DueSamples = []
        for page in self._active_pages - self._sent_requests.keys():
            progress = self.progress_by_page[page]
            if until < progress.due <= now + FAST_OFFSETS[-1]:
                continue
            progress = skip_missed_samples(progress, now, self.max_bursts)
            if not progress.step:
                self._set_progress(page, progress)
            elif progress.due <= until:
                due.append((page, progress))
        return sorted(due, key=lambda item: item[1].due)

    def _start_bursts(
        self, until: float, max_samples: int, is_available: IsAvailable
    ) -> DueSamples:
        """Return the bursts to start; a page that is not available waits a little longer."""
        started: dict[int, BurstProgress] = {}
        for page, progress in self._pop_waiting(until):
            if page in started:
                continue
            if remaining_samples(progress) > max_samples:
                self._set_progress(page, progress)
                break
            if is_available(page):
                started[page] = progress
                max_samples -= remaining_samples(progress)
            else:
                self._set_progress(page, replace(progress, due=until + RETRY_SECONDS))
        for page, progress in started.items():
            self._set_progress(page, progress)
        return list(started.items())

    def _pop_waiting(self, until: float) -> Iterator[tuple[int, BurstProgress]]:
        """Pop pages that wait for a burst, fewest bursts first, then by time.

        Entries are not removed when a page stops waiting, so an entry may be outdated.
        """
        for priority in sorted(self._queues):
            queue = self._queues[priority]
            while queue and queue[0][0] <= until:
                due, page = heappop(queue)
                progress = self.progress_by_page.get(page)
                if progress is not None and self._waits(page, progress) and progress.due == due:
                    yield page, progress

    def _waits(self, page: int, progress: BurstProgress) -> bool:
        return progress.kind is not None and progress.step == 0 and page not in self._sent_requests

    def _set_progress(self, page: int, progress: BurstProgress) -> None:
        """Set a page's progress, and queue the page if it waits for a burst."""
        self.progress_by_page[page] = progress
        self._active_pages.discard(page)
        if self._waits(page, progress):
            queue = self._queues.setdefault(burst_priority(progress), [])
            heappush(queue, (progress.due, page))
        elif progress.step:
            self._active_pages.add(page)

    def _enqueue_candidate(self, page: int, now: float) -> None:
        """Queue a page for a burst, unless it has bursts already or is in a pause."""
        progress = self.progress_by_page.get(page)
        if progress is None or (progress.kind is None and progress.due <= now):
            self._set_progress(page, start_series(now, progress))


def _end_page_series(page: int, now: float, update: BurstUpdate) -> None:
    """End the series of a page, if it has one, and count its changed looks from here."""
    update.change_runs[page] = 0
    progress = update.progress_by_page.get(page)
    if progress is not None and progress.kind is not None:
        update.progress_by_page[page] = end_series(progress, now)


def _is_paused(progress: BurstProgress | None) -> bool:
    return progress is not None and progress.kind is None


def _visits_outside_pauses(
    visits: VisitTable, progress_by_page: Mapping[int, BurstProgress]
) -> VisitTable:
    """Return visits without those that pages had in a pause between two series."""
    pause_ends = {
        page: progress.due for page, progress in progress_by_page.items() if progress.kind is None
    }
    if not pause_ends:
        return visits
    candidates = np.flatnonzero(np.isin(visits.pages, np.fromiter(pause_ends, np.int64)))
    ends = np.array([pause_ends[page] for page in visits.pages[candidates].tolist()])
    keep = np.ones(len(visits), np.bool_)
    keep[candidates[visits.times[candidates] < ends]] = False
    return VisitTable(
        visits.pages[keep], visits.times[keep], visits.looks[keep], visits.measured[keep],
        visits.changed[keep], visits.new_links[keep],
    )  # fmt: skip
