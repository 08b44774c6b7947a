"""Compiled loops over the grid of change rates: learning from looks, and averages of posteriors.

Log-likelihoods are stored as of a page's last look and fade from then on, so that only pages that
are looked at are written. A constant added to all rates has no effect; the highest value is kept at
zero.
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

LOWEST_EXPONENT = -700.0
SERIES_LIMIT = 1e-3
LOG_OF_TWO = math.log(2.0)
LOG2_E = 1.0 / LOG_OF_TWO
EXPONENT_BITS, EXPONENT_BIAS = 52, 1023
COEFFICIENTS = tuple(1 / math.factorial(power) for power in range(11))


@njit(cache=True, fastmath=True)
def fast_exp(x: float) -> float:
    """Return e to the power of x ≤ 0 with an error below 3e-13, in a form that compilers vectorise.

    The argument is split into a power of two and a remainder, for which a polynomial is used.
    """
    x = max(x, LOWEST_EXPONENT)
    power = np.int64(x * LOG2_E - 0.5)
    remainder = x - power * LOG_OF_TWO
    series = COEFFICIENTS[10]
    series = series * remainder + COEFFICIENTS[9]
    series = series * remainder + COEFFICIENTS[8]
    series = series * remainder + COEFFICIENTS[7]
    series = series * remainder + COEFFICIENTS[6]
    series = series * remainder + COEFFICIENTS[5]
    series = series * remainder + COEFFICIENTS[4]
    series = series * remainder + COEFFICIENTS[3]
    series = series * remainder + COEFFICIENTS[2]
    series = series * remainder + COEFFICIENTS[1]
    series = series * remainder + COEFFICIENTS[0]
    return series * np.int64((power + EXPONENT_BIAS) << EXPONENT_BITS).view(np.float64)


@njit(cache=True, nogil=True)
def add_looks(
    likelihood: SmallFloatArray,
    looks: tuple[RowNumbers, FloatArray, NDArray[np.bool_], NDArray[np.bool_], FloatArray],
    rates: FloatArray,
    outlier_chance: float,
    log_retention: float,
) -> None:
    """Update log-likelihoods look by look: fade the earlier evidence, add that of the look.

    The last column of the looks is the hazard of shared events between a look and the previous one.
    """
    rows, gaps, measured, changed, hazards = looks
    for look in range(len(rows)):
        log_likelihood = likelihood[rows[look]]
        days = 0.0 if np.isnan(gaps[look]) else gaps[look]
        retention, highest = math.exp(log_retention * days), -np.inf
        for rate in range(RATE_COUNT):
            value = log_likelihood[rate] * retention
            if measured[look]:
                survival = math.exp(-rates[rate] * days - hazards[look])
                chance = 1.0 - survival if changed[look] else survival
                value += math.log(outlier_chance + (1.0 - 2.0 * outlier_chance) * chance)
            log_likelihood[rate] = value
            highest = max(highest, value)
        for rate in range(RATE_COUNT):
            log_likelihood[rate] -= highest


@njit(cache=True, nogil=True)
def correct_looks(
    likelihood: SmallFloatArray,
    looks: tuple[RowNumbers, FloatArray, FloatArray],
    hazards: tuple[FloatArray, FloatArray],
    rates: FloatArray,
    outlier_chance: float,
) -> None:
    """Replace the evidence of looks that found a change after their hazard has changed.

    The looks have a row, a gap and the share of their evidence that remains; ``hazards`` are the
    old and the new ones.
    """
    (rows, gaps, retained), (old_hazards, new_hazards) = looks, hazards
    for look in range(len(rows)):
        log_likelihood, highest = likelihood[rows[look]], -np.inf
        for rate in range(RATE_COUNT):
            survival = math.exp(-rates[rate] * gaps[look])
            old = 1.0 - survival * math.exp(-old_hazards[look])
            new = 1.0 - survival * math.exp(-new_hazards[look])
            ratio = (outlier_chance + (1.0 - 2.0 * outlier_chance) * new) / (
                outlier_chance + (1.0 - 2.0 * outlier_chance) * old
            )
            log_likelihood[rate] += retained[look] * math.log(ratio)
            highest = max(highest, log_likelihood[rate])
        for rate in range(RATE_COUNT):
            log_likelihood[rate] -= highest


@njit(cache=True, nogil=True, fastmath=True)
def posteriors(
    likelihood: SmallFloatArray,
    rows: RowNumbers,
    ages: FloatArray,
    prior: PriorRows,
    log_retention: float,
) -> FloatArray:
    """Return the posterior of every row; it sums to 1."""
    table, prior_rows = prior
    weights = np.empty((len(rows), RATE_COUNT))
    for index in range(len(rows)):
        log_likelihood, prior_weights = likelihood[rows[index]], table[prior_rows[index]]
        retention, total = fast_exp(log_retention * ages[index]), 0.0
        for rate in range(RATE_COUNT):
            weight = prior_weights[rate] * fast_exp(retention * log_likelihood[rate])
            weights[index, rate] = weight
            total += weight
        scale = 1.0 / total
        for rate in range(RATE_COUNT):
            weights[index, rate] *= scale
    return weights


@njit(cache=True, nogil=True, fastmath=True)
def mean_rates(
    likelihood: SmallFloatArray,
    rows: RowNumbers,
    ages: FloatArray,
    prior: PriorRows,
    rates: FloatArray,
    log_retention: float,
) -> FloatArray:
    """Return the mean rate of every row."""
    table, prior_rows = prior
    means = np.empty(len(rows))
    for index in range(len(rows)):
        log_likelihood, prior_weights = likelihood[rows[index]], table[prior_rows[index]]
        retention, total, mean = fast_exp(log_retention * ages[index]), 0.0, 0.0
        for rate in range(RATE_COUNT):
            weight = prior_weights[rate] * fast_exp(retention * log_likelihood[rate])
            total += weight
            mean += weight * rates[rate]
        means[index] = mean / total
    return means


@njit(cache=True, nogil=True, fastmath=True)
def change_chances_and_gains(
    likelihood: SmallFloatArray,
    rows: RowNumbers,
    exposure: tuple[FloatArray, FloatArray, FloatArray],
    prior: PriorRows,
    rates: FloatArray,
    log_retention: float,
) -> tuple[FloatArray, FloatArray]:
    """Return each page's chance of having changed, and the fresh days that a look would gain.

    ``exposure`` has the age in days, the hazard of shared events since the last look, and their
    mean rate. Where few changes are expected, the gain is a difference of almost equal numbers, so
    its series is used.
    """
    (ages, hazards, event_rates), (table, prior_rows) = exposure, prior
    chances, gains = np.empty(len(rows)), np.empty(len(rows))
    for index in range(len(rows)):
        log_likelihood, prior_weights = likelihood[rows[index]], table[prior_rows[index]]
        retention = fast_exp(log_retention * ages[index])
        age, hazard, event_rate = ages[index], hazards[index], event_rates[index]
        total, survival, gain = 0.0, 0.0, 0.0
        for rate in range(RATE_COUNT):
            weight = prior_weights[rate] * fast_exp(retention * log_likelihood[rate])
            changes = rates[rate] * age + hazard
            unchanged = fast_exp(-changes)
            series = changes * changes * (0.5 - changes * (1 / 3 - changes / 8))
            difference = 1.0 - (1.0 + changes) * unchanged
            lifetimes_gained = series if changes < SERIES_LIMIT else difference
            total += weight
            survival += weight * unchanged
            gain += weight * lifetimes_gained / (rates[rate] + event_rate)
        chances[index] = max(0.0, 1.0 - survival / total)
        gains[index] = max(0.0, gain / total)
    return chances, gains


@njit(cache=True, nogil=True, fastmath=True)
def survival_by_day(rates: FloatArray, days: int) -> FloatArray:
    """Return the chance of no change within 0, 1, 2 and more whole days, a row each."""
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
    log_retention: float,
) -> tuple[FloatArray, FloatArray]:
    """Return each page's chance of having changed, and its mean rate.

    ``grid`` has the rates and the table of ``survival_by_day``. The table serves for ages of whole
    days, which all ages are in a crawl in cycles; for other ages the survival is computed.
    """
    (table, prior_rows), (rates, survival_table) = prior, grid
    chances, means = np.empty(len(rows)), np.empty(len(rows))
    likelihoods, survival = np.empty(RATE_COUNT), np.empty(RATE_COUNT)
    for index in range(len(rows)):
        log_likelihood, prior_weights = likelihood[rows[index]], table[prior_rows[index]]
        age = ages[index]
        retention = fast_exp(log_retention * age)
        for rate in range(RATE_COUNT):
            likelihoods[rate] = fast_exp(retention * log_likelihood[rate])
        if age < len(survival_table) and age == int(age):
            chances[index], means[index] = posterior_averages(
                likelihoods, prior_weights, survival_table[int(age)], rates
            )
        else:
            for rate in range(RATE_COUNT):
                survival[rate] = fast_exp(-rates[rate] * age)
            chances[index], means[index] = posterior_averages(
                likelihoods, prior_weights, survival, rates
            )
    return chances, means


@njit(cache=True, fastmath=True)
def posterior_averages(
    likelihoods: FloatArray, prior_weights: FloatArray, survival: FloatArray, rates: FloatArray
) -> tuple[float, float]:
    """Return the chance of having changed and the mean rate of one posterior."""
    total, unchanged, mean = 0.0, 0.0, 0.0
    for rate in range(RATE_COUNT):
        weight = likelihoods[rate] * prior_weights[rate]
        total += weight
        unchanged += weight * survival[rate]
        mean += weight * rates[rate]
    scale = 1.0 / total
    return max(0.0, 1.0 - unchanged * scale), mean * scale


@njit(cache=True, nogil=True, fastmath=True)
def faded_likelihoods(
    likelihood: SmallFloatArray, rows: RowNumbers, ages: FloatArray, log_retention: float
) -> FloatArray:
    """Return the faded likelihood of each rate, relative to the likeliest rate of its row."""
    likelihoods = np.empty((len(rows), RATE_COUNT))
    for index in range(len(rows)):
        log_likelihood, retention = likelihood[rows[index]], fast_exp(log_retention * ages[index])
        for rate in range(RATE_COUNT):
            likelihoods[index, rate] = fast_exp(retention * log_likelihood[rate])
    return likelihoods
