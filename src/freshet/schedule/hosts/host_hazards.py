"""Hazards of shared events between any two times, by the publication times of hosts."""

import numpy as np

from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import NOT_FOUND, GrowableColumns
from freshet.schedule.hosts.event_columns import HOST_COLUMNS
from freshet.schedule.hosts.hazard_tables import HazardTables
from freshet.schedule.hosts.kernels import shared_events as kernels
from freshet.schedule.hosts.kernels.shared_events import BIN_COUNT, BINS_PER_DAY
from freshet.schedule.hosts.publication_times import PublicationTimes

# Hazards per day are taken over a minute.
SLOPE_DAYS = 1 / 1440


class HostHazards:
    """The hazards of shared events of hosts. Tables are in days by the publication times of hosts.

    Where pages change at one hour of the day, almost the whole day of such a host passes within
    that hour, and so does almost the whole hazard.
    """

    def __init__(self, publication_times: PublicationTimes) -> None:
        self._publication_times = publication_times
        self._hosts = GrowableColumns(HOST_COLUMNS)
        self._tables = HazardTables()

    def event_rates(self, hosts: IndexArray) -> FloatArray:
        """Return the mean hazard of shared events per day, 0 for hosts without a table."""
        return kernels.event_rates_of(hosts, self._hosts["table"], self._hosts["event_rate"])

    def hazards(self, hosts: IndexArray, begins: FloatArray, ends: FloatArray) -> FloatArray:
        """Return the hazard of shared events between two times in days, for every entry."""
        times = self._publication_times
        return self._hazards(
            "hazard", hosts, times.host_days(hosts, begins), times.host_days(hosts, ends)
        )

    def unconfirmed_hazards(
        self, hosts: IndexArray, begins: FloatArray, ends: FloatArray
    ) -> FloatArray:
        """Return the part of the hazard that few looks have confirmed or ruled out."""
        times = self._publication_times
        return self._hazards(
            "unconfirmed", hosts, times.host_days(hosts, begins), times.host_days(hosts, ends)
        )

    def steepest_hazards(self, hosts: IndexArray, days: FloatArray) -> FloatArray:
        """Return the hazard per day at some times, as at the busiest hour of each host."""
        times, paces = self._publication_times, self._publication_times.paces(hosts)
        begins = times.host_days(hosts, days)
        return self._hazards("hazard", hosts, begins, begins + SLOPE_DAYS) * paces / SLOPE_DAYS

    def observed_days(self, host: int, day: float) -> tuple[float, float] | None:
        """Return for how many days looks tell of events, and the days since; None without table."""
        table = self._hosts["table"][host]
        if table == NOT_FOUND:
            return None
        days = self._publication_times.host_days(np.array([host], np.int32), np.array([day]))
        window_end = (self._tables["first_bin"][table] + BIN_COUNT) / BINS_PER_DAY
        days_since = max(0.0, float(days[0] - window_end))
        observed_since = float(self._tables["observed_since"][table])
        return max(0.0, float(days[0]) - days_since - observed_since), days_since

    def _hazards(
        self, column: str, hosts: IndexArray, begins: FloatArray, ends: FloatArray
    ) -> FloatArray:
        tables = (self._hosts["table"], self._tables["first_bin"], self._tables[column])
        rates = (self._hosts["event_rate"], self._hosts["event_days"])
        return kernels.hazards_between(begins, ends, hosts, tables, rates)
