"""Classify change curves as flat, sloped or knotted (Adar et al. 2009, section 4.2.2).

As in the paper, the classifier is an additive logistic regression over stumps (Friedman, Hastie and
Tibshirani 2000), on features of the fitted lines. ``experiments/curve_shapes`` trained it on
generated curves of known shape; ``shapes.json`` has its parameters.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, IndexArray
from freshet.measure.dynamics.curve.knot import BendFit, fit_bend
from freshet.measure.dynamics.curve.segments import FittedLine, fit_line

CurveShape = Literal["flat", "sloped", "knotted"]

SHAPES: tuple[CurveShape, ...] = ("flat", "sloped", "knotted")
MODEL_FILE = "shapes.json"
FEATURE_NAMES = (
    "fall",
    "line_fall",
    "drift_errors",
    "drift_slopes",
    "drift_place",
    "drift_fall_before",
    "drift_fall_after",
    "time_errors",
    "time_slopes",
    "time_place",
    "time_fall_before",
    "time_fall_after",
)
_END_SHARE = 10
_MAX_SLOPE_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class StumpModel:
    """A sum of stumps: each adds a value to a class, below or above a threshold."""

    classes: NDArray[np.int64]
    features: NDArray[np.int64]
    thresholds: FloatArray
    below: FloatArray
    above: FloatArray

    def probabilities(self, feature_values: FloatArray) -> FloatArray:
        """Return the probability of each shape for a row of features."""
        values = np.where(feature_values[self.features] <= self.thresholds, self.below, self.above)
        scores = np.bincount(self.classes, values, minlength=len(SHAPES))
        exponentials = np.exp(scores - scores.max())
        return np.asarray(exponentials / exponentials.sum())


@cache
def packaged_model() -> StumpModel:
    """Return the model that comes with the package."""
    text = files(__package__).joinpath(MODEL_FILE).read_text("utf-8")
    return stump_model_from_rows(json.loads(text)["stumps"])


def stump_model_from_rows(rows: list[list[float]]) -> StumpModel:
    """Return a model from rows of class, feature, threshold, value below and value above."""
    columns = np.array(rows, np.float64).T
    indices = columns[:2].astype(np.int64)
    return StumpModel(indices[0], indices[1], *columns[2:])


def classify_shape(feature_values: FloatArray, stumps: StumpModel | None = None) -> CurveShape:
    """Return the most likely shape of a curve with these features."""
    return SHAPES[int(np.argmax((stumps or packaged_model()).probabilities(feature_values)))]


def shape_features(
    hours: FloatArray, dice: FloatArray, counts: IndexArray, drift_bend: BendFit | None
) -> FloatArray:
    """Return the features of a curve in the order of ``FEATURE_NAMES``, without its start."""
    hours, dice, weights = hours[1:], dice[1:], counts[1:].astype(np.float64)
    line = fit_line(hours, dice, weights)
    end = max(1, len(dice) // _END_SHARE)
    drop = float(dice[:end].mean() - dice[-end:].mean())
    time_bend = fit_bend(hours, dice, weights)
    return np.array((drop, _drop(line), *_bend_features(drift_bend), *_bend_features(time_bend)))


def _bend_features(bend: BendFit | None) -> tuple[float, ...]:
    """Return the features of two lines: errors, slopes, crossing, drops before and after it."""
    if bend is None:
        return 0.0, 1.0, 1.0, 0.0, 0.0
    span = bend.second_line.ends - bend.first_line.begins
    slopes = float(np.clip(bend.slope_ratio, -_MAX_SLOPE_RATIO, _MAX_SLOPE_RATIO))
    return (
        log(bend.error_ratio),
        slopes,
        (bend.crossing - bend.first_line.begins) / span,
        _drop(bend.first_line),
        _drop(bend.second_line),
    )


def _drop(line: FittedLine) -> float:
    return -line.slope * (line.ends - line.begins)
