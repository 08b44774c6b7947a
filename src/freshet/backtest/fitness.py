"""Fitness of a formula's simulated crawl; every implementation of the crawl returns this result."""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.core.errors import UsageError
from freshet.core.types import FloatArray

Ints = NDArray[np.int64]

NO_FLOOR = float("-inf")
FITNESS_MEASURES = ("ndcg", "changerate", "freshness", "weighted_freshness", "links")


@dataclass(frozen=True, slots=True)
class FitnessMixture:
    """The weight of each measure in the fitness; the weights add up to 1.

    ``links`` is the share of the new links that are found. The others are means over the cycles.
    """

    ndcg: float = 0.0
    changerate: float = 0.0
    freshness: float = 0.0
    weighted_freshness: float = 0.0
    links: float = 0.0

    @property
    def class_weights(self) -> FloatArray:
        """Return the weights of the measures that follow from counts of pages."""
        return np.array([self.ndcg, self.changerate, self.freshness])

    @property
    def needs_pages(self) -> bool:
        """Whether the crawl must go page by page, because pages differ in weight or links."""
        return self.weighted_freshness > 0 or self.links > 0


@lru_cache(maxsize=64)
def parse_fitness(text: str) -> FitnessMixture:
    """Parse a measure or a mixture of measures; weights are scaled to the sum 1.

    >>> parse_fitness("ndcg").ndcg, parse_fitness("3*changerate + freshness").freshness
    (1.0, 0.25)
    """
    weights = dict.fromkeys(FITNESS_MEASURES, 0.0)
    for part in text.split("+"):
        match = re.fullmatch(r"\s*(?:([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*\*)?\s*([a-z_]+)\s*", part)
        if match is None or match[2] not in weights:
            raise UsageError(
                f"fitness {text[:80]!r} is not a measure or a mixture: write one of "
                f"{', '.join(FITNESS_MEASURES)}, or for example 0.7*changerate+0.3*freshness"
            )
        weights[match[2]] += float(match[1] or 1.0)
    total = sum(weights.values())
    if not total:
        raise UsageError(f"fitness {text[:80]!r}: one weight at least must be above 0")
    return FitnessMixture(**{name: weight / total for name, weight in weights.items()})


@dataclass(frozen=True, slots=True)
class CrawlScale:
    """What counts are divided by: the number of pages, and the cumulative gains of the ranks.

    ``gains`` begins with that of no rank and ends with that of all k.
    """

    pages: int
    gains: FloatArray

    @property
    def k(self) -> int:
        """Return the number of visits in a cycle."""
        return len(self.gains) - 1


class CycleCounts(NamedTuple):
    """Changes found by cycle, their gain, and the stale copies before and after the visits."""

    changes_found: Ints
    gain: FloatArray
    stale_before: Ints
    stale_after: Ints


@dataclass(frozen=True, slots=True)
class FormulaResult:
    """Fitness of a crawl, and the counts of each cycle after the warm-up.

    ``fitness`` is the measure or mixture that is sought; for a crawl that was stopped because it
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
    counts: CycleCounts,
    cycles: int,
    scale: CrawlScale,
    mixture: FitnessMixture,
    other_fitness: float = 0.0,
) -> FormulaResult:
    """Return the result of a crawl that ended after so many cycles, stopped early or not.

    ``other_fitness`` is the weighted part of the measures that do not follow from counts.
    """
    measured = slice(WARM_UP_CYCLES, cycles)
    stale_before, stale_after = counts.stale_before[measured], counts.stale_after[measured]
    changes_found, gain = counts.changes_found[measured], counts.gain[measured]
    ideal_gain = scale.gains[np.minimum(scale.k, stale_before)]
    is_ranked = stale_before > 0
    cycles_left = len(counts.changes_found) - cycles
    fitness = other_fitness
    if mixture.ndcg:
        values = gain[is_ranked] / ideal_gain[is_ranked]
        fitness += mixture.ndcg * bounded_mean(values, cycles_left)
    if mixture.changerate:
        fitness += mixture.changerate * bounded_mean(changes_found / scale.k, cycles_left)
    if mixture.freshness:
        values = 1.0 - stale_after / scale.pages
        fitness += mixture.freshness * bounded_mean(values, cycles_left)
    return FormulaResult(
        fitness, cycles_left > 0, changes_found, gain, ideal_gain, stale_before, stale_after
    )


def bounded_mean(values: FloatArray, cycles_left: int) -> float:
    """Return the mean of values if all remaining cycles had the value 1: an upper bound.

    >>> bounded_mean(np.array([0.5, 0.5]), 0), bounded_mean(np.array([0.5, 0.5]), 2)
    (0.5, 0.75)
    """
    cycle_count = len(values) + cycles_left
    # Add in the order of the compiled crawl: another order may change the last bit of the sum.
    total = float(np.cumsum(values)[-1]) if len(values) else 0.0
    return (total + cycles_left) / cycle_count if cycle_count else 0.0


def stop_cycle(cycles: int, floor: float) -> int:
    """Return the cycle after which a crawl at half the floor cannot reach the floor any more.

    >>> stop_cycle(102, 0.5), stop_cycle(102, NO_FLOOR)
    (68, -1)
    """
    if not 0.0 < floor <= 1.0:
        return -1
    return WARM_UP_CYCLES - 1 + ceil((cycles - WARM_UP_CYCLES) * (1.0 - floor) / (1.0 - floor / 2))
