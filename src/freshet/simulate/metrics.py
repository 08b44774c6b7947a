"""How well a simulated crawl did: changes found, their order, and how fresh the copies are."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from freshet.core.tables import Truths
from freshet.core.types import Floats
from freshet.simulate.loop import Cycle

NOTHING = float("nan")


@dataclass(frozen=True, slots=True)
class Score:
    """Means over the cycles of one crawl.

    ``changerate`` is the share of visits that found a change, ``ndcg`` how early in each cycle's
    order they came, against an order that knows every stale copy. ``freshness`` is the share of
    copies that equal their page at the end of a cycle, ``weighted_freshness`` the same by
    importance, ``stale_age`` the cycles since the first change that a stale copy misses.
    ``unranked`` counts the cycles without a stale copy, which ``ndcg`` leaves out.
    """

    changerate: float
    ndcg: float
    freshness: float
    weighted_freshness: float
    stale_age: float
    unranked: int


def score(cycles: Iterable[Cycle], importance: Floats, k: int) -> Score:
    """Return the means over the cycles of a crawl with k visits each."""
    discounts = discount(k)
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])
    weights = importance / importance.sum()
    rates, gains, fresh, weighted, ages = [], [], [], [], []
    for cycle in cycles:
        rates.append(_share(cycle.found))
        if cycle.stale_before:
            best = ideal[min(k, cycle.stale_before)]
            gains.append(float(cycle.found @ discounts[: len(cycle.found)] / best))
        fresh.append(1.0 - _share(cycle.stale))
        weighted.append(1.0 - float(weights @ cycle.stale))
        ages += _ages(cycle)
    return Score(
        changerate=_mean(rates),
        ndcg=_mean(gains),
        freshness=_mean(fresh),
        weighted_freshness=_mean(weighted),
        stale_age=_mean(ages),
        unranked=len(rates) - len(gains),
    )


def discount(k: int) -> Floats:
    """Return the weight of each place of an order: 1, then 1/ln(place + 1).

    Santos et al. 2015 divide by ln(place), which is 0 at the first place; this is what their
    program does.

    >>> discount(3).round(3).tolist()
    [1.0, 0.91, 0.721]
    """
    weights: Floats = 1.0 / np.log(np.arange(2.0, k + 2.0))
    weights[:1] = 1.0
    return weights


def _ages(cycle: Cycle) -> list[float]:
    """Return the mean age of a cycle's stale copies, nothing where all are fresh."""
    since = cycle.since[cycle.stale]
    return [cycle.number - float(since.mean())] if len(since) else []


def _share(flags: Truths) -> float:
    return float(np.count_nonzero(flags)) / len(flags) if len(flags) else 0.0


def _mean(values: list[float]) -> float:
    return fmean(values) if values else NOTHING
