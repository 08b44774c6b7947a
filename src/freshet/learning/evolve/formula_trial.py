"""Evaluation of formulas: each one crawls the same pages in a simulated crawl."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING

from freshet.backtest.class_crawl.history_class_crawl import HistoryClassCrawl
from freshet.backtest.cycle_crawl import cycle_time, visits_per_cycle
from freshet.backtest.devices import batch_crawl
from freshet.backtest.fitness import NO_FLOOR, FormulaResult, parse_fitness
from freshet.backtest.page_crawl import PageCrawl
from freshet.backtest.trace import Trace
from freshet.formula.expression import Formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock
from freshet.schedule.formulas.cycle_formula_policy import CycleFormulaPolicy
from freshet.schedule.top_k import tie_break_keys

if TYPE_CHECKING:
    from freshet.backtest.gpu.device import ArrayDevice

_CLASS_VARIABLES = frozenset(PAPER_VARIABLES)


class FormulaTrial:
    """The simulated crawl of a trace by formulas, within a budget of visits per cycle.

    Formulas of the paper's variables crawl by classes of pages with equal histories, others page by
    page, and so do all if the measure needs importance or links. A ``device`` evaluates many
    formulas at once, which may use the paper's variables only.
    """

    def __init__(
        self,
        trace: Trace,
        budget: float,
        measure: str,
        *,
        clock: WeightClock = "visit",
        seed: int = 0,
        device: "ArrayDevice | None" = None,
    ) -> None:
        k = visits_per_cycle(budget, len(trace.pages))
        moments = (cycle_time(cycle).timestamp() for cycle in range(trace.cycles))
        keys = tie_break_keys(seed, moments)
        ranker = partial(CycleFormulaPolicy, trace.pages, clock=clock, seed=seed)
        self._class_crawl = HistoryClassCrawl(trace, k, keys, clock=clock)
        self._page_crawl = PageCrawl(trace, k, ranker)
        self._batch_crawl = device and batch_crawl(trace, k, keys, clock=clock, device=device)
        self._measure: str = measure
        self._needs_pages = parse_fitness(measure).needs_pages

    def fitness(self, formula: Formula, floor: float = NO_FLOOR) -> float:
        """Return the fitness of a formula, or a bound below the floor if it cannot reach it."""
        return self.crawl(formula, floor).fitness

    def crawl(self, formula: Formula, floor: float = NO_FLOOR) -> FormulaResult:
        """Return the results of every cycle of a formula's crawl."""
        by_class = formula.variables <= _CLASS_VARIABLES and not self._needs_pages
        crawl = self._class_crawl if by_class else self._page_crawl
        return crawl.run(formula, floor=floor, measure=self._measure)

    def fitnesses(
        self, pool: Executor, formulas: Sequence[Formula], floor: float = NO_FLOOR
    ) -> list[float]:
        """Return the fitness of each formula, evaluated in parallel."""
        return [result.fitness for result in self.crawl_all(pool, formulas, floor)]

    def crawl_all(
        self, pool: Executor, formulas: Sequence[Formula], floor: float = NO_FLOOR
    ) -> list[FormulaResult]:
        """Return the results of each formula's crawl, run in parallel."""
        if self._batch_crawl:
            return list(self._batch_crawl.run(formulas, floor=floor, measure=self._measure))
        return list(pool.map(partial(self.crawl, floor=floor), formulas))

    def joint_fitnesses(
        self, pool: Executor, groups: Sequence[tuple[Sequence[Formula], float]]
    ) -> list[list[float]]:
        """Return the fitness of each formula of several groups, each group with its own floor.

        A device evaluates all groups at once.
        """
        if not self._batch_crawl:
            return [self.fitnesses(pool, formulas, floor) for formulas, floor in groups]
        all_formulas = [formula for formulas, _ in groups for formula in formulas]
        floors = [floor for formulas, floor in groups for _ in formulas]
        results = iter(self._batch_crawl.run(all_formulas, floor=floors, measure=self._measure))
        return [[next(results).fitness for _ in formulas] for formulas, _ in groups]
