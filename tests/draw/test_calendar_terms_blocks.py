"""Pictures over time: the calendar, the words, the blocks."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from freshet.core.types import FloatArray, IndexArray
from freshet.draw.block_heatmap import MOST_ROWS as MOST_BLOCKS
from freshet.draw.block_heatmap import ContentStays, UnobservedGaps, block_heatmap
from freshet.draw.change_calendar import change_calendar
from freshet.draw.histograms import staying_power_histogram
from freshet.draw.theme import FAINT, Chart, EmptyChartError
from freshet.draw.word_lifespans import MOST_ROWS, WordRuns, word_lifespans_chart
from tests.draw.pictures import PAGE, lines_of, rows_of, svg_of, title_of

DAY = 86_400.0
START = datetime(2026, 1, 30, tzinfo=UTC)


def daily(*days: tuple[int, int]) -> Chart:
    """Draw looks given as days after the start, each with whether the page had changed."""
    times = [(START + timedelta(days=day, hours=23, minutes=59)).timestamp() for day, _ in days]
    return change_calendar(
        np.array(times), np.array([changed for _, changed in days], np.int32), page=PAGE
    )


def numbers(*values: float) -> FloatArray:
    return np.array(values, np.float64)


def places(*values: int) -> IndexArray:
    return np.array(values, np.int32)


def stayed(*contents: tuple[int, float, float, int]) -> ContentStays:
    """Return contents of blocks: row, start, end, and whether a change ended it."""
    row, start, end, ended = zip(*contents, strict=True) if contents else [()] * 4
    known = numbers(*end) - numbers(*start)
    return ContentStays(places(*row), numbers(*start), numbers(*end), known, places(*ended))


def test_days_without_a_look_differ_from_days_without_a_change() -> None:
    picture = daily((0, 0), (1, 1), (3, 0), (3, 1), (3, 1))
    assert rows_of(picture, "day", "weekday", "kind") == [
        ("2026-01-30", "Fri", "no change"),
        ("2026-01-31", "Sat", "1 change"),
        ("2026-02-01", "Sun", "no look"),
        ("2026-02-02", "Mon", "2 or 3"),
    ]
    assert title_of(picture) == "The page changed on 2 of 3 days with a look"
    assert "Mon" in svg_of(picture)


def test_a_calendar_of_years_has_a_strip_for_each() -> None:
    picture = daily((0, 1), (500, 1))
    years = {year for (year,) in rows_of(picture, "year")}
    assert years == {2026, 2027}
    assert "2027" in svg_of(picture)


def test_a_calendar_of_many_years_goes_by_months() -> None:
    picture = daily((0, 1), (1, 0), (3000, 1))
    rows = dict(rows_of(picture, "day", "kind"))
    assert len(rows) == 100
    assert (rows["2026-01"], rows["2026-02"]) == ("up to 2 in 3", "no look")
    assert "a square a month" in lines_of(picture)


def test_a_page_that_nobody_looked_at_has_no_calendar() -> None:
    with pytest.raises(EmptyChartError, match="has not been looked at"):
        daily()


def test_words_are_drawn_as_runs_and_named() -> None:
    runs = WordRuns(places(0, 1, 1), numbers(0, 0, 3 * DAY), numbers(5 * DAY, DAY, 4 * DAY))
    picture = word_lifespans_chart(runs, ["always", "sometimes"], numbers(1.0, 0.1), page=PAGE)
    assert title_of(picture) == "50% of the words stay, 50% pass"
    assert rows_of(picture, "start", "end", "row", "kind") == [
        (0.0, 5 * DAY * 1000, 0, "stays"),
        (0.0, DAY * 1000, 1, "passes"),
        (3 * DAY * 1000, 4 * DAY * 1000, 1, "passes"),
    ]
    assert "sometimes" in svg_of(picture)


def test_the_title_speaks_of_all_words_where_only_some_are_shown() -> None:
    runs = WordRuns(places(0), numbers(0), numbers(DAY))
    powers = np.append(np.zeros(199), 1.0)
    picture = word_lifespans_chart(runs, ["one"], numbers(0.0), page=PAGE, of_all=powers)
    assert title_of(picture) == "Fewer than 1% of the words stay, more than 99% pass"
    assert title_of(staying_power_histogram(powers, page=PAGE)) == title_of(picture)
    assert "200 words" in lines_of(picture)


def test_times_at_which_nobody_looked_are_shaded() -> None:
    runs = WordRuns(places(0, 1, 0), numbers(0, 0, 9), numbers(2, 4, 12))
    picture = word_lifespans_chart(runs, ["one", "two"], numbers(0.5, 0.5), page=PAGE)
    gaps = [table for table in picture.to_dict()["datasets"].values() if len(table) == 1]
    assert gaps == [[{"start": 4000.0, "end": 9000.0}]]


def test_more_words_than_fit_are_thinned_and_it_is_said() -> None:
    count = 3 * MOST_ROWS
    rows = np.arange(count, dtype=np.int32)
    runs = WordRuns(rows, np.zeros(count), np.ones(count))
    picture = word_lifespans_chart(runs, [f"w{n}" for n in range(count)], np.ones(count), page=PAGE)
    assert len(rows_of(picture, "start", "row", "kind")) == MOST_ROWS
    assert "1,200 words" in lines_of(picture)
    assert "400 of them shown" in lines_of(picture)


def test_a_page_without_words_has_no_picture_of_them() -> None:
    with pytest.raises(EmptyChartError, match="showed none"):
        word_lifespans_chart(WordRuns(places(), numbers(), numbers()), [], numbers(), page=PAGE)


def test_blocks_are_tinted_by_how_long_their_content_stayed() -> None:
    stays = stayed((0, 0, 9 * DAY, 0), (1, 0, DAY, 1), (1, DAY, 9 * DAY, 0))
    picture = block_heatmap(stays, ["header", "news"], page=PAGE)
    assert title_of(picture) == "1 of 2 blocks stood still; half of what changed lived 1 day"
    assert [hours for (hours,) in rows_of(picture, "hours")] == [216.0, 24.0, 192.0]
    assert rows_of(picture, "row", "end")[:1] == [(0, 9 * DAY * 1000)]
    assert "news" in svg_of(picture)


def test_time_at_which_nobody_looked_does_not_count_as_staying() -> None:
    stays = ContentStays(places(0, 0), numbers(0, 90 * DAY), numbers(90 * DAY, 99 * DAY),
                  numbers(8 * DAY, 9 * DAY), places(1, 0))  # fmt: skip
    picture = block_heatmap(stays, ["a"], page=PAGE)
    assert title_of(picture) == "0 of 1 block stood still; half of what changed lived 8 days"
    assert [hours for (hours,) in rows_of(picture, "hours")] == [192.0, 216.0]
    assert "9 days" in svg_of(picture)


def test_no_block_is_drawn_where_nobody_looked() -> None:
    stays = stayed((0, 0, 9 * DAY, 0))
    picture = block_heatmap(
        stays, ["a"], page=PAGE, gaps=UnobservedGaps(numbers(2 * DAY), numbers(6 * DAY))
    )
    layers = picture.to_dict()["layer"]
    assert layers[-1]["mark"] == {"type": "rect", "color": FAINT, "opacity": 1}
    shaded = picture.to_dict()["datasets"][layers[-1]["data"]["name"]]
    assert shaded == [{"start": 2 * DAY * 1000, "end": 6 * DAY * 1000}]
    assert "grey where nobody looked" in lines_of(picture)


def test_names_of_blocks_cannot_end_an_expression() -> None:
    name = "it's']+alert(1)+['\\"
    stays = stayed((0, 0, DAY, 0))
    drawn = svg_of(block_heatmap(stays, [name], page=PAGE))
    assert "it's']+alert(1)+['\\" in drawn.replace("&#39;", "'").replace("&#x27;", "'")


def test_more_blocks_than_fit_are_thinned_and_it_is_said() -> None:
    count = 2 * MOST_BLOCKS
    rows = np.arange(count, dtype=np.int32)
    ends = np.full(count, DAY)
    stays = ContentStays(rows, np.zeros(count), ends, ends, np.zeros(count, np.int32))
    picture = block_heatmap(stays, [f"b{n}" for n in range(count)], page=PAGE)
    assert len(rows_of(picture, "hours")) == MOST_BLOCKS
    assert "120 of them shown" in lines_of(picture)


def test_of_each_part_of_a_page_the_block_seen_longest_is_shown() -> None:
    count = 2 * MOST_BLOCKS
    rows = np.arange(count, dtype=np.int32)
    ends = np.where(rows % 2 == 0, DAY, 3 * DAY)
    stays = ContentStays(rows, np.zeros(count), ends, ends, np.zeros(count, np.int32))
    picture = block_heatmap(stays, [f"b{n}" for n in range(count)], page=PAGE)
    assert {hours for (hours,) in rows_of(picture, "hours")} == {72.0}


def test_a_page_without_blocks_has_no_picture_of_them() -> None:
    with pytest.raises(EmptyChartError, match="none that were seen twice"):
        block_heatmap(stayed(), [], page=PAGE)
