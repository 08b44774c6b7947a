"""Simulated crawls at 5 %: page-cycles a second, against a plain numpy loop that ranks by NAD.

The limits are absolute: 1 million pages in 100 cycles within 60 s for rules and formulas and within
10 minutes for the Bayes policies, which is 1.67 and 0.167 million page-cycles a second. ``--full``
runs that size once. By default, runs of 50,000 pages in 50 cycles alternate with the reference.
"""

import sys

import numpy as np

from benchmarks.report import BenchmarkResult, compare_rates, report, seconds
from freshet.backtest.cycle_crawl import WARM_UP_CYCLES, crawl_in_cycles
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.core.clock import CYCLE_SECONDS
from freshet.core.tables import BoolArray
from freshet.schedule.policies import make_policy
from freshet.schedule.top_k import tie_breaker

SEED = 1
SHARE = 20
RULES = ("age", "nad", "nutch", "t*X")
BAYES = ("bayes-changes", "bayes-freshness")
UNIT = "page-cycles/s"


def random_changes(pages: int, cycles: int) -> BoolArray:
    """Return random changes of pages with lognormal rates around .03 a cycle."""
    rng = np.random.default_rng(SEED)
    change_probabilities = -np.expm1(-np.exp(rng.normal(np.log(0.03), 2.0, pages)))
    return np.column_stack([rng.random(pages) < change_probabilities for _ in range(cycles)])


def grouped_trace(changed: BoolArray) -> Trace:
    """Return a trace with 20 pages a directory, 100 a host and 1,000 a site."""
    page = np.arange(len(changed), dtype=np.uint64)
    return build_trace("generated", PageGroupKeys(page // 100, page // 1000, page // 20), changed)


def policy_selections(trace: Trace, name: str) -> list[list[int]]:
    """Return a policy's selections."""
    k = len(trace.pages) // SHARE
    return [
        cycle.visited_pages.tolist()
        for cycle in crawl_in_cycles(trace, make_policy(name, seed=SEED), k)
    ]


def plain_selections(changed: BoolArray) -> list[list[int]]:
    """Return the selections of NAD, ranking all pages in every cycle."""
    pages, cycles = changed.shape
    looks, changes, last_visit = np.zeros(pages), np.zeros(pages), np.full(pages, -1)
    all_pages = np.arange(pages, dtype=np.int64)
    stale = np.zeros(pages, np.bool_)
    choices = []
    for cycle in range(cycles):
        stale |= changed[:, cycle]
        selected = all_pages
        if cycle >= WARM_UP_CYCLES:
            scores = -np.expm1(-changes / looks * (cycle - last_visit))
            tie_breaks = tie_breaker(SEED, float(cycle * CYCLE_SECONDS))(all_pages)
            selected = np.lexsort((tie_breaks, -scores))[: pages // SHARE]
            choices.append(selected.tolist())
        looks[selected] += 1
        changes[selected] += stale[selected]
        last_visit[selected] = cycle
        stale[selected] = False
    return choices


def alternating_runs(pages: int, cycles: int) -> list[BenchmarkResult]:
    """Return every policy's rate beside the plain loop's, in alternating runs."""
    changed = random_changes(pages, cycles)
    trace = grouped_trace(changed)
    if policy_selections(trace, "nad") != plain_selections(changed):
        raise SystemExit("simulate: NAD and the plain loop chose differently")
    return [
        compare_rates(
            f"simulate {name}",
            lambda name=name: policy_selections(trace, name),  # type: ignore[misc]
            lambda: plain_selections(changed),
            amount=pages * cycles,
            unit=UNIT,
        )
        for name in (*RULES, *BAYES)
    ]


def single_runs(pages: int, cycles: int) -> list[BenchmarkResult]:
    """Return every policy's rate from one run each, beside one of the plain loop."""
    changed = random_changes(pages, cycles)
    trace = grouped_trace(changed)
    reference = pages * cycles / seconds(lambda: plain_selections(changed))
    return [
        BenchmarkResult(
            f"simulate {name}",
            pages * cycles / seconds(lambda name=name: policy_selections(trace, name)),  # type: ignore[misc]
            reference,
            UNIT,
        )
        for name in (*RULES, *BAYES)
    ]


def main() -> None:
    """Print page-cycles a second and the ratios."""
    full = "--full" in sys.argv[1:]
    report(*(single_runs(1_000_000, 100) if full else alternating_runs(50_000, 50)))


if __name__ == "__main__":
    main()
