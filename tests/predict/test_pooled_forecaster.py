"""Gradient boosting over all pages: calibrated, deterministic, stored as text."""

import json
import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from freshet.core.errors import BadInputError
from freshet.predict.booster_text import load_booster
from freshet.predict.pooled_forecaster import PooledForecaster

SMALL = PooledForecaster(rounds=30, leaves=7, min_leaf=2, threads=1)
DIFFERENCES = {
    "check_sample_weight_equivalence_on_dense_data": "bins depend on the rows, not on weights"
}


def examples(seed: int, size: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in which the label depends on the first column, unknown in some."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(size, 4))
    labels = (rng.random(size) < 1 / (1 + np.exp(-2 * rows[:, 0]))).astype(int)
    rows[::9, 1], rows[::11, 0] = np.nan, np.nan
    return rows, labels


def test_scikit_learn_accepts_the_estimator() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(SMALL, expected_failed_checks=DIFFERENCES, on_skip=None)


@pytest.mark.parametrize("calibration", ["platt", "isotonic", "none"])
def test_a_stored_forecaster_answers_as_before(calibration: str) -> None:
    rows, labels = examples(1)
    fitted = PooledForecaster(
        rounds=30,
        calibration=calibration,
        feature_names=("rate", "words", "links", "age"),
        threads=1,
    ).fit(rows, labels)
    loaded = PooledForecaster.from_text(fitted.to_text())
    np.testing.assert_array_equal(loaded.predict_proba(rows), fitted.predict_proba(rows))
    assert loaded.importances() == fitted.importances()
    assert fitted.importances()[0][0] == "rate"


def test_results_do_not_depend_on_threads_or_runs() -> None:
    rows, labels = examples(2)
    first, second = (
        PooledForecaster(rounds=5, threads=threads).fit(rows, labels).predict_proba(rows)
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("calibration", ["platt", "isotonic"])
def test_probabilities_are_calibrated(calibration: str) -> None:
    rows, labels = examples(3, size=4000)
    fitted = PooledForecaster(rounds=100, min_leaf=5, calibration=calibration, threads=1).fit(
        rows, labels
    )
    later_rows, later_labels = examples(4, size=3000)
    probabilities = fitted.predict_proba(later_rows)[:, 1]
    assert probabilities.min() > 0
    assert probabilities.max() < 1
    for low in (0.0, 0.25, 0.5, 0.75):
        group = (probabilities >= low) & (probabilities < low + 0.25)
        assert later_labels[group].mean() == pytest.approx(probabilities[group].mean(), abs=0.1)


@pytest.mark.parametrize("label", [0, 1])
def test_equal_labels_are_predicted_with_a_smoothed_probability(label: int) -> None:
    rows, _ = examples(5, size=50)
    fitted = PooledForecaster().fit(rows, np.full(50, label))
    loaded = PooledForecaster.from_text(fitted.to_text())
    assert (loaded.predict(rows) == label).all()
    assert loaded.predict_proba(rows)[0, 1] == pytest.approx((50 * label + 1) / 52)
    assert loaded.importances() == []


def test_wrong_parameters_are_refused() -> None:
    rows, labels = examples(6, size=40)
    with pytest.raises(ValueError, match="isotonic"):
        PooledForecaster(calibration="sigmoid").fit(rows, labels)
    with pytest.raises(ValueError, match="3 names for 4 features"):
        PooledForecaster(feature_names=["a", "b", "c"]).fit(rows, labels)


def test_a_text_that_is_no_model_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    stored = json.loads(SMALL.fit(*examples(7, size=60)).to_text())
    for text in ("", "[]", "{}", json.dumps(stored | {"format": 99, "x": 1})):
        with pytest.raises(BadInputError, match="freshet learn"):
            PooledForecaster.from_text(text)
    with pytest.raises(BadInputError, match=r"its digest is wrong.*freshet learn"):
        PooledForecaster.from_text(json.dumps(stored | {"booster": "tree\nnonsense"}))
    assert capfd.readouterr() == ("", "")


def test_trees_that_lightgbm_refuses_are_an_error_of_ours() -> None:
    with pytest.raises(BadInputError, match=r"LightGBM cannot read the trees .*'freshet learn'"):
        load_booster("tree")
