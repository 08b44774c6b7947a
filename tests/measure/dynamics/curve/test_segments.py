"""Lines: the search over running sums finds what trying every place finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.measure.dynamics.curve.segments import (
    NO_ERROR_RISE,
    crossing,
    fit_line,
    fit_lines_at_knot,
    fit_two_lines,
    has_two_slopes,
    paper_knot,
)

heights = st.lists(st.floats(0, 1), min_size=4, max_size=30)


def error(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    scale = np.sqrt(weights)
    terms = np.stack([np.ones(len(x)), x], axis=1) * scale[:, None]
    fitted = np.linalg.lstsq(terms, y * scale, rcond=None)[0]
    return float(((terms @ fitted - y * scale) ** 2).sum())


@given(heights, st.data())
def test_no_other_place_to_part_the_points_fits_better(
    values: list[float], data: st.DataObject
) -> None:
    x, y = np.arange(len(values)) * 3.0 + 7, np.array(values)
    counts = st.lists(st.integers(1, 5), min_size=len(x), max_size=len(x))
    weights = np.array(data.draw(counts), np.float64)
    fitted = fit_two_lines(x, y, weights)
    assert fitted is not None
    tried = [
        error(x[:split], y[:split], weights[:split]) + error(x[split:], y[split:], weights[split:])
        for split in range(2, len(x) - 1)
    ]
    assert fitted[0].error + fitted[1].error == pytest.approx(min(tried), abs=1e-9)


@given(st.integers(3, 30), st.integers(3, 30), st.floats(-0.5, -0.01), st.floats(-0.005, 0.005))
def test_two_planted_lines_are_found_as_they_are(
    before: int, after: int, steep: float, gentle: float
) -> None:
    x = np.arange(before + after + 1.0)
    y = np.where(x <= before, 1 + steep * x, 1 + steep * before + gentle * (x - before))
    fitted = fit_two_lines(x, y, np.ones(len(x)))
    assert fitted is not None
    first, second = fitted
    assert first.slope == pytest.approx(steep, abs=1e-9)
    assert first.intercept == pytest.approx(1, abs=1e-9)
    assert second.slope == pytest.approx(gentle, abs=1e-9)
    assert crossing(first, second) == pytest.approx(before, abs=1e-6)


def test_few_points_have_no_two_lines() -> None:
    assert fit_two_lines(np.arange(3.0), np.ones(3), np.ones(3)) is None


def test_lines_about_a_knot_meet_there() -> None:
    x = np.arange(20.0)
    fitted = fit_lines_at_knot(x, np.maximum(1 - x / 10, 0.3), np.ones(20), 7.0)
    assert fitted is not None
    falling, level = fitted
    assert (falling.ends, level.begins) == (7.0, 7.0)
    assert (falling.slope, falling.intercept) == (pytest.approx(-0.1), pytest.approx(1.0))
    assert (level.slope, level.at(12)) == (pytest.approx(0.0), pytest.approx(0.3))
    assert falling.error + level.error == pytest.approx(0.0)
    assert fit_lines_at_knot(x, x, np.ones(20), 0.5) is None


def test_lines_about_a_knot_meet_even_where_the_curve_leaps() -> None:
    x = np.arange(20.0)
    fitted = fit_lines_at_knot(x, np.where(x <= 8, 1.0, 0.3), np.ones(20), 8.4)
    assert fitted is not None
    assert fitted[0].at(8.4) == pytest.approx(fitted[1].at(8.4))
    assert 0.3 < fitted[0].at(8.4) < 1.0


def test_a_heavy_point_draws_the_line() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0])
    even, heavy = (fit_line(x, y, np.array([1.0, 1.0, w])) for w in (1.0, 1e6))
    assert abs(heavy.at(2) - 1) < 1e-5 < abs(even.at(2) - 1)


def test_parallel_lines_meet_halfway() -> None:
    x = np.arange(8.0)
    first, second = fit_line(x[:4], x[:4], np.ones(4)), fit_line(x[4:], x[4:] + 5, np.ones(4))
    assert crossing(first, second) == pytest.approx(3.5)


def test_the_papers_way_finds_no_knot_on_a_straight_line() -> None:
    x = np.arange(50.0)
    assert paper_knot(x, 1 - x / 100) is None
    assert paper_knot(x[:3], x[:3]) is None


def test_the_papers_way_stops_where_the_first_line_fits_worse() -> None:
    x = np.arange(100.0)
    noise = np.random.default_rng(1).normal(0, 0.004, 100)
    fitted = paper_knot(x, np.maximum(1 - x / 60, 0.5) + noise)
    assert fitted is not None
    assert 0 < fitted < 100


def test_the_papers_way_misses_planted_knots_that_the_search_finds() -> None:
    rng = np.random.default_rng(2)
    x, searched, papers = np.arange(1.0, 300.0), 0, 0
    for knot in rng.uniform(20, 200, 40):
        y = np.maximum(1 - 0.4 * x / knot, 0.6) + rng.normal(0, 0.01, len(x))
        lines = fit_two_lines(x, y, np.ones(len(x)))
        assert lines is not None
        searched += abs(crossing(*lines) / knot - 1) < 0.1
        paper = paper_knot(x, y)
        papers += paper is not None and abs(paper / knot - 1) < 0.1
    assert searched == 40
    assert papers < 20


def test_in_the_papers_wording_the_knot_stops_where_the_error_first_rises():
    x = np.arange(20.0)
    y = np.maximum(1 - x / 20, 0.5)
    errors = [np.mean((y[: n + 1] - np.polyval(np.polyfit(x[: n + 1], y[: n + 1], 1), x[: n + 1]))
                      ** 2) for n in range(1, 20)]  # fmt: skip
    line = np.polyval(np.polyfit(x, y, 1), x)
    start = int(np.flatnonzero(np.diff(np.sign(y - line)))[0])
    expected = next(n for n in range(start, 19) if errors[n] > errors[n - 1] + 1e-9)
    assert paper_knot(x, y, max_error_rise=NO_ERROR_RISE) == expected == 10
    assert has_two_slopes(x, y, 10.0)
    assert not has_two_slopes(x, 1 - x / 40, 10.0)
    assert not has_two_slopes(x, y, 19.0)
