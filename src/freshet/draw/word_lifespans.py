"""Chart of the lifespans of words, one row for each word (Adar et al. 2009, Fig. 5)."""

from collections.abc import Mapping, Sequence

import numpy as np

from freshet.core.humanize import count_text, percent_text, percent_text_capitalized
from freshet.core.types import FloatArray, IndexArray
from freshet.draw.axes import time_axis, to_milliseconds
from freshet.draw.chart_library import alt
from freshet.draw.fonts import missing_font_note
from freshet.draw.theme import (
    BLUE,
    FAINT,
    ORANGE,
    QUIET,
    SKY,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    shorten,
    with_title,
)
from freshet.measure.dynamics.terms.term_table import (
    HIGH_STAYING_POWER,
    LOW_STAYING_POWER,
    TermTable,
)

MAX_LABELS = 30
MIN_POINTS = 2
MIN_LINE_WIDTH, ROW_HEIGHT = 1.3, 12.0
MAX_HEIGHT, MIN_HEIGHT = 520.0, 160.0
KINDS = ("stays", "comes and goes", "passes")
UNKNOWN_WORD = "?"


def word_lifespans_chart(terms: TermTable, words: Mapping[int, str], *, page: str) -> Chart:
    """Draw when each word was on the page; ``words`` spells the words by their ids."""
    spans = terms.spans
    if not len(spans):
        raise EmptyChartError("no chart of words: the page had none at a known time")
    if terms.lifespans.known_points < MIN_POINTS:
        raise EmptyChartError("no chart of words: fewer than two times are known")
    shown = len(spans.rows)
    height = max(MIN_HEIGHT, min(MAX_HEIGHT, ROW_HEIGHT * shown))
    starts, ends = (terms.lifespans.grid_times(points) for points in (spans.begins, spans.ends))
    kinds = [_kind(power) for power in terms.staying_power[spans.rows[spans.row]].tolist()]
    y = _rows_axis(shown)
    data = chart_rows(
        start=to_milliseconds(starts), end=to_milliseconds(ends), row=spans.row, kind=kinds
    )
    spelled = [words.get(word, UNKNOWN_WORD) for word in terms.ids[spans.rows].tolist()]
    x = _time_axis(float(starts.min()), float(ends.max()))
    layers = (
        _gap_layer(starts, ends, x),
        _span_layer(data, x, y, height / shown),
        _labels(spelled, y),
    )
    some = "" if shown == len(terms) else f", {shown:,} of them shown"
    return with_title(
        alt.layer(*layers).properties(width=WIDTH, height=height),
        staying_power_title(terms.staying_power),
        shorten(page),
        f"{count_text(len(terms), 'word')} by first appearance, then by how long they stay{some}"
        "; grey: there was no look",
        *filter(None, [missing_font_note(_shown_labels(spelled))]),
    )


def staying_power_title(staying_powers: FloatArray) -> str:
    """Return a title with the shares of words of high and of low staying power."""
    powers = staying_powers[np.isfinite(staying_powers)]
    if not len(powers):
        return "Which words the page showed when"
    high = (powers > HIGH_STAYING_POWER).mean().item()
    low = (powers < LOW_STAYING_POWER).mean().item()
    return f"{percent_text_capitalized(high)} of the words stay, {percent_text(low)} pass"


def _gap_layer(starts: FloatArray, ends: FloatArray, x: alt.X) -> alt.Chart:
    """Shade the times at which no word was on the page: there was no look then."""
    order = np.argsort(starts, kind="stable")
    starts, covered_until = starts[order], np.maximum.accumulate(ends[order])
    gaps = np.flatnonzero(starts[1:] > covered_until[:-1])
    data = chart_rows(
        start=to_milliseconds(covered_until[gaps]), end=to_milliseconds(starts[gaps + 1])
    )
    return alt.Chart(data).mark_rect(color=FAINT, opacity=0.6).encode(x=x, x2="end:T")


def _time_axis(start: float, end: float) -> alt.X:
    scale = alt.Scale(type="utc", nice=False)
    return alt.X("start:T", scale=scale, axis=time_axis(start, end))


def _kind(power: float) -> str:
    """Return the kind of a word by its staying power; an unknown power is in between."""
    if power > HIGH_STAYING_POWER:
        return KINDS[0]
    return KINDS[2] if power < LOW_STAYING_POWER else KINDS[1]


def _rows_axis(rows: int) -> alt.Y:
    return alt.Y(
        "row:Q",
        axis=alt.Axis(title="words", labels=False, ticks=False, grid=False, domain=False),
        scale=alt.Scale(domain=[rows - 0.5, -0.5], nice=False),
    )


def _span_layer(data: alt.InlineData, x: alt.X, y: alt.Y, row_height: float) -> alt.Chart:
    scale = alt.Scale(domain=list(KINDS), range=[BLUE, SKY, ORANGE])
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolStrokeWidth=6)
    return (
        alt
        .Chart(data)
        .mark_rule(strokeWidth=max(MIN_LINE_WIDTH, 0.8 * row_height))
        .encode(
            x=x,
            x2="end:T",
            y=y,
            color=alt.Color("kind:N", sort=list(KINDS), scale=scale, legend=legend),
        )
    )


def _labels(words: Sequence[str], y: alt.Y) -> alt.Chart:
    """Write some of the words at the right, spread evenly over the rows."""
    names = [shorten(word, 24) for word in _shown_labels(words)]
    return (
        alt
        .Chart(chart_rows(row=_label_rows(len(words)), word=names))
        .mark_text(align="left", baseline="middle", dx=8, color=QUIET)
        .encode(x=alt.value(WIDTH), y=y, text="word:N")
    )


def _label_rows(rows: int) -> IndexArray:
    """Return the rows whose words are written, spread evenly."""
    return np.linspace(0, rows - 1, min(rows, MAX_LABELS)).astype(np.int32)


def _shown_labels(words: Sequence[str]) -> list[str]:
    return [words[row] for row in _label_rows(len(words)).tolist()]
