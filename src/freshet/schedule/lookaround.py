"""The look-around clock: how fast each directory has been changing of late, against its usual pace.

Pages of one directory change together. What looks at some of them found, day by day over the last
60 days, says how fast time has passed for the others since they were seen. A multiplier for every
day is fitted by expectation maximisation: a look that found a change puts events on the days that
it covers, every look puts exposure on them. Days before those, and the day that is running, pass
at the usual pace. Only the age since the last look is stretched, never what looks said before.

The multipliers are left as they are fitted and not scaled to a mean of 1 in each directory: so they
also correct rates that were put too high or too low for a whole directory, and on recorded traces
copies are fresher for it (mixed, 5 %: .919 against .912).
"""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import NOT_FOUND, ColumnSpec, GrowableColumns
from freshet.schedule.kernels import lookaround as kernels
from freshet.schedule.states import LookBatch, PageStates

MIN_DIRECTORY_PAGES = 8
LOOK_COLUMNS = {
    "row": ColumnSpec(np.int32),
    "end": ColumnSpec(np.float32),
    "gap": ColumnSpec(np.float32),
    "changed": ColumnSpec(np.bool_),
}
DIRECTORY_COLUMNS = {
    "pages": ColumnSpec(np.int32),
    "moved": ColumnSpec(np.bool_),
    "clock": ColumnSpec(np.int32, NOT_FOUND),
}
CLOCK_COLUMNS = {
    "start": ColumnSpec(np.float64),
    "sums": ColumnSpec(np.float32, width=kernels.WINDOW_DAYS + 1),
}

MeanRates = Callable[[NDArray[Any]], FloatArray]


class LookAroundClocks:
    """The measured looks of the last 60 days, and the pace of every directory that they show.

    No more than ``max_looks`` are fitted at a time, where that is given; directories that are left
    out keep the clock that they have until their turn comes.
    """

    def __init__(self, max_looks: int | None = None) -> None:
        self._most_looks = max_looks
        self._looks = GrowableColumns(LOOK_COLUMNS)
        self._directories = GrowableColumns(DIRECTORY_COLUMNS)
        self._clocks = GrowableColumns(CLOCK_COLUMNS)
        self._cell = 0

    @property
    def nbytes(self) -> int:
        """Return the memory that looks and clocks take."""
        return sum(table.nbytes for table in (self._looks, self._directories, self._clocks))

    def add(self, states: PageStates, rows: IndexArray) -> None:
        """Count new pages to their directories."""
        self._directories.append_rows(len(states.directories) - len(self._directories))
        np.add.at(self._directories["pages"], states.directory[rows], 1)

    def keep_rows(self, states: PageStates, kept: BoolArray) -> None:
        """Leave out the looks of pages that are forgotten."""
        self._looks.keep_rows(kept[self._looks["row"]])
        self._looks["row"][:] = (np.cumsum(kept) - 1)[self._looks["row"]]
        pages = np.bincount(states.directory, minlength=len(self._directories))
        self._directories["pages"][:] = pages

    def learn(self, states: PageStates, looks: LookBatch) -> None:
        """Keep the measured looks of pages whose directory is large enough."""
        directories = states.directory[looks.rows]
        large = self._directories["pages"][directories] >= MIN_DIRECTORY_PAGES
        kept = np.flatnonzero(looks.measured & large)
        held = len(self._looks)
        self._looks.append_rows(len(kept))
        self._looks["row"][held:] = looks.rows[kept]
        self._looks["end"][held:] = looks.times[kept] / DAY_SECONDS
        self._looks["gap"][held:] = looks.gap_days[kept]
        self._looks["changed"][held:] = looks.changed[kept]
        self._directories["moved"][directories[kept]] = True

    def refit(self, states: PageStates, now: float, rates: MeanRates) -> None:
        """Fit again the directories that were looked at, and all of them when a day has passed."""
        cell = ceil(now / DAY_SECONDS)
        if cell != self._cell:
            self._cell = cell
            self._looks.keep_rows(self._looks["end"] > self._start)
            self._directories["moved"][:] = True
        if self._directories["moved"].any():
            self._fit(states, rates)

    def effective_ages(self, directories: IndexArray, ages: FloatArray, now: float) -> FloatArray:
        """Return the ages of pages, in days, as they passed at the pace of their directories."""
        which, clocks = self._directories["clock"][directories], self._clocks
        clock = (clocks["start"], clocks["sums"])
        return kernels.effective_ages(ages, which, now / DAY_SECONDS, clock)

    def state(self) -> dict[str, Any]:
        """Return looks and clocks as plain arrays."""
        columns = self._looks.state() | self._directories.state() | self._clocks.state()
        return {f"clock_{name}": column for name, column in columns.items()} | {
            "clock_cell": self._cell
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        columns = {name.removeprefix("clock_"): column for name, column in state.items()}
        for table in (self._looks, self._directories, self._clocks):
            table.restore(columns)
        self._cell = int(columns["cell"])

    @property
    def _start(self) -> float:
        """Return the day on which the window begins; it ends where the running day begins."""
        return float(self._cell - 1 - kernels.WINDOW_DAYS)

    def _fit(self, states: PageStates, rates: MeanRates) -> None:
        """Fit the clocks of directories that have moved."""
        directories = states.directory[self._looks["row"]]
        places = np.flatnonzero(self._turn(directories)[directories])
        order, starts = kernels.group_rows(directories[places], len(self._directories))
        places = places[order]
        rows, ends = self._looks["row"][places], self._looks["end"][places] - self._start
        begins, changed = ends - self._looks["gap"][places], self._looks["changed"][places]
        sums = kernels.fit_clocks((begins, ends, changed, _by_page(rows, rates)), starts)
        self._set(np.flatnonzero(np.diff(starts)), sums)

    def _turn(self, directories: IndexArray) -> BoolArray:
        """Return which directories are to be fitted now, by the directories of all looks."""
        moved: BoolArray = self._directories["moved"]
        moved &= self._directories["pages"] >= MIN_DIRECTORY_PAGES
        turn = moved.copy()
        if self._most_looks is not None and len(directories) > self._most_looks:
            looks = np.bincount(directories, minlength=len(moved)) * moved
            turn &= np.cumsum(looks) <= max(self._most_looks, looks.max())
        moved &= ~turn
        return turn

    def _set(self, directories: NDArray[np.intp], sums: NDArray[np.float32]) -> None:
        """Let directories have these clocks."""
        which, held = self._directories["clock"], len(self._clocks)
        new = directories[which[directories] == NOT_FOUND]
        which[new] = np.arange(held, held + len(new))
        self._clocks.append_rows(len(new))
        self._clocks["sums"][which[directories]] = sums
        self._clocks["start"][which[directories]] = self._start


def _by_page(rows: IndexArray, rates: MeanRates) -> FloatArray:
    """Return the rate of every row, asking once for rows that come several times."""
    asked = np.zeros(int(rows.max(initial=-1)) + 1, np.bool_)
    asked[rows] = True
    pages = np.flatnonzero(asked)
    found = np.empty(len(asked))
    found[pages] = rates(pages)
    by_row: FloatArray = found[rows]
    return by_row
