"""Label frequencies among the earlier steps of a page that were like each of its steps."""

import numpy as np

from freshet.core.types import FloatArray, IndexArray
from freshet.features.latest_changes import NO_CHANGE, LatestChanges

RATE_STEPS = 2.0
CHANGE_TOLERANCE = 0.3


def window_weights(labels: IndexArray, horizon: int, window: int) -> FloatArray:
    """Return the weight of each earlier step at each step: 1 in the training window, else 0.

    The window has the latest steps whose label is known by then; ``labels`` are 0, 1, or -1.
    """
    ages = step_ages(len(labels))
    is_used = (ages >= horizon) & (ages < horizon + window) & (labels >= 0)
    return is_used.astype(np.float64)


def faded_weights(labels: IndexArray, horizon: int, half_life: float) -> FloatArray:
    """Return the weight of each earlier step at each step; it halves in ``half_life`` steps."""
    ages = step_ages(len(labels))
    is_used = (ages >= horizon) & (labels >= 0)
    return np.where(is_used, 0.5 ** (np.maximum(ages, 0) / half_life), 0.0)


def step_ages(count: int) -> IndexArray:
    """Return how many steps before each step (row) another one (column) lies."""
    steps = np.arange(count, dtype=np.int32)
    return np.subtract.outer(steps, steps)


def row_sums(values: FloatArray) -> FloatArray:
    """Return the sums of rows, added in the order of steps: later zeros do not alter rounding."""
    if not values.shape[1]:
        return np.zeros(len(values))
    return np.asarray(np.cumsum(values, axis=1)[:, -1], np.float64)


def frequency(weights: FloatArray, labels: IndexArray) -> FloatArray:
    """Return the frequency of 1 at each step among the earlier steps, with their weights."""
    return (row_sums(weights * (labels == 1)) + 0.5) / (row_sums(weights) + 1)


def alike_frequency(weights: FloatArray, likeness: FloatArray, labels: IndexArray) -> FloatArray:
    """Return the frequency of 1 among earlier steps that were alike.

    ``likeness[step, step]`` is from 0 to 1. The frequency of all earlier steps counts as two steps.
    """
    rates = frequency(weights, labels)
    alike = weights * likeness
    hits = row_sums(alike * (labels == 1)) + RATE_STEPS * rates
    return hits / (row_sums(alike) + RATE_STEPS)


def change_likeness(changes: LatestChanges, tolerance: float = CHANGE_TOLERANCE) -> FloatArray:
    """Return how alike the latest changes of two steps are, from 0 to 1; 0 without a change."""
    has_change = changes.steps != NO_CHANGE
    likeness = np.exp((changes.cosines - 1.0) / tolerance)
    return np.asarray(likeness * has_change[:, None] * has_change, np.float64)
