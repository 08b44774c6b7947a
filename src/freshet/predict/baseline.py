"""The baseline in scikit-learn's form: how often the page changed in the window."""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from freshet.predict.calibrated_classifier import CalibratedClassifier, ConstantModel
from freshet.predict.logit_classifier import BinaryExamples
from freshet.predict.step_baselines import BaselineRule

TIE_LOGIT = 1e-6


class Baseline(CalibratedClassifier):
    """Predicts from the labels alone (section 5.1); the features are ignored.

    The strategy ``majority`` predicts the more frequent label, at a tie the last one; ``previous``
    the last label; ``coin`` throws a coin with the frequency, so its classes are random and need
    not be the more probable ones. Probabilities are the frequency with one label of each kind
    added; for ``previous``, the frequency of repeated labels, at least one half.
    """

    def __init__(self, strategy: str = "majority", random_state: Any = None) -> None:
        self.strategy = strategy
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Count the labels, given in time order."""
        rules = [rule.value for rule in BaselineRule]
        if self.strategy not in rules:
            raise ValueError(f"strategy is {self.strategy!r}; use one of {', '.join(rules)}")
        return self._fit_weighted(X, y, None)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return a class for each row."""
        if self.strategy != BaselineRule.COIN:
            return super().predict(X)
        draws = check_random_state(self.random_state).random(len(self._check_rows(X)))
        predicted: NDArray[Any] = self.classes_[
            np.where(draws < self.frequency_, len(self.classes_) - 1, 0)
        ]
        return predicted

    def _fit_any(self, examples: BinaryExamples) -> ConstantModel:
        labels = examples.labels
        positives, last = int(labels.sum()), 1.0 if labels[-1] == 1 else -1.0
        self.frequency_ = positives / len(labels)
        logit = math.log((positives + 1) / (len(labels) - positives + 1))
        if self.strategy == BaselineRule.PREVIOUS:
            repeats = int((labels[1:] == labels[:-1]).sum())
            logit = last * max(math.log((repeats + 1) / (len(labels) - repeats)), 0.0)
        return ConstantModel(logit if logit != 0.0 else last * TIE_LOGIT)

    def _calibration_curve(self, examples: BinaryExamples) -> tuple[float, float]:
        return 1.0, 0.0

    def _fit_model(self, examples: BinaryExamples) -> ConstantModel:
        return self._fit_any(examples)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.non_deterministic = self.strategy == BaselineRule.COIN
        return tags
