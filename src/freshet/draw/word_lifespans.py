"""Which words stay and which pass: one line of a picture per word (Adar et al. 2009, Fig. 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from freshet.core.shares import percent_text, percent_text_capitalized
from freshet.core.types import FloatArray, IndexArray
from freshet.draw.axes import time_axis, to_milliseconds
from freshet.draw.histograms import PASSES_BELOW, STAYS_ABOVE
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
    count_phrase,
    shorten,
    with_title,
)

MOST_ROWS = 400
MOST_LABELS = 30
ROW_HEIGHT = (1.3, 12.0)
TALLEST, LEAST_TALL = 520.0, 160.0
KINDS = ("stays", "comes and goes", "passes")


@dataclass(frozen=True, slots=True)
class WordRuns:
    """When words were there: each run is a word's row and the times (epoch seconds) it spans.

    Rows count from 0 in the order of the picture: by first appearance, then by longevity.
    """

    row: IndexArray
    start: FloatArray
    end: FloatArray


def word_lifespans_chart(
    runs: WordRuns,
    words: Sequence[str],
    powers: FloatArray,
    *,
    page: str,
    of_all: FloatArray | None = None,
) -> Chart:
    """Draw when each word was there; ``words`` and ``powers`` have an entry per row.

    ``of_all`` holds the powers of all words, where the rows are only some of them.
    """
    if not len(runs.row):
        raise EmptyChartError("no picture of words: the page showed none at a known moment")
    shown = _spread(len(words), MOST_ROWS)
    place = np.full(len(words), -1)
    place[shown] = np.arange(len(shown))
    kept = place[runs.row] >= 0
    rows = place[runs.row[kept]]
    kinds = [_kind(power) for power in np.asarray(powers)[runs.row[kept]].tolist()]
    height = max(LEAST_TALL, min(TALLEST, ROW_HEIGHT[1] * len(shown)))
    y = _rows_axis(len(shown))
    gaps = _gaps(runs)
    lines = _lines(runs.start[kept], runs.end[kept], rows, kinds, y, height / len(shown))
    labels = _labels([words[each] for each in shown], y)
    every = np.asarray(powers if of_all is None else of_all, np.float64)
    which = "" if len(shown) == len(every) else f", {len(shown):,} of them shown"
    return with_title(
        alt.layer(gaps, lines, labels).properties(width=WIDTH, height=height),
        _title(every),
        shorten(page),
        f"{count_phrase(len(every), 'word')} by first appearance, then by how long they stay{which}"
        "; grey where nobody looked",
    )


def _gaps(runs: WordRuns) -> alt.Chart:
    """Shade the times at which no word at all was there: then nobody looked."""
    order = np.argsort(runs.start, kind="stable")
    starts, reached = runs.start[order], np.maximum.accumulate(runs.end[order])
    apart = np.flatnonzero(starts[1:] > reached[:-1])
    data = chart_rows(start=to_milliseconds(reached[apart]), end=to_milliseconds(starts[apart + 1]))
    return alt.Chart(data).mark_rect(color=FAINT, opacity=0.6).encode(x=_time_axis(), x2="end:T")


def _time_axis() -> alt.X:
    return alt.X("start:T", scale=alt.Scale(type="utc", nice=False), axis=time_axis())


def _title(powers: FloatArray) -> str:
    known = powers[np.isfinite(powers)]
    if not len(known):
        return "Which words the page showed when"
    stay, gone = (known > STAYS_ABOVE).mean().item(), (known < PASSES_BELOW).mean().item()
    return f"{percent_text_capitalized(stay)} of the words stay, {percent_text(gone)} pass"


def _spread(count: int, most: int) -> IndexArray:
    """Return places spread evenly over so many, at most that many of them.

    >>> _spread(3, 5).tolist(), _spread(9, 3).tolist()
    ([0, 1, 2], [0, 4, 8])
    """
    return np.linspace(0, count - 1, min(count, most)).astype(np.int32)


def _kind(power: float) -> str:
    """Return the kind of a word by its staying power; None and NaN are in between."""
    if power > STAYS_ABOVE:
        return KINDS[0]
    return KINDS[2] if power < PASSES_BELOW else KINDS[1]


def _rows_axis(rows: int) -> alt.Y:
    return alt.Y(
        "row:Q",
        axis=alt.Axis(title="words", labels=False, ticks=False, grid=False, domain=False),
        scale=alt.Scale(domain=[rows - 0.5, -0.5], nice=False),
    )


def _lines(
    starts: FloatArray,
    ends: FloatArray,
    rows: IndexArray,
    kinds: Sequence[str],
    y: alt.Y,
    each: float,
) -> alt.Chart:
    data = chart_rows(
        start=to_milliseconds(starts), end=to_milliseconds(ends), row=rows, kind=kinds
    )
    scale = alt.Scale(domain=list(KINDS), range=[BLUE, SKY, ORANGE])
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolStrokeWidth=6)
    return (
        alt
        .Chart(data)
        .mark_rule(strokeWidth=max(ROW_HEIGHT[0], 0.8 * each))
        .encode(
            x=_time_axis(),
            x2="end:T",
            y=y,
            color=alt.Color("kind:N", sort=list(KINDS), scale=scale, legend=legend),
        )
    )


def _labels(words: Sequence[str], y: alt.Y) -> alt.Chart:
    """Name some of the words at the right, spread over the rows."""
    rows = _spread(len(words), MOST_LABELS)
    names = [shorten(words[row], 24) for row in rows.tolist()]
    return (
        alt
        .Chart(chart_rows(row=rows, word=names))
        .mark_text(align="left", baseline="middle", dx=8, color=QUIET)
        .encode(x=alt.value(WIDTH), y=y, text="word:N")
    )
