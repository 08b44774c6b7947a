"""Small collections and visits for the tests of the default policy."""

from collections.abc import Sequence

import numpy as np

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps, PageIdArray, PageTable, VisitTable
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import CONTINUOUS_CADENCE, CYCLE_CADENCE
from freshet.schedule.objectives import ObjectiveName


def pages(
    ids: Sequence[int],
    *,
    host_pages: int = 4,
    directory_pages: int = 10,
    since_day: float = float("nan"),
) -> PageTable:
    """Return pages whose host, site and directory follow from their ids."""
    numbers = np.array(ids, np.int64)
    hosts, sites, directories = (
        (numbers // size).astype(np.uint64) for size in (host_pages, 20, directory_pages)
    )
    since = np.full(len(numbers), since_day * DAY_SECONDS)
    return PageTable(numbers, hosts, sites, directories, np.ones(len(numbers)), since)


def visits(
    ids: Sequence[int] | PageIdArray,
    days: Sequence[float] | float,
    changed: Sequence[bool] | bool = False,
    *,
    looks: Sequence[bool] | bool = True,
    measured: Sequence[bool] | bool = True,
) -> VisitTable:
    """Return visits on days that may be fractions."""
    count = len(ids)
    times = np.broadcast_to(np.asarray(days, np.float64), count) * DAY_SECONDS
    flags = [np.broadcast_to(np.asarray(x, np.bool_), count) for x in (looks, measured, changed)]
    is_look, is_measured, is_changed = flags
    unknown = np.full(count, -1, np.int32)
    return VisitTable(np.array(ids, np.int64), times, is_look, is_measured, is_changed, unknown)


def bayes_policy(
    objective: ObjectiveName = "freshness", *, live: bool = True, seed: int = 0
) -> BayesPolicy:
    return BayesPolicy(
        f"bayes-{objective}",
        objective=objective,
        cadence=CONTINUOUS_CADENCE if live else CYCLE_CADENCE,
        seed=seed,
    )


def crawled_policy(
    objective: ObjectiveName, count: int, days: int, *, live: bool = False, seed: int = 0
) -> BayesPolicy:
    """Return a policy that chose a fifth of its pages on every day; pages of id 0 mod 3 change."""
    policy = bayes_policy(objective, live=live, seed=seed)
    policy.add(pages(range(count), since_day=-1.0))
    everything = np.arange(count)
    for day in range(days):
        ids = everything if day < 2 else choose(policy, day, count // 5)
        policy.learn(visits(ids, float(day), ids % 3 == 0))
    return policy


def choose(policy: BayesPolicy, day: float, k: int, caps: HostCaps | None = None) -> PageIdArray:
    return policy.choose(from_epoch(day * DAY_SECONDS), k, caps or HostCaps()).pages
