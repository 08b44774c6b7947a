"""Base of binary classifiers with calibrated probabilities, in scikit-learn's form."""

import math
from abc import abstractmethod
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from freshet.core.types import FloatArray
from freshet.predict.kernels.platt_scaling import fit_platt

ClassArray = NDArray[np.int64]


class ScoreModel(Protocol):
    """A fitted model that scores rows: above 0 means class 1."""

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return a score per row."""


class ConstantModel:
    """The model of examples that all have one class."""

    def __init__(self, label: int) -> None:
        self._score = 1.0 if label == 1 else -1.0

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return -1 or 1 for every row."""
        return np.full(len(rows), self._score)


class CalibratedClassifier(ClassifierMixin, BaseEstimator):
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
    def _fit_model(self, rows: FloatArray, labels: ClassArray, weights: FloatArray) -> ScoreModel:
        """Return a model of weighted examples of both classes, labelled 0 and 1."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model and the calibration curve to examples in time order."""
        return self._fit_weighted(X, y, None)

    def _fit_weighted(self, X: Any, y: Any, sample_weight: Any) -> Self:
        rows, targets = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(targets)
        target_type = type_of_target(targets, input_name="y", raise_unknown=True)
        if target_type != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {target_type}."
            )
        weights = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        rows, targets, weights = rows[weights > 0], targets[weights > 0], weights[weights > 0]
        self.classes_ = _binary_classes(targets)
        labels = (targets == self.classes_[-1]).astype(np.int64)
        self.curve_ = self._calibration_curve(rows, labels, weights)
        self.model_ = self._fit_any(rows, labels, weights)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the calibrated logits of the second class; above 0 it is predicted."""
        rows = self._check_rows(X)
        slope, intercept = self.curve_
        logits: FloatArray = slope * self.model_.scores(rows) + intercept
        return logits

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        is_second = self.decision_function(X) > 0
        predicted: NDArray[Any] = self.classes_[np.where(is_second, len(self.classes_) - 1, 0)]
        return predicted

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the calibrated probability of each class."""
        positive = 1.0 / (1.0 + np.exp(-np.clip(self.decision_function(X), -500, 500)))
        if len(self.classes_) == 1:
            return np.ones((len(positive), 1))
        return np.column_stack([1.0 - positive, positive])

    def _fit_any(self, rows: FloatArray, labels: ClassArray, weights: FloatArray) -> ScoreModel:
        if labels.min() == labels.max():
            return ConstantModel(int(labels[0]))
        return self._fit_model(rows, labels, weights)

    def _calibration_curve(
        self, rows: FloatArray, labels: ClassArray, weights: FloatArray
    ) -> tuple[float, float]:
        """Return slope and intercept of Platt's curve; without folds the scores are logits."""
        folds = min(self.calibration_folds, len(rows))
        if labels.min() == labels.max():
            return 0.0, (1.0 if labels[0] == 1 else -1.0) * math.log(len(labels) + 1)
        if folds < 2:
            return 1.0, 0.0
        scores = np.empty(len(rows))
        for block in np.array_split(np.arange(len(rows)), folds):
            others = np.delete(np.arange(len(rows)), block)
            model = self._fit_any(rows[others], labels[others], weights[others])
            scores[block] = model.scores(rows[block])
        return fit_platt(scores, labels.astype(float), float(self.prior_weight))

    def _check_rows(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        rows: FloatArray = validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        return tags


def _binary_classes(targets: NDArray[Any]) -> NDArray[Any]:
    """Return the classes in order; where only 0 or only 1 occurs, both of them."""
    classes: NDArray[Any] = np.unique(targets)
    if len(classes) == 1 and classes[0] in {0, 1}:
        return np.array([0, 1]).astype(classes.dtype)
    return classes
