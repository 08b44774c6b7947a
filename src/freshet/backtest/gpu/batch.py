"""A batch of formulas that crawl side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.gpu.device import ArrayDevice
from freshet.backtest.gpu.histories import (
    ABOVE_CUT,
    AT_CUT,
    Array,
    HistoryTable,
    concatenate_histories,
    sum_by_group,
    update_sums,
)
from freshet.backtest.trace import Trace
from freshet.core.hashing import splitmix64
from freshet.core.types import FloatArray
from freshet.formula.expression import Formula
from freshet.formula.variables import SUM_COUNT, WeightClock, variable_set

GAIN_RESOLUTION = 2.0**36
"""Gains are rounded to multiples of 1/GAIN_RESOLUTION, so that their sum is exact in any order."""


@dataclass(frozen=True, slots=True)
class DeviceTrace:
    """The trace on the device: changes by cycle, and the pages in tie break order by cycle."""

    pages: int
    cycles: int
    k: int
    changed: Array
    tie_break_orders: Array


@dataclass(frozen=True, slots=True)
class BatchStep:
    """Results of a cycle by formula: changes found, their gain, and stale copies before it."""

    changes_found: NDArray[np.int64]
    gain: FloatArray
    stale_before: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _SelectionCut:
    """Order of the histories, their marks, and the number of pages to take at the cut score."""

    order: Array
    marks: Array
    missing: Array


@dataclass(frozen=True, slots=True)
class _HistoryVisits:
    """Number of visited pages of each history, and how many of them had changed."""

    visited: Array
    changed: Array


def load_trace(trace: Trace, k: int, keys: NDArray[np.uint64], device: ArrayDevice) -> DeviceTrace:
    """Load a trace onto a device."""
    xp, pages = device.xp, len(trace.pages)
    ids = xp.arange(pages, dtype=np.uint64)
    changed = xp.zeros((trace.cycles, pages), np.bool_)
    orders = xp.zeros((trace.cycles, pages), np.int32)
    for number in range(trace.cycles):
        changed[number] = xp.asarray(trace.changed(number))
        orders[number] = xp.argsort(splitmix64(ids + np.uint64(keys[number])))
    return DeviceTrace(pages, trace.cycles, k, changed, orders)


class FormulaBatch:
    """The state of formulas that crawl side by side: page histories and stale copies."""

    def __init__(
        self,
        device: ArrayDevice,
        trace: DeviceTrace,
        formulas: Sequence[Formula],
        clock: WeightClock,
    ) -> None:
        self._device = device
        self._trace = trace
        self._clock: WeightClock = clock
        self._set_formulas(formulas)
        self._stale = device.xp.zeros((len(formulas), trace.pages), np.bool_)
        self._warm_up()

    def _set_formulas(self, formulas: Sequence[Formula]) -> None:
        self._formulas = formulas
        self._ranking = self._device.ranking(formulas, self._clock)
        needed_sums = [variable_set(formula.variables).needed_sums for formula in formulas]
        self._needed_sums = self._device.xp.asarray(
            np.array(needed_sums, np.float64).reshape(-1, SUM_COUNT)
        )

    def _warm_up(self) -> None:
        """Visit every page in the first cycles; the result is the same for all formulas."""
        xp, count = self._device.xp, len(self._formulas)
        histories = HistoryTable(
            xp.arange(count, dtype=np.int32),
            xp.full(count, -1, np.int32),
            xp.zeros((count, SUM_COUNT)),
            xp.full(count, self._trace.pages, np.int64),
        )
        branch_of_page, sizes = xp.zeros(self._trace.pages, np.int32), xp.zeros(1, np.int64)
        for number in range(min(WARM_UP_CYCLES, self._trace.cycles)):
            branch_of_page = 2 * branch_of_page + self._trace.changed[number]
            sizes = xp.bincount(branch_of_page, minlength=2 ** (number + 1))
            parents = xp.repeat(xp.arange(len(histories)), 2)
            changed = xp.arange(2 * len(histories)) % 2 == 1
            histories = self._after_look(histories.select(parents), changed, number)
        branches = len(histories) // max(1, count)
        numbers, firsts = self._device.number_equal_rows(histories.owners, histories.sums)
        first_branches = branches * xp.arange(count, dtype=np.int32)
        self._history_of_page = numbers.astype(np.int32)[
            first_branches[:, None] + branch_of_page[None, :]
        ]
        page_counts = sum_by_group(xp, numbers, xp.tile(sizes, count), len(firsts))
        self._histories = replace(histories.select(firsts), sizes=page_counts.astype(np.int64))

    def _after_look(self, histories: HistoryTable, changed: Array, number: int) -> HistoryTable:
        """Return histories after one more look; sums that the formula does not need stay 0."""
        xp, by_cycle = self._device.xp, self._clock == "cycle"
        gaps = (number - histories.last_visits).astype(np.float64)
        sums = update_sums(xp, histories.sums, gaps, changed, by_cycle=by_cycle)
        last_visits = xp.full_like(histories.last_visits, number)
        return replace(
            histories, last_visits=last_visits, sums=sums * self._needed_sums[histories.owners]
        )

    def step(self, number: int, gains: Array | None) -> BatchStep:
        """Visit the best k pages of each formula; ``gains`` are the cumulative gains by rank."""
        device, trace = self._device, self._trace
        self._stale |= trace.changed[number]
        stale_before = device.xp.count_nonzero(self._stale, axis=1)
        self._drop_empty()
        histories = self._histories
        scores = self._ranking.values(histories, number)
        cut = self._cut(scores)
        pages = device.choose(
            cut.marks, self._history_of_page, trace.tie_break_orders[number], cut.missing, trace.k
        )
        visits = self._visit(pages, number)
        changes_found = self._sum_by_formula(histories.owners, visits.changed)
        gain = (
            changes_found * 0.0
            if gains is None
            else self._gain(histories, scores, cut.order, visits, gains)
        )
        return BatchStep(
            device.to_numpy(changes_found).astype(np.int64),
            device.to_numpy(gain),
            device.to_numpy(stale_before),
        )

    def _sum_by_formula(self, owners: Array, values: Array) -> Array:
        return sum_by_group(self._device.xp, owners, values, len(self._formulas))

    def keep(self, indices: NDArray[np.int64]) -> None:
        """Continue with some of the formulas."""
        xp = self._device.xp
        new_numbers = np.full(len(self._formulas), -1, np.int32)
        new_numbers[indices] = np.arange(len(indices))
        new_numbers = xp.asarray(new_numbers)
        self._set_formulas([self._formulas[index] for index in indices])
        self._stale, self._history_of_page = self._stale[indices], self._history_of_page[indices]
        self._keep_histories(new_numbers[self._histories.owners] >= 0)
        self._histories = replace(self._histories, owners=new_numbers[self._histories.owners])

    def _drop_empty(self) -> None:
        """Drop histories without pages once they are the majority."""
        is_used = self._histories.sizes > 0
        if 2 * int(is_used.sum()) < len(is_used):
            self._keep_histories(is_used)

    def _keep_histories(self, is_kept: Array) -> None:
        new_numbers = self._device.xp.cumsum(is_kept, dtype=np.int32) - 1
        self._history_of_page = new_numbers[self._history_of_page]
        self._histories = self._histories.select(is_kept)

    def _cut(self, scores: Array) -> _SelectionCut:
        """Find the score at which k pages are reached."""
        xp, histories, k = self._device.xp, self._histories, self._trace.k
        order = xp.argsort(-scores, kind="stable")
        order = order[xp.argsort(histories.owners[order], kind="stable")]
        sizes = histories.sizes[order]
        reached = xp.cumsum(sizes) - self._trace.pages * histories.owners[order].astype(np.int64)
        cut_positions = xp.flatnonzero((reached >= k) & (reached - sizes < k))
        cut_scores = scores[order[cut_positions]][histories.owners]
        above, at_cut = scores > cut_scores, scores == cut_scores
        pages_above = self._sum_by_formula(histories.owners, above * histories.sizes)
        marks = above * np.uint8(ABOVE_CUT) + at_cut * np.uint8(AT_CUT)
        return _SelectionCut(order, marks.astype(np.uint8), (k - pages_above).astype(np.int32))

    def _visit(self, pages: Array, number: int) -> _HistoryVisits:
        """Visit pages; return the numbers of visited and of changed pages by history."""
        xp, device, histories = self._device.xp, self._device, self._histories
        numbers, counts = device.refresh_copies(
            self._history_of_page, self._stale, pages, len(histories)
        )
        visited_numbers = xp.flatnonzero(counts)
        children = self._after_look(
            histories.select(visited_numbers // 2), visited_numbers % 2 == 1, number
        )
        child_numbers, firsts = device.number_equal_rows(children.owners, children.sums)
        sizes = sum_by_group(xp, child_numbers, counts[visited_numbers], len(firsts)).astype(
            np.int64
        )
        target_rows = xp.zeros(len(counts), np.int32)
        target_rows[visited_numbers] = len(histories) + child_numbers
        device.reassign_pages(self._history_of_page, pages, numbers, target_rows)
        visits = _HistoryVisits(counts[0::2] + counts[1::2], counts[1::2])
        remaining = replace(histories, sizes=histories.sizes - visits.visited)
        self._histories = concatenate_histories(
            xp, remaining, replace(children.select(firsts), sizes=sizes)
        )
        return visits

    def _gain(
        self,
        histories: HistoryTable,
        scores: Array,
        order: Array,
        visits: _HistoryVisits,
        gains: Array,
    ) -> Array:
        """Return the discounted gain, averaged over the order of equal scores."""
        xp = self._device.xp
        order = order[visits.visited[order] > 0]
        owners, values = histories.owners[order], scores[order]
        is_group_start = xp.ones(len(order), np.bool_)
        is_group_start[1:] = (values[1:] != values[:-1]) | (owners[1:] != owners[:-1])
        groups = xp.cumsum(is_group_start) - 1
        sizes = sum_by_group(xp, groups, visits.visited[order], len(order)).astype(np.int64)
        change_counts = sum_by_group(xp, groups, visits.changed[order], len(order))
        ends = xp.cumsum(sizes)[groups] - self._trace.k * owners.astype(np.int64)
        sizes, change_counts = sizes[groups], change_counts[groups] * is_group_start
        gain_values = change_counts * (gains[ends] - gains[ends - sizes]) / sizes
        return (
            self._sum_by_formula(owners, xp.rint(gain_values * GAIN_RESOLUTION)) / GAIN_RESOLUTION
        )
