"""Fitness of a formula's simulated crawl; every implementation of the crawl returns this result."""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.core.types import FloatArray
from freshet.formula.variables import FitnessMeasure

Ints = NDArray[np.int64]

NO_FLOOR = float("-inf")


class CycleCounts(NamedTuple):
    """Changes found by cycle, their gain, and the stale copies before and after the visits."""

    changes_found: Ints
    gain: FloatArray
    stale_before: Ints
    stale_after: Ints


@dataclass(frozen=True, slots=True)
class FormulaResult:
    """Fitness of a crawl, and the counts of each cycle after the warm-up.

    ``fitness`` is the mean of the measure over the cycles; for a crawl that was stopped because it
    could not reach a floor, it is an upper bound. ``gain`` is the discounted gain of the changes
    found, averaged over the order of pages with equal scores; ``ideal_gain`` is that of an order
    that knows the truth. ``stale_before`` and ``stale_after`` count the stale copies.
    """

    fitness: float
    is_stopped: bool
    changes_found: Ints
    gain: FloatArray
    ideal_gain: FloatArray
    stale_before: Ints
    stale_after: Ints


def summarise_crawl(
    counts: CycleCounts, cycles: int, gains: FloatArray, measure: FitnessMeasure
) -> FormulaResult:
    """Return the result of a crawl that ended after so many cycles, stopped early or not.

    ``gains`` are the cumulative gains of the first ranks, from none of them to k.
    """
    measured, k = slice(WARM_UP_CYCLES, cycles), len(gains) - 1
    stale_before = counts.stale_before[measured]
    changes_found, gain = counts.changes_found[measured], counts.gain[measured]
    ideal_gain = gains[np.minimum(k, stale_before)]
    is_ranked = stale_before > 0
    values = gain[is_ranked] / ideal_gain[is_ranked] if measure == "ndcg" else changes_found / k
    cycles_left = len(counts.changes_found) - cycles
    cycle_count = len(values) + cycles_left
    # Add in the order of the compiled crawl: another order may change the last bit of the sum.
    total = float(np.cumsum(values)[-1]) if len(values) else 0.0
    fitness = (total + cycles_left) / cycle_count if cycle_count else 0.0
    return FormulaResult(
        fitness,
        cycles_left > 0,
        changes_found,
        gain,
        ideal_gain,
        stale_before,
        counts.stale_after[measured],
    )


def stop_cycle(cycles: int, floor: float) -> int:
    """Return the cycle after which a crawl at half the floor cannot reach the floor any more.

    >>> stop_cycle(102, 0.5), stop_cycle(102, NO_FLOOR)
    (68, -1)
    """
    if not 0.0 < floor <= 1.0:
        return -1
    return WARM_UP_CYCLES - 1 + ceil((cycles - WARM_UP_CYCLES) * (1.0 - floor) / (1.0 - floor / 2))
