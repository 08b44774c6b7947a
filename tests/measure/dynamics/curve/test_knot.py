"""Knots of change curves."""

import numpy as np
import pytest

from freshet.measure.dynamics.curve.knot import (
    find_knot_drift,
    fit_bend,
    fit_bend_to_starts,
    mean_steps_to_drift,
)
from freshet.measure.dynamics.curve.start_curves import StartCurve


def test_a_fall_that_levels_off_is_a_knot() -> None:
    x = np.arange(60.0)
    bend = fit_bend(x, np.maximum(1 - x / 50, 0.6), np.ones(60))
    assert bend is not None
    assert bend.is_knot
    assert bend.crossing == pytest.approx(20)
    assert bend.slope_ratio == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "heights",
    [
        1 - np.arange(60.0) / 100,
        np.ones(60),
        np.minimum(1.0, 1.4 - np.arange(60.0) / 50),
        np.minimum(0.5 + np.arange(60.0) / 50, 0.9),
    ],
    ids=["a slope", "a level", "a late fall", "a rise"],
)
def test_what_does_not_fall_and_level_off_is_none(heights: np.ndarray) -> None:
    bend = fit_bend(np.arange(60.0), heights, np.ones(60))
    assert bend is not None
    assert not bend.is_knot


def test_slopes_that_are_nearly_equal_make_no_knot() -> None:
    x = np.arange(60.0)
    y = np.where(x < 30, 1 - x / 100, 0.7 - (x - 30) / 140)
    bend = fit_bend(x, y, np.ones(60))
    assert bend is not None
    assert bend.bic_gain > 0
    assert not bend.is_knot


def test_noise_about_one_line_makes_no_knot() -> None:
    rng = np.random.default_rng(1)
    x = np.arange(100.0)
    bend = [fit_bend(x, 1 - x / 300 + rng.normal(0, 0.01, 100), np.ones(100)) for _ in range(50)]
    assert not [fit for fit in bend if fit is None or fit.is_knot]


def test_points_at_one_place_are_one_point() -> None:
    x = np.repeat(np.arange(5.0), 20)
    bend = fit_bend(x, 1 - x / 10, np.ones(100))
    assert bend is not None
    assert bend.point_count == 5
    assert fit_bend(np.zeros(50), np.ones(50), np.ones(50)) is None


def test_a_place_is_reached_between_the_two_looks_around_its_move() -> None:
    early = StartCurve(np.arange(6), np.array([0.0, 0, 10, 10, 20, 20]), np.ones(6))
    late = StartCurve(np.arange(6), np.array([0.0, 10, 10, 10, 10, 21]), np.ones(6))
    assert mean_steps_to_drift(20, [early]) == 3.5
    assert mean_steps_to_drift(20, [early, late]) == 4.0
    assert mean_steps_to_drift(10, [early, late]) == 1.0


def test_the_move_that_ends_nearest_is_the_one() -> None:
    curve = StartCurve(np.arange(4), np.array([0.0, 10, 20, 30]), np.ones(4))
    assert [mean_steps_to_drift(drift, [curve]) for drift in (14, 16, 24, 26)] == [
        0.5,
        1.5,
        1.5,
        2.5,
    ]


def test_a_place_that_most_starts_do_not_reach_is_nowhere() -> None:
    near = StartCurve(np.arange(3), np.array([0.0, 1, 2]), np.ones(3))
    far = StartCurve(np.arange(3), np.array([0.0, 5, 9]), np.ones(3))
    assert mean_steps_to_drift(8, [near, near, far]) is None
    assert mean_steps_to_drift(8, [near, far, far]) == 1.5


def test_a_long_tail_that_bends_again_does_not_hide_the_first_knot() -> None:
    moved = np.arange(20_000.0)
    fast, slow = np.minimum(moved, 100) / 100, np.minimum(moved, 9000) / 9000
    page = [StartCurve(np.arange(20_000), moved, 1 - 0.3 * fast - 0.25 * slow)]
    outer_bend = fit_bend_to_starts(page)
    assert outer_bend is not None
    assert outer_bend.crossing > 5000
    assert find_knot_drift(outer_bend, page) == pytest.approx(100, rel=0.05)


def test_a_round_fall_keeps_its_knot_where_it_levels_off() -> None:
    moved = np.arange(1000.0)
    page = [StartCurve(np.arange(1000), moved, 0.5 + 0.5 * np.exp(-moved / 60))]
    outer_bend = fit_bend_to_starts(page)
    assert outer_bend is not None
    assert find_knot_drift(outer_bend, page) == outer_bend.crossing


def test_a_slope_has_no_first_knot() -> None:
    moved = np.arange(500.0)
    page = [StartCurve(np.arange(500), moved, 1 - moved / 1000)]
    assert find_knot_drift(fit_bend_to_starts(page), page) is None
    assert find_knot_drift(None, page) is None
