"""Shapes of change curves: the packaged model and its features."""

import json
from importlib.resources import files

import numpy as np
import pytest

from freshet.measure.dynamics.curve.knot import fit_bend
from freshet.measure.dynamics.curve.shape import (
    FEATURE_NAMES,
    MODEL_FILE,
    SHAPES,
    classify_shape,
    packaged_model,
    shape_features,
    stump_model_from_rows,
)


def test_the_package_brings_its_parameters() -> None:
    parameters = json.loads(
        files("freshet.measure.dynamics.curve").joinpath(MODEL_FILE).read_text("utf-8")
    )
    assert parameters["shapes"] == list(SHAPES)
    assert parameters["features"] == list(FEATURE_NAMES)
    assert len(parameters["stumps"]) > 2


def test_stumps_add_up_what_they_say_below_and_above() -> None:
    stumps = stump_model_from_rows([
        [0, 1, 0.5, 2.0, 0.0],
        [2, 0, 0.0, 0.0, 1.0],
        [2, 1, 0.5, 0.0, 3.0],
    ])
    below, above = np.array([1.0, 0.5]), np.array([1.0, 0.6])
    np.testing.assert_allclose(
        stumps.probabilities(below), np.exp([2, 0, 1]) / np.exp([2, 0, 1]).sum()
    )
    assert classify_shape(below, stumps) == "flat"
    assert classify_shape(above, stumps) == "knotted"


def test_chances_are_shares_of_the_three_shapes() -> None:
    chances = packaged_model().probabilities(np.zeros(len(FEATURE_NAMES)))
    assert chances.shape == (3,)
    assert chances.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("heights", "shape"),
    [
        (np.ones(400), "flat"),
        (1 - np.arange(400.0) / 1000, "sloped"),
        (np.maximum(1 - np.arange(400.0) / 200, 0.6), "knotted"),
    ],
)
def test_the_plainest_curves_are_what_they_look_like(heights: np.ndarray, shape: str) -> None:
    hours = np.arange(400.0)
    drifted = fit_bend(hours[1:], heights[1:], np.ones(399))
    feature_values = shape_features(hours, heights, np.full(400, 5, np.int32), drifted)
    assert feature_values.shape == (len(FEATURE_NAMES),)
    assert np.isfinite(feature_values).all()
    assert classify_shape(feature_values) == shape


def test_a_page_that_never_moved_has_features_too() -> None:
    feature_values = shape_features(np.arange(10.0), np.ones(10), np.full(10, 5, np.int32), None)
    assert classify_shape(feature_values) == "flat"
