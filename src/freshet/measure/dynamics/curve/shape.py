"""What a change curve is like: flat, sloped or knotted (Adar et al. 2009, section 4.2.2).

As in the paper, an additive logistic regression over stumps decides (Friedman, Hastie and
Tibshirani 2000), on what the fitted lines say. It was trained on generated curves, whose shape is
known, by ``experiments/curve_shapes``; ``shapes.json`` holds what it learnt.
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
_ENDS = 10
_STEEPEST = 2.0


@dataclass(frozen=True, slots=True)
class StumpModel:
    """A sum of stumps: each adds to a class what it says below or above a threshold."""

    classes: NDArray[np.int64]
    features: NDArray[np.int64]
    thresholds: FloatArray
    below: FloatArray
    above: FloatArray

    def probabilities(self, seen: FloatArray) -> FloatArray:
        """Return the chance of each shape for a row of features."""
        values = np.where(seen[self.features] <= self.thresholds, self.below, self.above)
        scores = np.bincount(self.classes, values, minlength=len(SHAPES))
        likely = np.exp(scores - scores.max())
        return np.asarray(likely / likely.sum())


@cache
def packaged_model() -> StumpModel:
    """Return the stumps that come with the package."""
    text = files(__package__).joinpath(MODEL_FILE).read_text("utf-8")
    return stump_model_from_rows(json.loads(text)["stumps"])


def stump_model_from_rows(rows: list[list[float]]) -> StumpModel:
    """Make stumps of rows of class, feature, threshold, and what is said below and above it."""
    columns = np.array(rows, np.float64).T
    kinds = columns[:2].astype(np.int64)
    return StumpModel(kinds[0], kinds[1], *columns[2:])


def classify_shape(seen: FloatArray, stumps: StumpModel | None = None) -> CurveShape:
    """Return the shape that a curve of these features most likely has."""
    return SHAPES[int(np.argmax((stumps or packaged_model()).probabilities(seen)))]


def shape_features(
    hours: FloatArray, dice: FloatArray, counts: IndexArray, drifted: BendFit | None
) -> FloatArray:
    """Return what is told of a curve, in the order of ``FEATURE_NAMES``; its start is left out."""
    hours, dice, weights = hours[1:], dice[1:], counts[1:].astype(np.float64)
    line = fit_line(hours, dice, weights)
    end = max(1, len(dice) // _ENDS)
    fall = float(dice[:end].mean() - dice[-end:].mean())
    over_time = fit_bend(hours, dice, weights)
    return np.array((fall, _fall(line), *_of_bend(drifted), *_of_bend(over_time)))


def _of_bend(found: BendFit | None) -> tuple[float, ...]:
    """Return what two lines say: errors, slopes, their place, and falls before and after it."""
    if found is None:
        return 0.0, 1.0, 1.0, 0.0, 0.0
    span = found.second_line.ends - found.first_line.begins
    slopes = float(np.clip(found.slope_ratio, -_STEEPEST, _STEEPEST))
    return (
        log(found.error_ratio),
        slopes,
        (found.crossing - found.first_line.begins) / span,
        _fall(found.first_line),
        _fall(found.second_line),
    )


def _fall(line: FittedLine) -> float:
    return -line.slope * (line.ends - line.begins)
