"""Compiled loops over the grid of change rates: learning from looks, and averages of posteriors.

Log-likelihoods are stored as of a page's last look and fade from then on, so that only pages that
are looked at are written. A constant added to all rates has no effect; the highest value is kept at
zero.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.schedule.cadence import CELL_COUNT, POISSON_CELLS
from freshet.schedule.kernels.change_processes import (
    cell_survival,
    fast_exp,
    fast_log,
    regular_survival,
)

RowNumbers = NDArray[np.intp] | IndexArray
PriorRows = tuple[FloatArray, IndexArray]
Exposure = tuple[FloatArray, FloatArray, FloatArray]


@njit(cache=True, fastmath=True)
def retained(log_retention: float, days: float) -> float:
    """Return the share of the evidence that remains, given the days since the last look.

    At most one day's share is lost, so that pages that are rarely looked at keep their evidence.
    """
    return fast_exp(log_retention * min(1.0, days))


@njit(cache=True, nogil=True)
def add_looks(
    likelihood: Float32Array,
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
        retention, highest = retained(log_retention, days), -np.inf
        for cell in range(CELL_COUNT):
            value = log_likelihood[cell] * retention
            if measured[look]:
                survival = cell_survival(cell, rates[cell] * days) * fast_exp(-hazards[look])
                chance = 1.0 - survival if changed[look] else survival
                value += math.log(outlier_chance + (1.0 - 2.0 * outlier_chance) * chance)
            log_likelihood[cell] = value
            highest = max(highest, value)
        for cell in range(CELL_COUNT):
            log_likelihood[cell] -= highest


@njit(cache=True, nogil=True)
def correct_looks(
    likelihood: Float32Array,
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
    survival, sure = np.empty(CELL_COUNT), 1.0 - 2.0 * outlier_chance
    for look in range(len(rows)):
        log_likelihood, highest = likelihood[rows[look]], -np.inf
        set_survival(survival, rates, gaps[look])
        no_old_event, no_new_event = fast_exp(-old_hazards[look]), fast_exp(-new_hazards[look])
        for cell in range(CELL_COUNT):
            old = outlier_chance + sure * (1.0 - survival[cell] * no_old_event)
            new = outlier_chance + sure * (1.0 - survival[cell] * no_new_event)
            log_likelihood[cell] += retained[look] * fast_log(new / old)
        for cell in range(CELL_COUNT):
            highest = max(highest, log_likelihood[cell])
        for cell in range(CELL_COUNT):
            log_likelihood[cell] -= highest


@njit(cache=True, fastmath=True)
def set_survival(survival: FloatArray, rates: FloatArray, days: float) -> None:
    """Set the chance of no change in each cell after some days."""
    for cell in range(POISSON_CELLS):
        survival[cell] = fast_exp(-rates[cell] * days)
    for cell in range(POISSON_CELLS, CELL_COUNT):
        survival[cell] = regular_survival(rates[cell] * days)


@njit(cache=True, nogil=True, fastmath=True)
def posteriors(
    likelihood: Float32Array,
    rows: RowNumbers,
    ages: FloatArray,
    prior: PriorRows,
    log_retention: float,
) -> FloatArray:
    """Return the posterior of every row; it sums to 1."""
    table, prior_rows = prior
    weights = np.empty((len(rows), CELL_COUNT))
    for index in range(len(rows)):
        log_likelihood, prior_weights = likelihood[rows[index]], table[prior_rows[index]]
        retention, total = retained(log_retention, ages[index]), 0.0
        for cell in range(CELL_COUNT):
            weight = prior_weights[cell] * fast_exp(retention * log_likelihood[cell])
            weights[index, cell] = weight
            total += weight
        scale = 1.0 / total
        for cell in range(CELL_COUNT):
            weights[index, cell] *= scale
    return weights


@njit(cache=True, nogil=True, fastmath=True)
def mean_rates(
    likelihood: Float32Array,
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
        retention, total, mean = retained(log_retention, ages[index]), 0.0, 0.0
        for cell in range(CELL_COUNT):
            weight = prior_weights[cell] * fast_exp(retention * log_likelihood[cell])
            total += weight
            mean += weight * rates[cell]
        means[index] = mean / total
    return means


@njit(cache=True, nogil=True, fastmath=True)
def mean_survival(
    likelihood: Float32Array,
    rows: RowNumbers,
    days: FloatArray,
    prior: PriorRows,
    rates: FloatArray,
) -> FloatArray:
    """Return the survival of every row after some days, averaged over its posterior."""
    table, prior_rows = prior
    survival, cell_survivals = np.empty(len(rows)), np.empty(CELL_COUNT)
    for index in range(len(rows)):
        log_likelihood, prior_weights = likelihood[rows[index]], table[prior_rows[index]]
        set_survival(cell_survivals, rates, days[index])
        total, unchanged = 0.0, 0.0
        for cell in range(CELL_COUNT):
            weight = prior_weights[cell] * fast_exp(log_likelihood[cell])
            total += weight
            unchanged += weight * cell_survivals[cell]
        survival[index] = unchanged / total
    return survival


@njit(cache=True, nogil=True)
def survival_of_cells(days: FloatArray, rates: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted survival of every row after some days, a column per horizon."""
    survival = np.zeros(days.shape)
    for row in range(days.shape[0]):
        for column in range(days.shape[1]):
            for cell in range(CELL_COUNT):
                changes = rates[cell] * days[row, column]
                survival[row, column] += weights[row, cell] * cell_survival(cell, changes)
    return survival


@njit(cache=True, nogil=True, fastmath=True)
def survival_by_day(rates: FloatArray, days: int) -> FloatArray:
    """Return the chance of no change within 0, 1, 2 and more whole days, a row each."""
    table = np.empty((days, len(rates)))
    for day in range(days):
        for cell in range(len(rates)):
            table[day, cell] = cell_survival(cell, rates[cell] * day)
    return table


@njit(cache=True, nogil=True, fastmath=True)
def change_chances_and_rates(
    likelihood: Float32Array,
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
    likelihoods, survival = np.empty(CELL_COUNT), np.empty(CELL_COUNT)
    for index in range(len(rows)):
        log_likelihood, prior_weights = likelihood[rows[index]], table[prior_rows[index]]
        age = ages[index]
        retention = retained(log_retention, age)
        for cell in range(CELL_COUNT):
            likelihoods[cell] = fast_exp(retention * log_likelihood[cell])
        if age < len(survival_table) and age == int(age):
            chances[index], means[index] = posterior_averages(
                likelihoods, prior_weights, survival_table[int(age)], rates
            )
        else:
            for cell in range(CELL_COUNT):
                survival[cell] = cell_survival(cell, rates[cell] * age)
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
    for cell in range(CELL_COUNT):
        weight = likelihoods[cell] * prior_weights[cell]
        total += weight
        unchanged += weight * survival[cell]
        mean += weight * rates[cell]
    scale = 1.0 / total
    return max(0.0, 1.0 - unchanged * scale), mean * scale


@njit(cache=True, nogil=True, fastmath=True)
def faded_likelihoods(
    likelihood: Float32Array, rows: RowNumbers, ages: FloatArray, log_retention: float
) -> FloatArray:
    """Return the faded likelihood of each rate, relative to the likeliest rate of its row."""
    likelihoods = np.empty((len(rows), CELL_COUNT))
    for index in range(len(rows)):
        log_likelihood, retention = likelihood[rows[index]], retained(log_retention, ages[index])
        for cell in range(CELL_COUNT):
            likelihoods[index, cell] = fast_exp(retention * log_likelihood[cell])
    return likelihoods


@njit(cache=True, nogil=True, fastmath=True)
def days_to_first_change(
    gap_days: FloatArray, weights: FloatArray, rates: FloatArray
) -> FloatArray:
    """Return the expected days until the first change, given that one came within a gap.

    ``weights`` has a row per gap with the weight of each rate.
    """
    days = np.empty(len(gap_days))
    for index in range(len(gap_days)):
        gap, total, chance = gap_days[index], 0.0, 0.0
        for cell in range(len(rates)):
            changes = rates[cell] * gap
            survival = fast_exp(-changes)
            total += weights[index, cell] * (1.0 - survival - changes * survival) / rates[cell]
            chance += weights[index, cell] * (1.0 - survival)
        days[index] = min(gap, total / chance) if chance > 1e-9 else 0.5 * gap
    return days
