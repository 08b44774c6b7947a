"""The probability from which on a page is said to bring new links, for the highest F1."""

import numpy as np

from freshet.core.types import FloatArray

_GRID = np.arange(-5.0, 4.0, 0.05)
_SMOOTHING = 0.3
# With few positive examples the best threshold is uncertain; it is drawn halfway to this one.
USUAL_THRESHOLD = 0.3


def f1_threshold(probabilities: FloatArray) -> float:
    """Return the mean of 0.3 and the threshold with the highest F1 to expect.

    The probabilities must be calibrated. Then they tell the F1 to expect at each threshold, and
    with few positive examples this is less noisy than the F1 of the examples themselves.

    >>> round(f1_threshold(np.array([0.01, 0.02, 0.1, 0.9])), 3)
    0.394
    """
    thresholds = 1 / (1 + np.exp(-_GRID))
    curve = _expected_f1(probabilities, thresholds)
    distances = (_GRID[:, None] - _GRID) / _SMOOTHING
    kernel = np.exp(-(distances**2) / 2)
    smoothed = kernel @ curve / kernel.sum(axis=1)
    return float(thresholds[smoothed.argmax()] + USUAL_THRESHOLD) / 2


def _expected_f1(probabilities: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Return the F1 to expect at each threshold: expected hits by chosen and expected positives."""
    descending = np.sort(probabilities)[::-1]
    hits = np.concatenate([[0.0], np.cumsum(descending)])
    chosen = np.searchsorted(-descending, -thresholds, side="right")
    curve: FloatArray = 2 * hits[chosen] / np.maximum(chosen + probabilities.sum(), 1e-9)
    return curve
