"""The learners as scikit-learn estimators."""

import warnings
from typing import Any

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from freshet.predict.baseline import Baseline
from freshet.predict.expert_ensembles import (
    MultipleExperts,
    RelationalBagging,
    RelationalBoosting,
    RelationalUnion,
    SingleExpert,
)
from freshet.predict.polynomial_svm import PolynomialSVM

FAST_SVM = PolynomialSVM(penalties=(0.1,), calibration_folds=0)
DIFFERENCES = {
    "PolynomialSVM": {
        "check_sample_weight_equivalence_on_dense_data": "weights do not alter the standardisation"
    },
    "coin": {
        "check_classifiers_classes": "classes are random",
        "check_classifiers_train": "classes are random",
    },
}
ENSEMBLES = [
    SingleExpert(FAST_SVM, calibration_folds=3),
    RelationalUnion(FAST_SVM, calibration_folds=3),
    MultipleExperts(FAST_SVM, calibration_folds=3),
    MultipleExperts(FAST_SVM, combination="hedge", calibration_folds=3),
    RelationalBagging(FAST_SVM, n_estimators=3, calibration_folds=3, random_state=0),
    RelationalBoosting(FAST_SVM, n_estimators=3, calibration_folds=3, random_state=0),
]
BOOSTED_TREES = LGBMClassifier(n_estimators=10, min_child_samples=5, verbosity=-1, n_jobs=1)
LEADER_COLUMNS = [[0, 1], [2, 3], [4, 5], [6, 7]]


def leader_examples(seed: int, size: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Return four experts of two columns; the second expert knows the label."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(size, 8))
    return rows, (rows[:, 2] + 0.2 * rng.normal(size=size) > 0.3).astype(int)


@pytest.mark.parametrize(
    "estimator",
    [
        Baseline(),
        Baseline("previous"),
        Baseline("coin", random_state=0),
        PolynomialSVM(penalties=(0.1, 1.0)),
        *ENSEMBLES,
    ],
    ids=lambda item: type(item).__name__,
)
def test_scikit_learn_accepts_the_estimator(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind = getattr(estimator, "strategy", type(estimator).__name__)
        check_estimator(estimator, expected_failed_checks=DIFFERENCES.get(kind), on_skip=None)


def test_the_machine_decides_as_scikit_learn_does() -> None:
    rows, labels = leader_examples(1, size=160)
    scaled = (rows - rows[:100].mean(axis=0)) / rows[:100].std(axis=0)
    reference = SVC(C=0.3, kernel="poly", degree=3, gamma=1 / 8, coef0=1.0)
    reference.fit(scaled[:100], labels[:100])
    ours = PolynomialSVM(penalties=(0.3,), calibration_folds=0).fit(rows[:100], labels[:100])
    np.testing.assert_allclose(
        ours.decision_function(rows[100:]), reference.decision_function(scaled[100:]), atol=5e-3
    )


def test_hedge_gives_the_leader_the_most_weight() -> None:
    rows, labels = leader_examples(2)
    experts = MultipleExperts(FAST_SVM, LEADER_COLUMNS, combination="hedge").fit(rows, labels)
    vote = MultipleExperts(FAST_SVM, LEADER_COLUMNS).fit(rows, labels)
    heaviest = experts.votes(rows[:3]).at(0)[0]
    assert heaviest.expert == 1
    assert heaviest.weight > 0.9
    test_rows, test_labels = leader_examples(3, size=200)
    assert experts.score(test_rows, test_labels) > vote.score(test_rows, test_labels) + 0.05


def test_experts_vote_with_their_relation_weights() -> None:
    rows, labels = leader_examples(2)
    weights = [0.0, 5.0, 1.0, 1.0]
    experts = MultipleExperts(
        FAST_SVM, LEADER_COLUMNS, weights, with_own=True, calibration_folds=0
    ).fit(rows, labels)
    alone = SingleExpert(FAST_SVM, [[0, 1, 2, 3]], calibration_folds=0).fit(rows, labels)
    np.testing.assert_array_equal(experts.predict(rows), alone.predict(rows))


@pytest.mark.parametrize(
    "weak_learner",
    [LogisticRegression(solver="liblinear"), KNeighborsClassifier(3), BOOSTED_TREES, None],
    ids=str,
)
@pytest.mark.parametrize("ensemble", ENSEMBLES[1:], ids=lambda item: type(item).__name__)
def test_any_weak_learner_is_usable(weak_learner: Any, ensemble: Any) -> None:
    rows, labels = leader_examples(4)
    estimator = clone(ensemble).set_params(weak_learner=weak_learner, calibration_folds=2)
    estimator.fit(rows, labels)
    probabilities = estimator.predict_proba(rows)
    assert estimator.score(rows, labels) > 0.7
    assert np.allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "estimator", [Baseline(), PolynomialSVM(), *ENSEMBLES], ids=lambda item: type(item).__name__
)
@pytest.mark.parametrize("label", [0, 1])
def test_equal_labels_are_predicted_with_a_smoothed_probability(estimator: Any, label: int) -> None:
    rows, _ = leader_examples(5, size=50)
    estimator.fit(rows, np.full(50, label))
    assert (estimator.predict(rows) == label).all()
    assert estimator.predict_proba(rows)[0, 1] == pytest.approx((50 * label + 1) / 52)


@pytest.mark.parametrize("estimator", ENSEMBLES, ids=lambda item: type(item).__name__)
def test_unknown_features_count_as_the_mean(estimator: Any) -> None:
    rows, labels = leader_examples(6)
    rows[::7, 3], rows[:, 7] = np.nan, np.nan
    probabilities = estimator.fit(rows, labels).predict_proba(rows)
    assert np.isfinite(probabilities).all()


def test_probabilities_are_calibrated() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 3))
    labels = (rng.random(2000) < 1 / (1 + np.exp(-1.5 * rows[:, 0]))).astype(int)
    svm = PolynomialSVM(penalties=(0.03, 0.1)).fit(rows[:200], labels[:200])
    probabilities = svm.predict_proba(rows[200:])[:, 1]
    for group in (probabilities < 0.4, probabilities > 0.6):
        assert labels[200:][group].mean() == pytest.approx(probabilities[group].mean(), abs=0.1)


def test_the_baseline_breaks_a_tie_by_the_last_label() -> None:
    rows = np.zeros((4, 1))
    assert Baseline().fit(rows, [1, 1, 0, 0]).predict(rows[:1]) == [0]
    assert Baseline().fit(rows, [0, 0, 1, 1]).predict(rows[:1]) == [1]
    assert Baseline("previous").fit(rows, [1, 1, 1, 0]).predict(rows[:1]) == [0]


def test_wrong_arguments_are_refused() -> None:
    rows, labels = leader_examples(1)
    with pytest.raises(ValueError, match="vote"):
        MultipleExperts(combination="sum").fit(rows, labels)
    with pytest.raises(ValueError, match="weights"):
        MultipleExperts(weights=[1.0, 1.0]).fit(rows, labels)
    with pytest.raises(ValueError, match="majority"):
        Baseline("never").fit(rows, labels)


@pytest.mark.parametrize("scale", [1e200, 1e-320])
def test_extreme_features_have_defined_answers(scale: float) -> None:
    rows, labels = leader_examples(1)
    probabilities = FAST_SVM.fit(rows * scale, labels).predict_proba(rows)
    assert np.isfinite(probabilities).all()
