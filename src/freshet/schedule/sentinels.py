"""Sentinel visits: one page of a host is looked at to learn whether the whole host has changed.

A shared event is noticed only if someone looks. The value of such a look is what its result is
worth: the chance of an event that no look has confirmed or ruled out, times the pages it would
make worth a visit. So a host with many pages and frequent events is looked at often, and a small
or quiet one hardly ever. At most one page of a host is a sentinel at a time. Looks that are under
way count as made: they will confirm or rule out the events up to the time for which they were
chosen, so that another sentinel is only worth what can happen after it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import NOT_FOUND
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.kernels import sentinels as kernels
from freshet.schedule.objectives import GROWTH_EXPONENT, PageScores

# The share of a host's pages whose visits gain from an event that is noticed in time.
GAINING_SHARE = 0.05
# The bounds of what sentinels are worth hold for this time, with a margin for rounding.
BOUND_DAYS, BOUND_MARGIN, BOUND_COUNT = 1 / 24, 1.0001, 3


class Sentinels:
    """The best page of every host for learning about shared events."""

    def __init__(self, model: ForecastModel) -> None:
        self._model = model
        self._best_rows = np.empty(0, np.int32)
        self._best_values = np.empty(0)
        self._bounds = np.empty((0, BOUND_COUNT), np.float32)
        # Per host the page chosen last, and the days between which looks under way find events.
        self._awaited_rows = np.empty(0, np.int32)
        self._awaited_days = np.empty((0, 2))
        self._known_hosts: IndexArray | None = None

    @property
    def nbytes(self) -> int:
        """Return the memory of the sentinels in bytes."""
        best = self._best_rows.nbytes + self._best_values.nbytes + self._bounds.nbytes
        return best + self._awaited_rows.nbytes + self._awaited_days.nbytes

    def worth(self, lowest: float, highest_value: float, multiplier: float) -> NDArray[np.intp]:
        """Return the rows of the sentinels that may reach the lowest rank, in ascending order.

        Value and bonus are compared by bounds that were found when the sentinel was last scored.
        All own values are at most ``highest_value``.
        """
        if self._model.objective.name == "changes":
            gain, importance_gain = -multiplier, 1.0
        else:
            gain, importance_gain = multiplier, 0.0
        gains, levels = (gain, importance_gain), (lowest, highest_value)
        best = (self._hosts, self._best_rows, self._bounds)
        return np.sort(kernels.rows_within_bounds(best, gains, levels))

    @property
    def _hosts(self) -> IndexArray:
        """Return the hosts that have a sentinel, which are few if most hosts have few pages."""
        if self._known_hosts is None:
            self._known_hosts = np.flatnonzero(self._best_rows != NOT_FOUND).astype(np.int32)
        return self._known_hosts

    def add_hosts(self) -> None:
        """Add hosts without a sentinel, up to the number of known hosts."""
        missing = len(self._model.page_states.hosts) - len(self._best_rows)
        if missing > 0:
            self._best_rows = np.append(self._best_rows, np.full(missing, NOT_FOUND, np.int32))
            self._best_values = np.append(self._best_values, np.full(missing, -np.inf))
            no_bounds = np.full((missing, BOUND_COUNT), np.inf, np.float32)
            self._bounds = np.concatenate((self._bounds, no_bounds))
            no_rows = np.full(missing, NOT_FOUND, np.int32)
            self._awaited_rows = np.append(self._awaited_rows, no_rows)
            self._awaited_days = np.concatenate((self._awaited_days, np.zeros((missing, 2))))

    def forget_bounds(self, hosts: NDArray[np.intp] | slice) -> None:
        """Let the sentinels of hosts be scored at the next choice, whatever they were worth."""
        self._bounds[hosts] = np.inf

    def reset(self) -> None:
        """Forget the sentinels of all hosts."""
        self.add_hosts()
        self._best_rows[:] = NOT_FOUND
        self._best_values[:] = -np.inf
        self._bounds[:] = np.inf
        self._known_hosts = None

    def keep_rows(self, kept: BoolArray) -> None:
        """Remove the rows outside the mask; a host whose sentinel is removed has none."""
        if kept.all():
            return
        is_kept = (self._best_rows != NOT_FOUND) & kept[self._best_rows]
        new_rows = np.cumsum(kept, dtype=np.int32) - 1
        self._best_rows = np.where(is_kept, new_rows[self._best_rows], np.int32(NOT_FOUND))
        self._best_values[~is_kept] = -np.inf
        is_kept = (self._awaited_rows != NOT_FOUND) & kept[self._awaited_rows]
        awaited_rows = new_rows[self._awaited_rows]
        self._awaited_rows = np.where(is_kept, awaited_rows, np.int32(NOT_FOUND))

    def state(self) -> dict[str, Any]:
        """Return the sentinels as plain arrays."""
        return {
            "sentinel_rows": self._best_rows.copy(),
            "sentinel_values": self._best_values.copy(),
            "awaited_rows": self._awaited_rows.copy(),
            "awaited_days": self._awaited_days.copy(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self._best_rows = np.array(state["sentinel_rows"], np.int32)
        self._best_values = np.array(state["sentinel_values"], np.float64)
        self._bounds = np.full((len(self._best_rows), BOUND_COUNT), np.inf, np.float32)
        self._known_hosts = None
        self._awaited_rows = np.array(state["awaited_rows"], np.int32)
        self._awaited_days = np.array(state["awaited_days"], np.float64)

    def await_looks(self, chosen_rows: NDArray[np.intp], now: float) -> None:
        """Note that pages were chosen and will be looked at, except those never seen."""
        states = self._model.page_states
        rows = chosen_rows[~np.isnan(states.last_look[chosen_rows])]
        hosts = states.host[rows]
        is_new = ~self._are_awaited(hosts)
        self._awaited_days[hosts[is_new], 0] = np.inf
        np.minimum.at(self._awaited_days[:, 0], hosts, states.last_look[rows] / DAY_SECONDS)
        self._awaited_days[hosts, 1] = now / DAY_SECONDS
        self._awaited_rows[hosts] = rows

    def consider(self, rows: NDArray[np.intp], values: FloatArray) -> None:
        """Make the page of the highest value of each host its sentinel."""
        events, states = self._model.events, self._model.page_states
        if events is None:
            return
        best = (self._best_rows, self._best_values, self._bounds)
        if kernels.keep_best_rows(rows, values, states.host, events.table_rows, best):
            self._known_hosts = None

    def bonuses(self, rows: NDArray[np.intp], now: float, multiplier: float) -> FloatArray:
        """Return what the result of a look at each page is worth beyond its own value."""
        bonuses, are_sentinels = np.zeros(len(rows)), self._are_among(rows)
        sentinel_rows = rows[are_sentinels]
        pages = self._gaining_pages(sentinel_rows, now, 0.0, are_awaited_made=True)
        bonuses[are_sentinels] = pages * self._gain(sentinel_rows, multiplier)
        return bonuses

    def set_bounds(self, rows: NDArray[np.intp], scores: PageScores, now: float) -> None:
        """Set the bounds of the sentinels among pages that were scored."""
        are_sentinels, states = self._are_among(rows), self._model.page_states
        sentinel_rows = rows[are_sentinels]
        hosts, pages = (
            states.host[sentinel_rows],
            self._gaining_pages(sentinel_rows, now, BOUND_DAYS),
        )
        self._bounds[hosts, 0] = BOUND_MARGIN * pages
        self._bounds[hosts, 1] = BOUND_MARGIN * states.importance[sentinel_rows]
        self._bounds[hosts, 2] = self._value_bounds(sentinel_rows, scores[are_sentinels], now)

    def _gaining_pages(
        self, rows: NDArray[np.intp], now: float, days: float, *, are_awaited_made: bool = False
    ) -> FloatArray:
        """Return how many pages of each page's host an event by then would make worth a visit.

        It is the expected number for events up to some days from now that no look has confirmed,
        nor will confirm, if looks under way count as made.
        """
        events, states = self._model.events, self._model.page_states
        if events is None:
            return np.zeros(len(rows))
        hosts, ends = states.host[rows], np.full(len(rows), now / DAY_SECONDS)
        begins = ends - states.days_since_look(rows, now, never=0.0)
        hazards = events.unconfirmed_hazards(hosts, begins, ends + days)
        if are_awaited_made:
            hazards -= self._awaited_hazards(hosts, begins, ends)
        pages = (GAINING_SHARE * events.page_counts(hosts)).astype(np.float64)
        return pages * -np.expm1(-hazards)

    def _awaited_hazards(
        self, hosts: IndexArray, begins: FloatArray, ends: FloatArray
    ) -> FloatArray:
        """Return the hazard between two times that looks under way will confirm or rule out."""
        events, hazards = self._model.events, np.zeros(len(hosts))
        are_awaited = self._are_awaited(hosts)
        if events is None or not are_awaited.any():
            return hazards
        hosts, days = hosts[are_awaited], self._awaited_days[hosts[are_awaited]]
        hazards[are_awaited] = events.unconfirmed_hazards(
            hosts,
            np.maximum(begins[are_awaited], days[:, 0]),
            np.minimum(ends[are_awaited], days[:, 1]),
        )
        return hazards

    def _are_awaited(self, hosts: IndexArray) -> BoolArray:
        """Return which hosts have a look under way."""
        rows = self._awaited_rows[hosts]
        if not len(self._model.page_states):
            return np.zeros(len(hosts), np.bool_)
        are_awaited: BoolArray = (rows != NOT_FOUND) & self._model.page_states.pending[rows]
        return are_awaited

    def _value_bounds(self, rows: NDArray[np.intp], scores: PageScores, now: float) -> FloatArray:
        """Return the highest values that pages can have before their bounds are found again."""
        days = self._model.growth_days(rows, scores.ages, now)
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = (1.0 + BOUND_DAYS / days) ** GROWTH_EXPONENT
            bounds = BOUND_MARGIN * scores.values * growth
        return np.where(np.isnan(bounds), np.inf, bounds)

    def exploratory(
        self, chosen_rows: NDArray[np.intp], values: FloatArray, lowest_value: float
    ) -> BoolArray:
        """Return which chosen pages would not have been chosen for their own value.

        ``lowest_value`` is the lowest of as many pages of the highest own values.
        """
        exploratory: BoolArray = self._are_among(chosen_rows) & (values < lowest_value)
        return exploratory

    def below_others(self, chosen_rows: NDArray[np.intp], values: FloatArray) -> BoolArray:
        """Return which chosen pages are sentinels of a lower value than all other chosen pages."""
        are_sentinels = self._are_among(chosen_rows)
        lowest = values[~are_sentinels].min(initial=np.inf)
        below: BoolArray = are_sentinels & (values < lowest)
        return below

    def _are_among(self, rows: NDArray[np.intp]) -> BoolArray:
        """Return which rows are sentinels."""
        if not len(self._best_rows):
            return np.zeros(len(rows), np.bool_)
        are_sentinels: BoolArray = self._best_rows[self._model.page_states.host[rows]] == rows
        return are_sentinels

    def _gain(self, rows: IndexArray | NDArray[np.intp], multiplier: float) -> FloatArray:
        """Return what a page gains that an event makes worth a visit."""
        importance = self._model.page_states.importance[rows].astype(np.float64)
        if self._model.objective.name == "changes":
            return np.maximum(0.0, importance - multiplier)
        return np.full(len(rows), multiplier)
