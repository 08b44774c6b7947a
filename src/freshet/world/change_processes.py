"""Processes that draw change times: by hour and weekday, in bursts, or on fixed days."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray

HOUR = 3600.0
DAY = 86_400.0
WEEK_HOURS = 168
EPOCH_WEEKDAY = 3  # 1970-01-01 was a Thursday

Rng = np.random.Generator
ChangeProcess = Callable[[Rng, "TimeSpan"], FloatArray]


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A period of time, in epoch seconds."""

    start: float
    end: float

    def times_within(self, times: FloatArray) -> FloatArray:
        """Return the distinct times inside the period, in order."""
        return np.unique(times[(times >= self.start) & (times < self.end)])


def week_profile(night: float, weekend: float) -> FloatArray:
    """Return the weight of each hour of a week, from Monday, with mean 1.

    >>> profile = week_profile(night=0.1, weekend=0.5)
    >>> len(profile), round(float(profile.mean()), 6), bool(profile[12] > profile[3])
    (168, 1.0, True)
    """
    hours = np.arange(24)
    day = night + (1 - night) * np.maximum(0.0, np.sin((hours - 5) * np.pi / 18))
    week = np.outer(np.where(np.arange(7) < 5, 1.0, weekend), day).ravel()
    return np.asarray(week / week.mean())


def hour_of_week(epoch: FloatArray) -> NDArray[np.int64]:
    """Return the hours since the last Monday, midnight UTC, of each time."""
    return ((epoch // HOUR).astype(np.int64) + 24 * EPOCH_WEEKDAY) % WEEK_HOURS


def no_changes(_rng: Rng, _span: TimeSpan) -> FloatArray:
    """Return no times."""
    return np.empty(0)


def rhythmic_changes(per_day: float, *, night: float = 1.0, weekend: float = 1.0) -> ChangeProcess:
    """Return a process with ``per_day`` random changes a day, fewer at night and on weekends."""
    profile = week_profile(night, weekend) * per_day / 24

    def times(rng: Rng, span: TimeSpan) -> FloatArray:
        grid = np.arange(span.start, span.end + HOUR, HOUR)
        mass = np.concatenate([[0.0], np.cumsum(profile[hour_of_week(grid[:-1])])])
        positions = rng.uniform(0.0, mass[-1], rng.poisson(mass[-1]))
        return span.times_within(np.interp(positions, mass, grid))

    return times


def bursty_changes(per_day: float, *, branching: float, delay_hours: float) -> ChangeProcess:
    """Return a process in which each change triggers others within hours (Hawkes, 1971)."""
    first = rhythmic_changes(per_day * (1 - branching), night=0.2)

    def times(rng: Rng, span: TimeSpan) -> FloatArray:
        generation = first(rng, span)
        generations = [generation]
        while len(generation):
            parents = np.repeat(generation, rng.poisson(branching, len(generation)))
            generation = parents + rng.exponential(delay_hours * HOUR, len(parents))
            generation = generation[generation < span.end]
            generations.append(generation)
        return span.times_within(np.concatenate(generations))

    return times


def regular_changes(
    every_days: float, *, hour: float, jitter_hours: float, missed: float = 0.0
) -> ChangeProcess:
    """Return a process with changes every few days at about the same hour; some are left out."""

    def times(rng: Rng, span: TimeSpan) -> FloatArray:
        phase = rng.integers(0, max(1, round(every_days)))
        first = (span.start // DAY - phase) * DAY + hour * HOUR
        due = np.arange(first, span.end, every_days * DAY)
        kept_times = due[rng.random(len(due)) >= missed]
        return span.times_within(kept_times + rng.normal(0.0, jitter_hours * HOUR, len(kept_times)))

    return times
