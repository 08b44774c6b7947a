"""Scatter plots and histograms."""

import numpy as np
import pytest

from freshet.core.types import Change
from freshet.draw.histograms import (
    interval_histogram,
    similarity_histogram,
    staying_power_histogram,
)
from freshet.draw.scatter import MAX_POINTS, page_changes_scatter, page_means_scatter
from freshet.draw.theme import EmptyChartError
from freshet.measure.statistics.page_summary import LookTable, look_table
from tests.draw.chart_reading import PAGE, rows_of, subtitles_of, svg_of, title_of

GAP = np.nan


def changes_of(*changes: tuple[float, float | None]) -> LookTable:
    """Return the looks at a page: each change with the hours since the one before and its Dice."""
    hours, looks = 0.0, [(0.0, None)]
    for interval, dice in changes:
        hours += interval
        looks.append((hours * 3600, Change(changed=True, dice=dice)))
    return look_table(looks)


def test_a_scatter_says_both_medians() -> None:
    chart = page_changes_scatter(changes_of((12, 0.5), (24, 0.75), (48, 1.0)), page=PAGE)
    assert title_of(chart) == ("Half of the changes come within 1 day, half keep Dice 0.75 or more")
    assert subtitles_of(chart).startswith(f"{PAGE}\n3 changes; the cross marks both medians.")
    assert "Half of the changes" in svg_of(chart)


def test_what_is_unknown_is_not_drawn() -> None:
    chart = page_means_scatter(np.array([GAP, 24.0, 2.0]), np.array([0.5, 0.5, GAP]))
    assert rows_of(chart, "hours", "dice")[0] == (24.0, 0.5)
    assert "1 page that changed" in subtitles_of(chart)


def test_very_many_points_are_thinned_and_it_is_said() -> None:
    count = 2 * MAX_POINTS
    chart = page_means_scatter(np.linspace(1, 9, count), np.linspace(0, 1, count))
    assert len(rows_of(chart, "hours", "dice")) == MAX_POINTS
    assert "4,000 of them are shown" in subtitles_of(chart)


def test_changes_at_the_same_moment_fit_on_a_log_scale() -> None:
    chart = page_changes_scatter(changes_of((0, 0.5), (0, 0.5)), page=PAGE)
    assert "1 min" in svg_of(chart)


def test_bars_count_every_page_once() -> None:
    hours = np.array([1.0, 30.0, 30.0, 1000.0, GAP])
    counts = [count for (count,) in rows_of(interval_histogram(hours), "count")]
    assert sum(counts) == 4
    dices = np.array([0.0, 0.5, 1.0, GAP])
    counts = [count for (count,) in rows_of(similarity_histogram(dices), "count")]
    assert (sum(counts), counts[0], counts[-1]) == (3, 1, 1)


def test_one_page_makes_a_histogram_too() -> None:
    assert title_of(interval_histogram(np.array([24.0]))) == (
        "Half of the pages change every day or more often"
    )
    assert "median 1 day" in svg_of(interval_histogram(np.array([24.0])))


def test_words_are_classified_by_their_staying_power() -> None:
    chart = staying_power_histogram(np.array([0.0, 0.1, 0.5, 1.0]), page=PAGE)
    assert title_of(chart) == "25% of the words stay, 50% pass"
    kinds = {kind for count, kind in rows_of(chart, "count", "kind") if count}
    assert kinds == {"passes (below 0.2)", "between", "stays (above 0.8)"}


def test_without_anything_known_there_is_no_picture() -> None:
    nothing = np.array([GAP])
    with pytest.raises(EmptyChartError, match="no change whose interval and amount are known"):
        page_changes_scatter(changes_of((1, None)), page=PAGE)
    with pytest.raises(EmptyChartError, match="no page with a change"):
        page_means_scatter(nothing, nothing)
    with pytest.raises(EmptyChartError, match="no page has changed"):
        interval_histogram(nothing)
    with pytest.raises(EmptyChartError, match="amount is known"):
        similarity_histogram(np.array([]))
    with pytest.raises(EmptyChartError, match="fewer than two known times"):
        staying_power_histogram(nothing, page=PAGE)
