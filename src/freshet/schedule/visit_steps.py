"""The steps of time in which a policy learns a recorded history."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, HOUR_SECONDS, VisitTable
from freshet.core.types import FloatArray

# A crawl fits its policy every hour. So does the replay of the last days; it fits less often in
# earlier days, and in large collections.
HOURLY_DAYS, EARLIER_STEP_HOURS, MAX_STEP_HOURS = 30.0, 6.0, 24.0
PAGES_PER_HOUR = 20_000


def replay_steps(times: FloatArray, page_count: int, *, hourly_since: float = np.inf) -> FloatArray:
    """Return the start of the step of every visit in epoch seconds, given sorted times.

    Visits since ``hourly_since`` are in steps of an hour, as a crawl fits its policy.

    >>> replay_steps(np.array([0.0, 7_200.0, 40 * 86_400.0, 40 * 86_400 + 7_300.0]), 100).tolist()
    [0.0, 0.0, 3456000.0, 3463200.0]
    >>> replay_steps(np.array([0.0, 7_200.0, 40 * 86_400.0]), 100, hourly_since=0.0).tolist()
    [0.0, 7200.0, 3456000.0]
    """
    hours = max(1.0, page_count / PAGES_PER_HOUR)
    is_recent = times >= times[-1:] - HOURLY_DAYS * DAY_SECONDS
    steps = np.where(is_recent, hours, EARLIER_STEP_HOURS * hours)
    steps[times >= hourly_since] = 1.0
    seconds = HOUR_SECONDS * np.minimum(MAX_STEP_HOURS, steps)
    starts: FloatArray = np.floor(times / seconds) * seconds
    return starts


def step_ranges(steps: FloatArray) -> list[tuple[int, int]]:
    """Return the first row and the row after the last one of every step, given sorted steps.

    >>> step_ranges(np.array([0.0, 0.0, 10.0, 30.0]))
    [(0, 2), (2, 3), (3, 4)]
    """
    starts = np.flatnonzero(np.diff(steps, prepend=-np.inf))
    return list(zip(starts.tolist(), np.append(starts, len(steps))[1:].tolist(), strict=True))


def select_visits(visits: VisitTable, rows: NDArray[Any] | slice) -> VisitTable:
    """Return some rows of a table."""
    return VisitTable(*(getattr(visits, column.name)[rows] for column in fields(visits)))
