"""A batch of formulas that crawl side by side, where they stand after each cycle."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.gpu.device import ArrayDevice
from freshet.backtest.gpu.histories import (
    ABOVE,
    LEVEL,
    Array,
    HistoryTable,
    concatenate_histories,
    sum_by_group,
    update_sums,
)
from freshet.backtest.trace import Trace
from freshet.core.tie_break import splitmix64
from freshet.core.types import FloatArray
from freshet.formula.expression import Formula
from freshet.formula.variables import SUM_COUNT, WeightClock, variable_set

GAIN_RESOLUTION = 2.0**36
"""Gains are rounded to parts of this size: their sum is exact, in whatever order it is made."""


@dataclass(frozen=True, slots=True)
class DeviceTrace:
    """What is crawled: who changed, a row per cycle, and the pages in the order of their lots."""

    pages: int
    cycles: int
    k: int
    changed: Array
    tie_break_orders: Array


@dataclass(frozen=True, slots=True)
class BatchStep:
    """What a cycle found, an entry per formula: changes, their gain, and the stale before."""

    changes_found: NDArray[np.int64]
    gain: FloatArray
    stale_before: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _SelectionCut:
    """Pasts by formula and then by score, their marks, and how many pages are missing at level."""

    order: Array
    marks: Array
    missing: Array


@dataclass(frozen=True, slots=True)
class _HistoryVisits:
    """How many pages of each past were visited, and how many of these had changed."""

    visited: Array
    changed: Array


def load_trace(trace: Trace, k: int, keys: NDArray[np.uint64], device: ArrayDevice) -> DeviceTrace:
    """Return what is crawled, on a device."""
    xp, pages = device.xp, len(trace.pages)
    ids = xp.arange(pages, dtype=np.uint64)
    changed = xp.zeros((trace.cycles, pages), np.bool_)
    orders = xp.zeros((trace.cycles, pages), np.int32)
    for number in range(trace.cycles):
        changed[number] = xp.asarray(trace.changed(number))
        orders[number] = xp.argsort(splitmix64(ids + np.uint64(keys[number])))
    return DeviceTrace(pages, trace.cycles, k, changed, orders)


class FormulaBatch:
    """Formulas, what they know of pages, and which of their copies are stale."""

    def __init__(
        self, device: ArrayDevice, web: DeviceTrace, formulas: Sequence[Formula], clock: WeightClock
    ) -> None:
        self._device = device
        self._web = web
        self._clock: WeightClock = clock
        self._take(formulas)
        self._stale = device.xp.zeros((len(formulas), web.pages), np.bool_)
        self._warm_up()

    def _take(self, formulas: Sequence[Formula]) -> None:
        self._formulas = formulas
        self._ranking = self._device.ranking(formulas, self._clock)
        needs = [variable_set(formula.variables).needed_sums for formula in formulas]
        self._needs = self._device.xp.asarray(np.array(needs, np.float64).reshape(-1, SUM_COUNT))

    def _warm_up(self) -> None:
        """Visit every page in the first cycles, which is the same for all formulas."""
        xp, count = self._device.xp, len(self._formulas)
        pasts = HistoryTable(
            xp.arange(count, dtype=np.int32),
            xp.full(count, -1, np.int32),
            xp.zeros((count, SUM_COUNT)),
            xp.full(count, self._web.pages, np.int64),
        )
        history, sizes = xp.zeros(self._web.pages, np.int32), xp.zeros(1, np.int64)
        for number in range(min(WARM_UP_CYCLES, self._web.cycles)):
            history = 2 * history + self._web.changed[number]
            sizes = xp.bincount(history, minlength=2 ** (number + 1))
            parents = xp.repeat(xp.arange(len(pasts)), 2)
            changed = xp.arange(2 * len(pasts)) % 2 == 1
            pasts = self._looked_at(pasts.select(parents), changed, number)
        branches = len(pasts) // max(1, count)
        numbers, firsts = self._device.number_equal_rows(pasts.owners, pasts.sums)
        first = branches * xp.arange(count, dtype=np.int32)
        self._places = numbers.astype(np.int32)[first[:, None] + history[None, :]]
        added = sum_by_group(xp, numbers, xp.tile(sizes, count), len(firsts))
        self._pasts = replace(pasts.select(firsts), sizes=added.astype(np.int64))

    def _looked_at(self, pasts: HistoryTable, changed: Array, number: int) -> HistoryTable:
        """Return pasts after one more look; what the formula does not need stays 0."""
        xp, by_cycle = self._device.xp, self._clock == "cycle"
        gaps = (number - pasts.last_visits).astype(np.float64)
        sums = update_sums(xp, pasts.sums, gaps, changed, by_cycle=by_cycle)
        seen = xp.full_like(pasts.last_visits, number)
        return replace(pasts, last_visits=seen, sums=sums * self._needs[pasts.owners])

    def step(self, number: int, gains: Array | None) -> BatchStep:
        """Visit the best k pages of each formula; gains are those of the first places."""
        device, web = self._device, self._web
        self._stale |= web.changed[number]
        before = device.xp.count_nonzero(self._stale, axis=1)
        self._drop_empty()
        pasts = self._pasts
        scores = self._ranking.values(pasts, number)
        cut = self._cut(scores)
        pages = device.choose(
            cut.marks, self._places, web.tie_break_orders[number], cut.missing, web.k
        )
        seen = self._visit(pages, number)
        found = self._per_formula(pasts.owners, seen.changed)
        gain = found * 0.0 if gains is None else self._gain(pasts, scores, cut.order, seen, gains)
        return BatchStep(
            device.to_numpy(found).astype(np.int64), device.to_numpy(gain), device.to_numpy(before)
        )

    def _per_formula(self, owners: Array, values: Array) -> Array:
        return sum_by_group(self._device.xp, owners, values, len(self._formulas))

    def keep(self, places: NDArray[np.int64]) -> None:
        """Go on with some of the formulas."""
        xp = self._device.xp
        numbers = np.full(len(self._formulas), -1, np.int32)
        numbers[places] = np.arange(len(places))
        numbers = xp.asarray(numbers)
        self._take([self._formulas[place] for place in places])
        self._stale, self._places = self._stale[places], self._places[places]
        self._only(numbers[self._pasts.owners] >= 0)
        self._pasts = replace(self._pasts, owners=numbers[self._pasts.owners])

    def _drop_empty(self) -> None:
        """Leave out pasts without pages, once they are the more part."""
        some = self._pasts.sizes > 0
        if 2 * int(some.sum()) < len(some):
            self._only(some)

    def _only(self, kept: Array) -> None:
        numbers = self._device.xp.cumsum(kept, dtype=np.int32) - 1
        self._places = numbers[self._places]
        self._pasts = self._pasts.select(kept)

    def _cut(self, scores: Array) -> _SelectionCut:
        """Find the score at which k pages are reached."""
        xp, pasts, k = self._device.xp, self._pasts, self._web.k
        order = xp.argsort(-scores, kind="stable")
        order = order[xp.argsort(pasts.owners[order], kind="stable")]
        sizes = pasts.sizes[order]
        reached = xp.cumsum(sizes) - self._web.pages * pasts.owners[order].astype(np.int64)
        last = xp.flatnonzero((reached >= k) & (reached - sizes < k))
        lowest = scores[order[last]][pasts.owners]
        above, level = scores > lowest, scores == lowest
        sure = self._per_formula(pasts.owners, above * pasts.sizes)
        marks = above * np.uint8(ABOVE) + level * np.uint8(LEVEL)
        return _SelectionCut(order, marks.astype(np.uint8), (k - sure).astype(np.int32))

    def _visit(self, pages: Array, number: int) -> _HistoryVisits:
        """Visit pages; return how many of each past were visited, and how many had changed."""
        xp, device, pasts = self._device.xp, self._device, self._pasts
        numbers, counts = device.refresh_copies(self._places, self._stale, pages, len(pasts))
        some = xp.flatnonzero(counts)
        children = self._looked_at(pasts.select(some // 2), some % 2 == 1, number)
        kinds, firsts = device.number_equal_rows(children.owners, children.sums)
        sizes = sum_by_group(xp, kinds, counts[some], len(firsts)).astype(np.int64)
        into = xp.zeros(len(counts), np.int32)
        into[some] = len(pasts) + kinds
        device.reassign_pages(self._places, pages, numbers, into)
        seen = _HistoryVisits(counts[0::2] + counts[1::2], counts[1::2])
        left = replace(pasts, sizes=pasts.sizes - seen.visited)
        self._pasts = concatenate_histories(xp, left, replace(children.select(firsts), sizes=sizes))
        return seen

    def _gain(
        self, pasts: HistoryTable, scores: Array, order: Array, seen: _HistoryVisits, gains: Array
    ) -> Array:
        """Return the discounted gain of the finds, in the mean over the order of equal scores."""
        xp = self._device.xp
        order = order[seen.visited[order] > 0]
        owners, values = pasts.owners[order], scores[order]
        first = xp.ones(len(order), np.bool_)
        first[1:] = (values[1:] != values[:-1]) | (owners[1:] != owners[:-1])
        groups = xp.cumsum(first) - 1
        sizes = sum_by_group(xp, groups, seen.visited[order], len(order)).astype(np.int64)
        hits = sum_by_group(xp, groups, seen.changed[order], len(order))
        ends = xp.cumsum(sizes)[groups] - self._web.k * owners.astype(np.int64)
        sizes, hits = sizes[groups], hits[groups] * first
        worth = hits * (gains[ends] - gains[ends - sizes]) / sizes
        return self._per_formula(owners, xp.rint(worth * GAIN_RESOLUTION)) / GAIN_RESOLUTION
