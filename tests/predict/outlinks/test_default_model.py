"""The default estimators of new links."""

import json
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

from freshet.core.errors import BadInputError
from freshet.core.json_files import document_digest
from freshet.predict.outlinks.default_model import (
    LinkRateRegressor,
    NewLinkClassifier,
    NewLinkRegressor,
)
from tests.predict.outlinks.rate_samples import NAMES, rate_sample


def small_classifier(**options: Any) -> NewLinkClassifier:
    return NewLinkClassifier(NAMES, rounds=40, folds=3, **options)


@pytest.mark.parametrize(
    "estimator",
    [NewLinkClassifier(threshold=0.5, rounds=20, folds=2), NewLinkRegressor(rounds=100, folds=2)],
    ids=lambda item: type(item).__name__,
)
def test_scikit_learn_accepts_the_estimator(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator, on_skip=None)


def test_history_is_shrunk_to_what_the_site_leads_to_expect() -> None:
    train, test = rate_sample(seed=1), rate_sample(seed=2)
    model = small_classifier().fit(train.rows, train.counts > 0, groups=train.sites)
    labels = test.counts > 0
    chances = model.predict_proba(test.rows)[:, 1]
    history = test.rows[:, 0] / test.rows[:, 2]
    assert roc_auc_score(labels, chances) > roc_auc_score(labels, history) - 0.005
    assert 0.05 < model.threshold_ < 0.6
    assert abs(chances.mean() - labels.mean()) < 0.06


def test_a_page_without_history_is_predicted_from_its_site() -> None:
    train, test = rate_sample(seed=1), rate_sample(seed=2)
    model = small_classifier().fit(train.rows, train.counts > 0, groups=train.sites)
    rows = test.rows.copy()
    rows[:, :3] = np.nan
    chances = model.predict_proba(rows)[:, 1]
    assert np.isfinite(chances).all()
    assert roc_auc_score(test.counts > 0, chances) > 0.65


def test_numbers_of_new_links_and_link_change_rates_are_expected_values() -> None:
    train, test = rate_sample(seed=3), rate_sample(seed=4)
    numbers = NewLinkRegressor(NAMES, rounds=40, folds=3).fit(train.rows, train.counts, train.sites)
    assert numbers.predict(test.rows).mean() == pytest.approx(test.counts.mean(), rel=0.25)
    shares = train.rows[:, 0] / 8
    rates = LinkRateRegressor(NAMES[3:], rounds=40, folds=3).fit(train.rows[:, 3:], shares)
    predicted = rates.predict(test.rows[:, 3:])
    assert ((predicted > 0) & (predicted < 1)).all()
    assert np.corrcoef(predicted, test.rows[:, 0])[0, 1] > 0.5


@pytest.mark.parametrize("label", [0, 1])
def test_equal_outcomes_are_likely_but_not_certain(label: int) -> None:
    rows = rate_sample(50).rows[:, 3:]
    model = NewLinkClassifier(NAMES[3:]).fit(rows, np.full(50, label))
    assert model.predict_proba(rows)[0, 1] == pytest.approx((50 * label + 1) / 52)
    counts = NewLinkRegressor(NAMES[3:]).fit(rows, np.full(50, 3 * label))
    assert counts.predict(rows)[0] == pytest.approx((150 * label + 0.5) / 51)


@pytest.mark.parametrize("groups", [None, "one site"])
def test_one_site_or_few_rows_have_defined_answers(groups: Any) -> None:
    sample = rate_sample(12)
    sites = None if groups is None else np.zeros(12)
    model = small_classifier().fit(sample.rows, sample.counts > 0, groups=sites)
    assert np.isfinite(model.predict_proba(sample.rows)).all()


def test_a_stored_model_predicts_the_same() -> None:
    sample = rate_sample(200)
    model = small_classifier().fit(sample.rows, sample.counts > 0, groups=sample.sites)
    stored = NewLinkClassifier.from_text(model.to_text())
    np.testing.assert_array_equal(
        stored.predict_proba(sample.rows), model.predict_proba(sample.rows)
    )
    np.testing.assert_array_equal(stored.predict(sample.rows), model.predict(sample.rows))
    counts = NewLinkRegressor(NAMES, rounds=20).fit(sample.rows, sample.counts)
    np.testing.assert_array_equal(
        NewLinkRegressor.from_text(counts.to_text()).predict(sample.rows),
        counts.predict(sample.rows),
    )


@pytest.mark.parametrize(
    "damage", [("NewLink", "OldLink"), ('"strength": ', '"strength": 1'), ("{", "")]
)
def test_a_damaged_model_is_refused(damage: tuple[str, str]) -> None:
    sample = rate_sample(100)
    text = small_classifier().fit(sample.rows, sample.counts > 0).to_text()
    with pytest.raises(BadInputError, match="freshet learn"):
        NewLinkClassifier.from_text(text.replace(*damage, 1))


def test_a_model_of_an_earlier_format_is_refused() -> None:
    sample = rate_sample(100)
    stored = json.loads(small_classifier().fit(sample.rows, sample.counts > 0).to_text())
    assert stored.pop("digest") == document_digest(stored)
    stored["format"] = 1
    with pytest.raises(BadInputError, match="no NewLinkClassifier of format 2"):
        NewLinkClassifier.from_text(json.dumps(stored | {"digest": document_digest(stored)}))


def test_wrong_input_is_refused() -> None:
    sample = rate_sample(30)
    with pytest.raises(ValueError, match="names for 5 features"):
        NewLinkClassifier(NAMES[:2]).fit(sample.rows, sample.counts > 0)
    with pytest.raises(ValueError, match="2 groups for 30 rows"):
        small_classifier().fit(sample.rows, sample.counts > 0, groups=[1, 2])
    with pytest.raises(ValueError, match="between 0 and 1"):
        LinkRateRegressor().fit(sample.rows, sample.counts + 2)
    with pytest.raises(ValueError, match="negative"):
        NewLinkRegressor().fit(sample.rows, -1 - sample.counts)


def test_large_tables_are_sampled() -> None:
    sample = rate_sample(300)
    model = small_classifier(max_rows=100).fit(sample.rows, sample.counts > 0)
    assert np.isfinite(model.predict_proba(sample.rows)).all()
