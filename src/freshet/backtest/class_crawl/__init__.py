"""The simulated crawl of a formula, in which pages with the same past are one class.

What a formula knows of a page follows from its past looks alone, so pages with the same past have
the same score: it is computed once for each of some thousand classes and not for each of hundreds
of thousands of pages. Choices are those that a policy makes with the same seed: whole classes by
their score, and within the last score that finds room the pages that draw the lowest lots.
"""

import numpy as np

from freshet.backtest.class_crawl.kernels.crawl import crawl_by_classes
from freshet.backtest.class_crawl.tables import (
    CompiledFormula,
    CompiledTrace,
    FitnessTarget,
    TieBreakKeys,
)
from freshet.backtest.fitness import NO_FLOOR, FormulaResult, stop_cycle, summarise_crawl
from freshet.backtest.metrics import cumulative_gains
from freshet.backtest.trace import Trace
from freshet.formula.expression import Formula
from freshet.formula.program import compile_formula
from freshet.formula.variables import PAPER_VARIABLES, FitnessMeasure, WeightClock, variable_set


class HistoryClassCrawl:
    """A crawl of a trace with k visits a cycle; ``keys`` are what each cycle's lots are drawn with.

    A crawl keeps no state between runs, so that several threads may run it at once.
    """

    def __init__(
        self, trace: Trace, k: int, keys: TieBreakKeys, *, clock: WeightClock = "visit"
    ) -> None:
        self._clock: WeightClock = clock
        k = min(k, len(trace.pages))
        self._web = CompiledTrace(
            np.ascontiguousarray(trace.changed_bits), len(trace.pages), k, keys
        )
        self._gains = cumulative_gains(k)

    def run(
        self, formula: Formula, *, floor: float = NO_FLOOR, measure: FitnessMeasure = "ndcg"
    ) -> FormulaResult:
        """Crawl by the scores of a formula; give up when the floor is out of reach."""
        counted = self._gains if measure == "ndcg" else self._gains[:0]
        aim = FitnessTarget(counted, stop_cycle(len(self._web.changed), floor), floor)
        crawled, tally = crawl_by_classes(self._web, self._code(formula), aim)
        return summarise_crawl(tally, crawled, self._gains, measure)

    def _code(self, formula: Formula) -> CompiledFormula:
        ran, known = compile_formula(formula), variable_set(formula.variables, self._clock)
        return CompiledFormula(
            steps=ran.steps,
            numbers=ran.numbers,
            name_indices=np.array(
                [PAPER_VARIABLES.index(name) for name in ran.variables], np.int64
            ),
            needed_sums=known.needed_sums,
            by_cycle=known.by_cycle,
            depends_on_age=known.changes_with_age,
        )
