"""What the binary classifiers share: checks of examples, and answers that follow from logits."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from freshet.core.types import FloatArray

ClassArray = NDArray[np.int64]
MAX_LOGIT = 500.0


@dataclass(frozen=True, slots=True)
class BinaryExamples:
    """Checked examples: rows, labels 0 and 1, and positive weights."""

    rows: FloatArray
    labels: ClassArray
    weights: FloatArray

    @property
    def is_constant(self) -> bool:
        """Say whether all examples have one class."""
        return bool(self.labels.min() == self.labels.max())

    @property
    def constant_logit(self) -> float:
        """Return the smoothed logit of the only class."""
        return (1.0 if self.labels[0] == 1 else -1.0) * float(np.log(len(self.labels) + 1))

    def select(self, indices: Any) -> "BinaryExamples":
        """Return some of the examples, in the order of the indices."""
        return BinaryExamples(self.rows[indices], self.labels[indices], self.weights[indices])


class LogitClassifier(ClassifierMixin, BaseEstimator):
    """A binary classifier: the class and the probabilities follow from calibrated logits.

    Where all examples are 0, or all are 1, both classes are known all the same.
    """

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Return the calibrated logits of the second class; above 0 it is predicted."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable class of each row."""
        is_second = self.decision_function(X) > 0
        predicted: NDArray[Any] = self.classes_[np.where(is_second, len(self.classes_) - 1, 0)]
        return predicted

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the calibrated probability of each class."""
        logits = np.clip(self.decision_function(X), -MAX_LOGIT, MAX_LOGIT)
        positive = 1.0 / (1.0 + np.exp(-logits))
        if len(self.classes_) == 1:
            return np.ones((len(positive), 1))
        return np.column_stack([1.0 - positive, positive])

    def _check_examples(self, X: Any, y: Any, sample_weight: Any) -> BinaryExamples:
        """Check the examples, set ``classes_``, and leave out examples of weight 0."""
        rows, targets = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(targets)
        target_type = type_of_target(targets, input_name="y", raise_unknown=True)
        if target_type != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {target_type}."
            )
        weights = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        is_used = weights > 0
        self.classes_ = _binary_classes(targets[is_used])
        labels = (targets == self.classes_[-1]).astype(np.int64)
        return BinaryExamples(rows, labels, weights).select(is_used)

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
