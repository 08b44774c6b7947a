"""The compiled loops over the grid of change rates: learning from looks, and what they add up to.

The logarithms of likelihoods are kept as of a page's last look and fade from then on, so that only
pages that are looked at are written; a constant added to all rates alters nothing, and the highest
is kept at zero.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.cadence import RATE_COUNT
from freshet.schedule.columns import SmallFloatArray

RowNumbers = NDArray[np.intp] | IndexArray
PriorRows = tuple[FloatArray, IndexArray]
PriorWeights = tuple[float, float, float]

LOWEST_EXPONENT = -700.0
SERIES_LIMIT = 1e-3
LOG_OF_TWO = math.log(2.0)
LOG2_E = 1.0 / LOG_OF_TWO
EXPONENT_BITS, EXPONENT_BIAS = 52, 1023
COEFFICIENTS = tuple(1 / math.factorial(power) for power in range(11))


@njit(cache=True, fastmath=True)
def fast_exp(x: float) -> float:
    """Return e to the power of x ≤ 0 within 3e-13 of it, in a form that compilers vectorise.

    The argument is split into a power of two and a rest, for which a polynomial serves.
    """
    x = max(x, LOWEST_EXPONENT)
    power = np.int64(x * LOG2_E - 0.5)
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
def add_looks(
    likelihood: SmallFloatArray,
    looks: tuple[RowNumbers, FloatArray, NDArray[np.bool_], NDArray[np.bool_]],
    rates: FloatArray,
    outliers: float,
    fading: float,
) -> None:
    """Take looks in, in their order: fade what was known, add what each of them says."""
    rows, gaps, measured, changed = looks
    for look in range(len(rows)):
        known = likelihood[rows[look]]
        days = 0.0 if np.isnan(gaps[look]) else gaps[look]
        keeps, highest = math.exp(fading * days), -np.inf
        for rate in range(RATE_COUNT):
            log = known[rate] * keeps
            if measured[look]:
                still = math.exp(-rates[rate] * days)
                chance = 1.0 - still if changed[look] else still
                log += math.log(outliers + (1.0 - 2.0 * outliers) * chance)
            known[rate] = log
            highest = max(highest, log)
        for rate in range(RATE_COUNT):
            known[rate] -= highest


@njit(cache=True, nogil=True, fastmath=True)
def posteriors(
    likelihood: SmallFloatArray, rows: RowNumbers, ages: FloatArray, prior: PriorRows, fading: float
) -> FloatArray:
    """Return the posterior of every row, which adds up to 1."""
    table, which = prior
    weights = np.empty((len(rows), RATE_COUNT))
    for place in range(len(rows)):
        known, expected = likelihood[rows[place]], table[which[place]]
        keeps, total = fast_exp(fading * ages[place]), 0.0
        for rate in range(RATE_COUNT):
            weight = expected[rate] * fast_exp(keeps * known[rate])
            weights[place, rate] = weight
            total += weight
        share = 1.0 / total
        for rate in range(RATE_COUNT):
            weights[place, rate] *= share
    return weights


@njit(cache=True, nogil=True, fastmath=True)
def mean_rates(
    likelihood: SmallFloatArray,
    rows: RowNumbers,
    ages: FloatArray,
    prior: PriorRows,
    rates: FloatArray,
    fading: float,
) -> FloatArray:
    """Return the mean rate of every row."""
    table, which = prior
    means = np.empty(len(rows))
    for place in range(len(rows)):
        known, expected = likelihood[rows[place]], table[which[place]]
        keeps, total, mean = fast_exp(fading * ages[place]), 0.0, 0.0
        for rate in range(RATE_COUNT):
            weight = expected[rate] * fast_exp(keeps * known[rate])
            total += weight
            mean += weight * rates[rate]
        means[place] = mean / total
    return means


@njit(cache=True, nogil=True, fastmath=True)
def change_chances_and_gains(
    likelihood: SmallFloatArray,
    rows: RowNumbers,
    ages: tuple[FloatArray, FloatArray],
    prior: PriorRows,
    rates: FloatArray,
    fading: float,
) -> tuple[FloatArray, FloatArray]:
    """Return each page's chance to have changed, and the fresh days that a look would gain.

    Ages are in days as they passed, and in days of usual pace. Where few changes are expected, the
    gain is a difference of almost equal numbers: its series serves.
    """
    (passed, stretched), (table, which) = ages, prior
    chances, gains, lives = np.empty(len(rows)), np.empty(len(rows)), 1.0 / rates
    for place in range(len(rows)):
        known, expected = likelihood[rows[place]], table[which[place]]
        keeps, total, still, gain = fast_exp(fading * passed[place]), 0.0, 0.0, 0.0
        for rate in range(RATE_COUNT):
            weight = expected[rate] * fast_exp(keeps * known[rate])
            changes = rates[rate] * stretched[place]
            unchanged = fast_exp(-changes)
            square = changes * changes * (0.5 - changes * (1 / 3 - changes / 8))
            beyond = 1.0 - (1.0 + changes) * unchanged
            total += weight
            still += weight * unchanged
            gain += weight * lives[rate] * (square if changes < SERIES_LIMIT else beyond)
        chances[place] = max(0.0, 1.0 - still / total)
        gains[place] = max(0.0, gain / total)
    return chances, gains


@njit(cache=True, nogil=True, fastmath=True)
def survival_by_day(rates: FloatArray, days: int) -> FloatArray:
    """Return how likely no change is in 0, 1, 2 and more whole days, a row each."""
    table = np.empty((days, len(rates)))
    for day in range(days):
        for rate in range(len(rates)):
            table[day, rate] = fast_exp(-rates[rate] * day)
    return table


@njit(cache=True, nogil=True, fastmath=True)
def change_chances_and_rates(
    likelihood: SmallFloatArray,
    rows: RowNumbers,
    ages: FloatArray,
    prior: PriorRows,
    grid: tuple[FloatArray, FloatArray],
    fading: float,
) -> tuple[FloatArray, FloatArray]:
    """Return each page's chance to have changed, and its mean rate.

    The grid has the rates, and the table of ``survival_by_day`` after whole days, which all ages are in
    a crawl in cycles; for other ages the same is computed.
    """
    (table, which), (rates, whole) = prior, grid
    chances, means = np.empty(len(rows)), np.empty(len(rows))
    likely, still = np.empty(RATE_COUNT), np.empty(RATE_COUNT)
    for place in range(len(rows)):
        age, known, expected = ages[place], likelihood[rows[place]], table[which[place]]
        keeps = fast_exp(fading * age)
        for rate in range(RATE_COUNT):
            likely[rate] = fast_exp(keeps * known[rate])
        if age < len(whole) and age == int(age):
            chances[place], means[place] = posterior_averages(
                likely, expected, whole[int(age)], rates
            )
        else:
            for rate in range(RATE_COUNT):
                still[rate] = fast_exp(-rates[rate] * age)
            chances[place], means[place] = posterior_averages(likely, expected, still, rates)
    return chances, means


@njit(cache=True, fastmath=True)
def posterior_averages(
    likely: FloatArray, expected: FloatArray, still: FloatArray, rates: FloatArray
) -> tuple[float, float]:
    """Return the chance to have changed and the mean rate of one posterior."""
    total, same, mean = 0.0, 0.0, 0.0
    for rate in range(RATE_COUNT):
        weight = likely[rate] * expected[rate]
        total += weight
        same += weight * still[rate]
        mean += weight * rates[rate]
    share = 1.0 / total
    return max(0.0, 1.0 - same * share), mean * share


@njit(cache=True, nogil=True, fastmath=True)
def faded_likelihoods(
    likelihood: SmallFloatArray, rows: RowNumbers, ages: FloatArray, fading: float
) -> FloatArray:
    """Return what looks at every row still say of each rate, as shares of the likeliest's."""
    weights = np.empty((len(rows), RATE_COUNT))
    for place in range(len(rows)):
        known, keeps = likelihood[rows[place]], fast_exp(fading * ages[place])
        for rate in range(RATE_COUNT):
            weights[place, rate] = fast_exp(keeps * known[rate])
    return weights


@njit(cache=True, nogil=True, fastmath=True)
def posterior_sums(weights: FloatArray, groups: RowNumbers, expected: FloatArray) -> FloatArray:
    """Return the sum of every group's posteriors, by its prior and what looks say of its rows."""
    sums = np.zeros(expected.shape)
    for row in range(len(weights)):
        total, prior, into = 0.0, expected[groups[row]], sums[groups[row]]
        for rate in range(RATE_COUNT):
            total += weights[row, rate] * prior[rate]
        share = 1.0 / total
        for rate in range(RATE_COUNT):
            into[rate] += weights[row, rate] * share
    return sums * expected


@njit(cache=True, nogil=True)
def number_site_host_pairs(
    sites: IndexArray, hosts: IndexArray, count: int
) -> tuple[IndexArray, IndexArray]:
    """Number the pairs of a site and one of ``count`` hosts as they come.

    Returns the number of every row's pair, and the first row of every pair.
    """
    numbers, firsts = np.empty(len(hosts), np.int32), np.empty(len(hosts), np.int32)
    newest, before = np.full(count, -1, np.int32), np.empty(len(hosts), np.int32)
    found = 0
    for row in range(len(hosts)):
        pair = newest[hosts[row]]
        while pair >= 0 and sites[firsts[pair]] != sites[row]:
            pair = before[pair]
        if pair < 0:
            pair = found
            firsts[pair], before[pair] = row, newest[hosts[row]]
            newest[hosts[row]] = pair
            found += 1
        numbers[row] = pair
    return numbers, firsts[:found]


@njit(cache=True, nogil=True)
def prior_table(
    sums: FloatArray,
    pages: FloatArray,
    above: tuple[IndexArray, IndexArray],
    first: FloatArray,
    firm: PriorWeights,
) -> FloatArray:
    """Return the collection's distribution, then those of sites and of hosts, from pairs' sums.

    ``above`` are the rows of every pair's site and host in what is returned; each level leans on
    the one above it, the collection's on what was thought ``first``.
    """
    sites, hosts = above
    lowest = sites.max() + 1
    table, counts = np.zeros((hosts.max() + 1, RATE_COUNT)), np.zeros(hosts.max() + 1)
    for pair in range(len(sums)):
        for level in (np.int32(0), sites[pair], hosts[pair]):
            counts[level] += pages[pair]
            add_scaled(table[level], sums[pair], 1.0)
    for rate in range(RATE_COUNT):
        whole = (1.0 - firm[0]) * table[0, rate] / counts[0] + firm[0] * first[rate]
        table[0, rate] = whole
        for site in range(1, lowest):
            table[site, rate] = (table[site, rate] + firm[1] * whole) / (counts[site] + firm[1])
    for pair in range(len(sums)):
        share = firm[2] * pages[pair] / counts[hosts[pair]]
        add_scaled(table[hosts[pair]], table[sites[pair]], share)
    for host in range(lowest, len(table)):
        table[host] /= counts[host] + firm[2]
    return table


@njit(cache=True)
def add_scaled(into: FloatArray, what: FloatArray, times: float) -> None:
    """Add a distribution to another, so many times."""
    for rate in range(RATE_COUNT):
        into[rate] += times * what[rate]


@njit(cache=True, nogil=True)
def nearest_prior_rows(
    rows: RowNumbers, hosts: tuple[IndexArray, IndexArray], sites: tuple[IndexArray, IndexArray]
) -> IndexArray:
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
