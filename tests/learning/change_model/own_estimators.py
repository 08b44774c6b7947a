"""Estimators as a user writes them."""

import json
from typing import Any, Self

import numpy as np


class WeekdayTable:
    """The share of changes by how often the host changed on this weekday; it stores itself."""

    def __init__(self, feature_names: tuple[str, ...]) -> None:
        self.column = feature_names.index("host_weekday")
        self.shares = [0.0] * 10

    def fit(self, X: Any, y: Any) -> Self:
        groups = self._groups(X)
        for group in range(10):
            in_group = y[groups == group]
            self.shares[group] = float((in_group.sum() + 0.1) / (len(in_group) + 1))
        return self

    def predict_proba(self, X: Any) -> Any:
        chances = np.array(self.shares)[self._groups(X)]
        return np.stack([1 - chances, chances], axis=1)

    def to_bytes(self) -> bytes:
        return json.dumps([self.column, self.shares]).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        table = cls(("host_weekday",))
        table.column, table.shares = json.loads(content)
        return table

    def _groups(self, X: Any) -> Any:
        values = np.nan_to_num(X[:, self.column])
        return np.clip((10 * values + 2).astype(int), 0, 9)


class ForgetfulTable(WeekdayTable):
    """The same without methods that store it: it is trained again."""

    to_bytes = None  # type: ignore[assignment]


class FitRaises(WeekdayTable):
    """An estimator that refuses its examples."""

    def fit(self, X: Any, y: Any) -> Self:
        raise ValueError("Input X contains\nNaN.")


class WrongShape(WeekdayTable):
    """An estimator that returns one column."""

    def predict_proba(self, X: Any) -> Any:
        return np.zeros(len(X))


class NotProbabilities(WeekdayTable):
    """An estimator that returns scores."""

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), np.nan)


class SumsToTwo(WeekdayTable):
    """An estimator that is sure of both classes."""

    def predict_proba(self, X: Any) -> Any:
        return np.ones((len(X), 2))


class FailsLater(WeekdayTable):
    """An estimator that fails when it was loaded."""

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        return WrongShape.from_bytes(content)  # type: ignore[return-value]
