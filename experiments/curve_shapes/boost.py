"""Additive logistic regression over stumps (LogitBoost; Friedman, Hastie and Tibshirani 2000)."""

from dataclasses import dataclass

import numpy as np

Rows = list[list[float]]

MAX_RESPONSE = 4.0
MIN_WEIGHT = 1e-6


@dataclass(frozen=True, slots=True)
class DecisionStump:
    """What is said where a feature is at most a threshold, and where it is above."""

    feature: int
    threshold: float
    below: float
    above: float

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Return what the stump says of each row."""
        low = features[:, self.feature] <= self.threshold
        return np.where(low, self.below, self.above)


def logit_boost(features: np.ndarray, labels: np.ndarray, classes: int, iterations: int) -> Rows:
    """Return rows of class, feature, threshold, and what is said below and above it."""
    order = np.argsort(features, axis=0, kind="stable")
    scores = np.zeros((len(features), classes))
    rows: Rows = []
    for _ in range(iterations):
        chances = _softmax(scores)
        stumps = [
            _best_stump(features, order, *_working(chances[:, label], labels == label))
            for label in range(classes)
        ]
        said = np.stack([stump(features) for stump in stumps], axis=1)
        scores += _centred(said)
        rows += [_row(label, stump, classes) for label, stump in enumerate(stumps)]
    return rows


def _working(chance: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights and responses of one Newton step."""
    weights = np.maximum(chance * (1 - chance), MIN_WEIGHT)
    response = np.clip((true - chance) / weights, -MAX_RESPONSE, MAX_RESPONSE)
    return weights, response


def _best_stump(
    features: np.ndarray, order: np.ndarray, weights: np.ndarray, response: np.ndarray
) -> DecisionStump:
    """Return the stump of least squares over all features and thresholds between two values."""
    mass, total = weights.sum(), (weights * response).sum()
    best, found = -np.inf, DecisionStump(0, np.inf, total / mass, total / mass)
    for feature in range(features.shape[1]):
        rows = order[:, feature]
        values = features[rows, feature]
        low, low_sum = np.cumsum(weights[rows])[:-1], np.cumsum((weights * response)[rows])[:-1]
        explained = low_sum**2 / low + (total - low_sum) ** 2 / (mass - low)
        explained = np.where(values[1:] > values[:-1], explained, -np.inf)
        at = int(np.argmax(explained))
        if explained[at] > best:
            best = explained[at]
            middle = (values[at] + values[at + 1]) / 2
            below, above = low_sum[at] / low[at], (total - low_sum[at]) / (mass - low[at])
            found = DecisionStump(feature, float(middle), float(below), float(above))
    return found


def _row(label: int, stump: DecisionStump, classes: int) -> list[float]:
    """Return a stump as it is kept; the mean over classes that is left out shifts all alike."""
    scale = (classes - 1) / classes
    said = [float(f"{scale * value:.5g}") for value in (stump.below, stump.above)]
    return [label, stump.feature, float(f"{stump.threshold:.6g}"), *said]


def _centred(said: np.ndarray) -> np.ndarray:
    classes = said.shape[1]
    return (classes - 1) / classes * (said - said.mean(axis=1, keepdims=True))


def _softmax(scores: np.ndarray) -> np.ndarray:
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    return likely / likely.sum(axis=1, keepdims=True)
