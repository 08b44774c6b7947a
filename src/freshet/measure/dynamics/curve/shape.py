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

from freshet.core.types import Floats, Indices
from freshet.measure.dynamics.curve.knot import Bend, bend
from freshet.measure.dynamics.curve.segments import Line, one_line

Shape = Literal["flat", "sloped", "knotted"]

SHAPES: tuple[Shape, ...] = ("flat", "sloped", "knotted")
PARAMETERS = "shapes.json"
FEATURES = (
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
class Stumps:
    """A sum of stumps: each adds to a class what it says below or above a threshold."""

    classes: NDArray[np.int64]
    features: NDArray[np.int64]
    thresholds: Floats
    below: Floats
    above: Floats

    def chances(self, seen: Floats) -> Floats:
        """Return the chance of each shape for a row of features."""
        values = np.where(seen[self.features] <= self.thresholds, self.below, self.above)
        scores = np.bincount(self.classes, values, minlength=len(SHAPES))
        likely = np.exp(scores - scores.max())
        return np.asarray(likely / likely.sum())


@cache
def learnt() -> Stumps:
    """Return the stumps that come with the package."""
    text = files(__package__).joinpath(PARAMETERS).read_text("utf-8")
    return stumps_from(json.loads(text)["stumps"])


def stumps_from(rows: list[list[float]]) -> Stumps:
    """Make stumps of rows of class, feature, threshold, and what is said below and above it."""
    columns = np.array(rows, np.float64).T
    kinds = columns[:2].astype(np.int64)
    return Stumps(kinds[0], kinds[1], *columns[2:])


def likeliest(seen: Floats, stumps: Stumps | None = None) -> Shape:
    """Return the shape that a curve of these features most likely has."""
    return SHAPES[int(np.argmax((stumps or learnt()).chances(seen)))]


def features(hours: Floats, dice: Floats, counts: Indices, drifted: Bend | None) -> Floats:
    """Return what is told of a curve, in the order of ``FEATURES``; its start is left out."""
    hours, dice, weights = hours[1:], dice[1:], counts[1:].astype(np.float64)
    line = one_line(hours, dice, weights)
    end = max(1, len(dice) // _ENDS)
    fall = float(dice[:end].mean() - dice[-end:].mean())
    over_time = bend(hours, dice, weights)
    return np.array((fall, _fall(line), *_of_bend(drifted), *_of_bend(over_time)))


def _of_bend(found: Bend | None) -> tuple[float, ...]:
    """Return what two lines say: errors, slopes, their place, and falls before and after it."""
    if found is None:
        return 0.0, 1.0, 1.0, 0.0, 0.0
    span = found.second.ends - found.first.begins
    slopes = float(np.clip(found.slope_ratio, -_STEEPEST, _STEEPEST))
    return (
        log(found.error_ratio),
        slopes,
        (found.place - found.first.begins) / span,
        _fall(found.first),
        _fall(found.second),
    )


def _fall(line: Line) -> float:
    return -line.slope * (line.ends - line.begins)
