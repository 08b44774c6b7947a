"""Natural gradient boosting of the mean of a Poisson law (Duan et al. 2020, NGBoost).

The law has one parameter, the logarithm of its mean. Each round fits a small tree to the natural
gradient, which is the gradient of the log-likelihood divided by the Fisher information, scales it
by a line search, and takes a share of the step. It is slow on large tables; boosting of LightGBM
with the Poisson loss is fast.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted, validate_data

from freshet.core.types import FloatArray

MAX_LOG_MEAN = 20.0
MAX_DOUBLINGS, MAX_HALVINGS = 8, 12


class NaturalPoissonBoosting(RegressorMixin, BaseEstimator):
    """Predicts the mean of counts; missing values are allowed."""

    def __init__(
        self,
        rounds: int = 500,
        learning_rate: float = 0.01,
        depth: int = 3,
        min_leaf: int = 10,
        random_state: int = 0,
    ) -> None:
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.depth = depth
        self.min_leaf = min_leaf
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to counts, which are not negative."""
        rows, targets = validate_data(
            self, X, y, dtype=np.float32, ensure_all_finite="allow-nan", y_numeric=True
        )
        counts = np.asarray(targets, np.float64)
        if counts.min() < 0:
            raise ValueError("Some value(s) of y are negative; counts are not")
        self.start_ = float(np.log((counts.sum() + 0.5) / (len(counts) + 1)))
        self.trees_: list[tuple[DecisionTreeRegressor, float]] = []
        log_means = np.full(len(counts), self.start_)
        if counts.min() == counts.max():
            return self
        for number in range(self.rounds):
            tree = DecisionTreeRegressor(
                max_depth=self.depth,
                min_samples_leaf=max(1, min(self.min_leaf, len(counts) // 5)),
                random_state=self.random_state + number,
            )
            means = np.exp(log_means)
            direction = tree.fit(rows, (counts - means) / means).predict(rows)
            step = self.learning_rate * _line_search(log_means, direction, counts)
            log_means = np.clip(log_means + step * direction, -MAX_LOG_MEAN, MAX_LOG_MEAN)
            self.trees_.append((tree, step))
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the expected count of each row."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float32, ensure_all_finite="allow-nan")
        log_means = np.full(len(rows), self.start_)
        for tree, step in self.trees_:
            log_means += step * tree.predict(rows)
        means: FloatArray = np.exp(np.clip(log_means, -MAX_LOG_MEAN, MAX_LOG_MEAN))
        return means

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.positive_only = True
        return tags


def _line_search(log_means: FloatArray, direction: FloatArray, counts: FloatArray) -> float:
    """Return how long the step along the direction is: doubled or halved while that helps."""

    def loss(scale: float) -> float:
        scores = np.clip(log_means + scale * direction, -MAX_LOG_MEAN, MAX_LOG_MEAN)
        return float((np.exp(scores) - counts * scores).mean())

    scale, best, start = 1.0, loss(1.0), loss(0.0)
    for _ in range(MAX_DOUBLINGS):
        longer = loss(2 * scale)
        if longer >= best:
            break
        scale, best = 2 * scale, longer
    for _ in range(MAX_HALVINGS):
        if best < start:
            break
        scale /= 2
        best = loss(scale)
    return scale if best < start else 0.0
