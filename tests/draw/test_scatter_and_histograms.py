"""Scatter plots and histograms."""

import numpy as np
import pytest

from freshet.draw.histograms import intervals, similarities, staying_power
from freshet.draw.scatter import MOST_POINTS, changes_of_a_page, means_of_pages
from freshet.draw.theme import NothingToDraw
from tests.draw.pictures import PAGE, lines_of, rows_of, svg_of, title_of

GAP = np.nan


def test_a_scatter_says_both_medians() -> None:
    picture = changes_of_a_page(np.array([12.0, 24.0, 48.0]), np.array([0.5, 0.75, 1.0]), page=PAGE)
    assert title_of(picture) == (
        "Half of the changes come within 1 day, half keep Dice 0.75 or more"
    )
    assert lines_of(picture).startswith(f"{PAGE}\n3 changes; the cross marks both medians.")
    assert "Half of the changes" in svg_of(picture)


def test_what_is_unknown_is_not_drawn() -> None:
    picture = means_of_pages(np.array([GAP, 24.0, 2.0]), np.array([0.5, 0.5, GAP]))
    assert rows_of(picture, "hours", "dice")[0] == (24.0, 0.5)
    assert "1 page that changed" in lines_of(picture)


def test_very_many_points_are_thinned_and_it_is_said() -> None:
    count = 2 * MOST_POINTS
    picture = means_of_pages(np.linspace(1, 9, count), np.linspace(0, 1, count))
    assert len(rows_of(picture, "hours", "dice")) == MOST_POINTS
    assert "4,000 of them are shown" in lines_of(picture)


def test_changes_at_the_same_moment_fit_on_a_log_scale() -> None:
    picture = changes_of_a_page(np.array([0.0, 0.0]), np.array([0.5, 0.5]), page=PAGE)
    assert "1 min" in svg_of(picture)


def test_bars_count_every_page_once() -> None:
    hours = np.array([1.0, 30.0, 30.0, 1000.0, GAP])
    counts = [count for (count,) in rows_of(intervals(hours), "count")]
    assert sum(counts) == 4
    dices = np.array([0.0, 0.5, 1.0, GAP])
    counts = [count for (count,) in rows_of(similarities(dices), "count")]
    assert (sum(counts), counts[0], counts[-1]) == (3, 1, 1)


def test_one_page_makes_a_histogram_too() -> None:
    assert title_of(intervals(np.array([24.0]))) == (
        "Half of the pages change every day or more often"
    )
    assert "median 1 day" in svg_of(intervals(np.array([24.0])))


def test_words_are_told_apart_by_their_staying_power() -> None:
    picture = staying_power(np.array([0.0, 0.1, 0.5, 1.0]), page=PAGE)
    assert title_of(picture) == "25% of the words stay, 50% pass"
    kinds = {kind for count, kind in rows_of(picture, "count", "kind") if count}
    assert kinds == {"passes (below 0.2)", "between", "stays (above 0.8)"}


def test_without_anything_known_there_is_no_picture() -> None:
    nothing = np.array([GAP])
    with pytest.raises(NothingToDraw, match="no change whose interval and amount are known"):
        changes_of_a_page(nothing, nothing, page=PAGE)
    with pytest.raises(NothingToDraw, match="no page with a change"):
        means_of_pages(nothing, nothing)
    with pytest.raises(NothingToDraw, match="no page has changed"):
        intervals(nothing)
    with pytest.raises(NothingToDraw, match="amount is known"):
        similarities(np.array([]))
    with pytest.raises(NothingToDraw, match="fewer than two known moments"):
        staying_power(nothing, page=PAGE)
