"""Publication times: the hours and weekdays at which the pages of a host change.

A site that publishes at noon changes nothing for the rest of the day. Where the looks at the pages
of a host show such hours, time passes for them by a profile of the week: fast while the site
publishes, slowly otherwise. Ages and gaps by this profile take the place of calendar days in the
forecast, so that a page is looked at after the hour of publication, not before.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.schedule.columns import (
    NOT_FOUND,
    ColumnSpec,
    GrowableColumns,
)
from freshet.schedule.hosts.kernels import publication_times as kernels
from freshet.schedule.hosts.kernels.publication_times import DAY_HOURS, WEEK_DAYS, WEEK_HOURS
from freshet.schedule.hosts.shared_events import MIN_SHORT_CHANGES, SHORT_GAP_DAYS
from freshet.schedule.page_states import LookBatch

FIT_STEPS, FIRST_FIT_STEPS = 2, 10
FIT_INTERVAL_DAYS = 0.25
# Hours and weekdays are used if they make the looks so much likelier, in natural logarithms.
MIN_HOURS_GAIN, MIN_DAYS_GAIN = 20.0, 10.0
HOST_COLUMNS = {"profile": ColumnSpec(np.int32, NOT_FOUND)}
PROFILE_COLUMNS = {
    "fitted_at": ColumnSpec(np.float64, -np.inf),
    "hour_factors": ColumnSpec(np.float32, 1.0, width=DAY_HOURS),
    "day_factors": ColumnSpec(np.float32, 1.0, width=WEEK_DAYS),
    "reading": ColumnSpec(np.float32, width=WEEK_HOURS + 1),
    "pace": ColumnSpec(np.float32, 1.0),
}


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
        profiles = (self._hosts["profile"], self._profiles["reading"])
        return kernels.elapsed_days(begins, ends, hosts, profiles)

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

    def fit(self, host: int, looks: LookBatch, rates: FloatArray, now: float) -> int:
        """Fit the profile of a host to measured looks, given the rates of their pages.

        Only looks soon after the previous one are used: longer gaps cover every hour about equally
        often. Times are in days. Returns the number of steps through single looks.
        """
        used = (looks.gap_days > 0) & (looks.gap_days <= SHORT_GAP_DAYS)
        row = int(self._hosts["profile"][host])
        steps = FIRST_FIT_STEPS if row == NOT_FOUND else FIT_STEPS
        if row == NOT_FOUND:
            row = len(self._profiles)
            self._profiles.append_rows(1)
            self._hosts["profile"][host] = row
            self._profiles["reading"][row, 0] = 0.0
        ends = looks.times[used] / DAY_SECONDS
        columns = (ends - looks.gap_days[used], ends, looks.changed[used], rates[used])
        factors = (self._profiles["hour_factors"][row], self._profiles["day_factors"][row])
        kernels.fit_profile(columns, factors, steps)
        kernels.fill_profile(self._profiles["reading"][row], _supported(columns, factors))
        hours = np.diff(self._profiles["reading"][row])
        self._profiles["pace"][row] = max(1.0, float(hours.max()) * DAY_HOURS)
        self._profiles["fitted_at"][row] = now
        return steps * len(ends)

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


def _supported(
    looks: kernels.ProfileLooks, factors: tuple[Float32Array, Float32Array]
) -> tuple[Float32Array, Float32Array]:
    """Return the factors that the looks support; the others are even."""
    even_hours, even_days = np.ones(DAY_HOURS, np.float32), np.ones(WEEK_DAYS, np.float32)
    hours, days = factors
    even = kernels.log_likelihood(looks, (even_hours, even_days))
    by_hour = kernels.log_likelihood(looks, (hours, even_days))
    hours = hours if by_hour - even > MIN_HOURS_GAIN else even_hours
    by_day = kernels.log_likelihood(looks, (hours, days))
    is_supported = by_day - max(by_hour if hours is factors[0] else even, even) > MIN_DAYS_GAIN
    return hours, days if is_supported else even_days
