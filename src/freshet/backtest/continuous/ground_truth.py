"""Ground truth of a continuous backtest: the times at which pages really change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.continuous.link_arrivals import (
    LinkArrivals,
    PageIndices,
    link_arrivals_of_trace,
)
from freshet.backtest.kernels import copies as kernels
from freshet.backtest.trace import ChangeTimes, Trace, without_history
from freshet.core.clock import CYCLE_SECONDS
from freshet.core.tables import BoolArray, PageIdArray, PageTable
from freshet.core.types import FloatArray


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """The times at which each page really changes (epoch seconds, ascending).

    ``times[starts[i]:starts[i + 1]]`` belong to the i-th page of ``pages``. Pages marked in
    ``is_noisy`` seem to change at every look. ``links`` are the new links that appear, None if they
    are not known. ``measured_importance`` weighs the pages in scores; None for that of ``pages``,
    which policies know.
    """

    pages: PageTable
    starts: NDArray[np.int64]
    times: FloatArray
    is_noisy: BoolArray
    links: LinkArrivals | None = None
    measured_importance: FloatArray | None = None

    def next_changes(
        self, page_indices: PageIndices, moment: float
    ) -> tuple[PageIndices, FloatArray]:
        """Return the indices and times of pages' first changes after a moment."""
        time_indices, change_times = kernels.find_next_changes(
            self.times, self.starts, page_indices, moment
        )
        return time_indices, change_times

    @property
    def weights(self) -> FloatArray:
        """Return the importance by which scores weigh pages."""
        importance = self.measured_importance
        return self.pages.importance if importance is None else importance


def ground_truth(
    pages: PageTable, change_times: Sequence[FloatArray], *, is_noisy: BoolArray | None = None
) -> GroundTruth:
    """Return the ground truth of pages from each page's change times."""
    counts = [len(times) for times in change_times]
    return GroundTruth(
        pages=pages,
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        times=np.concatenate([np.empty(0), *(np.sort(times) for times in change_times)]),
        is_noisy=np.zeros(len(pages), np.bool_) if is_noisy is None else is_noisy,
    )


def ground_truth_of_trace(trace: Trace, *, seed: int = 0) -> GroundTruth:
    """Return the ground truth of a trace: its change times, and drawn ones where it has none.

    A changed cell without a recorded time has one change at a uniformly drawn moment of its cycle.
    """
    rng = np.random.default_rng(seed)
    changed_by_cycle = [np.flatnonzero(trace.changed(cycle)) for cycle in range(trace.cycles)]
    page_indices = np.concatenate(changed_by_cycle)
    cycles = np.repeat(
        np.arange(trace.cycles), [len(changed_pages) for changed_pages in changed_by_cycle]
    )
    times = (cycles + rng.random(len(cycles))) * CYCLE_SECONDS
    if trace.change_times is not None:
        recorded_pages, recorded_times = _recorded_times(trace.change_times)
        cells = page_indices * trace.cycles + cycles
        recorded_cycles = np.minimum(recorded_times // CYCLE_SECONDS, trace.cycles - 1)
        is_drawn = ~np.isin(cells, recorded_pages * trace.cycles + recorded_cycles)
        page_indices = np.concatenate([page_indices[is_drawn], recorded_pages])
        times = np.concatenate([times[is_drawn], recorded_times])
    order = np.lexsort((times, page_indices))
    counts = np.bincount(page_indices, minlength=len(trace.pages))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    changes = ChangeTimes(starts, times[order])
    return GroundTruth(
        pages=without_history(trace.pages),
        starts=changes.starts,
        times=changes.times,
        is_noisy=np.zeros(len(trace.pages), np.bool_),
        links=link_arrivals_of_trace(trace, changes, seed=seed),
        measured_importance=trace.measured_importance,
    )


def _recorded_times(change_times: ChangeTimes) -> tuple[PageIndices, FloatArray]:
    """Return the page and the time of every recorded change."""
    counts = np.diff(change_times.starts)
    return np.repeat(np.arange(len(counts)), counts), change_times.times


def index_lookup(ids: PageIdArray) -> Callable[[PageIdArray], PageIndices]:
    """Return a function that maps page ids to their indices.

    >>> index_lookup(np.array([30, 10, 20]))(np.array([10, 30])).tolist()
    [1, 0]
    """
    order = np.argsort(ids)
    in_order = ids[order]
    return lambda wanted: order[np.searchsorted(in_order, wanted)]
