"""Curves from raw scores to calibrated logits, stored as plain numbers."""

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import IsotonicRegression

from freshet.core.types import FloatArray
from freshet.predict.kernels.platt_scaling import fit_platt

PRIOR_WEIGHT = 1.0


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """Points of score and logit, with straight lines between them.

    Beyond the points the lines go on, or stay at the last logit if ``is_bounded``.
    """

    scores: FloatArray
    values: FloatArray
    is_bounded: bool

    def logits(self, scores: FloatArray) -> FloatArray:
        """Return the calibrated logits of raw scores."""
        if self.is_bounded:
            return np.interp(scores, self.scores, self.values)
        slope = (self.values[1] - self.values[0]) / (self.scores[1] - self.scores[0])
        logits: FloatArray = self.values[0] + slope * (scores - self.scores[0])
        return logits

    def to_points(self) -> list[object]:
        """Return the curve as values that JSON can hold."""
        return [self.scores.tolist(), self.values.tolist(), self.is_bounded]


def curve_from_points(points: list[object]) -> CalibrationCurve:
    """Return the curve that ``to_points`` wrote; raise ValueError if it is none."""
    scores, values, is_bounded = points
    curve = CalibrationCurve(
        np.asarray(scores, np.float64), np.asarray(values, np.float64), bool(is_bounded)
    )
    if curve.scores.ndim != 1 or curve.scores.shape != curve.values.shape or not len(curve.scores):
        raise ValueError("the points of the curve do not match")
    return curve


def identity_curve() -> CalibrationCurve:
    """Return the curve that leaves scores as they are."""
    return CalibrationCurve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), is_bounded=False)


def fit_platt_curve(scores: FloatArray, labels: FloatArray) -> CalibrationCurve:
    """Return Platt's curve of labels 0 and 1."""
    slope, intercept = fit_platt(scores, labels, PRIOR_WEIGHT)
    return CalibrationCurve(
        np.array([0.0, 1.0]), np.array([intercept, intercept + slope]), is_bounded=False
    )


def fit_isotonic_curve(scores: FloatArray, labels: FloatArray) -> CalibrationCurve:
    """Return the isotonic curve of labels 0 and 1, with probabilities inside 0 and 1.

    A curve does not claim more certainty than as many equal labels as it has seen would give.
    """
    lowest = 1.0 / (len(labels) + 2.0)
    regression = IsotonicRegression(y_min=lowest, y_max=1.0 - lowest)
    regression.fit(scores, labels)
    probabilities = np.asarray(regression.y_thresholds_, np.float64)
    return CalibrationCurve(
        np.asarray(regression.X_thresholds_, np.float64),
        np.log(probabilities / (1.0 - probabilities)),
        is_bounded=True,
    )
