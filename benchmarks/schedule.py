"""Learning visits and choosing pages with the default policy, against plain numpy.

Limits at 10 million pages: 250 bytes a page, 50 microseconds per learned visit, 5 seconds for the
first choice, 10 milliseconds until an event of a site of 100,000 pages is in force for all of them.
The pages are on hosts of very different sizes and were crawled for 60 days at 5 % a day. The plain
reference goes page by page, with numpy over the grid of rates. Times are processor times of one
core. ``--pages N`` takes fewer pages.
"""

import gc
import sys
import time
from collections.abc import Callable
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import BenchmarkResult, report
from benchmarks.schedule_pages import (
    BUDGET_SHARE,
    CRAWL_DAYS,
    SWEEP_DAYS,
    SimulatedCollection,
    resident_bytes,
)
from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.core.types import FloatArray
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import CELL_COUNT, CONTINUOUS_CADENCE

PAGES, SMALL_HOST_PAGES = 10_000_000, 1_000_000
BATCH, SINGLE_VISITS, EVENT_LOOKS = 100_000, 2_000, 200
PLAIN_PAGES, REPEATS = 2_000, 5
MAX_PAGE_BYTES, MAX_LEARN_MICROSECONDS = 250.0, 50.0
MAX_CHOOSE_SECONDS, MAX_SPREAD_MILLISECONDS = 5.0, 10.0


def core_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a piece of work in seconds."""
    started = time.process_time()
    work()
    return time.process_time() - started


def new_policy() -> BayesPolicy:
    """Return a policy without pages."""
    return BayesPolicy("bayes-freshness", objective="freshness", cadence=CONTINUOUS_CADENCE)


def moment(days: float) -> datetime:
    """Return the time that many days after the start of the crawl."""
    return from_epoch((CRAWL_DAYS + days) * DAY_SECONDS)


def crawled_policy(collection: SimulatedCollection) -> BayesPolicy:
    """Return a policy that has learned all visits; shared events are fitted after each sweep."""
    policy = new_policy()
    policy.add(collection.pages())
    for day in range(CRAWL_DAYS):
        for visits in collection.visits_of_day(day, BATCH):
            policy.learn(visits)
        if day % SWEEP_DAYS == SWEEP_DAYS - 1 and day < CRAWL_DAYS - 1:
            policy.release(policy.choose(moment(day + 1 - CRAWL_DAYS), 1, HostCaps()).pages)
    return policy


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
) -> NDArray[np.intp]:
    """Return the k pages of the highest value, page by page."""
    rates, prior = policy.cadence.rates, np.full(CELL_COUNT, 1 / CELL_COUNT)
    values = np.empty(len(likelihood))
    for page in range(len(likelihood)):
        weights = prior * np.exp(likelihood[page] * policy.objective.daily_retention ** ages[page])
        expected = rates * ages[page]
        gains = (1 - (1 + expected) * np.exp(-expected)) / rates
        values[page] = weights @ gains / weights.sum()
    return np.argsort(-values)[:k]


def plain_learning_seconds(policy: BayesPolicy) -> float:
    """Return the time of one look of the plain reference."""
    gaps, changed = np.full(PLAIN_PAGES, 3.0), np.arange(PLAIN_PAGES) % 3 == 0
    likelihood = np.zeros((PLAIN_PAGES, CELL_COUNT))
    return core_seconds(lambda: learn_plainly(likelihood, gaps, changed, policy)) / PLAIN_PAGES


def plain_choosing_seconds(policy: BayesPolicy) -> float:
    """Return the time per page of a choice of the plain reference."""
    likelihood, ages = np.zeros((PLAIN_PAGES, CELL_COUNT)), np.full(PLAIN_PAGES, 3.0)
    return core_seconds(lambda: choose_plainly(likelihood, ages, 1, policy)) / PLAIN_PAGES


def measure_learning(policy: BayesPolicy, collection: SimulatedCollection) -> list[BenchmarkResult]:
    """Return the visits learned per second, and the time per visit in a batch and one at a time."""
    batch = next(collection.visits_of_day(CRAWL_DAYS + 1, BATCH))
    singles = [
        batch_of_one
        for page in range(1, 1 + min(SINGLE_VISITS, collection.count))
        for batch_of_one in [collection.looks(np.array([page]), CRAWL_DAYS + 2)]
    ]
    batch_seconds = core_seconds(lambda: policy.learn(batch)) / len(batch)
    single_seconds = core_seconds(lambda: [policy.learn(visit) for visit in singles]) / len(singles)
    limit, unit = MAX_LEARN_MICROSECONDS, "us a visit (limit)"
    plain_seconds = plain_learning_seconds(policy)
    return [
        BenchmarkResult("schedule learn", 1 / batch_seconds, 1 / plain_seconds, "visits/s"),
        BenchmarkResult("learn in a batch", 1e6 * batch_seconds, limit, unit),
        BenchmarkResult("learn one at a time", 1e6 * single_seconds, limit, unit),
    ]


def measure_choosing(policy: BayesPolicy, k: int) -> list[BenchmarkResult]:
    """Return the times of the first choice, of one an hour later, and of a few in that hour."""
    count = len(policy.page_states)
    first = core_seconds(lambda: choose(policy, moment(0), k))
    hourly = core_seconds(lambda: choose(policy, moment(1 / 24), k))
    again = core_seconds(lambda: [choose(policy, moment(1 / 24), 10) for _ in range(REPEATS)])
    plain = 1 / plain_choosing_seconds(policy)
    return [
        BenchmarkResult("schedule choose", count / first, plain, "pages/s"),
        BenchmarkResult(f"choose {k} of {count}", first, MAX_CHOOSE_SECONDS, "s (limit)"),
        BenchmarkResult("an hour later", hourly, MAX_CHOOSE_SECONDS, "s (limit)"),
        BenchmarkResult("10 more", 1e3 * again / REPEATS, 1e3 * MAX_CHOOSE_SECONDS, "ms (limit)"),
    ]


def choose(policy: BayesPolicy, now: datetime, k: int) -> None:
    """Choose pages, and stop unless they are exactly k different pages."""
    chosen = policy.choose(now, k, HostCaps())
    pages = len(np.unique(chosen.pages))
    if pages != k:
        raise SystemExit(f"schedule: {pages} different pages were chosen in place of {k}")


def measure_event(policy: BayesPolicy, collection: SimulatedCollection) -> list[BenchmarkResult]:
    """Return the time from the looks that reveal an event of the largest host to the next choice.

    The other pages of the host must then be more likely to have changed than before.
    """
    host_pages, times = collection.largest_host_pages(), []
    for repeat in range(REPEATS):
        days = 1 / 24 + (repeat + 1) / 1440
        choose(policy, moment(days), 10)
        seen = host_pages[repeat * EVENT_LOOKS :][:EVENT_LOOKS]
        others = host_pages[(repeat + 1) * EVENT_LOOKS :]
        visits = collection.looks(seen, CRAWL_DAYS + days, changed=True)
        before = policy.forecast(others, moment(days), np.zeros(1)).survival
        started = time.process_time()
        policy.learn(visits)
        choose(policy, moment(days), 1)
        times.append(time.process_time() - started)
        after = policy.forecast(others, moment(days), np.zeros(1)).survival
        if repeat == 0 and after.sum() > before.sum():
            raise SystemExit("schedule: an event did not reach the pages of its host")
    plain = 1e3 * len(host_pages) * plain_choosing_seconds(policy)
    spread = 1e3 * float(np.median(times))
    return [
        BenchmarkResult("spread of an event", spread, MAX_SPREAD_MILLISECONDS, "ms (limit)"),
        BenchmarkResult(f"over {len(host_pages)} pages", spread, plain, "ms"),
    ]


def measure_memory(policy: BayesPolicy, resident: int) -> list[BenchmarkResult]:
    """Return the bytes per page by the policy's own count and of the process."""
    gc.collect()
    process = (resident_bytes() - resident) / len(policy.page_states)
    return [
        bytes_per_page(policy, "memory of a page"),
        BenchmarkResult("in the process", process, MAX_PAGE_BYTES, "bytes (limit)"),
    ]


def bytes_per_page(policy: BayesPolicy, name: str) -> BenchmarkResult:
    """Return the bytes per page by the policy's own count."""
    count = len(policy.page_states)
    return BenchmarkResult(name, policy.nbytes / count, MAX_PAGE_BYTES, "bytes (limit)")


def main() -> None:
    """Print all figures."""
    count = int(sys.argv[sys.argv.index("--pages") + 1]) if "--pages" in sys.argv else PAGES
    # A small policy compiles the loops before anything is timed.
    small = SimulatedCollection(PLAIN_PAGES)
    compiled = crawled_policy(small)
    measure_choosing(compiled, 10), measure_event(compiled, small)
    resident = resident_bytes()
    collection = SimulatedCollection(count)
    policy = crawled_policy(collection)
    results = measure_choosing(policy, max(1, int(count * BUDGET_SHARE / 24)))
    results += measure_event(policy, collection)
    results += measure_learning(policy, collection)
    collection.forget_order()
    results += measure_memory(policy, resident)
    del policy
    collection = SimulatedCollection(min(count, SMALL_HOST_PAGES), host_pages=10)
    policy = crawled_policy(collection)
    policy.choose(moment(0), 1, HostCaps())
    report(*results, bytes_per_page(policy, "with hosts of 10 pages"))


if __name__ == "__main__":
    main()
