"""Upper bounds of the values of all pages of a large host, after an event of the host.

An event moves the values of all pages of its host at once. Only those that may now be among the
best need their exact value; the bounds of the others tell when they may be.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Float32Array, FloatArray
from freshet.schedule.forecast_model import SLOPE_DAYS, ForecastModel
from freshet.schedule.kernels import value_bounds as kernels
from freshet.schedule.kernels.due_pages import DueTimes
from freshet.schedule.objectives import GROWTH_EXPONENT
from freshet.schedule.top_k import kth_highest

CLASS_AGES = kernels.class_ages()


@dataclass(frozen=True, slots=True)
class HostBounds:
    """The bound of each page of a host, and the days since its last look.

    It is -1 for pages that cannot be visited now, and infinite for pages without a look.
    ``best_rows`` has the row of the highest finite bound, if there is one. ``growth_days`` are the
    days in which the exposure doubles, for each class of ages.
    """

    bounds: Float32Array
    ages: FloatArray
    best_rows: NDArray[np.intp]
    growth_days: FloatArray

    def level_of(self, count: int, lowest: float = 0.0) -> float:
        """Return the bound that a number of pages reach, ``lowest`` if fewer reach that."""
        level = kth_highest(self.bounds[self.bounds > lowest], count)
        return level if lowest < level < np.inf else lowest

    def due_times(self, limit: float, level: float, now: float) -> DueTimes:
        """Return when pages with a bound below a limit may reach a level; others are due."""
        options = (limit, level, now, float(GROWTH_EXPONENT))
        return kernels.due_times_of_bounds(self.bounds, self.ages, self.growth_days, options)


def host_bounds(
    model: ForecastModel, host: int, rows: NDArray[Any], now: float
) -> HostBounds | None:
    """Return bounds of the values of all pages of a host, None if its prior is not known."""
    prior = model.prior.of_host(host)
    if prior is None or model.events is None:
        return None
    hosts = np.full(len(CLASS_AGES), host, np.int32)
    ends = np.full(len(CLASS_AGES), now / DAY_SECONDS)
    hazards = np.append(model.events.hazards(hosts, ends - CLASS_AGES, ends), np.inf)
    elapsed = np.append(model.elapsed_days(hosts, ends - CLASS_AGES, ends), np.inf)
    event_rate = float(model.events.event_rates(hosts[:1])[0])
    for_freshness = model.objective.name == "freshness"
    gains = kernels.gain_table((elapsed, hazards), model.cadence.rates, event_rate, for_freshness)
    weights = (prior, gains, model.posterior.log_retention)
    half = len(rows) // 2
    with ThreadPoolExecutor(1) as thread:
        first_half = thread.submit(_bound_rows, model, host, weights, now, rows[:half])
        second_half = _bound_rows(model, host, weights, now, rows[half:])
        parts = (first_half.result(), second_half)
    bounds = np.concatenate([part[0] for part in parts])
    ages = np.concatenate([part[1] for part in parts])
    best = kernels.highest_finite(bounds)
    best_rows = rows[best : best + 1].astype(np.intp) if best >= 0 else np.empty(0, np.intp)
    growth_days = elapsed / (
        model.publication_times.paces(hosts[:1]) if model.publication_times else 1.0
    )
    slope = float(model.events.hazards(hosts[:1], ends[:1], ends[:1] + SLOPE_DAYS)[0]) / SLOPE_DAYS
    if slope > 0.0:
        growth_days = np.minimum(growth_days, hazards / slope)
    return HostBounds(bounds, ages, best_rows, growth_days)


def _bound_rows(
    model: ForecastModel,
    host: int,
    weights: tuple[FloatArray, Float32Array, float],
    now: float,
    rows: NDArray[Any],
) -> tuple[Float32Array, FloatArray]:
    """Return the bounds of some pages of a host, and the days since their last look."""
    states = model.page_states
    columns = (
        states.column("likelihood"),
        states.importance,
        states.value_factor,
        states.recent_looks,
        states.recent_failures,
    )
    ages = states.days_since_look(rows, now, never=0.0)
    host_ages = ages
    if model.publication_times and model.publication_times.profile(host) is not None:
        ends = np.full(len(rows), now / DAY_SECONDS)
        host_ages = model.elapsed_days(states.host[rows], ends - ages, ends)
    bounds = kernels.value_bounds(columns, rows, (ages, host_ages), weights)
    availability = (states.last_look, states.not_before, states.pending)
    kernels.mark_unseen_and_waiting(bounds, rows, availability, now)
    return bounds, ages
