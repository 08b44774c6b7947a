"""The mixture of histories whose curves are shaped as those of the web."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from experiments.curve_shapes.histories import GeneratedHistory, PageParameters
from experiments.curve_shapes.mixture import (
    WEB_CURVES,
    PageMixture,
    draw_parameters,
    generate_histories,
)

from freshet.measure.dynamics.curve.change_curve import ChangeCurve, change_curve

Drawn = list[tuple[GeneratedHistory, ChangeCurve]]


@pytest.fixture(scope="module")
def knotted() -> Drawn:
    only = replace(WEB_CURVES, flat=0.0, sloped=0.0)
    pages = list(generate_histories(only, 60, seed=5))
    rng = np.random.default_rng(6)
    return [(page, change_curve(page.series, rng=rng)) for page in pages]


def parameters(count: int, mixture: PageMixture = WEB_CURVES) -> list[PageParameters]:
    return [draw_parameters(mixture, np.random.default_rng([9, n])) for n in range(count)]


def shape_of(page: PageParameters) -> str:
    """Return the shape that a page is meant to have: all is replaced in time, too late or never."""
    if not page.turnover:
        return "flat"
    return "knotted" if 24 * page.turnover / page.per_day <= 600 else "sloped"


def test_shapes_have_the_published_shares() -> None:
    shares = Counter(map(shape_of, parameters(4000)))
    assert shares["flat"] / 4000 == pytest.approx(0.02, abs=0.007)
    assert shares["sloped"] / 4000 == pytest.approx(0.28, abs=0.02)
    assert shares["knotted"] / 4000 == pytest.approx(0.7, abs=0.02)


def test_knots_have_the_published_mean_and_median() -> None:
    pages = [page for page in parameters(4000) if shape_of(page) == "knotted"]
    hours = [24 * page.turnover / page.per_day for page in pages]
    assert np.mean(hours) == pytest.approx(145, rel=0.05)
    assert np.median(hours) == pytest.approx(92, rel=0.08)


def test_pages_stay_as_alike_as_the_published_ones(knotted: Drawn) -> None:
    dice = [curve.knot.dice for _, curve in knotted if curve.knot]
    assert np.mean(dice) == pytest.approx(0.74, abs=0.06)
    assert np.median(dice) == pytest.approx(0.8, abs=0.08)


def test_pages_have_the_shape_that_they_were_meant_to_have() -> None:
    for number, page in enumerate(generate_histories(WEB_CURVES, 25, seed=3)):
        meant = draw_parameters(WEB_CURVES, np.random.default_rng([3, number]))
        assert page.truth.shape == shape_of(meant)


def test_a_page_does_not_depend_on_how_many_there_are() -> None:
    few, many = (list(generate_histories(WEB_CURVES, count, seed=4)) for count in (2, 4))
    np.testing.assert_array_equal(few[1].series.version_indices, many[1].series.version_indices)


def test_nine_of_ten_planted_knots_are_found_within_a_tenth(knotted: Drawn) -> None:
    pairs = [(page.truth.knot(curve.starts), curve.knot) for page, curve in knotted]
    planted = [(hours, knot) for hours, knot in pairs if hours is not None]
    near = [knot is not None and abs(knot.hours / hours - 1) <= 0.1 for hours, knot in planted]
    assert len(near) > 50
    assert np.mean(near) >= 0.9
