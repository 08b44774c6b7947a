"""Learning visits and choosing pages with the default policies, against plain numpy.

Limits at 10 million pages: 250 bytes a page, 50 microseconds per learned visit, 5 seconds for the
first choice, 10 milliseconds from the looks that reveal an event of a site of 100,000 pages to the
next choice, for which all of these pages are valued anew. The pages are on hosts of very different
sizes and were crawled for 60 days at 5 % a day. The plain reference goes page by page, with numpy
over the grid of rates. Times are wall times, which mean little while other work is running; the
first choice and an event have their processor times, of all threads, too.
"""

import argparse
import gc
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial

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
from freshet.core.tables import DAY_SECONDS, HostCaps, VisitTable
from freshet.core.types import FloatArray
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import CELL_COUNT
from freshet.schedule.mixture.guarded_policy import GuardedPolicy
from freshet.schedule.objectives import OUTLIER_CHANCE
from freshet.schedule.policies import FORECASTING_POLICIES, make_policy

PAGES, SMALL_HOST_PAGES = 10_000_000, 1_000_000
# Visits are learned in large batches and, as in a live crawl, in batches of these sizes.
BATCH, LIVE_BATCHES, LIVE_VISITS = 100_000, (1, 10, 100), 2_000
EVENT_LOOKS, TURN_CHOICES, TURNS = 200, 10, 100
PLAIN_PAGES, REPEATS = 2_000, 9
# The largest host has so many pages of these that all loops are compiled before anything is timed.
COMPILING_PAGES = 60_000
MAX_PAGE_BYTES, MAX_LEARN_MICROSECONDS = 250.0, 50.0
MAX_CHOOSE_SECONDS, MAX_SPREAD_MILLISECONDS = 5.0, 10.0

MeasuredPolicy = BayesPolicy | GuardedPolicy


def wall_seconds(work: Callable[[], object]) -> float:
    """Return the time of a piece of work in seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def default_of(policy: MeasuredPolicy) -> BayesPolicy:
    """Return the policy itself, or the one that a safety net guards."""
    return policy.default if isinstance(policy, GuardedPolicy) else policy


def moment(days: float) -> datetime:
    """Return the time that many days after the start of the crawl."""
    return from_epoch((CRAWL_DAYS + days) * DAY_SECONDS)


def crawled_policy(name: str, collection: SimulatedCollection) -> MeasuredPolicy:
    """Return a policy that has learned all visits; shared events are fitted after each sweep."""
    policy = make_policy(name, live=True)
    if not isinstance(policy, MeasuredPolicy):
        raise SystemExit(f"schedule: {name} has no forecasts")
    policy.add(collection.pages())
    for day in range(CRAWL_DAYS):
        for visits in collection.visits_of_day(day, BATCH):
            policy.learn(visits)
        if day % SWEEP_DAYS == SWEEP_DAYS - 1 and day < CRAWL_DAYS - 1:
            policy.release(policy.choose(moment(day + 1 - CRAWL_DAYS), 1, HostCaps()).pages)
    return policy


def learn_all(policy: MeasuredPolicy, batches: list[VisitTable]) -> None:
    """Learn batches of visits one after the other."""
    for visits in batches:
        policy.learn(visits)


def learn_plainly(
    likelihood: FloatArray, gaps: FloatArray, changed: FloatArray, policy: MeasuredPolicy
) -> None:
    """Update the log-likelihoods of each page by one look, page by page."""
    objective, rates = default_of(policy).objective, default_of(policy).cadence.rates
    for page in range(len(likelihood)):
        survival = np.exp(-rates * gaps[page])
        chance = 1 - survival if changed[page] else survival
        faded = likelihood[page] * objective.daily_retention ** gaps[page]
        likelihood[page] = faded + np.log(OUTLIER_CHANCE + (1 - 2 * OUTLIER_CHANCE) * chance)


def choose_plainly(
    likelihood: FloatArray, ages: FloatArray, k: int, policy: MeasuredPolicy
) -> NDArray[np.intp]:
    """Return the k pages of the highest value, page by page."""
    objective, rates = default_of(policy).objective, default_of(policy).cadence.rates
    prior = np.full(CELL_COUNT, 1 / CELL_COUNT)
    values = np.empty(len(likelihood))
    for page in range(len(likelihood)):
        weights = prior * np.exp(likelihood[page] * objective.daily_retention ** ages[page])
        expected = rates * ages[page]
        gains = (1 - (1 + expected) * np.exp(-expected)) / rates
        values[page] = weights @ gains / weights.sum()
    return np.argsort(-values)[:k]


def plain_learning_seconds(policy: MeasuredPolicy) -> float:
    """Return the time of one look of the plain reference."""
    gaps, changed = np.full(PLAIN_PAGES, 3.0), np.arange(PLAIN_PAGES) % 3 == 0
    likelihood = np.zeros((PLAIN_PAGES, CELL_COUNT))
    return wall_seconds(lambda: learn_plainly(likelihood, gaps, changed, policy)) / PLAIN_PAGES


def plain_choosing_seconds(policy: MeasuredPolicy) -> float:
    """Return the time per page of a choice of the plain reference."""
    likelihood, ages = np.zeros((PLAIN_PAGES, CELL_COUNT)), np.full(PLAIN_PAGES, 3.0)
    return wall_seconds(lambda: choose_plainly(likelihood, ages, 1, policy)) / PLAIN_PAGES


def measure_learning(
    policy: MeasuredPolicy, collection: SimulatedCollection
) -> list[BenchmarkResult]:
    """Return the visits learned per second, and the time per visit in batches of several sizes."""
    batch = next(collection.visits_of_day(CRAWL_DAYS + 1, BATCH))
    batch_seconds = wall_seconds(lambda: policy.learn(batch)) / len(batch)
    limit, unit = MAX_LEARN_MICROSECONDS, "us a visit (limit)"
    results = [
        BenchmarkResult(
            "schedule learn", 1 / batch_seconds, 1 / plain_learning_seconds(policy), "visits/s"
        ),
        BenchmarkResult("learn in a batch", 1e6 * batch_seconds, limit, unit),
    ]
    pages = 1 + np.random.default_rng(2).permutation(collection.count)[:LIVE_VISITS]
    for number, size in enumerate(LIVE_BATCHES):
        parts = np.split(pages, range(size, len(pages), size))
        batches = [collection.looks(part, CRAWL_DAYS + 2 + number) for part in parts]
        seconds = wall_seconds(partial(learn_all, policy, batches))
        results.append(
            BenchmarkResult(f"learn {size} at a time", 1e6 * seconds / len(pages), limit, unit)
        )
    return results


def measure_turns(policy: MeasuredPolicy, collection: SimulatedCollection) -> list[BenchmarkResult]:
    """Return the time of a choice of a few pages, and per visit of learning what they show."""
    choosing, learning = [], []
    for turn in range(TURNS):
        days = 1 / 24 + turn / 86_400
        started = time.perf_counter()
        choices = policy.choose(moment(days), TURN_CHOICES, HostCaps())
        choosing.append(time.perf_counter() - started)
        visits = collection.looks(choices.pages, CRAWL_DAYS + days, at_once=True)
        learning.append(wall_seconds(partial(policy.learn, visits)))
    learned_us = 1e6 * float(np.mean(learning)) / TURN_CHOICES
    return [
        BenchmarkResult(
            f"choose {TURN_CHOICES} in turn",
            1e3 * float(np.median(choosing)),
            1e3 * MAX_CHOOSE_SECONDS,
            "ms (limit)",
        ),
        BenchmarkResult("learn these", learned_us, MAX_LEARN_MICROSECONDS, "us a visit (limit)"),
    ]


def measure_choosing(policy: MeasuredPolicy, k: int) -> list[BenchmarkResult]:
    """Return the times of the first choice and of one an hour later."""
    count = len(default_of(policy).page_states)
    started = time.process_time()
    first = wall_seconds(lambda: choose(policy, moment(0), k))
    first_processor = time.process_time() - started
    hourly = wall_seconds(lambda: choose(policy, moment(1 / 24), k))
    plain = 1 / plain_choosing_seconds(policy)
    return [
        BenchmarkResult("schedule choose", count / first, plain, "pages/s"),
        BenchmarkResult(f"choose {k} of {count}", first, MAX_CHOOSE_SECONDS, "s (limit)"),
        BenchmarkResult("its processor time", first_processor, MAX_CHOOSE_SECONDS, "s (limit)"),
        BenchmarkResult("an hour later", hourly, MAX_CHOOSE_SECONDS, "s (limit)"),
    ]


def choose(policy: MeasuredPolicy, now: datetime, k: int) -> None:
    """Choose pages, and stop unless they are exactly k different pages."""
    chosen = policy.choose(now, k, HostCaps())
    pages = len(np.unique(chosen.pages))
    if pages != k:
        raise SystemExit(f"schedule: {pages} different pages were chosen in place of {k}")


def measure_event(policy: MeasuredPolicy, collection: SimulatedCollection) -> list[BenchmarkResult]:
    """Return the time from the looks that reveal an event of the largest host to the next choice.

    The other pages of the host must then be more likely to have changed than before. A choice
    without an event is measured too.
    """
    host_pages = collection.largest_host_pages()
    times, processor_times, quiet_times = [], [], []
    for repeat in range(REPEATS):
        days = 1 / 24 + (repeat + 1) / 1440
        choose(policy, moment(days), 1)
        quiet_times.append(wall_seconds(partial(choose, policy, moment(days), 1)))
        seen = host_pages[repeat * EVENT_LOOKS :][:EVENT_LOOKS]
        others = host_pages[(repeat + 1) * EVENT_LOOKS :]
        visits = collection.looks(seen, CRAWL_DAYS + days, at_once=True, changed=True)
        before = policy.forecast(others, moment(days), np.zeros(1)).survival
        started, processor_started = time.perf_counter(), time.process_time()
        policy.learn(visits)
        choose(policy, moment(days), 1)
        times.append(time.perf_counter() - started)
        processor_times.append(time.process_time() - processor_started)
        after = policy.forecast(others, moment(days), np.zeros(1)).survival
        if repeat == 0 and after.sum() > before.sum():
            raise SystemExit("schedule: an event did not reach the pages of its host")
    plain = 1e3 * len(host_pages) * plain_choosing_seconds(policy)
    spread, processor, quiet = (
        1e3 * float(np.median(seconds)) for seconds in (times, processor_times, quiet_times)
    )
    limit, unit = MAX_SPREAD_MILLISECONDS, "ms (limit)"
    return [
        BenchmarkResult("spread of an event", spread, limit, unit),
        BenchmarkResult("its slowest", 1e3 * max(times), limit, unit),
        BenchmarkResult("its processor time", processor, limit, unit),
        BenchmarkResult("choice without it", quiet, limit, unit),
        BenchmarkResult(f"over {len(host_pages)} pages", spread, plain, "ms"),
    ]


def measure_memory(policy: MeasuredPolicy, resident: int) -> list[BenchmarkResult]:
    """Return the bytes per page by the policy's own count and of the process."""
    gc.collect()
    process = (resident_bytes() - resident) / len(default_of(policy).page_states)
    return [
        bytes_per_page(policy, "memory of a page"),
        BenchmarkResult("in the process", process, MAX_PAGE_BYTES, "bytes (limit)"),
    ]


def bytes_per_page(policy: MeasuredPolicy, name: str) -> BenchmarkResult:
    """Return the bytes per page by the policy's own count."""
    count = len(default_of(policy).page_states)
    return BenchmarkResult(name, policy.nbytes / count, MAX_PAGE_BYTES, "bytes (limit)")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=PAGES, help="number of pages")
    parser.add_argument("--policy", default="guarded-freshness", choices=FORECASTING_POLICIES)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    small = SimulatedCollection(COMPILING_PAGES)
    compiled = crawled_policy(options.policy, small)
    measure_choosing(compiled, 10), measure_turns(compiled, small), measure_event(compiled, small)
    resident = resident_bytes()
    collection = SimulatedCollection(options.pages)
    policy = crawled_policy(options.policy, collection)
    results = measure_choosing(policy, max(1, int(options.pages * BUDGET_SHARE / 24)))
    results += measure_turns(policy, collection)
    results += measure_event(policy, collection)
    results += measure_learning(policy, collection)
    collection.forget_order()
    results += measure_memory(policy, resident)
    del policy
    collection = SimulatedCollection(min(options.pages, SMALL_HOST_PAGES), host_pages=10)
    policy = crawled_policy(options.policy, collection)
    policy.choose(moment(0), 1, HostCaps())
    report(*results, bytes_per_page(policy, "with hosts of 10 pages"))


if __name__ == "__main__":
    main()
