"""Scatter plots and histograms."""

import numpy as np
import pytest

from freshet.draw.histograms import (
    interval_histogram,
    similarity_histogram,
    staying_power_histogram,
)
from freshet.draw.scatter import MOST_POINTS, page_changes_scatter, page_means_scatter
from freshet.draw.theme import EmptyChartError
from tests.draw.pictures import PAGE, lines_of, rows_of, svg_of, title_of

GAP = np.nan


def test_a_scatter_says_both_medians() -> None:
    picture = page_changes_scatter(
        np.array([12.0, 24.0, 48.0]), np.array([0.5, 0.75, 1.0]), page=PAGE
    )
    assert title_of(picture) == (
        "Half of the changes come within 1 day, half keep Dice 0.75 or more"
    )
    assert lines_of(picture).startswith(f"{PAGE}\n3 changes; the cross marks both medians.")
    assert "Half of the changes" in svg_of(picture)


def test_what_is_unknown_is_not_drawn() -> None:
    picture = page_means_scatter(np.array([GAP, 24.0, 2.0]), np.array([0.5, 0.5, GAP]))
    assert rows_of(picture, "hours", "dice")[0] == (24.0, 0.5)
    assert "1 page that changed" in lines_of(picture)


def test_very_many_points_are_thinned_and_it_is_said() -> None:
    count = 2 * MOST_POINTS
    picture = page_means_scatter(np.linspace(1, 9, count), np.linspace(0, 1, count))
    assert len(rows_of(picture, "hours", "dice")) == MOST_POINTS
    assert "4,000 of them are shown" in lines_of(picture)


def test_changes_at_the_same_moment_fit_on_a_log_scale() -> None:
    picture = page_changes_scatter(np.array([0.0, 0.0]), np.array([0.5, 0.5]), page=PAGE)
    assert "1 min" in svg_of(picture)


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


def test_words_are_told_apart_by_their_staying_power() -> None:
    picture = staying_power_histogram(np.array([0.0, 0.1, 0.5, 1.0]), page=PAGE)
    assert title_of(picture) == "25% of the words stay, 50% pass"
    kinds = {kind for count, kind in rows_of(picture, "count", "kind") if count}
    assert kinds == {"passes (below 0.2)", "between", "stays (above 0.8)"}


def test_without_anything_known_there_is_no_picture() -> None:
    nothing = np.array([GAP])
    with pytest.raises(EmptyChartError, match="no change whose interval and amount are known"):
        page_changes_scatter(nothing, nothing, page=PAGE)
    with pytest.raises(EmptyChartError, match="no page with a change"):
        page_means_scatter(nothing, nothing)
    with pytest.raises(EmptyChartError, match="no page has changed"):
        interval_histogram(nothing)
    with pytest.raises(EmptyChartError, match="amount is known"):
        similarity_histogram(np.array([]))
    with pytest.raises(EmptyChartError, match="fewer than two known moments"):
        staying_power_histogram(nothing, page=PAGE)
