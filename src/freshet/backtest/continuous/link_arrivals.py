"""When new links appear on pages in a continuous back-test, and which of them looks find."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.kernels import copies as kernels
from freshet.backtest.trace import ChangeTimes, LinkCounts, Trace
from freshet.core.clock import CYCLE_SECONDS
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, IndexArray

PageIndices = NDArray[np.int64]
INT32_MAX = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class LinkArrivals:
    """The times (epoch seconds, ascending) at which new links appear on each page.

    ``times[starts[i]:starts[i + 1]]`` belong to the i-th page. ``totals`` are the numbers of links
    before each time, in the order of the table, and of all links at the end. ``most_links`` is the
    number of links that each page has at most; None if it is not known.
    """

    starts: NDArray[np.int64]
    times: FloatArray
    totals: NDArray[np.int64]
    most_links: LinkCounts | None

    def totals_at(self, page_indices: PageIndices, moment: float) -> NDArray[np.int64]:
        """Return the totals up to a moment; the links between two moments are the difference."""
        indices, _ = kernels.find_next_changes(self.times, self.starts, page_indices, moment)
        totals: NDArray[np.int64] = self.totals[indices]
        return totals


class FoundLinks:
    """The new links that the looks of a crawler have found, and those that appeared so far."""

    def __init__(self, arrivals: LinkArrivals) -> None:
        self._arrivals = arrivals
        self._first_totals = arrivals.totals[arrivals.starts[:-1]]
        self._totals = self._first_totals.copy()
        self._are_counted = np.zeros(len(self._totals), np.bool_)
        self._appeared_before = 0
        self.found = 0

    def look(self, page_indices: PageIndices, moment: float, has_copy: BoolArray) -> IndexArray:
        """Return the new links that looks at pages show; a first look finds none."""
        totals = self._arrivals.totals_at(page_indices, moment)
        links = np.where(has_copy, totals - self._totals[page_indices], 0)
        if self._arrivals.most_links is not None:
            links = np.minimum(links, self._arrivals.most_links[page_indices])
        first = page_indices[~has_copy]
        self._appeared_before += int((totals[~has_copy] - self._totals[first]).sum())
        self._totals[page_indices] = totals
        self._are_counted[page_indices] = True
        self.found += int(links.sum())
        return np.minimum(links, INT32_MAX).astype(np.int32)

    def reset_totals(self) -> None:
        """Count from now on; links that no look has shown yet are still to be found."""
        self._appeared_before = int((self._totals - self._first_totals).sum())
        self.found = 0

    def appeared(self, now: float) -> int:
        """Return how many links have appeared on pages that have a copy, since counting began."""
        page_indices = np.flatnonzero(self._are_counted)
        totals = self._arrivals.totals_at(page_indices, now)
        appeared = int((totals - self._first_totals[page_indices]).sum())
        return appeared - self._appeared_before


def link_arrivals_of_trace(
    trace: Trace, changes: ChangeTimes, *, seed: int = 0
) -> LinkArrivals | None:
    """Return when the new links of a trace appear; None if it has no link counts.

    The links of a cell appear at the first change of their page in that cycle, or at a moment that
    is drawn uniformly if there is no change.
    """
    if trace.new_links is None:
        return None
    cycles, pages = np.nonzero(np.asarray(trace.new_links))
    counts = np.asarray(trace.new_links)[cycles, pages].astype(np.int64)
    order = np.lexsort((cycles, pages))
    cycles, pages, counts = cycles[order], pages[order], counts[order]
    drawn = (cycles + np.random.default_rng(seed).random(len(cycles))) * CYCLE_SECONDS
    changed = _change_moments(trace, changes, pages, cycles)
    times = np.where(np.isnan(changed), drawn, changed)
    starts = np.concatenate([[0], np.cumsum(np.bincount(pages, minlength=len(trace.pages)))])
    totals = np.concatenate([[0], np.cumsum(counts)])
    return LinkArrivals(starts.astype(np.int64), times, totals.astype(np.int64), trace.most_links)


def _change_moments(
    trace: Trace, changes: ChangeTimes, pages: PageIndices, cycles: PageIndices
) -> FloatArray:
    """Return the first change of pages in cycles, NaN if there is none."""
    changed_pages = np.repeat(np.arange(len(trace.pages)), np.diff(changes.starts))
    changed_cells = changed_pages * trace.cycles + (changes.times // CYCLE_SECONDS).astype(np.int64)
    cells = pages * trace.cycles + cycles
    positions = np.searchsorted(changed_cells, cells)
    moments = np.full(len(cells), np.nan)
    is_inside = positions < len(changed_cells)
    is_inside[is_inside] = changed_cells[positions[is_inside]] == cells[is_inside]
    moments[is_inside] = changes.times[positions[is_inside]]
    return moments
