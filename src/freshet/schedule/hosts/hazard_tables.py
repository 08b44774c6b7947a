"""The hazards of shared events in the bins of a window, a row per host that has them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.schedule.columns import NOT_FOUND, ColumnSpec, GrowableColumns
from freshet.schedule.hosts.kernels import event_fits
from freshet.schedule.hosts.kernels.event_fits import CarriedLooks, EventTables
from freshet.schedule.hosts.kernels.shared_events import BIN_COUNT, BINS_PER_DAY

TABLE_COLUMNS = {
    "first_bin": ColumnSpec(np.float64),
    "observed_since": ColumnSpec(np.float32),
    "older_events": ColumnSpec(np.float32),
    "older_days": ColumnSpec(np.float32),
    "is_fitted": ColumnSpec(np.bool_),
    "hazard": ColumnSpec(np.float32, width=BIN_COUNT + 1),
    "unconfirmed": ColumnSpec(np.float32, width=BIN_COUNT + 1),
    "carried": ColumnSpec(np.int32, NOT_FOUND),
}
CARRIED_COLUMNS = {
    "events": ColumnSpec(np.float32, width=BIN_COUNT),
    "exposure": ColumnSpec(np.float32, width=BIN_COUNT),
}


class HazardTables:
    """Cumulative hazards, and sums over looks that are no longer stored.

    Only hosts with such looks have a row of sums.
    """

    def __init__(self) -> None:
        self._tables = GrowableColumns(TABLE_COLUMNS)
        self._carried = GrowableColumns(CARRIED_COLUMNS)

    def __len__(self) -> int:
        return len(self._tables)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._tables[name]

    @property
    def nbytes(self) -> int:
        """Return the memory of the tables in bytes."""
        return self._tables.nbytes + self._carried.nbytes

    def columns(self) -> tuple[EventTables, CarriedLooks]:
        """Return the columns of tables and of carried looks."""
        tables = EventTables(*(self._tables[name] for name in EventTables._fields))
        return tables, CarriedLooks(self._carried["events"], self._carried["exposure"])

    def add(self, event_rates: Float32Array, now: FloatArray) -> IndexArray:
        """Add tables with nothing learned for hosts with these mean rates; return their rows."""
        count = len(self)
        self._tables.append_rows(len(event_rates))
        tables = np.arange(count, len(self), dtype=np.int32)
        self.begin(tables, event_rates, now)
        return tables

    def move_windows(self, tables: IndexArray, event_rates: Float32Array, now: FloatArray) -> None:
        """Move the windows of tables so that they end with the bin of now.

        A window more than a day ahead of now shows that the clock was set back; it is begun anew.
        """
        first_bins = np.floor(now * BINS_PER_DAY) + 1 - BIN_COUNT
        is_ahead = self._tables["first_bin"][tables] - first_bins > BINS_PER_DAY
        self.begin(tables[is_ahead], event_rates[is_ahead], now[is_ahead])
        event_fits.move_windows(tables, first_bins, event_rates, *self.columns())

    def make_room_for_carried(self, tables: IndexArray) -> None:
        """Give the tables that have none a row for carried looks."""
        tables = tables[self._tables["carried"][tables] == NOT_FOUND]
        count = len(self._carried)
        self._carried.append_rows(len(tables))
        self._tables["carried"][tables] = np.arange(count, len(self._carried))

    def keep_used(self, references: IndexArray) -> IndexArray:
        """Remove the tables that no reference points to; return the references to the others."""
        references = _renumber(references, self._tables)
        self._tables["carried"][:] = _renumber(self._tables["carried"], self._carried)
        return references

    def state(self) -> dict[str, Any]:
        """Return tables and carried looks as plain arrays."""
        return {f"event_tables_{name}": column for name, column in self._tables.state().items()} | {
            f"event_carried_{name}": column for name, column in self._carried.state().items()
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self._tables.restore({name: state[f"event_tables_{name}"] for name in TABLE_COLUMNS})
        self._carried.restore({name: state[f"event_carried_{name}"] for name in CARRIED_COLUMNS})

    def begin(
        self, tables: IndexArray, event_rates: FloatArray | Float32Array, now: FloatArray
    ) -> None:
        """Set the windows of tables to end with the bin of now, with nothing learned."""
        self._tables["first_bin"][tables] = np.floor(now * BINS_PER_DAY) + 1 - BIN_COUNT
        self._tables["observed_since"][tables] = now
        for column in ("older_events", "older_days", "is_fitted"):
            self._tables[column][tables] = 0
        hazards = np.arange(BIN_COUNT + 1) * (event_rates[:, np.newaxis] / BINS_PER_DAY)
        for column in ("hazard", "unconfirmed"):
            self._tables[column][tables] = hazards
        carried = self._tables["carried"][tables]
        for column in CARRIED_COLUMNS:
            self._carried[column][carried[carried != NOT_FOUND]] = 0.0


def _renumber(references: IndexArray, columns: GrowableColumns) -> IndexArray:
    """Remove the rows that no reference points to; return the references to the others."""
    is_used = np.zeros(len(columns) + 1, np.bool_)
    is_used[references] = True
    numbers = np.append(np.cumsum(is_used[:-1], dtype=np.int32) - 1, np.int32(NOT_FOUND))
    columns.keep_rows(is_used[:-1])
    return numbers[references]
