"""The sliding machines decide as scikit-learn's SVC does on the same windows."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from freshet.core.types import FloatArray
from freshet.predict.kernels.sliding_svm import ExpertArrays, KernelSettings, slide_experts
from freshet.predict.kernels.svm_dual import inverse_curvatures, solve_dual
from tests.predict.expert_samples import page_like_experts, random_experts

SETTINGS = KernelSettings(
    window=50, horizon=1, first_step=50, gamma=0.0, coef0=1.0, tolerance=1e-3, with_own=False
)
PENALTIES = np.array([0.01, 0.1, 1.0, 10.0])


def svc_decision(experts: ExpertArrays, expert: int, step: int, penalty: float) -> float:
    rows = slice(step - 50, step + 1)
    dense = experts.dense[expert, rows]
    scaled = StandardScaler().fit(dense[:-1]).transform(dense)
    products = scaled @ scaled.T + experts.gram[expert, rows, rows]
    kernel = (products / dense.shape[1] + 1.0) ** 3
    machine = SVC(C=penalty, kernel="precomputed").fit(
        kernel[:-1, :-1], experts.labels[step - 50 : step]
    )
    return float(machine.decision_function(kernel[-1:, :-1])[0])


def svc_decisions(experts: ExpertArrays) -> FloatArray:
    count, steps, _ = experts.dense.shape
    return np.array([
        [
            [svc_decision(experts, expert, step, penalty) for step in range(50, steps)]
            for penalty in PENALTIES
        ]
        for expert in range(count)
    ])


@pytest.mark.parametrize("generate", [random_experts, page_like_experts])
def test_decisions_equal_those_of_scikit_learn(generate: Callable[..., ExpertArrays]) -> None:
    experts = generate(7, experts=2, steps=100)
    ours = slide_experts(experts, PENALTIES, SETTINGS)[:, :, 50:]
    reference = svc_decisions(experts)
    assert np.mean((ours > 0) == (reference > 0)) >= 0.999
    assert np.median(np.abs(ours - reference)) < 2e-3


@pytest.mark.parametrize("penalty", [1.0, 1000.0])
def test_a_singular_kernel_of_repeated_days_is_solved_as_by_scikit_learn(penalty: float) -> None:
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (50, 3)) * 10.0
    signs = np.where(rng.random(50) < 0.4, 1.0, -1.0)
    kernel = (rows @ rows.T / 3 + 1) ** 3
    coefficients = np.zeros(50)
    bias = solve_dual(
        kernel, inverse_curvatures(kernel), signs, np.full(50, penalty), coefficients, 1e-3
    )
    machine = SVC(C=penalty, kernel="precomputed").fit(kernel, signs)
    np.testing.assert_allclose(
        kernel @ coefficients + bias, machine.decision_function(kernel), atol=5e-3
    )
    assert abs(coefficients.sum()) < 1e-9 * penalty


def test_decisions_before_the_first_step_are_unknown() -> None:
    decisions = slide_experts(random_experts(1, steps=60), PENALTIES, SETTINGS)
    assert np.isnan(decisions[:, :, :50]).all()
    assert np.isfinite(decisions[:, :, 50:]).all()


def test_a_window_of_equal_labels_gives_that_label() -> None:
    experts = random_experts(1, steps=60)
    for label, decision in ((0, -1.0), (1, 1.0)):
        constant = experts._replace(labels=np.full(60, label, np.int8))
        assert (slide_experts(constant, PENALTIES, SETTINGS)[:, :, 50:] == decision).all()


def test_later_steps_do_not_alter_decisions() -> None:
    experts = page_like_experts(3, steps=80)
    other = page_like_experts(4, steps=80)
    labels = np.where(np.arange(80) < 70, experts.labels, 1 - experts.labels)
    altered = ExpertArrays(experts.dense.copy(), experts.gram.copy(), labels.astype(np.int8))
    altered.dense[:, 71:] = other.dense[:, 71:]
    altered.gram[:, 71:], altered.gram[:, :, 71:] = other.gram[:, 71:], other.gram[:, :, 71:]
    np.testing.assert_array_equal(
        slide_experts(experts, PENALTIES, SETTINGS)[:, :, :71],
        slide_experts(altered, PENALTIES, SETTINGS)[:, :, :71],
    )


def test_a_longer_horizon_leaves_out_labels_that_are_not_known_yet() -> None:
    experts = random_experts(2, steps=60)
    hidden = experts._replace(labels=experts.labels.copy())
    hidden.labels[57:] = -1
    settings = SETTINGS._replace(horizon=3)
    np.testing.assert_array_equal(
        slide_experts(experts, PENALTIES, settings)[:, :, :60],
        slide_experts(hidden, PENALTIES, settings)[:, :, :60],
    )


def test_unknown_labels_and_features_are_left_out() -> None:
    experts = random_experts(5, steps=70)
    experts.labels[30:35] = -1
    experts.dense[1, 60] = np.nan
    experts.dense[0, 20:30, 2] = np.nan
    decisions = slide_experts(experts, PENALTIES, SETTINGS)
    assert np.isnan(decisions[1, :, 60]).all()
    assert np.isfinite(decisions[0, :, 50:]).all()


def test_a_gram_matrix_of_identical_rows_decides_by_the_majority() -> None:
    experts = random_experts(5, steps=70)
    experts.labels[:] = np.arange(70) % 3 == 0
    still = experts._replace(dense=np.zeros_like(experts.dense), gram=np.ones_like(experts.gram))
    assert (slide_experts(still, PENALTIES, SETTINGS)[:, :, 50:] < 0).all()


def test_experts_may_also_have_the_features_of_the_page_itself() -> None:
    experts = random_experts(6, experts=2, steps=70)
    joined = ExpertArrays(
        np.concatenate([experts.dense[:1], experts.dense[1:]], axis=2),
        experts.gram.sum(axis=0, keepdims=True),
        experts.labels,
    )
    with_own = slide_experts(experts, PENALTIES, SETTINGS._replace(with_own=True))
    np.testing.assert_allclose(
        with_own[1], slide_experts(joined, PENALTIES, SETTINGS)[0], atol=5e-3
    )
