"""Bagging and boosting with weights equal scikit-learn's machines with the same weights."""

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from freshet.core.types import FloatArray
from freshet.predict.kernels.sliding_ensembles import slide_bagging, slide_boosting
from freshet.predict.kernels.sliding_svm import ExpertArrays, KernelSettings
from tests.predict.expert_samples import page_like_experts, random_experts

SETTINGS = KernelSettings(
    window=40, horizon=1, first_step=40, gamma=0.0, coef0=1.0, tolerance=1e-4, with_own=False
)
PENALTY = 0.3


def window_kernel(experts: ExpertArrays, step: int) -> FloatArray:
    rows = slice(step - 40, step + 1)
    dense = experts.dense[0, rows]
    scaled = StandardScaler().fit(dense[:-1]).transform(dense)
    products = scaled @ scaled.T + experts.gram[0, rows, rows]
    kernel: FloatArray = (products / dense.shape[1] + 1.0) ** 3
    return kernel


def answers(kernel: FloatArray, labels: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the classes -1 and 1 that a weighted machine gives to all rows."""
    machine = SVC(C=PENALTY, kernel="precomputed", tol=1e-4)
    machine.fit(kernel[:-1, :-1], labels, sample_weight=weights)
    return np.where(machine.decision_function(kernel[:, :-1]) > 0, 1.0, -1.0)


def boosted_vote(kernel: FloatArray, labels: FloatArray, rounds: int) -> float:
    """The formulas of section 5.3.3, written plainly."""
    weights, vote, total = np.full(len(labels), 1 / len(labels)), 0.0, 0.0
    for _ in range(rounds):
        answer = answers(kernel, labels, weights * len(labels))
        error = weights[answer[:-1] != labels].sum()
        if error == 0:
            return float(answer[-1])
        alpha = 0.5 * np.log((1 - error) / error)
        weights = weights * np.exp(-alpha * labels * answer[:-1])
        weights = weights / weights.sum()
        vote, total = vote + alpha * answer[-1], total + abs(alpha)
    return vote / total


def test_boosting_follows_section_5_3_3() -> None:
    experts = page_like_experts(2, experts=1, steps=70)
    votes = slide_boosting(experts, np.full(70, PENALTY), 4, SETTINGS)
    signs = np.where(experts.labels == 1, 1.0, -1.0)
    reference = [
        boosted_vote(window_kernel(experts, step), signs[step - 40 : step], 4)
        for step in range(40, 70)
    ]
    agreement = np.abs(votes[40:] - reference) < 0.02
    assert agreement.mean() >= 0.9
    assert np.mean((votes[40:] > 0) == (np.array(reference) > 0)) >= 0.95


def test_bagging_votes_as_machines_on_repeated_examples() -> None:
    experts = random_experts(3, experts=1, steps=60)
    draws = np.random.default_rng(0).multinomial(40, np.full(40, 1 / 40), 5).astype(float)
    votes = slide_bagging(experts, np.full(60, PENALTY), draws, SETTINGS)
    for step in range(40, 60):
        kernel, labels = window_kernel(experts, step), experts.labels[step - 40 : step]
        total = 0.0
        for draw in draws:
            rows = np.repeat(np.arange(40), draw.astype(int))
            machine = SVC(C=PENALTY, kernel="precomputed", tol=1e-4)
            machine.fit(kernel[np.ix_(rows, rows)], labels[rows])
            total += 1 if machine.decision_function(kernel[-1:, rows])[0] > 0 else -1
        assert votes[step] == total / 5


def test_equal_labels_give_that_label() -> None:
    experts = random_experts(3, experts=1, steps=60)._replace(labels=np.ones(60, np.int8))
    assert (slide_boosting(experts, np.full(60, PENALTY), 3, SETTINGS)[40:] == 1).all()
    assert (
        slide_bagging(experts, np.full(60, PENALTY), np.ones((2, 40)), SETTINGS)[40:] == 1
    ).all()
