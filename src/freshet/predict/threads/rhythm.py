"""The weekly rhythm of posts: hours of the day and days of the week, in UTC.

A thread's own hours are drawn to those of all threads: a share of the posts of other threads counts
as posts of its own. An hour with posts counts once, however many they are: a single long discussion
says little about the hours to come (docs/decisions/0066).
"""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray

HOURS = 24
DAYS = 7
WEEK_HOURS = HOURS * DAYS
HOUR_MINUTES = 60.0
# The epoch began on a Thursday; weeks are counted from it, so day 0 is a Thursday.
FLAT_RHYTHM: FloatArray = np.arange(WEEK_HOURS + 1, dtype=np.float64) * HOUR_MINUTES


@dataclass(frozen=True, slots=True)
class RhythmPrior:
    """Shares of the hours and of the days (day 0 is a Thursday), and how many hours they weigh.

    ``floor`` is added to each factor of an hour: the rhythm never stops a thread.
    """

    hours: FloatArray
    days: FloatArray
    prior_hours: float = 30.0
    prior_days: float = 60.0
    floor: float = 0.08

    def rhythm_of(self, times: FloatArray) -> FloatArray:
        """Return the cumulative weighted minutes at the hours of a week, for a thread's posts."""
        busy = busy_hours(times)
        hours, days = post_counts(busy)
        hours = 0.5 * hours + 0.25 * (np.roll(hours, 1) + np.roll(hours, -1))
        hour_shares = (hours + self.prior_hours * self.hours) / (len(busy) + self.prior_hours)
        day_shares = (days + self.prior_days * self.days) / (len(busy) + self.prior_days)
        factors = np.outer(day_shares, hour_shares).ravel() * WEEK_HOURS + self.floor
        return np.concatenate(([0.0], np.cumsum(factors * (HOUR_MINUTES / factors.mean()))))


def busy_hours(times: FloatArray) -> FloatArray:
    """Return the starts of the hours with posts, given the times in order.

    >>> busy_hours(np.array([3.0, 50.0, 61.0, 200.0])).tolist()
    [0.0, 60.0, 180.0]
    """
    starts = HOUR_MINUTES * np.floor(times / HOUR_MINUTES)
    return starts[np.diff(starts, prepend=-np.inf) > 0.0]


def post_counts(times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the number of posts at each hour of the day, and on each day of the week."""
    hours = (times // HOUR_MINUTES).astype(np.int64) % WEEK_HOURS
    table = np.bincount(hours, minlength=WEEK_HOURS).astype(np.float64).reshape(DAYS, HOURS)
    return table.sum(axis=0), table.sum(axis=1)


def fit_rhythm(times: FloatArray) -> RhythmPrior:
    """Return the prior of the posts of many threads."""
    hours, days = post_counts(times)
    posts = max(len(times), 1)
    return RhythmPrior((hours + 1.0) / (posts + HOURS), (days + 1.0) / (posts + DAYS))


def flat_prior() -> RhythmPrior:
    """Return a prior without any rhythm."""
    return RhythmPrior(np.full(HOURS, 1.0 / HOURS), np.full(DAYS, 1.0 / DAYS))
