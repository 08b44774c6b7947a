"""Weights of mixed policies, judged by what the visits that each of them chose have found.

A visit is worth what would be missing without it. Under ``changes`` it gains one change if it and
the next look at the page both found one: had only the visit found one, the next look would have
found it instead. Under ``freshness`` a visit that found a change gains the days until the next
look, or until the next change if that look found one: its time is expected by the page's rate.

So the gain of a policy's visits is the share that found a change, known at once, times the mean
gain of a found change, known after the next look. A page that waits long for its next look gains
fresh days meanwhile, so the waiting counts as in a censored sample, for the share of the time that
copies are fresh. As long as few next looks are known, the gain is expected by the rates of the
pages. The gain of an alternative is compared with that of the default in the same days, by Bayes'
rule over a few ratios of the two.

If any alternative is clearly better, the default fails, and the visits go to the preferred
alternative: in a mixture each alternative finds what the others leave, so that their visits say
little about which is the better one alone. For the same reason a default that has lost its visits
gains much by the few that are left to it. So the visits are held from it for months. Then it is
tried again, with a part of the visits at first: a default that still fails clearly costs little.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from freshet.core.types import FloatArray
from freshet.schedule.mixture.kernels.policy_judge import (
    EXPECTED,
    FOLLOW_UP_DAYS,
    FOLLOW_UP_GAIN,
    FOLLOW_UPS,
    FOUND,
    FOUND_DAYS,
    GAIN,
    LOOKS,
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
# If the default fails, another alternative than the preferred one gets most of the visits if its
# visits gain more than so many times as much; the exponent says how sharply.
PREFERENCE_FACTOR, PREFERENCE_EXPONENT = 2.0, 8.0
# The number of visits and follow-ups by which gains are shrunk to the mean.
SHRINKING_VISITS, SHRINKING_FOLLOW_UPS = 10.0, 5.0
# At such odds visits are held from the default for these days, twice as long each next time.
HOLDING_ODDS, MIN_HOLD_DAYS, MAX_HOLD_DAYS = 10.0, 60.0, 480.0
# After that the default is on trial: it gets such a share of the visits for some days. If it fails
# by so many looks or more, visits are held again at once.
TRIAL_SHARE, TRIAL_DAYS, TRIAL_LOOKS = 0.2, 7.0, 20.0
SUM_COLUMNS = {
    "looks": LOOKS,
    "expected": EXPECTED,
    "gain": GAIN,
    "squares": SQUARES,
    "follow_ups": FOLLOW_UPS,
    "follow_up_gain": FOLLOW_UP_GAIN,
    "follow_up_days": FOLLOW_UP_DAYS,
    "found": FOUND,
    "found_days": FOUND_DAYS,
}
SUM_COUNT = FOUND_DAYS + 1
MAX_CHANCE = 0.99
LAST_UPDATE, HELD_UNTIL, HOLD_DAYS = "last_update", "held_until", "hold_days"
TRIAL_UNTIL = "trial_until"
MAX_SUM = 1e18


@dataclass(slots=True)
class PolicyJudge:
    """Running sums of the visits that each policy chose, and weights; the first is the default.

    The columns of ``sums`` are named by SUM_COLUMNS: looks that were compared with the look before,
    what the default would have gained by them, the importance of pages that they found changed,
    its squares, later looks at these pages, the gain that these showed, and the days between; the
    importance once more, with the slower fading of the later looks, and the days to the next
    change that were expected. After a restart nobody knows who chose the looks before, so two more
    columns are not part of the memory: found changes that wait for the next look, and the days that
    they have waited. ``preferred`` is the row of the preferred alternative. Visits are held from
    the default up to the day ``held_until``, and next time for ``hold_days``; it is on trial up to
    the day ``trial_until``.
    """

    names: tuple[str, ...]
    gains_fresh_days: bool = False
    preferred: int = 1
    last_update: float = np.nan
    held_until: float = -np.inf
    hold_days: float = MIN_HOLD_DAYS
    trial_until: float = -np.inf
    sums: FloatArray = field(init=False)
    weights: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros((len(self.names), SUM_COUNT))
        self._weigh()

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
        self._end_periods(day)
        self._weigh()

    def memory(self) -> dict[str, float]:
        """Return the sums by name, and since when and for how long visits are held."""
        memory = {
            f"{self.names[row]} {name}": float(self.sums[row, column])
            for row, name, column in self._remembered()
        }
        days = {
            LAST_UPDATE: self.last_update,
            HELD_UNTIL: self.held_until,
            TRIAL_UNTIL: self.trial_until,
        }
        memory |= {name: day for name, day in days.items() if np.isfinite(day)}
        return memory | {HOLD_DAYS: self.hold_days}

    def resume(self, memory: Mapping[str, Any]) -> None:
        """Continue with what ``memory`` returned; numbers that make no sense are ignored."""
        for row, name, column in self._remembered():
            number = memory.get(f"{self.names[row]} {name}", 0.0)
            self.sums[row, column] = number if 0.0 < number < MAX_SUM else 0.0
        last_update = memory.get(LAST_UPDATE, np.nan)
        self.last_update = last_update if np.isfinite(last_update) else np.nan
        held_until, trial_until = (memory.get(name, -np.inf) for name in (HELD_UNTIL, TRIAL_UNTIL))
        self.held_until = held_until if np.isfinite(held_until) else -np.inf
        self.trial_until = trial_until if np.isfinite(trial_until) else -np.inf
        hold_days = memory.get(HOLD_DAYS, MIN_HOLD_DAYS)
        is_known = MIN_HOLD_DAYS <= hold_days <= MAX_HOLD_DAYS
        self.hold_days = hold_days if is_known else MIN_HOLD_DAYS
        self._weigh()

    def _remembered(self) -> Iterator[tuple[int, str, int]]:
        """Return the rows of the sums that survive a restart, with names and columns."""
        for row, (name, column) in product(range(len(self.names)), SUM_COLUMNS.items()):
            yield row, name, column

    def _end_periods(self, day: float) -> None:
        """End a hold, and begin a trial; or end a trial. A clock set back makes neither longer.

        After the trial too, evidence is gathered anew: the default's first visits find what was
        left for months, and would count for weeks.
        """
        self.held_until = min(self.held_until, day + self.hold_days)
        self.trial_until = min(self.trial_until, day + TRIAL_DAYS)
        if np.isfinite(self.held_until) and day >= self.held_until:
            self.held_until, self.trial_until = -np.inf, day + TRIAL_DAYS
            self.sums[:] = 0.0
        if np.isfinite(self.trial_until) and day >= self.trial_until:
            self.trial_until = -np.inf
            self.sums[:] = 0.0

    def _weigh(self) -> None:
        """Weigh the policies; if the default fails clearly, hold visits from it."""
        is_held = np.isfinite(self.held_until)
        odds = MAX_ODDS if is_held else self._failure_odds()
        if not is_held and self._is_clear_failure(odds):
            self.held_until, self.trial_until = self.last_update + self.hold_days, -np.inf
            self.hold_days = min(2.0 * self.hold_days, MAX_HOLD_DAYS)
        self.weights = self._weights(TRIAL_SHARE if self._is_trial else 1.0 / (1.0 + odds**2))

    @property
    def _is_trial(self) -> bool:
        """Whether the default is on trial."""
        return not np.isfinite(self.held_until) and self.last_update < self.trial_until

    def _is_clear_failure(self, odds: float) -> bool:
        """Return whether the default fails by these odds, on trial only after enough looks."""
        is_judged = not self._is_trial or self.sums[0, LOOKS] >= TRIAL_LOOKS
        return bool(odds >= HOLDING_ODDS and is_judged and np.isfinite(self.last_update))

    def _weights(self, default_share: float) -> FloatArray:
        """Return the share of the visits that each policy gets, given that of the default."""
        preferences = self._mean_gains()
        preferences[self.preferred] *= PREFERENCE_FACTOR
        shares = (preferences[1:] / preferences[1:].max()) ** PREFERENCE_EXPONENT
        shares = np.append(default_share, (1.0 - default_share) * shares / shares.sum())
        weights: FloatArray = PROBE_SHARE + (1.0 - len(shares) * PROBE_SHARE) * shares
        return weights

    def _failure_odds(self) -> float:
        """Return the odds that an alternative, or both together, are clearly better."""
        evidence = self._evidence()
        return max(_odds(row) for row in (*evidence[1:], evidence[1:].sum(axis=0)))

    def _evidence(self) -> FloatArray:
        """Return the looks of each policy, the changes found, and what the default would have.

        The last is the number of changes that would have gained as much as the default does.
        """
        looks, expected, gain, squares = self.sums[:, : SQUARES + 1].T
        has_gain = (gain > 0.0) & (squares > 0.0)
        units = np.divide(squares, gain, out=np.ones(len(gain)), where=has_gain)
        follow_up_gains = self._follow_up_gains()
        expected_changes = expected * follow_up_gains[0] / follow_up_gains / units
        return np.stack((looks, np.minimum(gain / units, looks), expected_changes), axis=1)

    def _follow_up_gains(self) -> FloatArray:
        """Return the mean gain of a change that each policy found, shrunk to what is expected."""
        count, gain = self.sums[:, FOLLOW_UPS], self.sums[:, FOLLOW_UP_GAIN]
        unit = self._importance_unit()
        if self.gains_fresh_days:
            gain = gain + self._fresh_shares(unit) * self.sums[:, WAITING_DAYS]
        mean_gain = (gain.sum() + 0.5 * unit) / (count.sum() + unit) * self._expected_ratios(unit)
        shrinking = SHRINKING_FOLLOW_UPS * unit
        gains: FloatArray = (gain + shrinking * mean_gain) / (count + shrinking)
        return np.minimum(gains, self._expected_days(unit)) if self.gains_fresh_days else gains

    def _fresh_shares(self, unit: float) -> FloatArray:
        """Return the share of the days between looks that copies are fresh, shrunk to that of all.

        Pages that wait for their next look are taken to be fresh for that share of the time.
        """
        gain, days = self.sums[:, FOLLOW_UP_GAIN], self.sums[:, FOLLOW_UP_DAYS]
        share = (gain.sum() + 0.5 * unit) / (days.sum() + unit)
        share = np.minimum(1.0, share * self._expected_ratios(unit))
        mean_days = (days.sum() + unit) / (self.sums[:, FOLLOW_UPS].sum() + unit)
        shrinking = SHRINKING_FOLLOW_UPS * unit * mean_days
        shares: FloatArray = (gain + shrinking * share) / (days + shrinking)
        return shares

    def _expected_ratios(self, unit: float) -> FloatArray:
        """Return the expected fresh days after found changes relative to those of all policies."""
        if not self.gains_fresh_days:
            return np.ones(len(self.names))
        found, days = self.sums[:, FOUND].sum(), self.sums[:, FOUND_DAYS].sum()
        ratios: FloatArray = self._expected_days(unit) * (found + unit) / (days + unit)
        return ratios

    def _expected_days(self, unit: float) -> FloatArray:
        """Return the expected fresh days after a found change, shrunk to those of all policies."""
        found, days = self.sums[:, FOUND], self.sums[:, FOUND_DAYS]
        mean_days = (days.sum() + unit) / (found.sum() + unit)
        expected: FloatArray = (days + unit * mean_days) / (found + unit)
        return expected

    def _importance_unit(self) -> float:
        """Return the usual importance of pages that visits found changed, 1 without any."""
        gain, squares = self.sums[:, GAIN].sum(), self.sums[:, SQUARES].sum()
        return float(squares / gain) if gain > 0.0 and squares > 0.0 else 1.0

    def _mean_gains(self) -> FloatArray:
        """Return the mean gain of each policy's visits, shrunk to that of the alternatives."""
        looks, gain = self.sums[:, LOOKS], self.sums[:, GAIN]
        unit = self._importance_unit()
        mean_gain = (gain[1:].sum() + 0.5 * unit) / (looks[1:].sum() + 1.0)
        shares = (gain + SHRINKING_VISITS * mean_gain) / (looks + SHRINKING_VISITS)
        gains: FloatArray = shares * self._follow_up_gains()
        return gains


def _odds(evidence: FloatArray) -> float:
    """Return the odds of clearly more changes than expected, by looks, changes and expectation."""
    prior = np.where(IS_BETTER, BETTER_CHANCE, 1.0 - BETTER_CHANCE)
    prior /= np.where(IS_BETTER, IS_BETTER.sum(), (~IS_BETTER).sum())
    looks, changes, expected = evidence
    chances = np.clip(GAIN_RATIOS * expected / max(looks, 1e-9), 1e-9, MAX_CHANCE)
    log_likelihood = changes * np.log(chances) + (looks - changes) * np.log1p(-chances)
    posterior = prior * np.exp(log_likelihood - log_likelihood.max())
    better, other = posterior[IS_BETTER].sum(), posterior[~IS_BETTER].sum()
    return float(min(MAX_ODDS, better / max(other, 1e-12)))
