"""The learners of the paper for new links, and their tuning."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, mean_poisson_deviance
from sklearn.utils.estimator_checks import check_estimator

from freshet.core.content.outlink_targets import OutlinkTarget
from freshet.predict.outlinks.natural_poisson import NaturalPoissonBoosting
from freshet.predict.outlinks.tree_learners import (
    OutlinkClassifier,
    OutlinkRegressor,
    TreeLearner,
)
from freshet.predict.outlinks.tuning import make_learner, parameter_ranges, tune_learner
from tests.predict.outlinks.rate_samples import rate_sample

BALANCED = {
    "check_classifiers_train": "classes follow the balanced model, probabilities the examples",
    "check_classifiers_regression_target": "more than two classes are refused",
}
CLASSIFIERS = (TreeLearner.EXTRA_TREES, TreeLearner.BOOSTED_TREES)


@pytest.mark.parametrize(
    ("estimator", "differences"),
    [
        (OutlinkClassifier(trees=10, min_leaf=2), BALANCED),
        (OutlinkRegressor(target="nnl", trees=10, min_leaf=2), {}),
        (NaturalPoissonBoosting(rounds=12, learning_rate=0.5), {}),
    ],
    ids=["OutlinkClassifier", "OutlinkRegressor", "NaturalPoissonBoosting"],
)
def test_scikit_learn_accepts_the_estimator(estimator: Any, differences: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator, expected_failed_checks=differences, on_skip=None)


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_classes_are_balanced_and_probabilities_calibrated(learner: TreeLearner) -> None:
    train, test = rate_sample(800, seed=5), rate_sample(800, seed=6)
    model = OutlinkClassifier(learner, trees=30, min_leaf=20).fit(train.rows, train.counts > 2)
    labels = test.counts > 2
    predicted, chances = model.predict(test.rows), model.predict_proba(test.rows)[:, 1]
    assert labels.mean() < 0.2
    assert predicted.mean() > labels.mean()
    assert balanced_accuracy_score(labels, predicted) > 0.7
    assert chances.mean() == pytest.approx(labels.mean(), abs=0.04)


@pytest.mark.parametrize("learner", TreeLearner)
def test_numbers_of_new_links_are_learnt(learner: TreeLearner) -> None:
    train, test = rate_sample(seed=5), rate_sample(seed=6)
    rows = train.rows.copy()
    rows[::9, 0] = np.nan
    model = make_learner(learner, OutlinkTarget.NNL, trees=40, min_leaf=20, learning_rate=0.1)
    means = np.maximum(model.fit(rows, train.counts).predict(test.rows), 1e-3)
    plain = np.full(len(means), train.counts.mean())
    deviance = mean_poisson_deviance(test.counts, means)
    assert deviance < 0.8 * mean_poisson_deviance(test.counts, plain)


@pytest.mark.parametrize("learner", CLASSIFIERS)
@pytest.mark.parametrize("target", OutlinkTarget)
def test_equal_targets_and_unknown_features_have_defined_answers(
    learner: TreeLearner, target: OutlinkTarget
) -> None:
    rows = rate_sample(30).rows
    rows[:, 1] = np.nan
    model = make_learner(learner, target, trees=5).fit(rows, np.zeros(30))
    assert (model.predict(rows) == 0).all()
    if target is OutlinkTarget.NL:
        assert model.predict_proba(rows)[0, 1] == pytest.approx(1 / 32)


def test_link_change_rates_stay_between_0_and_1() -> None:
    sample = rate_sample()
    model = OutlinkRegressor(TreeLearner.BOOSTED_TREES, trees=30)
    predicted = model.fit(sample.rows[:, 3:], sample.rows[:, 0] / 8).predict(sample.rows[:, 3:])
    assert ((predicted >= 0) & (predicted <= 1)).all()
    with pytest.raises(ValueError, match="above 1"):
        model.fit(sample.rows, sample.counts)


def test_a_learner_of_counts_predicts_nothing_else() -> None:
    sample = rate_sample(30)
    with pytest.raises(ValueError, match="numbers of new links only"):
        OutlinkRegressor(TreeLearner.NATURAL_POISSON).fit(sample.rows, sample.rows[:, 0] / 8)
    with pytest.raises(ValueError, match="does not predict"):
        OutlinkClassifier(TreeLearner.POISSON_BOOSTING).fit(sample.rows, sample.counts > 0)


def test_tuning_keeps_inside_the_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"trees": (5, 10), "min_leaf": (2, 25)}
    monkeypatch.setattr("freshet.predict.outlinks.tuning.parameter_ranges", lambda learner: small)
    sample = rate_sample(120)
    for groups in (None, sample.sites):
        tuned = tune_learner(
            OutlinkClassifier(), sample.rows, sample.counts > 0, groups=groups, draws=2
        )
        assert tuned.trees in small["trees"]
        assert tuned.min_leaf in small["min_leaf"]


@pytest.mark.parametrize("learner", TreeLearner)
def test_the_ranges_are_those_of_the_paper(learner: TreeLearner) -> None:
    ranges = parameter_ranges(learner)
    assert (min(ranges["trees"]), max(ranges["trees"])) == (200, 500)
    least = 2 if learner is TreeLearner.EXTRA_TREES else 10
    assert (min(ranges["min_leaf"]), max(ranges["min_leaf"])) == (least, 25)


def test_too_little_to_tune_on_keeps_the_parameters() -> None:
    sample = rate_sample(30)
    labels = np.zeros(30)
    labels[:2] = 1
    estimator = OutlinkClassifier(min_leaf=7)
    assert tune_learner(estimator, sample.rows, labels) is estimator
    assert (
        tune_learner(estimator, sample.rows, sample.counts > 0, groups=np.zeros(30)).min_leaf == 7
    )
