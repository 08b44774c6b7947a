"""Compiled Platt scaling: a logistic curve from decisions to probabilities.

Platt (1999) with the Newton steps of Lin, Lin and Weng (2007). Two additions for small samples:
a prior that draws the slope to 1 and the intercept to 0, and no negative slope, so that a learner
worse than chance says how often the label was 1, instead of the opposite of what it decided.
"""

import math

import numpy as np
from numba import njit

from freshet.core.types import FloatArray

MAX_STEPS = 50
GRADIENT_TOLERANCE = 1e-6
MIN_RIDGE = 1e-12
MIN_STEP = 1e-10


@njit(cache=True, nogil=True, error_model="numpy")
def fit_platt(
    decisions: FloatArray,
    positives: FloatArray,
    prior_weight: float,
    start: tuple[float, float] = (1.0, 0.0),
) -> tuple[float, float]:
    """Return slope and intercept of the curve; ``positives`` are labels as 0 and 1.

    ``prior_weight`` is the precision of the prior; 0 leaves it out. ``start`` is a first guess.
    """
    targets = _smoothed_targets(positives)
    slope, intercept = start
    loss = _loss(decisions, targets, slope, intercept, prior_weight)
    for _ in range(MAX_STEPS):
        slope_step, intercept_step, steepness = _newton_step(
            decisions, targets, slope, intercept, prior_weight
        )
        if steepness < GRADIENT_TOLERANCE:
            break
        size = 1.0
        while size > MIN_STEP:
            next_slope, next_intercept = (
                slope + size * slope_step,
                intercept + size * intercept_step,
            )
            next_loss = _loss(decisions, targets, next_slope, next_intercept, prior_weight)
            if next_loss < loss:
                break
            size *= 0.5
        if size <= MIN_STEP:
            break
        slope, intercept, loss = next_slope, next_intercept, next_loss
    if slope < 0.0:
        mean = targets.mean()
        return 0.0, math.log(mean / (1.0 - mean))
    return slope, intercept


@njit(cache=True, nogil=True)
def logistic(value: float) -> float:
    """Return 1 / (1 + exp(-value)) without overflow."""
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    exponential = math.exp(value)
    return exponential / (1.0 + exponential)


@njit(cache=True, nogil=True)
def _smoothed_targets(positives: FloatArray) -> FloatArray:
    """Return Platt's targets: the posterior means of a label under a uniform prior."""
    count = positives.sum()
    high, low = (count + 1.0) / (count + 2.0), 1.0 / (len(positives) - count + 2.0)
    targets = np.empty(len(positives))
    for index in range(len(positives)):
        targets[index] = high if positives[index] > 0.0 else low
    return targets


@njit(cache=True, nogil=True)
def _loss(
    decisions: FloatArray, targets: FloatArray, slope: float, intercept: float, prior_weight: float
) -> float:
    total = 0.5 * prior_weight * ((slope - 1.0) ** 2 + intercept**2)
    for row in range(len(decisions)):
        value = slope * decisions[row] + intercept
        total += math.log1p(math.exp(-abs(value))) + max(value, 0.0) - targets[row] * value
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _newton_step(
    decisions: FloatArray, targets: FloatArray, slope: float, intercept: float, prior_weight: float
) -> tuple[float, float, float]:
    """Return the Newton step of slope and intercept, and the largest part of the gradient."""
    slope_gradient = prior_weight * (slope - 1.0)
    intercept_gradient = prior_weight * intercept
    slope_curvature = intercept_curvature = prior_weight + MIN_RIDGE
    mixed_curvature = 0.0
    for row in range(len(decisions)):
        probability = logistic(slope * decisions[row] + intercept)
        error, spread = probability - targets[row], probability * (1.0 - probability)
        slope_gradient += error * decisions[row]
        intercept_gradient += error
        slope_curvature += spread * decisions[row] * decisions[row]
        mixed_curvature += spread * decisions[row]
        intercept_curvature += spread
    determinant = slope_curvature * intercept_curvature - mixed_curvature * mixed_curvature
    return (
        (mixed_curvature * intercept_gradient - intercept_curvature * slope_gradient) / determinant,
        (mixed_curvature * slope_gradient - slope_curvature * intercept_gradient) / determinant,
        max(abs(slope_gradient), abs(intercept_gradient)),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def slide_platt(
    decisions: FloatArray, labels: FloatArray, span: int, horizon: int, prior_weight: float
) -> FloatArray:
    """Return a probability for each step, calibrated on the decisions of the steps before.

    Labels are 0, 1 and NaN for unknown, decisions NaN where there is none. A step is calibrated on
    the ``span`` steps before it whose label is known by then. Without a decision the probability
    is NaN.
    """
    probabilities, curve = np.full(len(decisions), np.nan), (1.0, 0.0)
    for step in range(len(decisions)):
        if np.isnan(decisions[step]):
            continue
        end = max(0, step - horizon + 1)
        start = max(0, end - span)
        usable = ~np.isnan(decisions[start:end] + labels[start:end])
        curve = fit_platt(
            decisions[start:end][usable], labels[start:end][usable], prior_weight, curve
        )
        probabilities[step] = logistic(curve[0] * decisions[step] + curve[1])
    return probabilities
