"""How well a formula's crawl did: what every way of crawling a trace by a formula gives."""

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
    """What every cycle found, its gain, and the stale copies before and after its visits."""

    changes_found: Ints
    gain: FloatArray
    stale_before: Ints
    stale_after: Ints


@dataclass(frozen=True, slots=True)
class FormulaResult:
    """How a crawl did, and what each cycle after the warm-up found and had to find.

    ``fitness`` is the mean of the measure over the cycles; of a crawl that was given up because it
    could not reach a floor, it is the most that it could have reached. ``gain`` is the discounted
    gain of the changes found, in the mean over the order of pages with equal scores, ``ideal_gain`` that
    of an order that knows the truth; ``stale_before`` and ``stale_after`` count the copies that
    differ from their page.
    """

    fitness: float
    is_stopped: bool
    changes_found: Ints
    gain: FloatArray
    ideal_gain: FloatArray
    stale_before: Ints
    stale_after: Ints


def summarise_crawl(
    tally: CycleCounts, crawled: int, gains: FloatArray, measure: FitnessMeasure
) -> FormulaResult:
    """Return how a crawl did that was given up, or not, after so many cycles.

    ``gains`` are those of the first places, from none of them to k.
    """
    done, k = slice(WARM_UP_CYCLES, crawled), len(gains) - 1
    before, found, gain = tally.stale_before[done], tally.changes_found[done], tally.gain[done]
    ideal = gains[np.minimum(k, before)]
    some = before > 0
    reached = gain[some] / ideal[some] if measure == "ndcg" else found / k
    left = len(tally.changes_found) - crawled
    counted = len(reached) + left
    # One by one, as the compiled crawl adds: a sum in another order may differ in its last bit.
    total = float(np.cumsum(reached)[-1]) if len(reached) else 0.0
    fitness = (total + left) / counted if counted else 0.0
    return FormulaResult(fitness, left > 0, found, gain, ideal, before, tally.stale_after[done])


def stop_cycle(cycles: int, floor: float) -> int:
    """Return the cycle after which a crawl of half the floor's mean cannot reach it any more.

    >>> stop_cycle(102, 0.5), stop_cycle(102, NO_FLOOR)
    (68, -1)
    """
    if not 0.0 < floor <= 1.0:
        return -1
    return WARM_UP_CYCLES - 1 + ceil((cycles - WARM_UP_CYCLES) * (1.0 - floor) / (1.0 - floor / 2))
