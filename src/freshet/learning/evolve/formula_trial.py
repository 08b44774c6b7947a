"""Trying formulas: each crawls the same pages, and what its visits find is its fitness."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial

from freshet.backtest.class_crawl import HistoryClassCrawl
from freshet.backtest.cycle_crawl import cycle_time, visits_per_cycle
from freshet.backtest.fitness import NO_FLOOR, FormulaResult
from freshet.backtest.gpu import FormulaBatchCrawl
from freshet.backtest.gpu.device import ArrayDevice
from freshet.backtest.page_crawl import PageCrawl
from freshet.backtest.trace import Trace
from freshet.formula.expression import Formula
from freshet.formula.variables import PAPER_VARIABLES, FitnessMeasure, WeightClock
from freshet.schedule.ranked.quick import CycleFormulaPolicy
from freshet.schedule.top_k import tie_break_keys

_BY_CLASS = frozenset(PAPER_VARIABLES)


class FormulaTrial:
    """Pages that formulas crawl, as many visits a cycle as the budget allows.

    Formulas of the paper's names crawl by classes of pages with the same past, others page by page.
    A ``device`` tries many at once, of the paper's names only.
    """

    def __init__(
        self,
        trace: Trace,
        budget: float,
        measure: FitnessMeasure,
        *,
        clock: WeightClock = "visit",
        seed: int = 0,
        device: ArrayDevice | None = None,
    ) -> None:
        k = visits_per_cycle(budget, len(trace.pages))
        moments = (cycle_time(cycle).timestamp() for cycle in range(trace.cycles))
        keys = tie_break_keys(seed, moments)
        ranker = partial(CycleFormulaPolicy, trace.pages, clock=clock, seed=seed)
        self._by_class = HistoryClassCrawl(trace, k, keys, clock=clock)
        self._by_page = PageCrawl(trace, k, ranker)
        self._at_once = device and FormulaBatchCrawl(trace, k, keys, clock=clock, device=device)
        self._measure: FitnessMeasure = measure

    def fitness(self, formula: Formula, floor: float = NO_FLOOR) -> float:
        """Return how well a formula does; of one that cannot reach the floor, a bound below it."""
        return self.crawl(formula, floor).fitness

    def crawl(self, formula: Formula, floor: float = NO_FLOOR) -> FormulaResult:
        """Return what every cycle of a formula's crawl found."""
        crawl = self._by_class if formula.variables <= _BY_CLASS else self._by_page
        return crawl.run(formula, floor=floor, measure=self._measure)

    def fitnesses(
        self, pool: Executor, formulas: Sequence[Formula], floor: float = NO_FLOOR
    ) -> list[float]:
        """Return how well each formula does, several tried at once."""
        return [result.fitness for result in self.crawl_all(pool, formulas, floor)]

    def crawl_all(
        self, pool: Executor, formulas: Sequence[Formula], floor: float = NO_FLOOR
    ) -> list[FormulaResult]:
        """Return what every cycle of each formula's crawl found, several tried at once."""
        if self._at_once:
            return list(self._at_once.run(formulas, floor=floor, measure=self._measure))
        return list(pool.map(partial(self.crawl, floor=floor), formulas))
