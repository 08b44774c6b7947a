"""The simulated crawl of a formula whose pages differ in more than their past: page by page.

It gives what the crawl by classes gives, for formulas that also ask how a page's host and directory
do. Whoever ranks the pages is an argument.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.fitness import (
    NO_FLOOR,
    CycleCounts,
    FormulaResult,
    stop_cycle,
    summarise_crawl,
)
from freshet.backtest.metrics import cumulative_gains
from freshet.backtest.trace import Trace
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.formula.expression import Formula
from freshet.formula.variables import FitnessMeasure


class PageRanker(Protocol):
    """Ranks the pages of a trace, cycle by cycle, and learns what visits found."""

    def choose_in_cycle(self, cycle: int, k: int) -> tuple[IndexArray, FloatArray]:
        """Return the k pages of the highest value and their values, best first."""
        ...

    def learn_in_cycle(self, cycle: int, pages: IndexArray, changed: BoolArray) -> None:
        """Take in what looks at pages found."""
        ...


class PageCrawl:
    """A crawl of a trace with k visits a cycle by whoever ranks its pages for a formula.

    A crawl keeps no state between runs, so that several threads may run it at once.
    """

    def __init__(self, trace: Trace, k: int, ranker: Callable[[Formula], PageRanker]) -> None:
        self._k = min(k, len(trace.pages))
        self._ranker = ranker
        self._all: IndexArray = np.arange(len(trace.pages), dtype=np.int32)
        self._trace = trace
        self._gains = cumulative_gains(self._k)

    def run(
        self, formula: Formula, *, floor: float = NO_FLOOR, measure: FitnessMeasure = "ndcg"
    ) -> FormulaResult:
        """Crawl by the values of a formula; give up when the floor is out of reach."""
        cycles = self._trace.cycles
        seen, last = _CycleLog(cycles, self._gains), stop_cycle(cycles, floor)
        for number in self._visit(self._ranker(formula), seen):
            if number == last and seen.result(number + 1, measure).fitness < floor:
                return seen.result(number + 1, measure)
        return seen.result(cycles, measure)

    def _visit(self, ranker: PageRanker, seen: "_CycleLog") -> Iterator[int]:
        """Let pages be visited, noting what was seen; yield every cycle when it is over."""
        stale = np.zeros(len(self._all), np.bool_)
        for number in range(self._trace.cycles):
            stale |= self._trace.changed(number)
            before = int(np.count_nonzero(stale))
            chosen, values = self._chosen(ranker, number)
            found = stale[chosen]
            stale[chosen] = False
            ranker.learn_in_cycle(number, chosen, found)
            seen.note(number, before, values, found)
            yield number

    def _chosen(self, ranker: PageRanker, number: int) -> tuple[IndexArray, FloatArray]:
        if number < WARM_UP_CYCLES:
            return self._all, np.zeros(len(self._all))
        return ranker.choose_in_cycle(number, self._k)


class _CycleLog:
    """What every cycle found, noted as it passes and summed up at the end."""

    def __init__(self, cycles: int, gains: FloatArray) -> None:
        found, before, after = (np.zeros(cycles, np.int64) for _ in range(3))
        self._tally = CycleCounts(found, np.zeros(cycles), before, after)
        self._gains = gains
        k = len(gains) - 1
        self._values, self._found = np.zeros((cycles, k)), np.zeros((cycles, k), np.bool_)

    def note(self, number: int, before: int, values: FloatArray, found: BoolArray) -> None:
        """Take down a cycle: the stale copies before it, and values and finds in its order."""
        finds = np.count_nonzero(found)
        self._tally.changes_found[number] = finds
        self._tally.stale_before[number] = before
        self._tally.stale_after[number] = before - finds
        if number >= WARM_UP_CYCLES:
            self._values[number], self._found[number] = values, found

    def result(self, cycles: int, measure: FitnessMeasure) -> FormulaResult:
        """Return how the crawl did in that many cycles."""
        if measure == "ndcg":
            self._tally.gain[:cycles] = _mean_gains(
                self._values[:cycles], self._found[:cycles], self._gains
            )
        return summarise_crawl(self._tally, cycles, self._gains, measure)


def _mean_gains(values: FloatArray, found: BoolArray, gains: FloatArray) -> FloatArray:
    """Return the discounted gain of every row's finds, in the mean over equal values.

    >>> values, cumulative_gains = np.array([[5.0, 5.0, 4.0]]), np.array([0.0, 1.0, 1.8, 2.5])
    >>> _mean_gains(values, np.array([[True, False, True]]), cumulative_gains).round(3).tolist()
    [1.6]
    """
    k = values.shape[1]
    begins = np.ones(values.shape, np.bool_)
    begins[:, 1:] = values[:, 1:] != values[:, :-1]
    starts = np.flatnonzero(begins)
    sizes = np.diff(np.append(starts, values.size))
    hits = np.add.reduceat(found.ravel(), starts, dtype=np.int64)
    first = starts % k
    gained = hits * (gains[first + sizes] - gains[first]) / sizes
    sums: FloatArray = np.bincount(starts // k, gained, minlength=len(values)).astype(np.float64)
    return sums
