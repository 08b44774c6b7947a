"""Which parts of a page live how long: its blocks from top to bottom over time, each content of a
block tinted by how long it stayed, with a mark where it changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from freshet.core.humanize import duration_text
from freshet.core.types import FloatArray, IndexArray
from freshet.draw.axes import MIN_HOURS, time_axis, to_milliseconds
from freshet.draw.theme import (
    FAINT,
    INK,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    count_phrase,
    shorten,
    with_title,
)

MOST_ROWS = 120
NEAR = 4.0
MOST_LABELS = 40
LONGEST_LABEL = 48
ROW_HEIGHT = (4.0, 16.0)
TALLEST, LEAST_TALL = 560.0, 120.0
SPANS = {
    1.0: "1 hour",
    6.0: "6 h",
    24.0: "1 day",
    168.0: "1 week",
    720.0: "30 d",
    4_383.0: "6 months",
    8_766.0: "1 year",
}


@dataclass(frozen=True, slots=True)
class UnobservedGaps:
    """The times (epoch seconds) from which and up to which nobody looked."""

    start: FloatArray
    end: FloatArray


NO_GAPS = UnobservedGaps(np.empty(0), np.empty(0))


@dataclass(frozen=True, slots=True)
class ContentStays:
    """Contents of blocks: each has its block's row, and the times (epoch seconds) it spans.

    Rows count from 0 in document order; of its span a content is known to have been there for
    ``seconds``, the times at which nobody looked not counted. ``ended`` is 1 where a change ended
    it, 0 where it was still there at the last look, or nobody looked for too long.
    """

    row: IndexArray
    start: FloatArray
    end: FloatArray
    seconds: FloatArray
    ended: IndexArray

    @property
    def hours(self) -> FloatArray:
        """Return for how many hours each content is known to have been there."""
        return np.maximum(self.seconds / 3600, MIN_HOURS)


def block_heatmap(
    stays: ContentStays, names: Sequence[str], *, page: str, gaps: UnobservedGaps = NO_GAPS
) -> Chart:
    """Draw the blocks of a page in document order; ``names`` has an entry per row.

    ``gaps`` are the times at which nobody looked: what was there then is not known.
    """
    if not len(stays.row):
        raise EmptyChartError("no picture of blocks: the page has none that were seen twice")
    shown = _longest_seen(stays, len(names))
    place = np.full(len(names), -1)
    place[shown] = np.arange(len(shown))
    kept = place[stays.row] >= 0
    chosen = ContentStays(
        place[stays.row[kept]].astype(np.int32), stays.start[kept], stays.end[kept],
        stays.seconds[kept], stays.ended[kept],
    )  # fmt: skip
    height = max(LEAST_TALL, min(TALLEST, ROW_HEIGHT[1] * len(shown)))
    y = _rows_axis(len(shown), [names[row] for row in shown.tolist()])
    tinted = _tinted(chosen, _bounds(stays), y, height / len(shown))
    marks = _marks(chosen, y, height / len(shown))
    picture = alt.layer(tinted, marks, _unseen(gaps)).properties(width=WIDTH, height=height)
    which = "" if len(shown) == len(names) else f", {len(shown)} of them shown"
    return with_title(
        picture,
        _title(stays, len(names)),
        shorten(page),
        f"{count_phrase(len(names), 'block')} in document order{which}; a mark where one changed",
        "white where a block was not there, grey where nobody looked",
    )


def _longest_seen(stays: ContentStays, blocks: int) -> IndexArray:
    """Return the rows to show: of each part of the page the block that was there longest."""
    there = np.bincount(stays.row, weights=stays.seconds, minlength=blocks)
    parts = np.array_split(np.arange(blocks), min(blocks, MOST_ROWS))
    return np.array([part[np.argmax(there[part])] for part in parts], np.int32)


def _title(stays: ContentStays, blocks: int) -> str:
    changing = len(np.unique(stays.row[stays.ended == 1]))
    still = blocks - changing
    if not changing:
        return f"Nothing changed in {count_phrase(blocks, 'block')}"
    lives = stays.seconds[stays.ended == 1] / 86_400
    middle = duration_text(max(np.median(lives).item(), 1e-6))
    return f"{still:,} of {count_phrase(blocks, 'block')} stood still; half of what changed lived {middle}"


def _rows_axis(rows: int, names: Sequence[str]) -> alt.Y:
    """Return an axis with the names of blocks, spread evenly where there are many."""
    step = max(1, -(-rows // MOST_LABELS))
    listed = list(range(0, rows, step))
    spelt = ", ".join(f"{row}: {_quoted(shorten(names[row], LONGEST_LABEL))}" for row in listed)
    return alt.Y(
        "row:Q",
        axis=alt.Axis(
            title=None, values=listed, labelExpr=f"{{{spelt}}}[datum.value]", grid=False,
            ticks=False, domain=False, labelLimit=300, labelFontSize=10, labelOverlap=False,
        ),
        scale=alt.Scale(domain=[rows - 0.5, -0.5], nice=False),
    )  # fmt: skip


def _quoted(text: str) -> str:
    r"""Return text as an expression of charts holds it, so that a page cannot end it.

    >>> _quoted("it's")
    "'it\\u0027s'"
    """
    kept = "".join(char if char.isalnum() or char in " .,/:[]…-_" else f"\\u{ord(char):04x}"
                   for char in text if ord(char) < 0x10000)  # fmt: skip
    return f"'{kept}'"


def _bounds(stays: ContentStays) -> tuple[float, float]:
    """Return the hours that the tints span: from what hardly stayed to what stayed longest."""
    longest = stays.hours.max().item()
    low = np.quantile(stays.hours, 0.05).item()
    return min(low, max(longest / 2, MIN_HOURS)), max(longest, 2 * MIN_HOURS)


def _marked_spans(low: float, high: float) -> dict[float, str]:
    """Return the hours at which tints are named: both ends, and round ones well between them.

    >>> _marked_spans(20.0, 800.0)
    {20.0: '20 hours', 168.0: '1 week', 800.0: '33.3 days'}
    """
    between = {each: name for each, name in SPANS.items() if NEAR * low < each < high / NEAR}
    return {low: duration_text(low / 24), **between, high: duration_text(high / 24)}


def _tinted(stays: ContentStays, bounds: tuple[float, float], y: alt.Y, each: float) -> alt.Chart:
    low, high = bounds
    data = chart_rows(
        row=stays.row,
        start=to_milliseconds(stays.start),
        end=to_milliseconds(stays.end),
        hours=stays.hours,
    )
    listed = _marked_spans(low, high)
    named = ", ".join(f"'{hours:.4f}': '{name}'" for hours, name in listed.items())
    legend = alt.Legend(
        title="content stayed (log scale)", orient="top", direction="horizontal",
        gradientLength=300, values=list(listed),
        labelExpr=f"{{{named}}}[format(datum.value, '.4f')]",
    )  # fmt: skip
    scale = alt.Scale(type="log", scheme="viridis", domain=[low, high], reverse=True, clamp=True)
    return (
        alt
        .Chart(data)
        .mark_rule(strokeWidth=max(ROW_HEIGHT[0] - 1, 0.82 * each))
        .encode(
            x=alt.X("start:T", scale=alt.Scale(type="utc", nice=False), axis=time_axis()),
            x2="end:T",
            y=y,
            color=alt.Color("hours:Q", scale=scale, legend=legend),
            tooltip=[alt.Tooltip("hours:Q", title="hours", format=",.1f")],
        )
    )


def _unseen(gaps: UnobservedGaps) -> alt.Chart:
    data = chart_rows(start=to_milliseconds(gaps.start), end=to_milliseconds(gaps.end))
    return alt.Chart(data).mark_rect(color=FAINT, opacity=1).encode(x=alt.X("start:T"), x2="end:T")


def _marks(stays: ContentStays, y: alt.Y, each: float) -> alt.Chart:
    changed = stays.ended == 1
    data = chart_rows(row=stays.row[changed], end=to_milliseconds(stays.end[changed]))
    return (
        alt
        .Chart(data)
        .mark_tick(orient="vertical", color=INK, thickness=1, size=max(3.0, 0.5 * each))
        .encode(x=alt.X("end:T"), y=y, opacity=alt.value(0.75))
    )
