"""Change curves, survival curves and groups."""

from dataclasses import replace

import numpy as np
import pytest

from freshet.core.types import FloatArray
from freshet.draw.change_curve import change_curve_chart
from freshet.draw.group_means import MAX_ROWS, group_intervals_chart, group_similarities_chart
from freshet.draw.survival_curve import survival_curve
from freshet.draw.theme import EmptyChartError
from freshet.measure.dynamics.curve.change_curve import ChangeCurve, CurveKnot
from freshet.measure.dynamics.curve.segments import FittedLine
from freshet.measure.dynamics.curve.shape import CurveShape
from freshet.measure.statistics.groups import (
    GroupSummary,
    GroupTest,
    MeanEstimate,
    summarise_group,
)
from freshet.measure.statistics.page_summary import concatenate_figures
from tests.draw.chart_reading import PAGE, rows_of, subtitles_of, svg_of, title_of

HOURS = np.arange(200.0)
BENT = np.maximum(1.0 - HOURS / 100, 0.5)
LINES = (FittedLine(0.0, 50.0, -0.01, 1.0, 0.0), FittedLine(50.0, 199.0, 0.0, 0.5, 0.0))


def curve_of(
    hours: FloatArray,
    dice: FloatArray,
    *,
    shape: CurveShape | None = None,
    segments: tuple[FittedLine, ...] = (),
    knot: CurveKnot | None = None,
) -> ChangeCurve:
    counts = np.ones(len(hours), np.int32)
    return ChangeCurve(hours, dice, counts, np.zeros(1), 3600.0, knot, segments, shape)


def test_a_knot_is_marked_and_said() -> None:
    curve = curve_of(HOURS, BENT, shape="knotted", segments=LINES, knot=CurveKnot(50.0, 0.5))
    chart = change_curve_chart(curve, page=PAGE)
    assert title_of(chart) == "Similarity falls for 2.1 days, then Dice stays near 0.50"
    assert "knot after 2.1 days, Dice 0.50" in svg_of(chart)
    assert rows_of(chart, "time", "dice", "label")[0][:2] == (50 / 24, 0.5)
    assert "-0.240 Dice a day, then level" in subtitles_of(chart)


def test_the_lines_meet_the_curve_where_they_were_fitted() -> None:
    curve = curve_of(HOURS[:60], BENT[:60], segments=LINES[:1])
    chart = change_curve_chart(curve, page=PAGE)
    assert rows_of(chart, "line", "time", "dice") == [(0, 0.0, 1.0), (0, 50.0, 0.5)]


@pytest.mark.parametrize(
    ("shape", "title"),
    [
        ("flat", "The page stays similar to its past"),
        ("sloped", "The page keeps losing similarity to its past"),
        (None, "Similarity of the page to its past"),
    ],
)
def test_a_curve_without_a_knot_has_none_drawn(shape: CurveShape | None, title: str) -> None:
    chart = change_curve_chart(curve_of(HOURS, BENT, shape=shape), page=PAGE)
    assert title_of(chart) == title
    assert "knot after" not in svg_of(chart)


def test_a_curve_is_cut_where_its_knot_would_be_squeezed() -> None:
    hours = np.arange(3000.0)
    dice = np.maximum(1 - hours / 20, 0.5)
    curve = curve_of(hours, dice, segments=LINES, knot=CurveKnot(10.0, 0.5))
    chart = change_curve_chart(curve, page=PAGE)
    assert max(time for (time,) in rows_of(chart, "time")) == 150 / 24
    assert "the first 6.2 days are shown" in subtitles_of(chart)


def test_a_curve_without_points_says_why() -> None:
    empty = ChangeCurve(
        np.empty(0), np.empty(0), np.empty(0, np.int32), np.empty(0), 3600.0, why="seen once"
    )
    with pytest.raises(EmptyChartError, match="no change curve: seen once"):
        change_curve_chart(empty, page=PAGE)


def test_survival_says_its_last_point() -> None:
    shares = (0.99, None, None, None, None, 0.84)
    chart = survival_curve({"elements": shares}, subtitle=PAGE)
    assert title_of(chart) == "After 35 days, 84% of the elements are still there"
    assert rows_of(chart, "hours", "label") == [(2.0, "99.0%"), (840.0, "84.0%")]
    assert "5 w" in svg_of(chart)


def test_labels_of_points_that_are_near_stand_on_either_side() -> None:
    chart = survival_curve({"elements": (None, 0.9, None, None, 0.5, 0.5)}, subtitle=PAGE)
    sides = [(24.0, "right"), (672.0, "left"), (840.0, "right")]
    assert rows_of(chart, "hours", "side") == sides
    assert svg_of(chart).count("50.0%") >= 2


def test_a_history_without_elements_says_so_instead_of_its_length() -> None:
    with pytest.raises(EmptyChartError, match="no survival curve: no version has elements"):
        survival_curve({"elements": ()}, subtitle=PAGE, missing="no version has elements")


def test_survival_curves_are_compared() -> None:
    shares = (None, 0.9, 0.8)
    svg = svg_of(survival_curve({"paper": shares, "here": shares}, subtitle="both"))
    assert "paper" in svg
    assert "here" in svg


def test_too_short_a_history_has_no_survival_curve() -> None:
    with pytest.raises(EmptyChartError, match="too short"):
        survival_curve({"elements": (None,) * 6}, subtitle=PAGE)


EMPTY_GROUP = summarise_group("", concatenate_figures([]))


def group_of(
    name: str, pages: int, mean: float | None, low: float | None, high: float | None
) -> GroupSummary:
    estimate = MeanEstimate(mean, mean, pages, low, high)
    return replace(EMPTY_GROUP, name=name, interval_hours=estimate, dice=estimate)


def test_groups_are_named_with_their_size_and_the_ends_are_said() -> None:
    groups = [
        group_of("org", 20, 48.0, 40.0, 56.0),
        group_of("com", 30, 24.0, 20.0, 28.0),
        group_of("one", 1, 1.0, None, None),
    ]
    test = GroupTest("interval_hours", ("org", "com"), ("one",), p=0.0004)
    chart = group_intervals_chart(groups, by="tld", test=test)
    assert title_of(chart) == "Time between changes: 1 day (com) to 2 days (org)"
    assert "the groups differ (Kruskal-Wallis, p = 0.0004)" in subtitles_of(chart)
    assert ("one (1)", 1.0, 1.0) in rows_of(chart, "group", "low", "high")
    assert svg_of(chart).index("one (1)") < svg_of(chart).index("com (30)")


def test_groups_that_do_not_clearly_differ_are_said_so() -> None:
    test = GroupTest("dice_mean", ("org",), (), p=0.2)
    chart = group_similarities_chart([group_of("org", 9, 0.9, 0.7, 1.1)], by="tld", test=test)
    assert "the groups do not clearly differ" in subtitles_of(chart)


def test_few_pages_name_no_leader() -> None:
    groups = [group_of("org", 2, 0.5, 0.4, 0.6), group_of("com", 30, 0.7, 0.6, 0.8)]
    assert title_of(group_similarities_chart(groups, by="tld")) == "Dice given change, by tld"


def test_bounds_of_shares_are_shares() -> None:
    groups = [group_of("org", 9, 0.9, 0.7, 1.1), group_of("com", 9, 0.1, 0.0, 0.3)]
    rows = rows_of(group_similarities_chart(groups, by="tld"), "group", "low", "high")
    assert rows == [("org (9)", 0.7, 1.0), ("com (9)", 0.1, 0.3)]


def test_the_largest_of_very_many_groups_are_shown() -> None:
    groups = [group_of(f"host{n}", n, 1.0 + n, 1.0, 2.0 + n) for n in range(1, MAX_ROWS + 9)]
    chart = group_intervals_chart(groups, by="host")
    assert len(rows_of(chart, "group", "mean")) == MAX_ROWS
    assert "40 of 48 groups" in subtitles_of(chart)


def test_groups_without_changes_make_no_chart() -> None:
    with pytest.raises(EmptyChartError, match="none of them has changes"):
        group_intervals_chart([group_of("org", 3, None, None, None)], by="tld")
