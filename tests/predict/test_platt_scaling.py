"""Platt scaling gives calibrated probabilities, from past decisions only."""

import numpy as np
import pytest
from sklearn.calibration import _SigmoidCalibration

from freshet.predict.kernels.platt_scaling import fit_platt, slide_platt


def sample(seed: int, size: int, slope: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    decisions = rng.normal(size=size)
    labels = rng.random(size) < 1 / (1 + np.exp(-slope * decisions - 0.5))
    return decisions, labels.astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_without_a_prior_the_curve_is_that_of_scikit_learn(seed: int) -> None:
    decisions, labels = sample(seed, 60, 1.5)
    reference = _SigmoidCalibration().fit(decisions, labels)
    assert fit_platt(decisions, labels, 0.0) == pytest.approx(
        (-reference.a_, -reference.b_), abs=2e-3
    )


def test_a_learner_worse_than_chance_gives_the_frequency() -> None:
    decisions, labels = sample(1, 200, -2.0)
    slope, intercept = fit_platt(decisions, labels, 1.0)
    assert slope == 0.0
    assert 1 / (1 + np.exp(-intercept)) == pytest.approx(labels.mean(), abs=0.02)


def test_separable_decisions_give_finite_curves() -> None:
    decisions = np.repeat([-1.0, 1.0], 20)
    assert np.isfinite(fit_platt(decisions, (decisions > 0).astype(float), 0.0)).all()
    assert fit_platt(np.empty(0), np.empty(0), 1.0) == (1.0, 0.0)


def test_probabilities_use_past_decisions_only() -> None:
    decisions, labels = sample(2, 80, 1.0)
    altered, altered_labels = decisions.copy(), labels.copy()
    altered[50:], altered_labels[49:] = 3.0, 0.0
    before = slide_platt(decisions, labels, 60, 1, 1.0)
    after = slide_platt(altered, altered_labels, 60, 1, 1.0)
    np.testing.assert_array_equal(before[:50], after[:50])


def test_probabilities_are_calibrated() -> None:
    decisions, labels = sample(3, 4000, 2.0)
    probabilities = slide_platt(decisions, labels, 100, 1, 1.0)[100:]
    for low in (0.2, 0.4, 0.6):
        group = (probabilities >= low) & (probabilities < low + 0.2)
        assert labels[100:][group].mean() == pytest.approx(probabilities[group].mean(), abs=0.06)
