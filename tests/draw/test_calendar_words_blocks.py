"""Charts over time: the calendar, the words, the blocks."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from freshet.core.types import Change, FloatArray, IndexArray, TermCounts
from freshet.core.version_series import build_series
from freshet.draw.block_heatmap import MAX_ROWS, block_heatmap
from freshet.draw.change_calendar import change_calendar
from freshet.draw.fonts import NO_FONT_NOTE
from freshet.draw.histograms import staying_power_histogram
from freshet.draw.theme import FAINT, Chart, EmptyChartError
from freshet.draw.word_lifespans import word_lifespans_chart
from freshet.measure.dynamics.structure.blocks import BlockContents
from freshet.measure.dynamics.terms.term_table import TermTable, term_table
from freshet.measure.statistics.page_summary import look_table
from tests.draw.chart_reading import PAGE, rows_of, subtitles_of, svg_of, title_of

DAY = 86_400.0
START = datetime(2026, 1, 30, tzinfo=UTC)
SPELLED = {1: "always", 2: "sometimes"}


def calendar_of(*days: tuple[int, bool]) -> Chart:
    """Draw looks given as days after the start, each with whether the page had changed."""
    times = [(START + timedelta(days=day, hours=23, minutes=59)).timestamp() for day, _ in days]
    changes = [Change(changed=changed) for _, changed in days]
    return change_calendar(look_table(zip(times, changes, strict=True)), page=PAGE)


def numbers(*values: float) -> FloatArray:
    return np.array(values, np.float64)


def indices(*values: int) -> IndexArray:
    return np.array(values, np.int32)


def words_of(*looks: tuple[float, Sequence[int]], max_rows: int = 400) -> TermTable:
    """Return the words of a page: each look with its day and the ids of the words that it had."""
    times = [day * DAY for day, _ in looks]
    terms = [
        TermCounts(np.array(sorted(ids), np.uint64), np.ones(len(ids), np.uint32))
        for _, ids in looks
    ]
    series = build_series(times, range(len(looks)), terms)
    return term_table(series, step=DAY, max_rows=max_rows)


def contents_of(*contents: tuple[int, float, float, int]) -> BlockContents:
    """Return contents of blocks: block, start, end, and whether a change ended it."""
    block, start, end, ended = zip(*contents, strict=True) if contents else [()] * 4
    seconds = numbers(*end) - numbers(*start)
    return BlockContents(indices(*block), numbers(*start), numbers(*end), seconds, indices(*ended))


def test_days_without_a_look_differ_from_days_without_a_change() -> None:
    chart = calendar_of((0, False), (1, True), (3, False), (3, True), (3, True))
    assert rows_of(chart, "day", "weekday", "kind") == [
        ("2026-01-30", "Fri", "no change"),
        ("2026-01-31", "Sat", "1 change"),
        ("2026-02-01", "Sun", "no look"),
        ("2026-02-02", "Mon", "2 or 3"),
    ]
    assert title_of(chart) == "The page changed on 2 of 3 days with a look"
    assert "Mon" in svg_of(chart)


def test_a_calendar_of_years_has_a_strip_for_each() -> None:
    chart = calendar_of((0, True), (500, True))
    years = {year for (year,) in rows_of(chart, "year")}
    assert years == {2026, 2027}
    assert "2027" in svg_of(chart)


def test_a_calendar_of_many_years_goes_by_months() -> None:
    chart = calendar_of((0, True), (1, False), (3000, True))
    rows = dict(rows_of(chart, "day", "kind"))
    assert len(rows) == 100
    assert (rows["2026-01"], rows["2026-02"]) == ("up to 2 in 3", "no look")
    assert "a square a month" in subtitles_of(chart)


def test_a_page_without_looks_has_no_calendar() -> None:
    with pytest.raises(EmptyChartError, match="has no looks"):
        calendar_of()


def test_words_are_drawn_as_spans_and_named() -> None:
    terms = words_of((0, [1, 2]), (1, [1]), (2, [1]), (3, [1, 2]), (4, [1]))
    chart = word_lifespans_chart(terms, SPELLED, page=PAGE)
    assert title_of(chart) == "50% of the words stay, 50% pass"
    assert rows_of(chart, "start", "end", "row", "kind") == [
        (0.0, 5 * DAY * 1000, 0, "stays"),
        (0.0, DAY * 1000, 1, "passes"),
        (3 * DAY * 1000, 4 * DAY * 1000, 1, "passes"),
    ]
    assert "sometimes" in svg_of(chart)


def test_a_word_that_cannot_be_spelled_is_a_question_mark() -> None:
    chart = word_lifespans_chart(words_of((0, [7]), (1, [7])), SPELLED, page=PAGE)
    assert rows_of(chart, "word") == [("?",)]


def test_the_title_counts_all_words_where_only_some_are_shown() -> None:
    terms = words_of((0, [*range(200)]), (1, [0]), (2, [0]), (3, [0]), max_rows=1)
    chart = word_lifespans_chart(terms, {}, page=PAGE)
    assert title_of(chart) == "Less than 1% of the words stay, more than 99% pass"
    assert title_of(staying_power_histogram(terms.staying_power, page=PAGE)) == title_of(chart)
    assert "200 words" in subtitles_of(chart)
    assert "1 of them shown" in subtitles_of(chart)


def test_times_without_a_look_are_shaded() -> None:
    chart = word_lifespans_chart(words_of((0, [1]), (9, [1])), SPELLED, page=PAGE)
    gaps = rows_of(chart, "start", "end")
    assert gaps == [(5 * DAY * 1000, 9 * DAY * 1000)]


def test_words_at_one_moment_have_no_chart() -> None:
    with pytest.raises(EmptyChartError, match="fewer than two times"):
        word_lifespans_chart(words_of((0, [1, 2])), SPELLED, page=PAGE)


def test_words_without_a_font_are_noted_below_the_title(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.draw.fonts.has_cjk_font", lambda: False)
    chart = word_lifespans_chart(words_of((0, [1]), (1, [1])), {1: "模"}, page=PAGE)
    assert NO_FONT_NOTE in subtitles_of(chart)


def test_the_colours_of_blocks_cover_the_range_of_the_data() -> None:
    contents = contents_of((0, 0.0, DAY, 1), (0, DAY, 3 * DAY, 0), (1, 0.0, 3 * DAY, 0))
    chart = block_heatmap(contents, ["a", "b"], page=PAGE)
    layer = chart.to_dict()["layer"][0]
    hours = contents.seconds / 3600
    assert layer["encoding"]["color"]["scale"]["domain"] == [hours.min(), hours.max()]


def test_a_page_without_words_has_no_chart_of_them() -> None:
    with pytest.raises(EmptyChartError, match="had none"):
        word_lifespans_chart(words_of(), {}, page=PAGE)


def test_blocks_are_coloured_by_how_long_their_content_stayed() -> None:
    contents = contents_of((0, 0, 9 * DAY, 0), (1, 0, DAY, 1), (1, DAY, 9 * DAY, 0))
    chart = block_heatmap(contents, ["header", "news"], page=PAGE)
    assert (
        title_of(chart) == "1 of 2 blocks never changed; half of the changed contents stayed 1 day"
    )
    assert [hours for (hours,) in rows_of(chart, "hours")] == [216.0, 24.0, 192.0]
    assert rows_of(chart, "row", "end")[:1] == [(0, 9 * DAY * 1000)]
    assert "news" in svg_of(chart)


def test_time_without_looks_does_not_count_as_staying() -> None:
    contents = BlockContents(
        indices(0, 0),
        numbers(0, 90 * DAY),
        numbers(90 * DAY, 99 * DAY),
        numbers(8 * DAY, 9 * DAY),
        indices(1, 0),
    )
    chart = block_heatmap(contents, ["a"], page=PAGE)
    assert (
        title_of(chart) == "0 of 1 block never changed; half of the changed contents stayed 8 days"
    )
    assert [hours for (hours,) in rows_of(chart, "hours")] == [192.0, 216.0]
    assert "9 days" in svg_of(chart)


def test_no_block_is_drawn_in_a_gap_without_looks() -> None:
    contents = contents_of((0, 0, 9 * DAY, 0))
    chart = block_heatmap(contents, ["a"], page=PAGE, gaps=[(2 * DAY, 6 * DAY)])
    layers = chart.to_dict()["layer"]
    assert layers[-1]["mark"] == {"type": "rect", "color": FAINT, "opacity": 1}
    shaded = chart.to_dict()["datasets"][layers[-1]["data"]["name"]]
    assert shaded == [{"start": 2 * DAY * 1000, "end": 6 * DAY * 1000}]
    assert "grey: there was no look" in subtitles_of(chart)


def test_names_of_blocks_cannot_end_an_expression() -> None:
    name = "it's']+alert(1)+['\\"
    contents = contents_of((0, 0, DAY, 0))
    svg = svg_of(block_heatmap(contents, [name], page=PAGE))
    assert "it's']+alert(1)+['\\" in svg.replace("&#39;", "'").replace("&#x27;", "'")


def test_more_blocks_than_fit_are_thinned_and_it_is_said() -> None:
    count = 2 * MAX_ROWS
    rows = np.arange(count, dtype=np.int32)
    ends = np.full(count, DAY)
    contents = BlockContents(rows, np.zeros(count), ends, ends, np.zeros(count, np.int32))
    chart = block_heatmap(contents, [f"b{n}" for n in range(count)], page=PAGE)
    assert len(rows_of(chart, "hours")) == MAX_ROWS
    assert "120 of them shown" in subtitles_of(chart)


def test_the_block_present_longest_stands_for_its_part_of_the_page() -> None:
    count = 2 * MAX_ROWS
    rows = np.arange(count, dtype=np.int32)
    ends = np.where(rows % 2 == 0, DAY, 3 * DAY)
    contents = BlockContents(rows, np.zeros(count), ends, ends, np.zeros(count, np.int32))
    chart = block_heatmap(contents, [f"b{n}" for n in range(count)], page=PAGE)
    assert {hours for (hours,) in rows_of(chart, "hours")} == {72.0}


def test_a_page_without_blocks_has_no_chart_of_them() -> None:
    with pytest.raises(EmptyChartError, match="none with two looks"):
        block_heatmap(contents_of(), [], page=PAGE)
