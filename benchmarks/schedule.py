"""Learning visits and choosing pages with the default policy, against plain numpy.

Limits: 200 bytes a page, 50 microseconds per learned visit, 5 seconds to choose among 10 million
pages. The plain reference goes page by page, with numpy over the grid of rates. Times are processor
times of one core. ``--pages N`` takes fewer pages.
"""

import sys
import time
from collections.abc import Callable
from datetime import datetime

import numpy as np

from benchmarks.report import BenchmarkResult, report
from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps, PageIdArray, PageTable, VisitTable
from freshet.core.types import FloatArray
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import CELL_COUNT, CONTINUOUS_CADENCE

PAGES, BATCH = 10_000_000, 100_000
PAGES_PER_HOST, PAGES_PER_DIRECTORY = 100, 20
BUDGET_SHARE, DAYS = 0.05, 20
PLAIN_PAGES = 2_000
MAX_PAGE_BYTES, MAX_LEARN_MICROSECONDS, MAX_CHOOSE_SECONDS = 200.0, 50.0, 5.0


def make_pages(count: int) -> PageTable:
    """Return pages of many hosts and directories."""
    ids = np.arange(1, count + 1)
    groups = (PAGES_PER_HOST, PAGES_PER_HOST * 4, PAGES_PER_DIRECTORY)
    hosts, sites, directories = ((ids // size).astype(np.uint64) for size in groups)
    return PageTable(ids, hosts, sites, directories, np.ones(count), np.full(count, np.nan))


def make_visits(pages: PageIdArray, day: float, rng: np.random.Generator) -> VisitTable:
    """Return a look at every page in the course of a day, some of which found a change."""
    count = len(pages)
    times = (day + np.sort(rng.random(count))) * DAY_SECONDS
    sure = np.ones(count, np.bool_)
    unknown = np.full(count, -1, np.int32)
    return VisitTable(pages, times, sure, sure, rng.random(count) < 0.3, unknown)


def learn_history(policy: BayesPolicy, pages: PageIdArray, rng: np.random.Generator) -> None:
    """Learn two looks at every page, as in a crawl of ``DAYS`` days at the budget."""
    for day, day_pages in enumerate(np.array_split(rng.permutation(pages), DAYS)):
        for batch in np.array_split(day_pages, max(1, len(day_pages) // BATCH)):
            policy.learn(make_visits(batch, day, rng))
            policy.learn(make_visits(batch, day + DAYS, rng))


def learn_plainly(
    likelihood: FloatArray, gaps: FloatArray, changed: FloatArray, policy: BayesPolicy
) -> None:
    """Update the log-likelihoods of each page by one look, page by page."""
    rates, outlier_chance = policy.cadence.rates, policy.objective.outlier_chance
    for page in range(len(likelihood)):
        survival = np.exp(-rates * gaps[page])
        chance = 1 - survival if changed[page] else survival
        faded = likelihood[page] * policy.objective.daily_retention ** gaps[page]
        likelihood[page] = faded + np.log(outlier_chance + (1 - 2 * outlier_chance) * chance)


def choose_plainly(
    likelihood: FloatArray, ages: FloatArray, k: int, policy: BayesPolicy
) -> FloatArray:
    """Return the k pages of the highest value, page by page."""
    rates, prior = policy.cadence.rates, np.full(CELL_COUNT, 1 / CELL_COUNT)
    values = np.empty(len(likelihood))
    for page in range(len(likelihood)):
        weights = prior * np.exp(likelihood[page] * policy.objective.daily_retention ** ages[page])
        expected = rates * ages[page]
        gains = (1 - (1 + expected) * np.exp(-expected)) / rates
        values[page] = weights @ gains / weights.sum()
    return np.argsort(-values)[:k]


def core_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a piece of work in seconds."""
    started = time.process_time()
    work()
    return time.process_time() - started


def measure_learning(
    policy: BayesPolicy, pages: PageIdArray, rng: np.random.Generator
) -> list[BenchmarkResult]:
    """Return the visits learned per second, and the time per visit in a batch and one at a time."""
    batch = make_visits(pages[:BATCH], 2 * DAYS, rng)
    singles = [make_visits(pages[n : n + 1], 2 * DAYS + 1, rng) for n in range(PLAIN_PAGES)]
    batch_seconds = core_seconds(lambda: policy.learn(batch)) / len(batch)
    single_seconds = core_seconds(lambda: [policy.learn(visit) for visit in singles]) / len(singles)
    gaps, changed = np.full(PLAIN_PAGES, 3.0), rng.random(PLAIN_PAGES)
    likelihood = np.zeros((PLAIN_PAGES, CELL_COUNT))
    plain_seconds = core_seconds(lambda: learn_plainly(likelihood, gaps, changed < 0.3, policy))
    return [
        BenchmarkResult(
            "schedule learn", 1 / batch_seconds, PLAIN_PAGES / plain_seconds, "visits/s"
        ),
        BenchmarkResult(
            "learn in a batch", 1e6 * batch_seconds, MAX_LEARN_MICROSECONDS, "us a visit (limit)"
        ),
        BenchmarkResult(
            "learn one at a time",
            1e6 * single_seconds,
            MAX_LEARN_MICROSECONDS,
            "us a visit (limit)",
        ),
    ]


def measure_choosing(policy: BayesPolicy, now: datetime, k: int) -> list[BenchmarkResult]:
    """Return the times of the first choice and of a later one, and candidates per second."""
    count = len(policy.page_states)
    first = core_seconds(lambda: check(policy, now, k))
    again = core_seconds(lambda: check(policy, now, k))
    likelihood = np.zeros((PLAIN_PAGES, CELL_COUNT))
    ages = np.full(PLAIN_PAGES, 3.0)
    plain_seconds = core_seconds(lambda: choose_plainly(likelihood, ages, k, policy))
    return [
        BenchmarkResult("schedule choose", count / first, PLAIN_PAGES / plain_seconds, "pages/s"),
        BenchmarkResult(f"choose {k} of {count}", first, MAX_CHOOSE_SECONDS, "s (limit)"),
        BenchmarkResult(f"choose {k} again", again, MAX_CHOOSE_SECONDS, "s (limit)"),
    ]


def check(policy: BayesPolicy, now: datetime, k: int) -> None:
    """Choose pages, and stop unless they are exactly k different pages of the highest values."""
    chosen = policy.choose(now, k, HostCaps())
    if len(np.unique(chosen.pages)) != k or not (chosen.values >= policy.multiplier).all():
        raise SystemExit(f"schedule: {len(chosen)} pages were chosen in place of {k}")


def main() -> None:
    """Print all figures."""
    count = int(sys.argv[sys.argv.index("--pages") + 1]) if "--pages" in sys.argv else PAGES
    rng = np.random.default_rng(1)
    policy = BayesPolicy("bayes-freshness", objective="freshness", cadence=CONTINUOUS_CADENCE)
    small = BayesPolicy("bayes-freshness", objective="freshness", cadence=CONTINUOUS_CADENCE)
    small_pages, pages = make_pages(PLAIN_PAGES), make_pages(count)
    # The small policy compiles the loops before anything is timed.
    small.add(small_pages)
    learn_history(small, small_pages.ids, rng)
    small.choose(from_epoch(2 * DAYS * DAY_SECONDS), 1, HostCaps())
    policy.add(pages)
    learn_history(policy, pages.ids, rng)
    k = max(1, int(count * BUDGET_SHARE / 24))
    choosing = measure_choosing(policy, from_epoch(2 * DAYS * DAY_SECONDS), k)
    learning = measure_learning(policy, pages.ids, rng)

    report(
        *learning,
        *choosing,
        BenchmarkResult(
            "bytes a page", policy.page_states.nbytes / count, MAX_PAGE_BYTES, "bytes (limit)"
        ),
        BenchmarkResult(
            "with clocks and prior", policy.nbytes / count, MAX_PAGE_BYTES, "bytes (limit)"
        ),
    )


if __name__ == "__main__":
    main()
