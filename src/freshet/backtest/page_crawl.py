"""Simulated crawl of a formula page by page.

It returns the same results as the crawl by history classes, and also supports formulas that use the
state of a page's host and directory.
"""

from collections.abc import Callable, Iterator

import numpy as np

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.fitness import (
    NO_FLOOR,
    CrawlScale,
    CycleCounts,
    FitnessMixture,
    FormulaResult,
    bounded_mean,
    parse_fitness,
    stop_cycle,
    summarise_crawl,
)
from freshet.backtest.metrics import cumulative_gains
from freshet.backtest.trace import Trace
from freshet.core.errors import UsageError
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.formula.expression import Formula
from freshet.schedule.formulas.cycle_formula_policy import CycleFormulaPolicy


class PageCrawl:
    """Crawl of a trace with k visits a cycle; ``make_ranker`` makes the ranker of a formula.

    A crawl keeps no state between runs, so several threads may share it.
    """

    def __init__(
        self, trace: Trace, k: int, make_ranker: Callable[[Formula], CycleFormulaPolicy]
    ) -> None:
        self._k = min(k, len(trace.pages))
        self._make_ranker = make_ranker
        self._all_pages: IndexArray = np.arange(len(trace.pages), dtype=np.int32)
        self._trace = trace
        self._scale = CrawlScale(len(trace.pages), cumulative_gains(self._k))

    def run(
        self, formula: Formula, *, floor: float = NO_FLOOR, measure: str = "ndcg"
    ) -> FormulaResult:
        """Crawl by the values of a formula; stop when the floor is out of reach."""
        cycles, mixture = self._trace.cycles, parse_fitness(measure)
        # Links that were not found yet can all be found later, so that no floor is out of reach.
        stop_number = -1 if mixture.links else stop_cycle(cycles, floor)
        log = _CycleLog(cycles, self._scale, _PageMeasures(self._trace, mixture))
        for number in self._visit(self._make_ranker(formula), log):
            if number == stop_number and log.result(number + 1, mixture).fitness < floor:
                return log.result(number + 1, mixture)
        return log.result(cycles, mixture)

    def _visit(self, ranker: CycleFormulaPolicy, log: "_CycleLog") -> Iterator[int]:
        """Visit pages, log the results, and yield every cycle when it is complete."""
        stale = np.zeros(len(self._all_pages), np.bool_)
        for number in range(self._trace.cycles):
            stale |= self._trace.changed(number)
            stale_before = int(np.count_nonzero(stale))
            pages, values = self._select_pages(ranker, number)
            changed = stale[pages]
            stale[pages] = False
            ranker.learn_in_cycle(number, pages, changed)
            log.note(number, stale_before, values, changed)
            log.page_measures.note(number, pages, stale)
            yield number

    def _select_pages(
        self, ranker: CycleFormulaPolicy, number: int
    ) -> tuple[IndexArray, FloatArray]:
        if number < WARM_UP_CYCLES:
            return self._all_pages, np.zeros(len(self._all_pages))
        return ranker.choose_in_cycle(number, self._k)


class _PageMeasures:
    """The measures that depend on pages: fresh importance, and new links found."""

    def __init__(self, trace: Trace, mixture: FitnessMixture) -> None:
        if mixture.links and trace.new_links is None:
            raise UsageError(
                f"the trace {trace.name!r} has no numbers of new links: give one that has them, or"
                " another fitness than links"
            )
        self._mixture = mixture
        self._links = trace.new_links if mixture.links else None
        self._most_links = trace.most_links
        self._waiting = np.zeros(len(trace.pages), np.int64)
        self._found = self._appeared = 0
        self._weights = trace.weights / trace.weights.sum()
        self._fresh_shares: list[float] = []

    def note(self, number: int, pages: IndexArray, stale: BoolArray) -> None:
        """Note the visited pages of a cycle, and the copies that are stale after it."""
        if number >= WARM_UP_CYCLES and self._mixture.weighted_freshness:
            self._fresh_shares.append(float(1.0 - self._weights @ stale))
        if self._links is None:
            return
        self._waiting += self._links[number]
        shown = self._waiting[pages]
        if self._most_links is not None:
            shown = np.minimum(shown, self._most_links[pages])
        self._waiting[pages] = 0
        if number >= WARM_UP_CYCLES:
            self._appeared += int(self._links[number].sum(dtype=np.int64))
            self._found += int(shown.sum())

    def fitness(self, cycles_left: int) -> float:
        """Return the weighted part of these measures, an upper bound if cycles are left."""
        fresh = bounded_mean(np.array(self._fresh_shares), cycles_left)
        links = self._found / self._appeared if self._appeared else 0.0
        return self._mixture.weighted_freshness * fresh + self._mixture.links * links


class _CycleLog:
    """Log of every cycle's results."""

    def __init__(self, cycles: int, scale: CrawlScale, page_measures: _PageMeasures) -> None:
        changes_found, stale_before, stale_after = (np.zeros(cycles, np.int64) for _ in range(3))
        self._counts = CycleCounts(changes_found, np.zeros(cycles), stale_before, stale_after)
        self._scale = scale
        self.page_measures = page_measures
        self._values = np.zeros((cycles, scale.k))
        self._found = np.zeros((cycles, scale.k), np.bool_)

    def note(self, number: int, stale_before: int, values: FloatArray, changed: BoolArray) -> None:
        """Log a cycle: the stale copies before it, and values and change flags in rank order."""
        change_count = np.count_nonzero(changed)
        self._counts.changes_found[number] = change_count
        self._counts.stale_before[number] = stale_before
        self._counts.stale_after[number] = stale_before - change_count
        if number >= WARM_UP_CYCLES:
            self._values[number], self._found[number] = values, changed

    def result(self, cycles: int, mixture: FitnessMixture) -> FormulaResult:
        """Return the result of the first cycles."""
        if mixture.ndcg:
            self._counts.gain[:cycles] = _mean_gains(
                self._values[:cycles], self._found[:cycles], self._scale.gains
            )
        other_fitness = self.page_measures.fitness(len(self._values) - cycles)
        return summarise_crawl(self._counts, cycles, self._scale, mixture, other_fitness)


def _mean_gains(values: FloatArray, changed: BoolArray, gains: FloatArray) -> FloatArray:
    """Return the discounted gain of every row, averaged over the order of equal values.

    >>> values, cumulative_gains = np.array([[5.0, 5.0, 4.0]]), np.array([0.0, 1.0, 1.8, 2.5])
    >>> _mean_gains(values, np.array([[True, False, True]]), cumulative_gains).round(3).tolist()
    [1.6]
    """
    k = values.shape[1]
    starts_group = np.ones(values.shape, np.bool_)
    starts_group[:, 1:] = values[:, 1:] != values[:, :-1]
    starts = np.flatnonzero(starts_group)
    sizes = np.diff(np.append(starts, values.size))
    change_counts = np.add.reduceat(changed.ravel(), starts, dtype=np.int64)
    first_ranks = starts % k
    group_gains = change_counts * (gains[first_ranks + sizes] - gains[first_ranks]) / sizes
    sums: FloatArray = np.bincount(starts // k, group_gains, minlength=len(values)).astype(
        np.float64
    )
    return sums
