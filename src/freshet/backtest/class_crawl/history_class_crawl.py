"""Simulated crawl of a formula in which pages with the same visit history form one class.

The variables of a formula depend only on a page's past looks, so pages with the same history have
the same score. The score is computed once for each of some thousand classes instead of hundreds of
thousands of pages. The selections equal those of a policy with the same seed: whole classes by
score, and within the last score the pages with the lowest tie break values.
"""

import numpy as np

from freshet.backtest.class_crawl.kernels.crawl import crawl_by_classes
from freshet.backtest.class_crawl.tables import (
    CompiledFormula,
    CompiledTrace,
    FitnessTarget,
    TieBreakKeys,
)
from freshet.backtest.fitness import (
    NO_FLOOR,
    CrawlScale,
    FormulaResult,
    parse_fitness,
    stop_cycle,
    summarise_crawl,
)
from freshet.backtest.metrics import cumulative_gains
from freshet.backtest.trace import Trace
from freshet.formula.expression import Formula
from freshet.formula.program import compile_formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock, variable_set


class HistoryClassCrawl:
    """Crawl of a trace with k visits a cycle; ``keys`` are the tie break keys of the cycles.

    A crawl keeps no state between runs, so several threads may share it.
    """

    def __init__(
        self, trace: Trace, k: int, keys: TieBreakKeys, *, clock: WeightClock = "visit"
    ) -> None:
        self._clock: WeightClock = clock
        k = min(k, len(trace.pages))
        self._trace = CompiledTrace(
            np.ascontiguousarray(trace.changed_bits), len(trace.pages), k, keys
        )
        self._scale = CrawlScale(len(trace.pages), cumulative_gains(k))

    def run(
        self, formula: Formula, *, floor: float = NO_FLOOR, measure: str = "ndcg"
    ) -> FormulaResult:
        """Crawl by the scores of a formula; stop when the floor is out of reach."""
        mixture, gains = parse_fitness(measure), self._scale.gains
        target = FitnessTarget(
            gains if mixture.ndcg else gains[:0],
            stop_cycle(len(self._trace.changed), floor),
            floor,
            mixture.class_weights,
        )
        cycles, counts = crawl_by_classes(self._trace, self._compile(formula), target)
        return summarise_crawl(counts, cycles, self._scale, mixture)

    def _compile(self, formula: Formula) -> CompiledFormula:
        compiled, variables = (
            compile_formula(formula),
            variable_set(formula.variables, self._clock),
        )
        return CompiledFormula(
            steps=compiled.steps,
            numbers=compiled.numbers,
            name_indices=np.array(
                [PAPER_VARIABLES.index(name) for name in compiled.variables], np.int64
            ),
            needed_sums=variables.needed_sums,
            by_cycle=variables.by_cycle,
            depends_on_age=variables.changes_with_age,
        )
