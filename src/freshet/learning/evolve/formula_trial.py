"""Trying formulas: each crawls the same pages, and what its visits find is its fitness."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial

from freshet.backtest.class_crawl import ClassCrawl
from freshet.backtest.cycle_crawl import moment, visits_per_cycle
from freshet.backtest.fitness import NO_FLOOR, Result
from freshet.backtest.gpu import ArrayCrawl
from freshet.backtest.gpu.device import Device
from freshet.backtest.page_crawl import PageCrawl
from freshet.backtest.trace import Trace
from freshet.formula.expression import Formula
from freshet.formula.variables import ALL, Clock, Measure
from freshet.schedule.ranked.quick import InCycles
from freshet.schedule.top_k import lot_keys

_BY_CLASS = frozenset(ALL)


class Trial:
    """Pages that formulas crawl, as many visits a cycle as the budget allows.

    Formulas of the paper's names crawl by classes of pages with the same past, others page by page.
    A ``device`` tries many at once, of the paper's names only.
    """

    def __init__(
        self,
        trace: Trace,
        budget: float,
        measure: Measure,
        *,
        clock: Clock = "visit",
        seed: int = 0,
        device: Device | None = None,
    ) -> None:
        k = visits_per_cycle(budget, len(trace.pages))
        moments = (moment(cycle).timestamp() for cycle in range(trace.cycles))
        keys = lot_keys(seed, moments)
        ranker = partial(InCycles, trace.pages, clock=clock, seed=seed)
        self._by_class = ClassCrawl(trace, k, keys, clock=clock)
        self._by_page = PageCrawl(trace, k, ranker)
        self._at_once = device and ArrayCrawl(trace, k, keys, clock=clock, device=device)
        self._measure: Measure = measure

    def fitness(self, formula: Formula, floor: float = NO_FLOOR) -> float:
        """Return how well a formula does; of one that cannot reach the floor, a bound below it."""
        return self.result(formula, floor).fitness

    def result(self, formula: Formula, floor: float = NO_FLOOR) -> Result:
        """Return what every cycle of a formula's crawl found."""
        crawl = self._by_class if formula.names <= _BY_CLASS else self._by_page
        return crawl.run(formula, floor=floor, measure=self._measure)

    def all(
        self, pool: Executor, formulas: Sequence[Formula], floor: float = NO_FLOOR
    ) -> list[float]:
        """Return how well each formula does, several tried at once."""
        return [result.fitness for result in self.results(pool, formulas, floor)]

    def results(
        self, pool: Executor, formulas: Sequence[Formula], floor: float = NO_FLOOR
    ) -> list[Result]:
        """Return what every cycle of each formula's crawl found, several tried at once."""
        if self._at_once:
            return list(self._at_once.run(formulas, floor=floor, measure=self._measure))
        return list(pool.map(partial(self.result, floor=floor), formulas))
