"""How well a formula's crawl did: what every way of crawling a trace by a formula gives."""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.cycle_crawl import WARM_UP
from freshet.core.types import Floats
from freshet.formula.variables import Measure

Ints = NDArray[np.int64]

NO_FLOOR = float("-inf")


class Tally(NamedTuple):
    """What every cycle found, its gain, and the stale copies before and after its visits."""

    found: Ints
    gain: Floats
    before: Ints
    after: Ints


@dataclass(frozen=True, slots=True)
class Result:
    """How a crawl did, and what each cycle after the warm-up found and had to find.

    ``fitness`` is the mean of the measure over the cycles; of a crawl that was given up because it
    could not reach a floor, it is the most that it could have reached. ``gain`` is the discounted
    gain of the changes found, in the mean over the order of pages with equal scores, ``ideal`` that
    of an order that knows the truth; ``stale_before`` and ``stale_after`` count the copies that
    differ from their page.
    """

    fitness: float
    stopped: bool
    found: Ints
    gain: Floats
    ideal: Floats
    stale_before: Ints
    stale_after: Ints


def summed_up(tally: Tally, crawled: int, gains: Floats, measure: Measure) -> Result:
    """Return how a crawl did that was given up, or not, after so many cycles.

    ``gains`` are those of the first places, from none of them to k.
    """
    done, k = slice(WARM_UP, crawled), len(gains) - 1
    before, found, gain = tally.before[done], tally.found[done], tally.gain[done]
    ideal = gains[np.minimum(k, before)]
    some = before > 0
    reached = gain[some] / ideal[some] if measure == "ndcg" else found / k
    left = len(tally.found) - crawled
    counted = len(reached) + left
    # One by one, as the compiled crawl adds: a sum in another order may differ in its last bit.
    total = float(np.cumsum(reached)[-1]) if len(reached) else 0.0
    fitness = (total + left) / counted if counted else 0.0
    return Result(fitness, left > 0, found, gain, ideal, before, tally.after[done])


def stop_after(cycles: int, floor: float) -> int:
    """Return the cycle after which a crawl of half the floor's mean cannot reach it any more.

    >>> stop_after(102, 0.5), stop_after(102, NO_FLOOR)
    (68, -1)
    """
    if not 0.0 < floor <= 1.0:
        return -1
    return WARM_UP - 1 + ceil((cycles - WARM_UP) * (1.0 - floor) / (1.0 - floor / 2))
