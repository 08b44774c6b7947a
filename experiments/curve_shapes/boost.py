"""Additive logistic regression over stumps (LogitBoost; Friedman, Hastie and Tibshirani 2000)."""

from dataclasses import dataclass

import numpy as np

Rows = list[list[float]]

MAX_RESPONSE = 4.0
MIN_WEIGHT = 1e-6


@dataclass(frozen=True, slots=True)
class DecisionStump:
    """A decision stump: one value if a feature is at most a threshold, another above."""

    feature: int
    threshold: float
    below: float
    above: float

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Return the value of each row."""
        low = features[:, self.feature] <= self.threshold
        return np.where(low, self.below, self.above)


def logit_boost(features: np.ndarray, labels: np.ndarray, classes: int, iterations: int) -> Rows:
    """Return rows of class, feature, threshold, and the values below and above it."""
    order = np.argsort(features, axis=0, kind="stable")
    scores = np.zeros((len(features), classes))
    rows: Rows = []
    for _ in range(iterations):
        chances = _softmax(scores)
        stumps = [
            _best_stump(features, order, *_newton_step(chances[:, label], labels == label))
            for label in range(classes)
        ]
        values = np.stack([stump(features) for stump in stumps], axis=1)
        scores += _centre(values)
        rows += [_row(label, stump, classes) for label, stump in enumerate(stumps)]
    return rows


def _newton_step(chance: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights and responses of one Newton step."""
    weights = np.maximum(chance * (1 - chance), MIN_WEIGHT)
    response = np.clip((true - chance) / weights, -MAX_RESPONSE, MAX_RESPONSE)
    return weights, response


def _best_stump(
    features: np.ndarray, order: np.ndarray, weights: np.ndarray, response: np.ndarray
) -> DecisionStump:
    """Return the least-squares stump over all features and thresholds."""
    mass, total = weights.sum(), (weights * response).sum()
    best, stump = -np.inf, DecisionStump(0, np.inf, total / mass, total / mass)
    for feature in range(features.shape[1]):
        rows = order[:, feature]
        values = features[rows, feature]
        low, low_sum = np.cumsum(weights[rows])[:-1], np.cumsum((weights * response)[rows])[:-1]
        explained = low_sum**2 / low + (total - low_sum) ** 2 / (mass - low)
        explained = np.where(values[1:] > values[:-1], explained, -np.inf)
        split = int(np.argmax(explained))
        if explained[split] > best:
            best = explained[split]
            middle = (values[split] + values[split + 1]) / 2
            below, above = (
                low_sum[split] / low[split],
                (total - low_sum[split]) / (mass - low[split]),
            )
            stump = DecisionStump(feature, float(middle), float(below), float(above))
    return stump


def _row(label: int, stump: DecisionStump, classes: int) -> list[float]:
    """Return a stump in its stored form; the omitted mean over classes shifts all scores alike."""
    scale = (classes - 1) / classes
    values = [float(f"{scale * value:.5g}") for value in (stump.below, stump.above)]
    return [label, stump.feature, float(f"{stump.threshold:.6g}"), *values]


def _centre(values: np.ndarray) -> np.ndarray:
    classes = values.shape[1]
    return (classes - 1) / classes * (values - values.mean(axis=1, keepdims=True))


def _softmax(scores: np.ndarray) -> np.ndarray:
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    return likely / likely.sum(axis=1, keepdims=True)
