"""Chart of a page's blocks over time, each content coloured by how long it stayed."""

from collections.abc import Sequence

import numpy as np

from freshet.core.humanize import count_text, duration_text
from freshet.core.types import FloatArray, IndexArray
from freshet.draw.axes import MIN_HOURS, time_axis, to_milliseconds
from freshet.draw.chart_library import alt
from freshet.draw.fonts import missing_font_note
from freshet.draw.theme import (
    FAINT,
    INK,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    shorten,
    with_title,
)
from freshet.measure.dynamics.structure.blocks import BlockContents

MAX_ROWS = 120
MIN_MARK_RATIO = 4.0
MAX_LABELS = 40
MAX_LABEL_CHARS = 48
MIN_LINE_WIDTH, ROW_HEIGHT = 3.0, 16.0
MAX_HEIGHT, MIN_HEIGHT = 560.0, 120.0
LEGEND_MARKS = {
    1.0: "1 hour",
    6.0: "6 h",
    24.0: "1 day",
    168.0: "1 week",
    720.0: "30 d",
    4_383.0: "6 months",
    8_766.0: "1 year",
}


def block_heatmap(
    contents: BlockContents,
    names: Sequence[str],
    *,
    page: str,
    gaps: Sequence[tuple[float, float]] = (),
) -> Chart:
    """Draw the blocks of a page in document order; ``names`` has an entry for each block.

    ``gaps`` are the times (epoch seconds) without a look, in which the content is unknown.
    """
    if not len(contents.block):
        raise EmptyChartError("no chart of blocks: the page has none with two looks")
    blocks = _longest_present(contents, len(names))
    row_of_block = np.full(len(names), -1, np.int32)
    row_of_block[blocks] = np.arange(len(blocks))
    is_shown = row_of_block[contents.block] >= 0
    shown = BlockContents(
        row_of_block[contents.block[is_shown]], contents.start[is_shown], contents.end[is_shown],
        contents.seconds[is_shown], contents.ended[is_shown],
    )  # fmt: skip
    height = max(MIN_HEIGHT, min(MAX_HEIGHT, ROW_HEIGHT * len(blocks)))
    y = _rows_axis([names[block] for block in blocks.tolist()])
    layers = (
        _content_layer(shown, _colour_range(shown), y, height / len(blocks)),
        _change_layer(shown, y, height / len(blocks)),
        _gap_layer(gaps),
    )
    some = "" if len(blocks) == len(names) else f", {len(blocks)} of them shown"
    return with_title(
        alt.layer(*layers).properties(width=WIDTH, height=height),
        _title(contents, len(names)),
        shorten(page),
        f"{count_text(len(names), 'block')} in document order{some}; a mark where one changed",
        "white: the block was absent; grey: there was no look",
        *filter(None, [missing_font_note(names)]),
    )


def _longest_present(contents: BlockContents, blocks: int) -> IndexArray:
    """Return the blocks to show: the page in equal parts, of each the block present longest."""
    seconds = np.bincount(contents.block, weights=contents.seconds, minlength=blocks)
    parts = np.array_split(np.arange(blocks), min(blocks, MAX_ROWS))
    return np.array([blocks_in[np.argmax(seconds[blocks_in])] for blocks_in in parts], np.int32)


def _title(contents: BlockContents, blocks: int) -> str:
    changing = len(np.unique(contents.block[contents.ended == 1]))
    if not changing:
        return f"Nothing changed in {count_text(blocks, 'block')}"
    days = contents.seconds[contents.ended == 1] / 86_400
    median = duration_text(max(np.median(days).item(), 1e-6))
    still = f"{blocks - changing:,} of {count_text(blocks, 'block')} never changed"
    return f"{still}; half of the changed contents stayed {median}"


def _rows_axis(names: Sequence[str]) -> alt.Y:
    """Return an axis with the names of blocks, or with evenly spread ones of very many."""
    step = max(1, -(-len(names) // MAX_LABELS))
    rows = list(range(0, len(names), step))
    labels = ", ".join(f"{row}: {_quoted(shorten(names[row], MAX_LABEL_CHARS))}" for row in rows)
    return alt.Y(
        "row:Q",
        axis=alt.Axis(
            title=None, values=rows, labelExpr=f"{{{labels}}}[datum.value]", grid=False,
            ticks=False, domain=False, labelLimit=300, labelFontSize=10, labelOverlap=False,
        ),
        scale=alt.Scale(domain=[len(names) - 0.5, -0.5], nice=False),
    )  # fmt: skip


def _quoted(text: str) -> str:
    r"""Return text as a string of a chart expression, escaped so that a page cannot end it.

    >>> _quoted("it's")
    "'it\\u0027s'"
    """
    escaped = "".join(char if char.isalnum() or char in " .,/:[]…-_" else f"\\u{ord(char):04x}"
                      for char in text if ord(char) < 0x10000)  # fmt: skip
    return f"'{escaped}'"


def _hours(contents: BlockContents) -> FloatArray:
    return np.maximum(contents.seconds / 3600, MIN_HOURS)


def _colour_range(contents: BlockContents) -> tuple[float, float]:
    """Return the hours at both ends of the colour scale: the shortest and the longest."""
    hours = _hours(contents)
    shortest, longest = hours.min().item(), hours.max().item()
    return (shortest, longest) if shortest < longest else (longest / 2, longest)


def _legend_labels(low: float, high: float) -> dict[float, str]:
    """Return the hours marked in the legend: both ends, and round ones well between them.

    >>> _legend_labels(20.0, 800.0)
    {20.0: '20 hours', 168.0: '1 week', 800.0: '33.3 days'}
    """
    between = {
        hours: name
        for hours, name in LEGEND_MARKS.items()
        if MIN_MARK_RATIO * low < hours < high / MIN_MARK_RATIO
    }
    return {low: duration_text(low / 24), **between, high: duration_text(high / 24)}


def _content_layer(
    contents: BlockContents, colour_range: tuple[float, float], y: alt.Y, row_height: float
) -> alt.Chart:
    low, high = colour_range
    data = chart_rows(
        row=contents.block, start=to_milliseconds(contents.start),
        end=to_milliseconds(contents.end), hours=_hours(contents),
    )  # fmt: skip
    labels = _legend_labels(low, high)
    names = ", ".join(f"'{hours:.4f}': '{name}'" for hours, name in labels.items())
    legend = alt.Legend(
        title="content stayed (log scale)", orient="top", direction="horizontal",
        gradientLength=300, values=list(labels),
        labelExpr=f"{{{names}}}[format(datum.value, '.4f')]",
    )  # fmt: skip
    scale = alt.Scale(type="log", scheme="viridis", domain=[low, high], reverse=True, clamp=True)
    return (
        alt
        .Chart(data)
        .mark_rule(strokeWidth=max(MIN_LINE_WIDTH, 0.82 * row_height))
        .encode(
            x=alt.X(
                "start:T",
                scale=alt.Scale(type="utc", nice=False),
                axis=time_axis(float(contents.start.min()), float(contents.end.max())),
            ),
            x2="end:T",
            y=y,
            color=alt.Color("hours:Q", scale=scale, legend=legend),
            tooltip=[alt.Tooltip("hours:Q", title="hours", format=",.1f")],
        )
    )


def _gap_layer(gaps: Sequence[tuple[float, float]]) -> alt.Chart:
    starts, ends = zip(*gaps, strict=True) if gaps else ((), ())
    data = chart_rows(start=to_milliseconds(starts), end=to_milliseconds(ends))
    return alt.Chart(data).mark_rect(color=FAINT, opacity=1).encode(x=alt.X("start:T"), x2="end:T")


def _change_layer(contents: BlockContents, y: alt.Y, row_height: float) -> alt.Chart:
    has_ended = contents.ended == 1
    data = chart_rows(row=contents.block[has_ended], end=to_milliseconds(contents.end[has_ended]))
    return (
        alt
        .Chart(data)
        .mark_tick(orient="vertical", color=INK, thickness=1, size=max(3.0, 0.5 * row_height))
        .encode(x=alt.X("end:T"), y=y, opacity=alt.value(0.75))
    )
