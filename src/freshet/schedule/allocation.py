"""Optimal constant visit rates for known change rates, within a budget and host caps.

Changes and visits are Poisson processes. The objective ``binary`` is the share of time that a copy
is fresh (Azar et al. 2018); ``harmonic`` weighs the j-th missed change by 1/j, so that every page
that changes gets visits (Kolobov et al. 2019). Both have a closed form for a given price of a
visit; the price is found by bisection. Hosts above their cap are pinned to it, and the other hosts
are solved again. They then have more budget, so a pinned host stays pinned.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from freshet.core.types import FloatArray, IndexArray

AllocationObjective = Literal["binary", "harmonic"]

BISECTION_STEPS = 80
LOG_PRICES = (-120.0, 120.0)


@dataclass(frozen=True, slots=True)
class VisitDemand:
    """Change rate, importance and host index of every page."""

    rates: FloatArray
    importance: FloatArray
    hosts: IndexArray


def allocate_visits(
    demand: VisitDemand,
    budget: float,
    caps: FloatArray,
    *,
    objective: AllocationObjective = "binary",
) -> FloatArray:
    """Return each page's visit rate: at most ``budget`` in all, at most ``caps`` on each host.

    Rates are per the time unit of the change rates; a host without a cap has infinity.
    """
    pinned = np.zeros(len(caps), np.bool_)
    while True:
        visits = _solve(demand, budget, np.where(pinned, caps, np.inf), objective)
        host_totals = np.bincount(demand.hosts, visits, len(caps))
        above_cap = host_totals > caps * (1.0 + 1e-12)
        if not np.any(above_cap & ~pinned):
            return visits
        pinned |= above_cap


def allocation_value(
    demand: VisitDemand, visits: FloatArray, *, objective: AllocationObjective = "binary"
) -> float:
    """Return the importance-weighted value of visit rates under an objective."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fresh = np.where(demand.rates > 0, visits / (visits + demand.rates), 1.0)
        gain = fresh if objective == "binary" else np.log(fresh)
    return float(demand.importance @ gain)


def _solve(
    demand: VisitDemand, budget: float, pins: FloatArray, objective: AllocationObjective
) -> FloatArray:
    """Return the optimal visit rates: each pinned host spends its cap, the others share the rest.

    A pinned host is a market with its own price; all other hosts together are market 0.
    """
    pinned = np.isfinite(pins)
    market_of_host = np.where(pinned, np.cumsum(pinned), 0)
    supply = np.concatenate([[max(0.0, budget - pins[pinned].sum())], pins[pinned]])
    market = market_of_host[demand.hosts]
    low, high = (np.full(len(supply), bound) for bound in LOG_PRICES)
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2.0
        visits = _visits_at_price(demand, np.exp(middle)[market], objective)
        affordable = np.bincount(market, visits, len(supply)) <= supply
        low, high = np.where(affordable, low, middle), np.where(affordable, middle, high)
    return _visits_at_price(demand, np.exp(high)[market], objective)


def _visits_at_price(
    demand: VisitDemand, price: FloatArray, objective: AllocationObjective
) -> FloatArray:
    """Return the visit rates at which the marginal value of a visit equals its price."""
    rates = demand.rates
    value_per_price = demand.importance * rates / price
    if objective == "binary":
        return np.maximum(0.0, np.sqrt(value_per_price) - rates)
    return (np.sqrt(rates * rates + 4.0 * value_per_price) - rates) / 2.0
