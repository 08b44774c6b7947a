"""Base of classifiers that calibrate their scores on blocks of examples, by Platt's curve."""

from abc import abstractmethod
from typing import Any, Protocol, Self

import numpy as np

from freshet.core.types import FloatArray
from freshet.predict.kernels.platt_scaling import fit_platt
from freshet.predict.logit_classifier import BinaryExamples, LogitClassifier


class ScoreModel(Protocol):
    """A fitted model that scores rows: above 0 means class 1."""

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return a score per row."""


class ConstantModel:
    """A model that gives every row the same score."""

    def __init__(self, score: float) -> None:
        self._score = score

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return the score for every row."""
        return np.full(len(rows), self._score)


class CalibratedClassifier(LogitClassifier):
    """A binary classifier whose probabilities are calibrated on examples it was not fitted to.

    Rows are examples in time order. ``fit`` scores each of ``calibration_folds`` blocks of
    neighbouring rows by a model of the other blocks, fits Platt's curve to these scores, and then
    fits the model to all rows. ``predict`` returns the more probable class, so calibration may
    move the border between classes; without folds the scores are taken as they are. If all
    examples have one class, it is predicted, with a smoothed probability.
    """

    calibration_folds: int
    prior_weight: float

    @abstractmethod
    def _fit_model(self, examples: BinaryExamples) -> ScoreModel:
        """Return a model of examples of both classes."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model and the calibration curve to examples in time order."""
        return self._fit_weighted(X, y, None)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the calibrated logits of the second class; above 0 it is predicted."""
        rows = self._check_rows(X)
        slope, intercept = self.curve_
        logits: FloatArray = slope * self.model_.scores(rows) + intercept
        return logits

    def _fit_weighted(self, X: Any, y: Any, sample_weight: Any) -> Self:
        examples = self._check_examples(X, y, sample_weight)
        self.curve_ = self._calibration_curve(examples)
        self.model_ = self._fit_any(examples)
        return self

    def _fit_any(self, examples: BinaryExamples) -> ScoreModel:
        if examples.is_constant:
            return ConstantModel(1.0 if examples.labels[0] == 1 else -1.0)
        return self._fit_model(examples)

    def _calibration_curve(self, examples: BinaryExamples) -> tuple[float, float]:
        """Return slope and intercept of Platt's curve; without folds the scores are logits."""
        count = len(examples.rows)
        folds = min(self.calibration_folds, count)
        if examples.is_constant:
            return 0.0, examples.constant_logit
        if folds < 2:
            return 1.0, 0.0
        scores = np.empty(count)
        for block in np.array_split(np.arange(count), folds):
            model = self._fit_any(examples.select(np.delete(np.arange(count), block)))
            scores[block] = model.scores(examples.rows[block])
        return fit_platt(scores, examples.labels.astype(float), float(self.prior_weight))
