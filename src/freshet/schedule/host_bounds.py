"""Upper bounds of the values of all pages of a large host, after an event of the host.

An event moves the values of all pages of its host at once. Only those that may now be among the
best need their exact value; the bounds of the others tell when they may be.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import FloatArray
from freshet.schedule.columns import SmallFloatArray
from freshet.schedule.forecast_model import SLOPE_DAYS, ForecastModel
from freshet.schedule.kernels import value_bounds as kernels
from freshet.schedule.objectives import GROWTH_EXPONENT
from freshet.schedule.top_k import kth_highest

CLASS_AGES = kernels.class_ages()


@dataclass(frozen=True, slots=True)
class HostBounds:
    """Rows of a host, and a bound of the value of each.

    It is -1 for pages that cannot be visited now, and infinite for pages without a look.
    ``best_rows`` has the row of the highest finite bound, if there is one. ``growth_days`` are the
    days in which the exposure doubles, for each class of ages.
    """

    host: int
    rows: NDArray[Any]
    bounds: SmallFloatArray
    best_rows: NDArray[np.intp]
    growth_days: FloatArray

    def level_of(self, count: int) -> float:
        """Return the bound that a number of pages reach, 0 if fewer pages have one."""
        level = kth_highest(self.bounds, count)
        return level if 0.0 < level < np.inf else 0.0

    def defer(self, model: ForecastModel, limit: float, level: float, now: float) -> None:
        """Defer pages with a bound below a limit until they may reach a level."""
        states = model.page_states
        options = (limit, level, now, float(GROWTH_EXPONENT))
        columns = (states.last_look, states.column("due"))
        kernels.defer_rows(self.rows, self.bounds, columns, self.growth_days, options)


def host_bounds(
    model: ForecastModel, host: int, rows: NDArray[Any], now: float
) -> HostBounds | None:
    """Return bounds of the values of all pages of a host, None if its prior is not known."""
    prior, states = model.prior.of_host(host), model.page_states
    if prior is None or model.events is None:
        return None
    hosts = np.full(len(CLASS_AGES), host, np.int32)
    ends = np.full(len(CLASS_AGES), now / DAY_SECONDS)
    hazards = np.append(model.events.hazards(hosts, ends - CLASS_AGES, ends), np.inf)
    elapsed = np.append(model.elapsed_days(hosts, ends - CLASS_AGES, ends), np.inf)
    event_rate = float(model.events.event_rates(hosts[:1])[0])
    for_freshness = model.objective.name == "freshness"
    gains = kernels.gain_table((elapsed, hazards), model.cadence.rates, event_rate, for_freshness)
    columns = (
        states.column("likelihood"),
        states.importance,
        states.value_factor,
        states.recent_looks,
        states.recent_failures,
    )
    ages, page_ends = states.days_since_look(rows, now, never=0.0), np.full(len(rows), ends[0])
    host_ages = model.elapsed_days(states.host[rows], page_ends - ages, page_ends)
    weights = (prior, gains, model.posterior.log_retention)
    bounds = kernels.value_bounds(columns, rows, (ages, host_ages), weights)
    availability = (states.last_look, states.not_before, states.pending)
    best = kernels.mark_unseen_and_waiting(bounds, rows, availability, now)
    best_rows = rows[best : best + 1].astype(np.intp) if best >= 0 else np.empty(0, np.intp)
    growth_days = elapsed / (
        model.publication_times.paces(hosts[:1]) if model.publication_times else 1.0
    )
    slope = float(model.events.hazards(hosts[:1], ends[:1], ends[:1] + SLOPE_DAYS)[0]) / SLOPE_DAYS
    if slope > 0.0:
        growth_days = np.minimum(growth_days, hazards / slope)
    return HostBounds(host, rows, bounds, best_rows, growth_days)
