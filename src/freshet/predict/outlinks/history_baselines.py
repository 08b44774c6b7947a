"""Baselines that repeat the past: the previous interval, the mean, and rates of change."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from freshet.core.content.outlink_targets import LinkKind
from freshet.core.types import FloatArray

EVEN_CHANCE = 0.5


class HistoryRule(StrEnum):
    """Which figure of the past is taken for the future.

    The new links of the previous interval (NNL-Pr), their mean over the past intervals (NNL-Av),
    the share of past intervals with a new link (LCR-history), or with changed content (CCR).
    """

    PREVIOUS = "NNL-Pr"
    MEAN = "NNL-Av"
    LINK_CHANGE_RATE = "LCR-history"
    CONTENT_CHANGE_RATE = "CCR"


class HistoryBaseline(BaseEstimator):
    """Base of the baselines: reads one column, chosen by its name. Nothing is learnt.

    Without history the figure is 0.
    """

    def __init__(
        self,
        feature_names: Sequence[str],
        rule: str = "LCR-history",
        links: str = "internal",
    ) -> None:
        self.feature_names = feature_names
        self.rule = rule
        self.links = links

    def scores(self, X: Any) -> FloatArray:
        """Return the figure of the past of each row."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        column: FloatArray = np.nan_to_num(rows[:, self.column_])
        return column

    def _fit(self, X: Any, y: Any) -> NDArray[Any]:
        _, targets = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        name = column_name(HistoryRule(self.rule), LinkKind(self.links))
        if name not in self.feature_names:
            raise ValueError(f"the baseline {self.rule} needs the feature {name}")
        self.column_ = list(self.feature_names).index(name)
        return np.asarray(targets)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class HistoryClassifier(ClassifierMixin, HistoryBaseline):
    """Predicts new links where the figure of the past is at least 1/2."""

    def fit(self, X: Any, y: Any) -> Self:
        """Find the column of the rule."""
        self._fit(X, y)
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return 1 where new links are predicted."""
        return (self.scores(X) >= EVEN_CHANCE).astype(np.int64)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the chance of a new link: a rate as it is, a mean number as of a Poisson law."""
        scores = self.scores(X)
        if self.rule in {HistoryRule.PREVIOUS, HistoryRule.MEAN}:
            scores = 1 - np.exp(-scores)
        return np.column_stack([1 - scores, scores])


class HistoryRegressor(RegressorMixin, HistoryBaseline):
    """Predicts the figure of the past."""

    def fit(self, X: Any, y: Any) -> Self:
        """Find the column of the rule."""
        self._fit(X, y)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the figure of the past of each row."""
        return self.scores(X)


def column_name(rule: HistoryRule, links: LinkKind) -> str:
    """Return the name of the column that a rule reads.

    >>> column_name(HistoryRule.PREVIOUS, LinkKind.EXTERNAL)
    'new_external_links_interval_1'
    """
    match rule:
        case HistoryRule.PREVIOUS:
            return f"new_{links}_links_interval_1"
        case HistoryRule.MEAN:
            return f"new_{links}_links_mean"
        case HistoryRule.LINK_CHANGE_RATE:
            return f"{links}_link_change_rate"
    return "content_change_rate"
