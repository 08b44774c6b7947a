"""Simulated crawls of random formulas: page scores a second, against a plain numpy loop.

A crawl of 167,000 pages in 57 cycles at 5 %, as one fold of Santos et al. 2015 trains on. The plain
loop scores every page in every cycle with numpy and selects by ``argpartition``; its bar is twice
its rate for single crawls, and five times over a whole evolution, in which equal formulas are
crawled once and hopeless ones are given up. ``--evolve`` measures that: one seed of 300 formulas in
50 generations (``--generations N`` for fewer), with both cores; and the most memory that was held,
beside what is allowed.
"""

import os
import resource
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.formulas import CYCLES, LANGUAGE, PAGES, SEED, SHARE, lots, random_formulas
from benchmarks.report import Result, report, seconds
from freshet.backtest.class_crawl import HistoryClassCrawl
from freshet.backtest.cycle_crawl import WARM_UP_CYCLES, visits_per_cycle
from freshet.backtest.trace import Trace
from freshet.backtest.trace_formats import open_trace
from freshet.formula.expression import Formula, parse_formula
from freshet.formula.variables import PAPER_VARIABLES, variable_set
from freshet.learning.evolve.generations import run_generations
from freshet.learning.evolve.genetic_search import GeneticSearch, GPConfig

INDIVIDUALS, ALLOWED_MEGABYTES = 12, 1_000.0
UNIT = "page scores/s"


def plain(trace: Trace, formula: Formula, k: int) -> list[int]:
    """Return how many changes each cycle finds, scoring all pages in every cycle."""
    known, pages = variable_set(formula.variables), len(trace.pages)
    rows, last = known.new_rows(pages), np.full(pages, -1)
    stale, found = np.zeros(pages, np.bool_), []
    for cycle in range(trace.cycles):
        stale |= trace.changed(cycle)
        chosen = np.arange(pages)
        if cycle >= WARM_UP_CYCLES:
            scores = formula.evaluate(known.values(rows, (cycle - last).astype(float)), pages)
            chosen = np.argpartition(-scores, k)[:k]
            found.append(int(stale[chosen].sum()))
        gaps = (cycle - last[chosen]).astype(float)
        rows[chosen] = known.rows_after_looks(rows[chosen], gaps, stale[chosen])
        last[chosen], stale[chosen] = cycle, False
    return found


def crawl_of(trace: Trace, k: int) -> HistoryClassCrawl:
    """Return what crawls the trace by formulas."""
    return HistoryClassCrawl(trace, k, lots(trace.cycles))


def single(trace: Trace, k: int) -> list[Result]:
    """Return the rate of single crawls beside the plain loop's, formula by formula."""
    crawled, amount = crawl_of(trace, k), len(trace.pages) * (trace.cycles - WARM_UP_CYCLES)
    crawled.run(parse_formula("t * X", PAPER_VARIABLES))
    results, ours, theirs = [], 0.0, 0.0
    for formula in random_formulas(INDIVIDUALS):
        one = min(seconds(lambda: crawled.run(formula)) for _ in range(3))  # noqa: B023
        other = seconds(lambda: plain(trace, formula, k))  # noqa: B023
        ours, theirs = ours + one, theirs + other
        results.append(Result(f"evolve {str(formula)[:40]}", amount / one, amount / other, UNIT))
    whole = INDIVIDUALS * amount
    return [*results, Result("evolve single crawls", whole / ours, whole / theirs, UNIT)]


def evolution(trace: Trace, k: int, generations: int, reference: float) -> Result:
    """Return the rate of one seed's whole evolution."""
    crawled, ways = crawl_of(trace, k), GPConfig(generations=generations)
    with ThreadPoolExecutor(os.cpu_count()) as workers:

        def fitness(formulas: Sequence[Formula], floor: float) -> list[float]:
            return list(workers.map(lambda each: crawled.run(each, floor=floor).fitness, formulas))

        search = GeneticSearch(LANGUAGE, fitness, SEED, ways)
        passed = seconds(lambda: list(run_generations(search)))
    scores = ways.population * generations * len(trace.pages) * (trace.cycles - WARM_UP_CYCLES)
    return Result(f"evolve {passed:.0f} s a seed", scores / passed, reference, UNIT)


def megabytes_held() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Print page scores a second and the ratios."""
    words = sys.argv[1:]
    trace, k = (
        open_trace(None, name="brdc", pages=PAGES, cycles=CYCLES),
        visits_per_cycle(SHARE, PAGES),
    )
    results = single(trace, k)
    if "--evolve" in words:
        at = words.index("--generations") + 1 if "--generations" in words else 0
        generations = int(words[at]) if at else GPConfig().generations
        results.append(evolution(trace, k, generations, results[-1].reference))
        results.append(Result("evolve memory", megabytes_held(), ALLOWED_MEGABYTES, "MB"))
    report(*results)


if __name__ == "__main__":
    main()
