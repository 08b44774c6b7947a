"""Publication times: the hours and weekdays at which the pages of a host change.

A site that publishes at noon changes nothing for the rest of the day. Where the looks at the pages
of a host show such hours, time passes for them by a profile of the week: fast while the site
publishes, slowly otherwise. Ages and gaps by this profile take the place of calendar days in the
forecast, so that a page is looked at after the hour of publication, not before.

A profile is used once it has forecast looks better than even times did, each time before it was
fitted to them. One event that changed many pages is no such profile.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.schedule.columns import (
    NOT_FOUND,
    ColumnSpec,
    GrowableColumns,
)
from freshet.schedule.hosts.event_columns import MIN_SHORT_CHANGES, SHORT_GAP_DAYS
from freshet.schedule.hosts.kernels import publication_times as kernels
from freshet.schedule.hosts.kernels.publication_times import (
    ALL_TIMES,
    DAY_HOURS,
    FACTOR_COUNT,
    WEEK_HOURS,
)
from freshet.schedule.page_states import LookBatch

FIT_STEPS = 4
FIT_INTERVAL_DAYS = 0.25
# Hours and weekdays are used if they have made new looks so much likelier, in natural logarithms.
# The looks of a few hours count for little together, least for weekdays: they may have seen the
# same event, or the same day without one.
MIN_HOURS_GAIN, MIN_DAYS_GAIN, MAX_GAIN = 6.0, 10.0, 20.0
MAX_STEP_GAINS, MAX_STEP_LOSS = np.array([3.0, 0.5]), 3.0
# A history that is learned at once is fitted in so many parts at most.
MAX_PARTS = 64
# A profile has moved if its readings have, by so much in the mean over the week.
MOVED_DAYS = 0.05
# Earlier looks are carried as sums, which fade.
RECENT_LOOKS, DAILY_RETENTION = 128, 0.98
HOST_COLUMNS = {"profile": ColumnSpec(np.int32, NOT_FOUND)}
PROFILE_COLUMNS = {
    "fitted_at": ColumnSpec(np.float64, -np.inf),
    "carried_until": ColumnSpec(np.float64, -np.inf),
    "factors": ColumnSpec(np.float32, 1.0, width=FACTOR_COUNT),
    "sums": ColumnSpec(np.float32, width=2 * FACTOR_COUNT),
    "gains": ColumnSpec(np.float32, width=2),
    "reading": ColumnSpec(np.float32, width=WEEK_HOURS + 1),
    "pace": ColumnSpec(np.float32, 1.0),
}


@dataclass(frozen=True, slots=True)
class ProfileFit:
    """The number of steps through single looks, and whether the profile is now quite different."""

    steps: int
    has_moved: bool


class PublicationTimes:
    """The weekly profile of every host whose looks support one."""

    def __init__(self) -> None:
        self._hosts = GrowableColumns(HOST_COLUMNS)
        self._profiles = GrowableColumns(PROFILE_COLUMNS)

    @property
    def nbytes(self) -> int:
        """Return the memory of the profiles in bytes."""
        return self._hosts.nbytes + self._profiles.nbytes

    def add_hosts(self, host_count: int) -> None:
        """Add hosts up to a number."""
        self._hosts.append_rows(host_count - len(self._hosts))

    def elapsed_days(self, hosts: IndexArray, begins: FloatArray, ends: FloatArray) -> FloatArray:
        """Return the days between two times by the profile of each host."""
        if not len(self._profiles):
            return ends - begins
        profiles = (self._hosts["profile"], self._profiles["reading"])
        return kernels.elapsed_days(begins, ends, hosts, profiles)

    def host_days(self, hosts: NDArray[Any], times: FloatArray) -> FloatArray:
        """Return times in days by the profile of each host; those of an even host stay the same."""
        if not len(self._profiles):
            return times
        return kernels.host_days(times, hosts, (self._hosts["profile"], self._profiles["reading"]))

    def paces(self, hosts: IndexArray) -> FloatArray | float:
        """Return how many times faster than the calendar each host's time passes at most."""
        if not len(self._profiles):
            return 1.0
        return kernels.paces_of_hosts(hosts, self._hosts["profile"], self._profiles["pace"])

    def hosts_to_fit(self, changes: IndexArray, now: float) -> NDArray[np.intp]:
        """Return hosts with enough changes that were not fitted in the last hours, oldest first.

        ``changes`` counts the looks of each host that found a change within a few days.
        """
        hosts = np.flatnonzero(changes >= MIN_SHORT_CHANGES)
        rows = self._hosts["profile"][hosts]
        fitted_at = np.full(len(hosts), -np.inf)
        fitted_at[rows != NOT_FOUND] = self._profiles["fitted_at"][rows[rows != NOT_FOUND]]
        is_due = ~(np.abs(now - fitted_at) < FIT_INTERVAL_DAYS)
        order = np.argsort(fitted_at[is_due], kind="stable")
        return hosts[is_due][order]

    def fit(self, host: int, looks: LookBatch, rates: FloatArray, now: float) -> ProfileFit:
        """Fit the profile of a host to measured looks, given the rates of their pages.

        Only looks soon after the previous one are used: longer gaps cover every hour about equally
        often. New looks first judge the profile of the fit before. Times are in days.
        """
        is_used = (looks.gap_days > 0) & (looks.gap_days <= SHORT_GAP_DAYS)
        used = np.flatnonzero(is_used)[np.argsort(looks.times[is_used], kind="stable")]
        ends = looks.times[used] / DAY_SECONDS
        begins, changed = ends - looks.gap_days[used], looks.changed[used]
        columns = (begins, ends, changed, rates[used], _weekday_weight(ends, changed))
        row = int(self._hosts["profile"][host])
        if row == NOT_FOUND:
            row = len(self._profiles)
            self._profiles.append_rows(1)
            self._hosts["profile"][host] = row
            self._profiles["reading"][row] = np.arange(WEEK_HOURS + 1) / DAY_HOURS
        first_new = int(np.searchsorted(ends, self._begin_fit(row, now), side="right"))
        steps = 0
        for stop in _part_ends(ends, first_new):
            steps += self._fit_part(row, columns, (first_new, stop))
            first_new = stop
        reading = self._profiles["reading"][row]
        old_reading = reading.copy()
        kernels.fill_profile(reading, self._supported_factors(row))
        has_moved = bool(np.abs(reading - old_reading).mean() > MOVED_DAYS)
        hours = np.diff(reading)
        self._profiles["pace"][row] = max(1.0, float(hours.max()) * DAY_HOURS)
        return ProfileFit(steps, has_moved)

    def _begin_fit(self, row: int, now: float) -> float:
        """Let earlier sums of a profile fade, and return the time of the fit before."""
        profiles = self._profiles
        fitted_at = min(float(profiles["fitted_at"][row]), now)
        profiles["carried_until"][row] = min(float(profiles["carried_until"][row]), now)
        profiles["sums"][row] *= DAILY_RETENTION ** (now - fitted_at)
        profiles["fitted_at"][row] = now
        return fitted_at

    def _fit_part(self, row: int, looks: kernels.ProfileLooks, new: tuple[int, int]) -> int:
        """Judge a profile by new looks, then fit it to them too; return the number of steps."""
        (first_new, stop), profiles = new, self._profiles
        factors, sums = profiles["factors"][row], profiles["sums"][row].reshape(2, -1)
        gains = kernels.profile_gains(_slice(looks, first_new, stop), factors)
        gains = np.clip(gains, -MAX_STEP_LOSS, MAX_STEP_GAINS)
        profiles["gains"][row] = np.clip(profiles["gains"][row] + gains, -MAX_GAIN, MAX_GAIN)
        first = int(np.searchsorted(looks[1], profiles["carried_until"][row], side="right"))
        if stop - RECENT_LOOKS > first:
            totals = sums.astype(np.float64)
            kernels.add_looks(_slice(looks, first, stop - RECENT_LOOKS), factors, totals)
            sums[:] = totals
            first = stop - RECENT_LOOKS
            profiles["carried_until"][row] = looks[1][first - 1]
        kernels.fit_profile(_slice(looks, first, stop), factors, sums, FIT_STEPS)
        return FIT_STEPS * (stop - first)

    def _supported_factors(self, row: int) -> tuple[Float32Array, Float32Array]:
        """Return the factors of hours and weekdays that looks support; the others are even."""
        factors = self._profiles["factors"][row]
        hours_gain, days_gain = self._profiles["gains"][row].tolist()
        hours, days = factors[:DAY_HOURS].copy(), factors[DAY_HOURS:ALL_TIMES].copy()
        if hours_gain < MIN_HOURS_GAIN:
            hours[:] = 1.0
        if days_gain < MIN_DAYS_GAIN:
            days[:] = 1.0
        return hours, days

    def profile(self, host: int) -> FloatArray | None:
        """Return the hazard of a host in every hour of the week relative to the mean, if known."""
        row = int(self._hosts["profile"][host])
        if row == NOT_FOUND:
            return None
        readings: FloatArray = self._profiles["reading"][row].astype(np.float64)
        return np.diff(readings) * DAY_HOURS

    def state(self) -> dict[str, Any]:
        """Return the profiles as plain arrays."""
        columns = self._hosts.state() | self._profiles.state()
        return {f"publication_{name}": column for name, column in columns.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        prefix = "publication_"
        columns = {
            name.removeprefix(prefix): column
            for name, column in state.items()
            if name.startswith(prefix)
        }
        self._hosts.restore(columns)
        self._profiles.restore(columns)


def _part_ends(ends: FloatArray, first_new: int) -> list[int]:
    """Return where parts of new looks end: those of a few hours each, fewer parts if many."""
    periods = np.floor(ends[first_new:] / FIT_INTERVAL_DAYS)
    stops = first_new + 1 + np.flatnonzero(np.diff(periods, append=np.inf))
    return [int(part[-1]) for part in np.array_split(stops, MAX_PARTS) if len(part)]


def _slice(looks: kernels.ProfileLooks, start: int, stop: int) -> kernels.ProfileLooks:
    begins, ends, changed, rates, day_weight = looks
    part = slice(start, stop)
    return begins[part], ends[part], changed[part], rates[part], day_weight


def _weekday_weight(ends: FloatArray, changed: BoolArray) -> float:
    """Return the weight of looks for weekdays: the changes of a day count as one at most.

    Pages that change on the same day may do so together, which says little about other weeks.
    """
    days = len(np.unique(np.floor(ends)))
    return min(1.0, days / max(1, int(np.count_nonzero(changed))))
