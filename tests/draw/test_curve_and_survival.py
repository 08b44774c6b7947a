"""Change curves, survival curves and groups."""

import numpy as np
import pytest

from freshet.draw.change_curve import CurveSegment, KnotMark, change_curve_chart
from freshet.draw.group_means import (
    MOST_ROWS,
    GroupEstimate,
    group_intervals_chart,
    group_similarities_chart,
)
from freshet.draw.survival_curve import SurvivalSeries, survival_curve
from freshet.draw.theme import EmptyChartError
from tests.draw.pictures import PAGE, lines_of, rows_of, svg_of, title_of

GAP = np.nan
HOURS = np.arange(200.0)
BENT = np.maximum(1.0 - HOURS / 100, 0.5)
LINES = [CurveSegment(0.0, 50.0, -0.01, 1.0), CurveSegment(50.0, 199.0, 0.0, 0.5)]


def test_a_knot_is_marked_and_said() -> None:
    picture = change_curve_chart(
        HOURS, BENT, page=PAGE, shape="knotted", segments=LINES, knot=KnotMark(50.0, 0.5)
    )
    assert title_of(picture) == "What was there fades for 2.1 days, then Dice 0.50 stays"
    assert "knot after 2.1 days, Dice 0.50" in svg_of(picture)
    assert rows_of(picture, "time", "dice", "label")[0][:2] == (50 / 24, 0.5)
    assert "-0.240 Dice a day, then level" in lines_of(picture)


def test_the_lines_meet_the_curve_where_they_were_fitted() -> None:
    picture = change_curve_chart(HOURS[:60], BENT[:60], page=PAGE, segments=LINES[:1])
    assert rows_of(picture, "line", "time", "dice") == [(0, 0.0, 1.0), (0, 50.0, 0.5)]


@pytest.mark.parametrize(
    ("shape", "title"),
    [
        ("flat", "The page hardly drifts from what it was"),
        ("sloped", "The page keeps drifting from what it was"),
        ("", "How the page drifts from what it was"),
    ],
)
def test_a_curve_without_a_knot_has_none_drawn(shape: str, title: str) -> None:
    picture = change_curve_chart(HOURS, BENT, page=PAGE, shape=shape)
    assert title_of(picture) == title
    assert "knot after" not in svg_of(picture)


def test_a_curve_is_cut_where_its_knot_would_be_squeezed() -> None:
    hours = np.arange(3000.0)
    picture = change_curve_chart(
        hours, np.maximum(1 - hours / 20, 0.5), page=PAGE, segments=LINES, knot=KnotMark(10.0, 0.5)
    )
    assert max(time for (time,) in rows_of(picture, "time")) == 150 / 24
    assert "the first 6.2 days are shown" in lines_of(picture)


def test_gaps_of_a_curve_are_left_out() -> None:
    dices = np.array([1.0, GAP, 0.5])
    picture = change_curve_chart(HOURS[:3], dices, page=PAGE)
    assert rows_of(picture, "time", "dice") == [(0.0, 1.0), (2.0, 0.5)]


def test_one_moment_makes_no_curve() -> None:
    with pytest.raises(EmptyChartError, match="fewer than two moments"):
        change_curve_chart(HOURS[:2], np.array([1.0, GAP]), page=PAGE)


def test_survival_says_its_last_point() -> None:
    curve = SurvivalSeries("elements", (2.0, 24.0, 840.0), (0.99, GAP, 0.84))
    picture = survival_curve([curve], subtitle=PAGE)
    assert title_of(picture) == "After 35 days, 84% of the elements are still there"
    assert rows_of(picture, "hours", "label") == [(2.0, "99.0%"), (840.0, "84.0%")]
    assert "5 w" in svg_of(picture)


def test_labels_of_points_that_are_near_stand_on_either_side() -> None:
    curve = SurvivalSeries("elements", (24.0, 672.0, 840.0), (0.9, 0.5, 0.5))
    picture = survival_curve([curve], subtitle=PAGE)
    sides = [(24.0, "right"), (672.0, "left"), (840.0, "right")]
    assert rows_of(picture, "hours", "side") == sides
    assert svg_of(picture).count("50.0%") >= 2


def test_a_history_without_elements_says_so_instead_of_its_length() -> None:
    with pytest.raises(EmptyChartError, match="no survival curve: no version has elements"):
        survival_curve(
            [SurvivalSeries("x", (1.0,), (GAP,))], subtitle=PAGE, missing="no version has elements"
        )


def test_survival_curves_are_compared() -> None:
    curves = [SurvivalSeries(name, (24.0, 168.0), (0.9, 0.8)) for name in ("paper", "here")]
    drawn = svg_of(survival_curve(curves, subtitle="both"))
    assert "paper" in drawn
    assert "here" in drawn


def test_too_short_a_history_has_no_survival_curve() -> None:
    with pytest.raises(EmptyChartError, match="too short"):
        survival_curve([SurvivalSeries("elements", (24.0,), (GAP,))], subtitle=PAGE)


def test_groups_are_named_with_their_size_and_the_ends_are_said() -> None:
    groups = [
        GroupEstimate("org", 20, 48.0, 40.0, 56.0),
        GroupEstimate("com", 30, 24.0, 20.0, 28.0),
        GroupEstimate("one", 1, 1.0, GAP, GAP),
    ]
    picture = group_intervals_chart(groups, by="tld", note="they differ (p < 0.001)")
    assert title_of(picture) == "Time between changes: 1 day (com) to 2 days (org)"
    assert "they differ (p < 0.001)" in lines_of(picture)
    assert ("one (1)", 1.0, 1.0) in rows_of(picture, "group", "low", "high")
    assert svg_of(picture).index("one (1)") < svg_of(picture).index("com (30)")


def test_few_pages_name_no_leader() -> None:
    groups = [GroupEstimate("org", 2, 0.5, 0.4, 0.6), GroupEstimate("com", 30, 0.7, 0.6, 0.8)]
    assert title_of(group_similarities_chart(groups, by="tld")) == "Dice given change, by tld"


def test_bounds_of_shares_are_shares() -> None:
    groups = [GroupEstimate("org", 9, 0.9, 0.7, 1.1), GroupEstimate("com", 9, 0.1, -0.1, 0.3)]
    rows = rows_of(group_similarities_chart(groups, by="tld"), "group", "low", "high")
    assert rows == [("org (9)", 0.7, 1.0), ("com (9)", 0.1, 0.3)]


def test_the_largest_of_very_many_groups_are_shown() -> None:
    groups = [GroupEstimate(f"host{n}", n, 1.0 + n, 1.0, 2.0 + n) for n in range(1, MOST_ROWS + 9)]
    picture = group_intervals_chart(groups, by="host")
    assert len(rows_of(picture, "group", "mean")) == MOST_ROWS
    assert "40 of 48 groups" in lines_of(picture)


def test_groups_without_changes_make_no_picture() -> None:
    with pytest.raises(EmptyChartError, match="none of them has changes"):
        group_intervals_chart([GroupEstimate("org", 3, GAP, GAP, GAP)], by="tld")
