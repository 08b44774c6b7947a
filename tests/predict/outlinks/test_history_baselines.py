"""Baselines of new links that repeat the past."""

import numpy as np
import pytest

from freshet.core.content.outlink_targets import LinkKind
from freshet.predict.outlinks.history_baselines import (
    HistoryClassifier,
    HistoryRegressor,
    HistoryRule,
    column_name,
)

NAMES = tuple(column_name(rule, LinkKind.EXTERNAL) for rule in HistoryRule)
ROWS = np.array([[0.0, 0.4, 0.4, 1.0], [3.0, 0.6, 0.5, 0.0], [np.nan] * 4])
LABELS = [0, 1, 0]


@pytest.mark.parametrize(
    ("rule", "predicted"),
    [
        (HistoryRule.PREVIOUS, [0, 1, 0]),
        (HistoryRule.MEAN, [0, 1, 0]),
        (HistoryRule.LINK_CHANGE_RATE, [0, 1, 0]),
        (HistoryRule.CONTENT_CHANGE_RATE, [1, 0, 0]),
    ],
)
def test_each_rule_reads_its_column(rule: HistoryRule, predicted: list[int]) -> None:
    baseline = HistoryClassifier(NAMES, rule, LinkKind.EXTERNAL).fit(ROWS, LABELS)
    assert baseline.predict(ROWS).tolist() == predicted
    chances = baseline.predict_proba(ROWS)
    assert ((chances >= 0) & (chances <= 1)).all()
    regressor = HistoryRegressor(NAMES, rule, LinkKind.EXTERNAL).fit(ROWS, LABELS)
    column = NAMES.index(column_name(rule, LinkKind.EXTERNAL))
    assert regressor.predict(ROWS).tolist() == np.nan_to_num(ROWS[:, column]).tolist()


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match="needs the feature new_internal_links_mean"):
        HistoryClassifier(NAMES, HistoryRule.MEAN).fit(ROWS, LABELS)
