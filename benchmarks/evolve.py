"""Simulated crawls of random formulas: page scores a second, against a plain numpy loop.

A crawl has 167,000 pages and 57 cycles at 5 %, as in the training pages of Santos et al. 2015. The
plain loop scores every page in every cycle with numpy and selects by ``argpartition``. The goal is
twice its rate for single crawls, and five times its rate for a whole evolution, in which equal
formulas are crawled once and crawls that cannot reach the floor stop early. ``--evolve`` measures
an evolution of one seed with 300 formulas in 50 generations (``--generations N`` for fewer) on all
cores, and its peak memory beside the limit.
"""

import os
import resource
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import numpy as np

from benchmarks.formulas import (
    CYCLES,
    PAGES,
    PRIMITIVES,
    SEED,
    SHARE,
    cycle_tie_break_keys,
    random_formulas,
)
from benchmarks.report import BenchmarkResult, report, seconds
from freshet.backtest.class_crawl.history_class_crawl import HistoryClassCrawl
from freshet.backtest.cycle_crawl import WARM_UP_CYCLES, visits_per_cycle
from freshet.backtest.trace import Trace
from freshet.backtest.trace_formats.open_trace import open_trace
from freshet.formula.expression import Formula, parse_formula
from freshet.formula.variables import PAPER_VARIABLES, variable_set
from freshet.learning.evolve.genetic_search import GeneticSearch, GPConfig, run_generations

INDIVIDUALS, MAX_MEGABYTES = 12, 1_000.0
UNIT = "page scores/s"


def crawl_plainly(trace: Trace, formula: Formula, k: int) -> list[int]:
    """Return the number of changes that each cycle finds, scoring all pages in every cycle."""
    variables, pages = variable_set(formula.variables), len(trace.pages)
    rows, last = variables.new_rows(pages), np.full(pages, -1)
    stale, change_counts = np.zeros(pages, np.bool_), []
    for cycle in range(trace.cycles):
        stale |= trace.changed(cycle)
        chosen = np.arange(pages)
        if cycle >= WARM_UP_CYCLES:
            scores = formula.evaluate(variables.values(rows, (cycle - last).astype(float)), pages)
            chosen = np.argpartition(-scores, k)[:k]
            change_counts.append(int(stale[chosen].sum()))
        gaps = (cycle - last[chosen]).astype(float)
        rows[chosen] = variables.rows_after_looks(rows[chosen], gaps, stale[chosen])
        last[chosen], stale[chosen] = cycle, False
    return change_counts


def crawl_of(trace: Trace, k: int) -> HistoryClassCrawl:
    """Return the simulated crawl of a trace by formulas."""
    return HistoryClassCrawl(trace, k, cycle_tie_break_keys(trace.cycles))


def measure_single_crawls(trace: Trace, k: int) -> list[BenchmarkResult]:
    """Return the rate of single crawls beside that of the plain loop, formula by formula."""
    crawl, scores = crawl_of(trace, k), len(trace.pages) * (trace.cycles - WARM_UP_CYCLES)
    crawl.run(parse_formula("t * X", PAPER_VARIABLES))
    results, total, plain_total = [], 0.0, 0.0
    for formula in random_formulas(INDIVIDUALS):
        time = min(seconds(lambda: crawl.run(formula)) for _ in range(3))  # noqa: B023
        plain_time = seconds(lambda: crawl_plainly(trace, formula, k))  # noqa: B023
        total, plain_total = total + time, plain_total + plain_time
        name = f"evolve {str(formula)[:40]}"
        results.append(BenchmarkResult(name, scores / time, scores / plain_time, UNIT))
    all_scores = INDIVIDUALS * scores
    rates = (all_scores / total, all_scores / plain_total)
    return [*results, BenchmarkResult("evolve single crawls", *rates, UNIT)]


def measure_evolution(trace: Trace, k: int, generations: int, reference: float) -> BenchmarkResult:
    """Return the rate of one seed's whole evolution."""
    crawl, config = crawl_of(trace, k), GPConfig(generations=generations)
    with ThreadPoolExecutor(os.cpu_count()) as workers:

        def fitnesses(groups: Sequence[tuple[Sequence[Formula], float]]) -> list[list[float]]:
            def run(formula: Formula, floor: float) -> float:
                return crawl.run(formula, floor=floor).fitness

            return [list(workers.map(run, formulas, repeat(floor))) for formulas, floor in groups]

        search = GeneticSearch(PRIMITIVES, SEED, config)
        duration = seconds(lambda: list(run_generations([search], fitnesses)))
    scores = config.population * generations * len(trace.pages) * (trace.cycles - WARM_UP_CYCLES)
    return BenchmarkResult(f"evolve {duration:.0f} s a seed", scores / duration, reference, UNIT)


def peak_megabytes() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Print page scores a second and the ratios."""
    words = sys.argv[1:]
    trace, k = (
        open_trace(None, name="brdc", pages=PAGES, cycles=CYCLES),
        visits_per_cycle(SHARE, PAGES),
    )
    results = measure_single_crawls(trace, k)
    if "--evolve" in words:
        at = words.index("--generations") + 1 if "--generations" in words else 0
        generations = int(words[at]) if at else GPConfig().generations
        results.append(measure_evolution(trace, k, generations, results[-1].reference))
        results.append(BenchmarkResult("evolve memory", peak_megabytes(), MAX_MEGABYTES, "MB"))
    report(*results)


if __name__ == "__main__":
    main()
