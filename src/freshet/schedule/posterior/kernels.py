"""The compiled loops over the grid of change rates: learning from looks, and what they add up to.

The logarithms of likelihoods are kept as of a page's last look and fade from then on, so that only
pages that are looked at are written; a constant added to all rates alters nothing, and the highest
is kept at zero.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import Floats, Indices
from freshet.schedule.cadence import RATES
from freshet.schedule.states import Small

Numbers = NDArray[np.intp] | Indices
Prior = tuple[Floats, Indices]

LOWEST_EXPONENT = -700.0
SMALL = 1e-3
LOG_OF_TWO = math.log(2.0)
TWO_TO = 1.0 / LOG_OF_TWO
EXPONENT_BITS, EXPONENT_BIAS = 52, 1023
COEFFICIENTS = tuple(1 / math.factorial(power) for power in range(11))


@njit(cache=True, fastmath=True)
def exp(x: float) -> float:
    """Return e to the power of x ≤ 0 within 3e-13 of it, in a form that compilers vectorise.

    The argument is split into a power of two and a rest, for which a polynomial serves.
    """
    x = max(x, LOWEST_EXPONENT)
    power = np.int64(x * TWO_TO - 0.5)
    rest = x - power * LOG_OF_TWO
    series = COEFFICIENTS[10]
    series = series * rest + COEFFICIENTS[9]
    series = series * rest + COEFFICIENTS[8]
    series = series * rest + COEFFICIENTS[7]
    series = series * rest + COEFFICIENTS[6]
    series = series * rest + COEFFICIENTS[5]
    series = series * rest + COEFFICIENTS[4]
    series = series * rest + COEFFICIENTS[3]
    series = series * rest + COEFFICIENTS[2]
    series = series * rest + COEFFICIENTS[1]
    series = series * rest + COEFFICIENTS[0]
    return series * np.int64((power + EXPONENT_BIAS) << EXPONENT_BITS).view(np.float64)


@njit(cache=True, nogil=True)
def observe(
    likelihood: Small,
    looks: tuple[Numbers, Floats, NDArray[np.bool_], NDArray[np.bool_]],
    rates: Floats,
    outliers: float,
    fading: float,
) -> None:
    """Take looks in, in their order: fade what was known, add what each of them says."""
    rows, gaps, measured, changed = looks
    for look in range(len(rows)):
        known = likelihood[rows[look]]
        days = 0.0 if np.isnan(gaps[look]) else gaps[look]
        keeps, highest = math.exp(fading * days), -np.inf
        for rate in range(RATES):
            log = known[rate] * keeps
            if measured[look]:
                still = math.exp(-rates[rate] * days)
                chance = 1.0 - still if changed[look] else still
                log += math.log(outliers + (1.0 - 2.0 * outliers) * chance)
            known[rate] = log
            highest = max(highest, log)
        for rate in range(RATES):
            known[rate] -= highest


@njit(cache=True, nogil=True, fastmath=True)
def posteriors(
    likelihood: Small, rows: Numbers, ages: Floats, prior: Prior, fading: float
) -> Floats:
    """Return the posterior of every row, which adds up to 1."""
    table, which = prior
    weights = np.empty((len(rows), RATES))
    for place in range(len(rows)):
        known, expected = likelihood[rows[place]], table[which[place]]
        keeps, total = exp(fading * ages[place]), 0.0
        for rate in range(RATES):
            weight = expected[rate] * exp(keeps * known[rate])
            weights[place, rate] = weight
            total += weight
        share = 1.0 / total
        for rate in range(RATES):
            weights[place, rate] *= share
    return weights


@njit(cache=True, nogil=True, fastmath=True)
def mean_rates(
    likelihood: Small,
    rows: Numbers,
    ages: Floats,
    prior: Prior,
    rates: Floats,
    fading: float,
) -> Floats:
    """Return the mean rate of every row."""
    table, which = prior
    means = np.empty(len(rows))
    for place in range(len(rows)):
        known, expected = likelihood[rows[place]], table[which[place]]
        keeps, total, mean = exp(fading * ages[place]), 0.0, 0.0
        for rate in range(RATES):
            weight = expected[rate] * exp(keeps * known[rate])
            total += weight
            mean += weight * rates[rate]
        means[place] = mean / total
    return means


@njit(cache=True, nogil=True, fastmath=True)
def forecast(
    likelihood: Small,
    rows: Numbers,
    ages: tuple[Floats, Floats],
    prior: Prior,
    rates: Floats,
    fading: float,
) -> tuple[Floats, Floats]:
    """Return each page's chance to have changed, and the fresh days that a look would gain.

    Ages are in days as they passed, and in days of usual pace. Where few changes are expected, the
    gain is a difference of almost equal numbers: its series serves.
    """
    (passed, stretched), (table, which) = ages, prior
    chances, gains, lives = np.empty(len(rows)), np.empty(len(rows)), 1.0 / rates
    for place in range(len(rows)):
        known, expected = likelihood[rows[place]], table[which[place]]
        keeps, total, still, gain = exp(fading * passed[place]), 0.0, 0.0, 0.0
        for rate in range(RATES):
            weight = expected[rate] * exp(keeps * known[rate])
            changes = rates[rate] * stretched[place]
            unchanged = exp(-changes)
            square = changes * changes * (0.5 - changes * (1 / 3 - changes / 8))
            beyond = 1.0 - (1.0 + changes) * unchanged
            total += weight
            still += weight * unchanged
            gain += weight * lives[rate] * (square if changes < SMALL else beyond)
        chances[place] = max(0.0, 1.0 - still / total)
        gains[place] = max(0.0, gain / total)
    return chances, gains


@njit(cache=True, nogil=True)
def sums_by_group(weights: Floats, groups: NDArray[np.intp], count: int) -> Floats:
    """Return the sum of every group's rows, added up in the order of the rows."""
    sums = np.zeros((count, RATES))
    for row in range(len(weights)):
        for rate in range(RATES):
            sums[groups[row], rate] += weights[row, rate]
    return sums


@njit(cache=True, nogil=True)
def nearest_levels(
    rows: Numbers, hosts: tuple[Indices, Indices], sites: tuple[Indices, Indices]
) -> Indices:
    """Return which prior holds for every row: its host's, else its site's, else the first.

    Hosts and sites are those of all pages, and where the prior of each is, if it has one.
    """
    levels = np.zeros(len(rows), np.int32)
    for place in range(len(rows)):
        level = hosts[1][hosts[0][rows[place]]]
        if level < 0:
            level = max(0, sites[1][sites[0][rows[place]]])
        levels[place] = level
    return levels
