"""The simulated crawl of a formula, in which pages with the same past are one class.

What a formula knows of a page follows from its past looks alone, so pages with the same past have
the same score: it is computed once for each of some thousand classes and not for each of hundreds
of thousands of pages. Choices are those that a policy makes with the same seed: whole classes by
their score, and within the last score that finds room the pages that draw the lowest lots.
"""

import numpy as np

from freshet.backtest.class_crawl.kernels.crawl import crawl
from freshet.backtest.class_crawl.tables import Aim, Code, Lots, Web
from freshet.backtest.fitness import NO_FLOOR, Result, stop_after, summed_up
from freshet.backtest.metrics import gains
from freshet.backtest.trace import Trace
from freshet.formula.expression import Formula
from freshet.formula.program import program
from freshet.formula.variables import ALL, Clock, Measure, known_for


class ClassCrawl:
    """A crawl of a trace with k visits a cycle; ``keys`` are what each cycle's lots are drawn with.

    A crawl keeps no state between runs, so that several threads may run it at once.
    """

    def __init__(self, trace: Trace, k: int, keys: Lots, *, clock: Clock = "visit") -> None:
        self._clock: Clock = clock
        k = min(k, len(trace.pages))
        self._web = Web(np.ascontiguousarray(trace.changed_bits), len(trace.pages), k, keys)
        self._gains = gains(k)

    def run(
        self, formula: Formula, *, floor: float = NO_FLOOR, measure: Measure = "ndcg"
    ) -> Result:
        """Crawl by the scores of a formula; give up when the floor is out of reach."""
        counted = self._gains if measure == "ndcg" else self._gains[:0]
        aim = Aim(counted, stop_after(len(self._web.changed), floor), floor)
        crawled, tally = crawl(self._web, self._code(formula), aim)
        return summed_up(tally, crawled, self._gains, measure)

    def _code(self, formula: Formula) -> Code:
        ran, known = program(formula), known_for(formula.names, self._clock)
        return Code(
            steps=ran.steps,
            numbers=ran.numbers,
            names=np.array([ALL.index(name) for name in ran.names], np.int64),
            needs=known.needs,
            by_cycle=known.by_cycle,
            ages=known.changes_with_age,
        )
