"""Measures of predictions: classification, regression and rankings."""

from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    r2_score,
    roc_auc_score,
)

from freshet.core.content.outlink_targets import OutlinkTarget
from freshet.core.types import FloatArray, IndexArray

DRAWS = 5
CURVE_SHARES = np.arange(1, 101) / 100


@dataclass(frozen=True, slots=True)
class OutlinkRow:
    """Figures of a model on one split; None where a measure does not apply to the target.

    ``area`` is the area under the Precision@k% curve, ``oracle_area`` that of the truth itself;
    ``per_fetch`` is the number of new links found per fetch among the first 5 % of the ranking.
    Figures are means of repetitions, weeks and seeds; the deviations are those between them.
    """

    data: str
    model: str
    features: str
    target: str
    links: str
    split: str
    f1: float | None
    balanced_accuracy: float | None
    auc: float | None
    average_precision: float | None
    spearman: float | None
    r2: float | None
    mae: float | None
    area: float | None
    oracle_area: float | None
    per_fetch: float | None
    pages: int
    repetitions: int = 1
    f1_deviation: float | None = None
    auc_deviation: float | None = None
    spearman_deviation: float | None = None


MEASURES = (
    "f1", "balanced_accuracy", "auc", "average_precision", "spearman", "r2", "mae", "area",
    "oracle_area", "per_fetch",
)  # fmt: skip
DEVIATION_MEASURES = ("f1", "auc", "spearman")


@dataclass(frozen=True, slots=True)
class Prediction:
    """Scores of pages, by which they are ranked, and the classes for NL."""

    scores: FloatArray
    classes: IndexArray | None = None


def measure(
    target: OutlinkTarget, truth: FloatArray, new_links: FloatArray, prediction: Prediction
) -> dict[str, float]:
    """Return all measures by name; NaN where one does not apply."""
    scores = prediction.scores
    figures = dict.fromkeys(MEASURES, nan)
    figures["area"] = curve_area(precision_curve(truth, scores))
    figures["oracle_area"] = curve_area(precision_curve(truth, truth, seed=DRAWS))
    figures["per_fetch"] = links_per_fetch(new_links, scores)
    if np.ptp(truth) and np.ptp(scores):
        figures["spearman"] = float(spearmanr(truth, scores).statistic)
    if target is not OutlinkTarget.NL:
        figures["r2"] = float(r2_score(truth, scores))
        figures["mae"] = float(np.abs(truth - scores).mean())
        return figures
    if np.ptp(truth):
        figures["auc"] = float(roc_auc_score(truth, scores))
        figures["average_precision"] = float(average_precision_score(truth, scores))
    if prediction.classes is not None:
        figures["f1"] = float(f1_score(truth, prediction.classes, zero_division=0.0))
        figures["balanced_accuracy"] = float(balanced_accuracy_score(truth, prediction.classes))
    return figures


def precision_curve(truth: FloatArray, scores: FloatArray, *, seed: int = 0) -> FloatArray:
    """Return the share of the true first k % among the first k % by score, for k = 1 to 100.

    Ties are broken at random; the curve is the mean of five draws.
    """
    curves = [
        _one_curve(
            _random_order(truth, np.random.default_rng([seed, draw, 1])),
            _random_order(scores, np.random.default_rng([seed, draw, 2])),
        )
        for draw in range(DRAWS)
    ]
    return np.asarray(np.mean(curves, axis=0))


def _random_order(values: FloatArray, rng: np.random.Generator) -> IndexArray:
    """Return the rank of each value, the highest first, ties in random order."""
    order = np.lexsort((rng.random(len(values)), -values))
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.arange(len(values))
    return ranks


def _one_curve(true_ranks: IndexArray, ranks: IndexArray) -> FloatArray:
    worst = np.sort(np.maximum(true_ranks, ranks))
    sizes = np.maximum(np.rint(CURVE_SHARES * len(ranks)).astype(int), 1)
    shared: FloatArray = np.searchsorted(worst, sizes) / sizes
    return shared


def curve_area(curve: FloatArray) -> float:
    """Return the area under a curve over 0 to 100 %."""
    return float(curve.mean())


def links_per_fetch(new_links: FloatArray, scores: FloatArray, share: float = 0.05) -> float:
    """Return the new links found per fetch if the first pages of the ranking are fetched."""
    count = max(round(share * len(scores)), 1)
    found = [
        new_links[_random_order(scores, np.random.default_rng(draw)) < count].mean()
        for draw in range(DRAWS)
    ]
    return float(np.mean(found))


def mean_figures(repetitions: list[dict[str, float]]) -> dict[str, float | None]:
    """Return the mean of each measure over repetitions; None where it never applies."""
    means: dict[str, float | None] = {}
    for name in MEASURES:
        values = [figures[name] for figures in repetitions if isfinite(figures[name])]
        means[name] = round(float(np.mean(values)), 4) if values else None
    return means


def deviations(repetitions: list[dict[str, float]]) -> dict[str, float | None]:
    """Return the standard deviations between repetitions; None if there are fewer than two."""
    found: dict[str, float | None] = {}
    for name in DEVIATION_MEASURES:
        values = [figures[name] for figures in repetitions if isfinite(figures[name])]
        spread = round(float(np.std(values, ddof=1)), 4) if len(values) > 1 else None
        found[f"{name}_deviation"] = spread
    return found
