"""Weights of mixed policies, judged by what the visits that each of them chose have found.

A visit is worth what would be missing without it. Under ``changes`` it gains one change if it and
the next look at the page both found one: had only the visit found one, the next look would have
found it instead. Under ``freshness`` a visit that found a change gains the days until the next
look, or until the next change if that look found one: its time is expected by the page's rate.

So the gain of a policy's visits is the share that found a change, known at once, times the mean
gain of a found change, known after the next look. A page that waits long for its next look gains
fresh days meanwhile, so the waiting counts as in a censored sample, for the share of the time that
copies are fresh. The gain of an alternative is compared with that of the default in the same days,
by Bayes' rule over a few ratios of the two.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from freshet.core.types import FloatArray
from freshet.schedule.mixture.kernels.policy_judge import (
    FOLLOW_UP_DAYS,
    FOLLOW_UP_GAIN,
    FOLLOW_UPS,
    GAIN,
    LOOKS,
    MAX_FRESH_DAYS,
    MEMORY_DAYS,
    SQUARES,
    WAITING,
    WAITING_DAYS,
)

# The share of the visits that every policy keeps, so that it goes on being judged.
PROBE_SHARE = 0.01
# The default's gain is its recent one: visits fade within these days or this many visits.
RECENT_DAYS, RECENT_VISITS = 7.0, 100.0
# Ratios of an alternative's gain to the default's, and how likely a much better one is at first.
GAIN_RATIOS = np.array([0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0])
IS_BETTER = GAIN_RATIOS > 1.3
BETTER_CHANCE = 0.01
MAX_ODDS = 30.0
# How strongly visits go to the better one of two alternatives that are both better than the
# default, and the number of visits and follow-ups by which their gains are shrunk to the mean.
PREFERENCE_EXPONENT = 8.0
SHRINKING_VISITS, SHRINKING_FOLLOW_UPS = 10.0, 5.0
SUM_NAMES = (
    "looks",
    "expected",
    "gain",
    "squares",
    "follow_ups",
    "follow_up_gain",
    "follow_up_days",
)
SUM_COUNT = WAITING_DAYS + 1
MAX_CHANCE = 0.99
LAST_UPDATE = "last_update"
MAX_SUM = 1e18


@dataclass(slots=True)
class PolicyJudge:
    """Running sums of the visits that each policy chose, and weights; the first is the default.

    The columns of ``sums`` are named by SUM_NAMES: looks that were compared with the look before,
    what the default would have gained by them, the importance of pages that they found changed,
    its squares, later looks at these pages, the gain that these showed, and the days between. After
    a restart nobody knows who chose the looks before, so two more columns are not part of the
    memory: found changes that wait for the next look, and the days that they have waited.
    """

    names: tuple[str, ...]
    gains_fresh_days: bool = False
    last_update: float = np.nan
    sums: FloatArray = field(init=False)
    weights: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros((len(self.names), SUM_COUNT))
        self.weights = self._weights()

    @property
    def weights_by_name(self) -> dict[str, float]:
        """Return the share of the visits that each policy gets, by name."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

    def update(self, day: float) -> None:
        """Fade the sums by the days since the last update, and weigh the policies again."""
        if day > self.last_update:
            days = day - self.last_update
            recent = self.sums[0, :FOLLOW_UPS] * np.exp(-days / RECENT_DAYS)
            self.sums *= np.exp(-days / MEMORY_DAYS)
            self.sums[0, :FOLLOW_UPS] = recent
            self.sums = np.maximum(self.sums, 0.0)
            self.sums[:, WAITING_DAYS] += days * self.sums[:, WAITING]
        self.last_update = day
        self.weights = self._weights()

    def memory(self) -> dict[str, float]:
        """Return the sums by name."""
        sums = {
            f"{self.names[row]} {SUM_NAMES[column]}": float(self.sums[row, column])
            for row, column in self._remembered()
        }
        return sums if np.isnan(self.last_update) else {LAST_UPDATE: self.last_update, **sums}

    def resume(self, memory: Mapping[str, Any]) -> None:
        """Continue with the sums that ``memory`` returned; other numbers are ignored."""
        for row, column in self._remembered():
            number = memory.get(f"{self.names[row]} {SUM_NAMES[column]}", 0.0)
            self.sums[row, column] = number if 0.0 < number < MAX_SUM else 0.0
        last_update = memory.get(LAST_UPDATE, np.nan)
        self.last_update = last_update if np.isfinite(last_update) else np.nan
        self.weights = self._weights()

    def _remembered(self) -> Iterator[tuple[int, ...]]:
        """Return the rows and columns of the sums that survive a restart."""
        return iter(np.ndindex(len(self.names), len(SUM_NAMES)))

    def _weights(self) -> FloatArray:
        """Return the share of the visits that each policy gets."""
        odds = np.array([self._odds(row) for row in range(1, len(self.names))])
        gains = self._mean_gains()[1:]
        scores = np.append(1.0, odds**2 * (gains / gains.max()) ** PREFERENCE_EXPONENT)
        weights: FloatArray = (
            PROBE_SHARE + (1.0 - len(scores) * PROBE_SHARE) * scores / scores.sum()
        )
        return weights

    def _odds(self, row: int) -> float:
        """Return the odds that an alternative is clearly better than the default."""
        prior = np.where(IS_BETTER, BETTER_CHANCE, 1.0 - BETTER_CHANCE)
        prior /= np.where(IS_BETTER, IS_BETTER.sum(), (~IS_BETTER).sum())
        looks, expected, gain, squares = self.sums[row, : SQUARES + 1]
        unit = squares / gain if gain > 0.0 and squares > 0.0 else 1.0
        changes = min(gain / unit, looks)
        follow_up_gains = self._follow_up_gains()
        expected *= follow_up_gains[0] / follow_up_gains[row] / unit
        chances = np.clip(GAIN_RATIOS * expected / max(looks, 1e-9), 1e-9, MAX_CHANCE)
        log_likelihood = changes * np.log(chances) + (looks - changes) * np.log1p(-chances)
        posterior = prior * np.exp(log_likelihood - log_likelihood.max())
        better, other = posterior[IS_BETTER].sum(), posterior[~IS_BETTER].sum()
        return float(min(MAX_ODDS, better / max(other, 1e-12)))

    def _follow_up_gains(self) -> FloatArray:
        """Return the mean gain of a change that each policy found, shrunk to that of all."""
        count, gain = self.sums[:, FOLLOW_UPS], self.sums[:, FOLLOW_UP_GAIN]
        unit = self._importance_unit()
        if self.gains_fresh_days:
            gain = gain + self._fresh_shares(unit) * self.sums[:, WAITING_DAYS]
        mean_gain = (gain.sum() + 0.5 * unit) / (count.sum() + unit)
        shrinking = SHRINKING_FOLLOW_UPS * unit
        gains: FloatArray = (gain + shrinking * mean_gain) / (count + shrinking)
        return np.minimum(gains, MAX_FRESH_DAYS)

    def _fresh_shares(self, unit: float) -> FloatArray:
        """Return the share of the days between looks that copies are fresh, shrunk to that of all.

        Pages that wait for their next look are taken to be fresh for that share of the time.
        """
        gain, days = self.sums[:, FOLLOW_UP_GAIN], self.sums[:, FOLLOW_UP_DAYS]
        share = (gain.sum() + 0.5 * unit) / (days.sum() + unit)
        mean_days = (days.sum() + unit) / (self.sums[:, FOLLOW_UPS].sum() + unit)
        shrinking = SHRINKING_FOLLOW_UPS * unit * mean_days
        shares: FloatArray = (gain + shrinking * share) / (days + shrinking)
        return shares

    def _importance_unit(self) -> float:
        """Return the usual importance of pages that visits found changed, 1 without any."""
        gain, squares = self.sums[:, GAIN].sum(), self.sums[:, SQUARES].sum()
        return float(squares / gain) if gain > 0.0 and squares > 0.0 else 1.0

    def _mean_gains(self) -> FloatArray:
        """Return the mean gain of each policy's visits, shrunk to that of the alternatives."""
        looks, gain = self.sums[:, LOOKS], self.sums[:, GAIN]
        mean_gain = (gain[1:].sum() + 0.5) / (looks[1:].sum() + 1.0)
        shares = (gain + SHRINKING_VISITS * mean_gain) / (looks + SHRINKING_VISITS)
        gains: FloatArray = shares * self._follow_up_gains()
        return gains
