"""Shared events: days on which many pages of one host change together.

A release of a documentation site or a new template changes pages that hardly change otherwise. Each
host with enough pages has a hazard of shared events in bins of half a day, fitted to the looks at
its pages by expectation maximisation, jointly with the pages' own rates. It is used twice: a change
that a shared event explains counts less for the page's own rate, and pages that were not looked at
since the event are known to be stale.

The looks of a host are a linked list, newest first, bounded by the number of its pages; older looks
are carried as sums. So a host is fitted again in a time that depends on its own pages only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import NOT_FOUND, ColumnSpec, GrowableColumns
from freshet.schedule.kernels import shared_events as kernels
from freshet.schedule.kernels.shared_events import BIN_COUNT, BINS_PER_DAY
from freshet.schedule.page_states import LookBatch, PageStates

MIN_HOST_PAGES = 8
INITIAL_EVENT_RATE, INITIAL_EVENT_DAYS = 0.01, 30.0
# A table that is fitted for the first time, as after a restart, takes more steps.
FIT_STEPS, FIRST_FIT_STEPS = 2, 20
MIN_STORED_LOOKS, MAX_STORED_LOOKS, LOOKS_PER_PAGE = 64, 4096, 2
# A host with at most this many looks is fitted again after every change that is found.
PROMPT_FIT_LOOKS, PROMPT_FIT_SHARE = 512, 64
# A hazard that moved by less than this changes no forecast noticeably.
HAZARD_TOLERANCE = 0.01

LOOK_COLUMNS = {
    "row": ColumnSpec(np.int32),
    "end": ColumnSpec(np.float32),
    "gap": ColumnSpec(np.float32),
    "changed": ColumnSpec(np.bool_),
    "hazard": ColumnSpec(np.float32),
    "previous": ColumnSpec(np.int32, NOT_FOUND),
}
HOST_COLUMNS = {
    "pages": ColumnSpec(np.int32),
    "event_rate": ColumnSpec(np.float32, INITIAL_EVENT_RATE),
    "table": ColumnSpec(np.int32, NOT_FOUND),
    "newest": ColumnSpec(np.int32, NOT_FOUND),
    "stored": ColumnSpec(np.int32),
    "new_looks": ColumnSpec(np.int32),
    "has_new_change": ColumnSpec(np.bool_),
}
TABLE_COLUMNS = {
    "host": ColumnSpec(np.int32),
    "first_bin": ColumnSpec(np.float64),
    "observed_since": ColumnSpec(np.float32),
    "is_fitted": ColumnSpec(np.bool_),
    "hazard": ColumnSpec(np.float32, width=BIN_COUNT + 1),
    "unconfirmed": ColumnSpec(np.float32, width=BIN_COUNT + 1),
    "carried_events": ColumnSpec(np.float32, width=BIN_COUNT),
    "carried_exposure": ColumnSpec(np.float32, width=BIN_COUNT),
}

MeanRates = Callable[[NDArray[Any]], FloatArray]


@dataclass(frozen=True, slots=True)
class HazardCorrections:
    """Looks that found a change, and their hazard of shared events as it was and as it is now.

    ``faded_days`` are the days by which later looks at the page have faded the evidence.
    """

    rows: IndexArray
    gap_days: FloatArray
    faded_days: FloatArray
    old_hazards: FloatArray
    new_hazards: FloatArray


class SharedEvents:
    """The hazard of shared events of every host, and the looks it is fitted to."""

    def __init__(self) -> None:
        self._looks = GrowableColumns(LOOK_COLUMNS)
        self._hosts = GrowableColumns(HOST_COLUMNS)
        self._tables = GrowableColumns(TABLE_COLUMNS)
        self._dropped_looks = 0

    @property
    def nbytes(self) -> int:
        """Return the memory of looks, hosts and hazards in bytes."""
        return sum(table.nbytes for table in (self._looks, self._hosts, self._tables))

    def add(self, states: PageStates, rows: IndexArray) -> None:
        """Count new pages on their hosts."""
        self._hosts.append_rows(len(states.hosts) - len(self._hosts))
        np.add.at(self._hosts["pages"], states.host[rows], 1)

    def keep_rows(self, states: PageStates, mask: BoolArray) -> None:
        """Remove the looks of pages outside the mask, which covers the former rows."""
        if mask.all():
            return
        rows = self._looks["row"]
        self._keep_looks((rows != NOT_FOUND) & mask[rows])
        self._dropped_looks = 0
        self._looks["row"][:] = (np.cumsum(mask) - 1)[self._looks["row"]]
        pages = np.bincount(states.host, minlength=len(self._hosts))
        self._hosts["pages"][:] = pages

    def event_rates(self, hosts: IndexArray) -> FloatArray:
        """Return the mean hazard of shared events per day, 0 for hosts without a table."""
        rates = np.where(
            self._hosts["table"][hosts] == NOT_FOUND, 0.0, self._hosts["event_rate"][hosts]
        )
        return rates.astype(np.float64)

    def hazards(self, hosts: IndexArray, begins: FloatArray, ends: FloatArray) -> FloatArray:
        """Return the hazard of shared events between two times in days, for every entry."""
        return self._hazards("hazard", hosts, begins, ends)

    def unconfirmed_hazards(
        self, hosts: IndexArray, begins: FloatArray, ends: FloatArray
    ) -> FloatArray:
        """Return the part of the hazard that few looks have confirmed or ruled out."""
        return self._hazards("unconfirmed", hosts, begins, ends)

    def has_table(self) -> BoolArray:
        """Return which hosts have shared events: enough pages, and looks at them."""
        has_table: BoolArray = self._hosts["table"] != NOT_FOUND
        return has_table

    def page_counts(self, hosts: NDArray[Any]) -> IndexArray:
        """Return the number of pages of hosts."""
        counts: IndexArray = self._hosts["pages"][hosts]
        return counts

    def learn(self, states: PageStates, looks: LookBatch, hazards: FloatArray) -> None:
        """Store measured looks at pages of large hosts, with the hazards that were used."""
        hosts = states.host[looks.rows]
        is_large = self._hosts["pages"][hosts] >= MIN_HOST_PAGES
        stored = np.flatnonzero(looks.measured & is_large & (looks.gap_days > 0))
        count = len(self._looks)
        self._looks.append_rows(len(stored))
        self._looks["row"][count:] = looks.rows[stored]
        self._looks["end"][count:] = looks.times[stored] / DAY_SECONDS
        self._looks["gap"][count:] = looks.gap_days[stored]
        self._looks["changed"][count:] = looks.changed[stored]
        self._looks["hazard"][count:] = hazards[stored]
        kernels.link_looks(
            hosts[stored],
            count,
            looks.changed[stored],
            self._looks["previous"],
            (self._hosts["newest"], self._hosts["stored"], self._hosts["new_looks"]),
            self._hosts["has_new_change"],
        )

    def hosts_to_fit(self, *, all_moved: bool) -> NDArray[np.intp]:
        """Return the hosts with new looks: all of them, or those whose fit should not wait."""
        new_looks, stored = self._hosts["new_looks"], self._hosts["stored"]
        if all_moved:
            return np.flatnonzero(new_looks)
        is_prompt = (stored <= PROMPT_FIT_LOOKS) | (new_looks > stored // PROMPT_FIT_SHARE)
        return np.flatnonzero(self._hosts["has_new_change"] & is_prompt)

    def fit(self, host: int, now: float, rates: MeanRates) -> HazardCorrections:
        """Fit the hazard of one host; return the looks whose hazard has changed."""
        table = self._table_of(host, now)
        self._move_window(table, now)
        kept, older = kernels.walk_looks(
            self._hosts["newest"][host], self._looks["previous"], self._look_limit(host)
        )
        event_rate = float(self._hosts["event_rate"][host])
        carried = (
            self._tables["carried_events"][table],
            self._tables["carried_exposure"][table],
        )
        hazard, unconfirmed = self._tables["hazard"][table], self._tables["unconfirmed"][table]
        if len(older):
            older_looks = self._in_bins(older, table, rates)
            kernels.carry_looks(older_looks, carried, hazard, event_rate)
            self._extend_observed_days(table, older_looks[0])
            self._drop(host, kept, older)
        looks = self._in_bins(kept, table, rates)
        self._extend_observed_days(table, looks[0])
        steps = FIT_STEPS if self._tables["is_fitted"][table] else FIRST_FIT_STEPS
        kernels.fit_hazards(looks, carried, (hazard, unconfirmed), event_rate, steps)
        self._tables["is_fitted"][table] = True
        self._update_event_rate(host, table, now)
        self._hosts["new_looks"][host] = 0
        self._hosts["has_new_change"][host] = False
        return self._corrections(host, kept)

    def compact(self) -> None:
        """Free the memory of looks that are no longer stored, if there are many."""
        if 2 * self._dropped_looks > len(self._looks):
            self._keep_looks(self._looks["row"] != NOT_FOUND)
            self._dropped_looks = 0

    def recent_looks(self, host: int, since_day: float) -> LookBatch:
        """Return the stored looks of a host that cover only days after a day, newest first."""
        kept, _ = kernels.walk_looks(
            self._hosts["newest"][host], self._looks["previous"], self._look_limit(host)
        )
        kept = kept[self._looks["end"][kept] >= since_day]
        rows, changed = self._looks["row"][kept], self._looks["changed"][kept]
        times = self._looks["end"][kept].astype(np.float64) * DAY_SECONDS
        gaps = self._looks["gap"][kept].astype(np.float64)
        return LookBatch(rows, times, gaps, np.ones(len(kept), np.bool_), changed)

    def state(self) -> dict[str, Any]:
        """Return looks, hosts and hazards as plain arrays."""
        parts = {"looks": self._looks, "hosts": self._hosts, "tables": self._tables}
        return {
            f"event_{part}_{name}": column
            for part, table in parts.items()
            for name, column in table.state().items()
        } | {"event_dropped": self._dropped_looks}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        parts = {"looks": self._looks, "hosts": self._hosts, "tables": self._tables}
        for part, table in parts.items():
            prefix = f"event_{part}_"
            table.restore({
                name.removeprefix(prefix): column
                for name, column in state.items()
                if name.startswith(prefix)
            })
        self._dropped_looks = int(state["event_dropped"])

    def _hazards(
        self, column: str, hosts: IndexArray, begins: FloatArray, ends: FloatArray
    ) -> FloatArray:
        tables = (self._hosts["table"], self._tables["first_bin"], self._tables[column])
        return kernels.hazards_between(begins, ends, hosts, tables, self._hosts["event_rate"])

    def _look_limit(self, host: int) -> int:
        pages = int(self._hosts["pages"][host])
        return min(MAX_STORED_LOOKS, max(MIN_STORED_LOOKS, LOOKS_PER_PAGE * pages))

    def _table_of(self, host: int, now: float) -> int:
        """Return the table row of a host, a new one if it had none."""
        table = int(self._hosts["table"][host])
        if table == NOT_FOUND:
            table = len(self._tables)
            self._tables.append_rows(1)
            self._hosts["table"][host] = table
            self._tables["host"][table] = host
            self._begin_window(table, now)
        return table

    def _begin_window(self, table: int, now: float) -> None:
        """Set the window of a table to end with the bin of now, with nothing learned."""
        per_bin = self._hosts["event_rate"][self._tables["host"][table]] / BINS_PER_DAY
        self._tables["first_bin"][table] = floor(now * BINS_PER_DAY) + 1 - BIN_COUNT
        self._tables["observed_since"][table] = now
        self._tables["is_fitted"][table] = False
        for column in ("hazard", "unconfirmed"):
            self._tables[column][table] = np.arange(BIN_COUNT + 1) * per_bin
        for column in ("carried_events", "carried_exposure"):
            self._tables[column][table] = 0.0

    def _move_window(self, table: int, now: float) -> None:
        """Move the window of a table so that it ends with the bin of now.

        A window more than a day ahead of now shows that the clock was set back; it is begun anew.
        """
        first_bin = floor(now * BINS_PER_DAY) + 1 - BIN_COUNT
        bins = int(first_bin - self._tables["first_bin"][table])
        if bins < -BINS_PER_DAY:
            self._begin_window(table, now)
        if bins <= 0:
            return
        per_bin = float(self._hosts["event_rate"][self._tables["host"][table]]) / BINS_PER_DAY
        kernels.shift_table(
            (self._tables["hazard"][table], self._tables["unconfirmed"][table]),
            (self._tables["carried_events"][table], self._tables["carried_exposure"][table]),
            bins,
            per_bin,
        )
        self._tables["first_bin"][table] = first_bin

    def _in_bins(
        self, looks: IndexArray, table: int, rates: MeanRates
    ) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
        """Return looks with their times in bins from the start of the window."""
        ends = self._looks["end"][looks] * BINS_PER_DAY - self._tables["first_bin"][table]
        begins = ends - self._looks["gap"][looks] * BINS_PER_DAY
        rows, positions = np.unique(self._looks["row"][looks], return_inverse=True)
        return begins, ends, self._looks["changed"][looks], rates(rows)[positions]

    def _extend_observed_days(self, table: int, begins: FloatArray) -> None:
        """Let the days that looks cover count as observed, given where they begin in bins."""
        first_begin = float(begins.min(initial=BIN_COUNT)) + self._tables["first_bin"][table]
        observed_since = min(self._tables["observed_since"][table], first_begin / BINS_PER_DAY)
        self._tables["observed_since"][table] = observed_since

    def _drop(self, host: int, kept: IndexArray, older: IndexArray) -> None:
        """Stop storing the older looks of a host."""
        self._looks["previous"][kept[-1]] = NOT_FOUND
        self._looks["row"][older] = NOT_FOUND
        self._hosts["stored"][host] = len(kept)
        self._dropped_looks += len(older)

    def _update_event_rate(self, host: int, table: int, now: float) -> None:
        """Estimate the mean hazard per day from the hazards of the window."""
        window_start = self._tables["first_bin"][table] / BINS_PER_DAY
        oldest_look = min(float(self._tables["observed_since"][table]), now)
        days = now - max(window_start, oldest_look)
        since = np.array([now - days])
        observed = self.hazards(np.array([host], np.int32), since, np.array([now]))
        total = INITIAL_EVENT_DAYS * INITIAL_EVENT_RATE + float(observed[0])
        self._hosts["event_rate"][host] = total / (INITIAL_EVENT_DAYS + days)

    def _corrections(self, host: int, looks: IndexArray) -> HazardCorrections:
        """Return the looks with a change whose hazard has moved, and store the new hazard."""
        rows, gaps = self._looks["row"][looks], self._looks["gap"][looks].astype(np.float64)
        ends, changed = self._looks["end"][looks].astype(np.float64), self._looks["changed"][looks]
        new = self.hazards(np.full(len(looks), host, np.int32), ends - gaps, ends)
        old = self._looks["hazard"][looks].astype(np.float64)
        moved = changed & (np.abs(new - old) > HAZARD_TOLERANCE * (1.0 + old))
        self._looks["hazard"][looks[moved]] = new[moved]
        faded_days = kernels.later_gaps(rows, np.lexsort((ends, rows)), gaps)
        return HazardCorrections(
            rows[moved], gaps[moved], faded_days[moved], old[moved], new[moved]
        )

    def _keep_looks(self, mask: BoolArray) -> None:
        """Remove the looks outside the mask and link the others again."""
        kernels.unlink_looks(
            mask, self._looks["previous"], (self._hosts["newest"], self._hosts["stored"])
        )
        self._looks.keep_rows(mask)
