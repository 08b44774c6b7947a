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
from freshet.schedule.cadence import CELL_COUNT, POISSON_CELLS
from freshet.schedule.columns import SmallFloatArray
from freshet.schedule.kernels.change_processes import (
    REGULAR_LIFETIME,
    cell_survival,
    fast_exp,
    regular_survival,
)

RowNumbers = NDArray[np.intp] | IndexArray
PriorRows = tuple[FloatArray, IndexArray]
Exposure = tuple[FloatArray, FloatArray, FloatArray]

SERIES_LIMIT = 1e-3
# How much of what waiting would add counts against a visit now; 1 is best if rates never change.
WAITING_WEIGHT = 0.7


@njit(cache=True, fastmath=True)
def retained(log_retention: float, days: float) -> float:
    """Return the share of the evidence that remains, given the days since the last look.

    At most one day's share is lost, so that pages that are rarely looked at keep their evidence.
    """
    return fast_exp(log_retention * min(1.0, days))


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
        for cell in range(CELL_COUNT):
            survival = cell_survival(cell, rates[cell] * gaps[look])
            old = 1.0 - survival * fast_exp(-old_hazards[look])
            new = 1.0 - survival * fast_exp(-new_hazards[look])
            ratio = (outlier_chance + (1.0 - 2.0 * outlier_chance) * new) / (
                outlier_chance + (1.0 - 2.0 * outlier_chance) * old
            )
            log_likelihood[cell] += retained[look] * math.log(ratio)
            highest = max(highest, log_likelihood[cell])
        for cell in range(CELL_COUNT):
            log_likelihood[cell] -= highest


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
        retention, total, mean = retained(log_retention, ages[index]), 0.0, 0.0
        for cell in range(CELL_COUNT):
            weight = prior_weights[cell] * fast_exp(retention * log_likelihood[cell])
            total += weight
            mean += weight * rates[cell]
        means[index] = mean / total
    return means


@njit(cache=True, nogil=True, fastmath=True)
def change_chances_and_values(
    likelihood: SmallFloatArray,
    rows: RowNumbers,
    exposure: Exposure,
    prior: PriorRows,
    rates: FloatArray,
    options: tuple[float, bool, float],
) -> tuple[FloatArray, FloatArray]:
    """Return each page's chance of having changed, and the value of a look.

    ``exposure`` has the age in days, the hazard of shared events since the last look, and their
    mean rate. ``options`` are the logarithm of the daily retention, whether the objective is
    freshness, and the least days between two looks (0 in continuous time).
    """
    (ages, hazards, event_rates), (table, prior_rows) = exposure, prior
    log_retention, for_freshness, step = options
    chances, values = np.empty(len(rows)), np.empty(len(rows))
    weights, averages = np.empty(CELL_COUNT), np.empty(2)
    for index in range(len(rows)):
        log_likelihood, prior_weights = likelihood[rows[index]], table[prior_rows[index]]
        retention, total = retained(log_retention, ages[index]), 0.0
        for cell in range(CELL_COUNT):
            weights[cell] = prior_weights[cell] * fast_exp(retention * log_likelihood[cell])
            total += weights[cell]
        if for_freshness:
            add_fresh_days(
                averages, weights, rates, ages[index], hazards[index], event_rates[index]
            )
        else:
            add_changes(averages, weights, rates, ages[index], hazards[index], step)
        chances[index] = max(0.0, 1.0 - averages[0] / total)
        values[index] = max(0.0, averages[1] / total)
    return chances, values


@njit(cache=True, fastmath=True)
def add_fresh_days(
    averages: FloatArray,
    weights: FloatArray,
    rates: FloatArray,
    age: float,
    hazard: float,
    event_rate: float,
) -> None:
    """Set the weighted survival, and the weighted fresh days that a look gains over a later one.

    Where few changes are expected, the gain is a difference of almost equal numbers, so its series
    is used.
    """
    survival, gain, no_event = 0.0, 0.0, fast_exp(-hazard)
    for cell in range(POISSON_CELLS):
        changes = rates[cell] * age + hazard
        unchanged = fast_exp(-changes)
        series = changes * changes * (0.5 - changes * (1 / 3 - changes / 8))
        difference = 1.0 - (1.0 + changes) * unchanged
        lifetimes_gained = series if changes < SERIES_LIMIT else difference
        survival += weights[cell] * unchanged
        gain += weights[cell] * lifetimes_gained / (rates[cell] + event_rate)
    for cell in range(POISSON_CELLS, CELL_COUNT):
        changes = rates[cell] * age
        unchanged, _, integral = regular_survival(changes)
        lost = REGULAR_LIFETIME - (integral - changes * unchanged) + hazard * unchanged
        lifetimes_gained = REGULAR_LIFETIME - no_event * lost
        survival += weights[cell] * unchanged * no_event
        gain += weights[cell] * lifetimes_gained / (rates[cell] + event_rate)
    averages[0], averages[1] = survival, gain


@njit(cache=True, fastmath=True)
def add_changes(
    averages: FloatArray,
    weights: FloatArray,
    rates: FloatArray,
    age: float,
    hazard: float,
    step: float,
) -> None:
    """Set the weighted survival, and the weighted chance of a change less what waiting would add.

    Visits at a regular age find most changes if every page is visited when its chance of a change
    less the growth of the chance times the age reaches the same level.
    """
    survival, later, growth = 0.0, 0.0, 0.0
    for cell in range(POISSON_CELLS):
        changes = rates[cell] * age
        unchanged = fast_exp(-changes)
        survival += weights[cell] * unchanged
        growth += weights[cell] * changes * unchanged
        if step > 0.0:
            later += weights[cell] * fast_exp(-changes - rates[cell] * step)
    for cell in range(POISSON_CELLS, CELL_COUNT):
        changes = rates[cell] * age
        unchanged, longer_gap, _ = regular_survival(changes)
        survival += weights[cell] * unchanged
        growth += weights[cell] * changes * longer_gap
        if step > 0.0:
            later += weights[cell] * regular_survival(changes + rates[cell] * step)[0]
    if step > 0.0:
        growth = age / step * (survival - later)
    no_event, total = fast_exp(-hazard), weights.sum()
    averages[0] = survival * no_event
    averages[1] = total - (survival + WAITING_WEIGHT * growth) * no_event


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
    likelihood: SmallFloatArray, rows: RowNumbers, ages: FloatArray, log_retention: float
) -> FloatArray:
    """Return the faded likelihood of each rate, relative to the likeliest rate of its row."""
    likelihoods = np.empty((len(rows), CELL_COUNT))
    for index in range(len(rows)):
        log_likelihood, retention = likelihood[rows[index]], retained(log_retention, ages[index])
        for cell in range(CELL_COUNT):
            likelihoods[index, cell] = fast_exp(retention * log_likelihood[cell])
    return likelihoods
