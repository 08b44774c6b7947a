"""Scores of forecasts: log-loss, area under the ROC curve, and Brier score."""

from dataclasses import dataclass

import numpy as np

from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray

LEAST_CHANCE = 1e-4


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """The scores of chances against what happened; the area is NaN if only one thing happened."""

    log_loss: float
    auc: float
    brier: float


def forecast_scores(chances: FloatArray, changed: BoolArray) -> ForecastScores:
    """Return the scores of chances.

    >>> forecast_scores(np.array([0.9, 0.2, 0.4]), np.array([True, False, True])).auc
    1.0
    """
    return ForecastScores(
        float(log_losses(chances, changed).mean()),
        area_under_curve(chances, changed),
        float(np.mean((chances - changed) ** 2)),
    )


def log_losses(chances: FloatArray, changed: BoolArray) -> FloatArray:
    """Return the log-loss of each chance; chances are kept away from 0 and 1."""
    bounded = np.clip(chances, LEAST_CHANCE, 1 - LEAST_CHANCE)
    return -np.log(np.where(changed, bounded, 1 - bounded))


def area_under_curve(chances: FloatArray, changed: BoolArray) -> float:
    """Return the chance that a change had a higher forecast than no change; ties count a half.

    >>> area_under_curve(np.array([0.3, 0.3]), np.array([True, False]))
    0.5
    """
    changes = int(changed.sum())
    pairs = changes * (len(changed) - changes)
    if not pairs:
        return float("nan")
    _, groups, sizes = np.unique(chances, return_inverse=True, return_counts=True)
    mean_ranks = np.cumsum(sizes) - (sizes - 1) / 2
    rank_sum = float(mean_ranks[groups][changed].sum())
    return (rank_sum - changes * (changes + 1) / 2) / pairs
