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
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.kernels import value_bounds as kernels
from freshet.schedule.kernels.due_pages import DueTimes
from freshet.schedule.objectives import GROWTH_EXPONENT

CLASS_AGES = kernels.class_ages()


@dataclass(frozen=True, slots=True)
class HostBounds:
    """The bound of each page of a host, and the days since its last look.

    It is -1 for pages that cannot be visited now, and infinite for pages without a look.
    ``highest`` is the highest finite bound, and ``best_rows`` has its row, if there is one.
    ``growth_days`` are the days in which the exposure doubles, for each class of ages.
    """

    bounds: Float32Array
    highest: float
    ages: FloatArray
    best_rows: NDArray[np.intp]
    growth_days: FloatArray

    def level_of(self, count: int, lowest: float = 0.0) -> float:
        """Return a level that at least a number of bounds reach, ``lowest`` if fewer reach that."""
        return kernels.level_reached(self.bounds, lowest, self.highest, count)

    def set_due_times(
        self, rows: NDArray[Any], due: DueTimes, options: tuple[float, float, float], soon_end: int
    ) -> NDArray[np.intp]:
        """Set when pages with a bound below a limit may reach a level; others are due.

        ``options`` are limit, level and the time now. Returns rows that fall due by ``soon_end``
        and did not before.
        """
        pages, growth = (rows, self.ages, due), (*options, float(GROWTH_EXPONENT))
        return kernels.set_due_times(self.bounds, pages, self.growth_days, growth, soon_end)


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
    visits = (states.last_look, states.not_before, states.pending)
    weights = (prior, gains, model.posterior.log_retention, now)
    host_ages = _host_ages(model, host, rows, now)
    bounds, ages = np.empty(len(rows), np.float32), np.empty(len(rows))

    def bound(part: slice) -> None:
        results = (bounds[part], ages[part])
        kernels.value_bounds(columns, visits, (rows[part], host_ages[part]), weights, results)

    half = len(rows) // 2
    with ThreadPoolExecutor(1) as thread:
        first_half = thread.submit(bound, slice(half))
        bound(slice(half, None))
        first_half.result()
    best = kernels.finish_bounds(bounds)
    best_rows = rows[best : best + 1].astype(np.intp) if best >= 0 else np.empty(0, np.intp)
    growth_days = elapsed / (
        model.publication_times.paces(hosts[:1]) if model.publication_times else 1.0
    )
    slope = float(model.events.steepest_hazards(hosts[:1], ends[:1])[0])
    if slope > 0.0:
        growth_days = np.minimum(growth_days, hazards / slope)
    highest = float(bounds[best]) if best >= 0 else 0.0
    return HostBounds(bounds, highest, ages, best_rows, growth_days)


def _host_ages(model: ForecastModel, host: int, rows: NDArray[Any], now: float) -> FloatArray:
    """Return the days since the last look by the hours of a host, none if it has no such hours."""
    if not model.publication_times or model.publication_times.profile(host) is None:
        return np.empty(0)
    ends = np.full(len(rows), now / DAY_SECONDS)
    begins = ends - model.page_states.days_since_look(rows, now, never=0.0)
    return model.elapsed_days(model.page_states.host[rows], begins, ends)
