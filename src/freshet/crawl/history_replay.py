"""Makes a new policy learn a history in the order of time, as the crawl learned it.

The prior, the shared events and the rates of pages are fitted to each other step by step, so that a
policy that learns everything at once and fits only then can end with other forecasts. After a
replay it chooses as before the restart.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.clock import from_epoch
from freshet.core.policy import Policy, RefittingPolicy
from freshet.core.tables import DAY_SECONDS, VisitTable
from freshet.core.types import FloatArray
from freshet.record.fault_isolation import isolate_faults

# Earlier visits of a very long history are learned at once.
REPLAYED_DAYS = 60.0
MAX_REPLAYED_VISITS = 5_000_000
# A crawl fits its policy every hour. So does the replay of the last days; it fits less often in
# earlier days, and in large collections.
HOURLY_DAYS, EARLIER_STEP_HOURS, MAX_STEP_HOURS = 30.0, 6.0, 24.0
PAGES_PER_HOUR = 20_000
HOUR_SECONDS = 3_600.0


def replay_visits(
    policy: RefittingPolicy,
    history: VisitTable,
    page_count: int,
    learn: Callable[[VisitTable, VisitTable], None],
) -> None:
    """Make a policy learn visits in the order of time, and fit it at every step.

    ``learn`` takes the visits of a step, and all visits up to then.
    """
    ordered = select_visits(history, np.lexsort((history.pages, history.times)))
    for start, end in step_ranges(replay_steps(ordered.times, page_count)):
        with isolate_faults("fitting it", f"policy {policy.name}"):
            policy.refit(from_epoch(float(ordered.times[start])))
        learn(select_visits(ordered, slice(start, end)), select_visits(ordered, slice(0, end)))
    if len(ordered):
        with isolate_faults("fitting it", f"policy {policy.name}"):
            policy.refit(from_epoch(float(ordered.times[-1])))


def replay_steps(times: FloatArray, page_count: int) -> FloatArray:
    """Return the start of the step of every visit in epoch seconds, given sorted times.

    >>> replay_steps(np.array([0.0, 7_200.0, 40 * 86_400.0, 40 * 86_400 + 7_300.0]), 100).tolist()
    [0.0, 0.0, 3456000.0, 3463200.0]
    """
    hours = max(1.0, page_count / PAGES_PER_HOUR)
    is_recent = times >= times[-1:] - HOURLY_DAYS * DAY_SECONDS
    steps = np.where(is_recent, hours, EARLIER_STEP_HOURS * hours)
    seconds = HOUR_SECONDS * np.minimum(MAX_STEP_HOURS, steps)
    starts: FloatArray = np.floor(times / seconds) * seconds
    return starts


def step_ranges(steps: FloatArray) -> list[tuple[int, int]]:
    """Return the first row and the row after the last one of every step, given sorted steps.

    >>> step_ranges(np.array([0.0, 0.0, 10.0, 30.0]))
    [(0, 2), (2, 3), (3, 4)]
    """
    starts = np.flatnonzero(np.diff(steps, prepend=-np.inf))
    return list(zip(starts.tolist(), np.append(starts[1:], len(steps)).tolist(), strict=True))


def select_visits(visits: VisitTable, rows: NDArray[Any] | slice) -> VisitTable:
    """Return some rows of a table."""
    return VisitTable(*(getattr(visits, column.name)[rows] for column in fields(visits)))


def concatenate_visits(tables: Sequence[VisitTable]) -> VisitTable:
    """Return the visits of all tables in one."""
    columns = (column.name for column in fields(VisitTable))
    return VisitTable(
        *(np.concatenate([getattr(table, name) for table in tables]) for name in columns)
    )


def first_replayed_time(policy: Policy, now: float, visit_count: int) -> float:
    """Return the time from which visits are replayed: all of them, or the last days of many."""
    if not isinstance(policy, RefittingPolicy):
        return np.inf
    return -np.inf if visit_count <= MAX_REPLAYED_VISITS else now - REPLAYED_DAYS * DAY_SECONDS
