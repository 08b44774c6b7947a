"""The best steady visit rates when the change rates are known, within a budget and host caps.

Changes and visits are Poisson processes. ``binary`` counts the share of time that a copy is fresh
(Azar et al. 2018); ``harmonic`` counts the j-th change that a copy misses as 1/j, so that no page
that changes is given up (Kolobov et al. 2019). Both have a closed form for a given price of a
visit; the price is found by bisection. Hosts beyond their cap are pinned there and the rest is
solved again: that gives the others more budget, so a pinned host stays pinned.
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
    """Pages to be visited: how often each changes, how much it matters, and its host's place."""

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
    """Return each page's visit rate: at most ``budget`` together, at most ``caps`` on each host.

    Rates are per the same unit of time as the change rates; a host without a cap has infinity.
    """
    pinned = np.zeros(len(caps), np.bool_)
    while True:
        visits = _solve(demand, budget, np.where(pinned, caps, np.inf), objective)
        over = _per_host(demand, visits, len(caps)) > caps * (1.0 + 1e-12)
        if not np.any(over & ~pinned):
            return visits
        pinned |= over


def allocation_value(
    demand: VisitDemand, visits: FloatArray, *, objective: AllocationObjective = "binary"
) -> float:
    """Return what visit rates achieve: the weighted fresh share, or less what is missed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fresh = np.where(demand.rates > 0, visits / (visits + demand.rates), 1.0)
        gain = fresh if objective == "binary" else np.log(fresh)
    return float(demand.importance @ gain)


def _solve(
    demand: VisitDemand, budget: float, pins: FloatArray, objective: AllocationObjective
) -> FloatArray:
    """Return the best visit rates where pinned hosts have just their pin and others share the rest.

    A pinned host is a market of its own with its own price; all others are market 0.
    """
    pinned = np.isfinite(pins)
    market_of_host = np.where(pinned, np.cumsum(pinned), 0)
    supply = np.concatenate([[max(0.0, budget - pins[pinned].sum())], pins[pinned]])
    market = market_of_host[demand.hosts]
    low, high = (np.full(len(supply), bound) for bound in LOG_PRICES)
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2.0
        visits = _bought(demand, np.exp(middle)[market], objective)
        dear = np.bincount(market, visits, len(supply)) <= supply
        low, high = np.where(dear, low, middle), np.where(dear, middle, high)
    return _bought(demand, np.exp(high)[market], objective)


def _bought(demand: VisitDemand, price: FloatArray, objective: AllocationObjective) -> FloatArray:
    """Return the visit rates at which one visit more is worth just its price."""
    rates = demand.rates
    reach = demand.importance * rates / price
    if objective == "binary":
        return np.maximum(0.0, np.sqrt(reach) - rates)
    return (np.sqrt(rates * rates + 4.0 * reach) - rates) / 2.0


def _per_host(demand: VisitDemand, visits: FloatArray, hosts: int) -> FloatArray:
    spent: FloatArray = np.bincount(demand.hosts, visits, hosts).astype(np.float64)
    return spent
