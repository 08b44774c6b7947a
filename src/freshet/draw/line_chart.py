"""Measures that are compared: a line for each series, with the band in which its mean may lie."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import altair as alt

from freshet.core.types import FloatArray
from freshet.draw.axes import share_axis
from freshet.draw.theme import (
    BLUE,
    GREEN,
    HEIGHT,
    INK,
    ORANGE,
    RED,
    ROSE,
    SKY,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    with_title,
)

COLOURS = (BLUE, ORANGE, GREEN, ROSE, SKY, RED, INK)
DASHES = ((1, 0), (7, 7), (2, 9))
MOST_DOTS = 12


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """A series of shares; ``margins`` say how far from each the true one may lie, NaN: unknown."""

    name: str
    positions: FloatArray
    shares: FloatArray
    margins: FloatArray | None = None


def line_chart(
    series: Sequence[ChartSeries],
    *,
    title: str,
    subtitles: Sequence[str],
    x_title: str,
    y_title: str,
) -> Chart:
    """Draw series over what they go across, each in a colour of its own.

    Up to three lines are also dashed each in its way, so that one shows through the next where they
    lie upon each other. Where there are few places across, these are marked and no others.
    """
    rows = [row for line in series for row in _rows(line)]
    if not rows:
        raise EmptyChartError(f"no lines: nothing is known of {y_title}")
    names, at, shares, low, high = zip(*rows, strict=True)
    order = [line.name for line in series]
    colour = alt.Color(
        "line:N",
        sort=order,
        scale=alt.Scale(domain=order, range=list(COLOURS[: len(order)])),
        legend=alt.Legend(orient="top", title=None, symbolOpacity=1, symbolType="square"),
    )
    places = sorted(set(at))
    few = len(places) <= MOST_DOTS
    marks = alt.Axis(title=x_title, values=places, format="~g") if few else alt.Axis(title=x_title)
    base = alt.Chart(chart_rows(line=names, at=at, share=shares, low=low, high=high)).encode(
        x=alt.X("at:Q", axis=marks, scale=alt.Scale(nice=False, zero=False)),
        color=colour,
    )
    scale = alt.Scale(zero=False)
    band = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", scale=scale, axis=share_axis(y_title)), y2="high:Q"
    )
    line = base.mark_line(strokeWidth=1.8, point=few).encode(
        y=alt.Y("share:Q", scale=scale), strokeDash=_dashes(order)
    )
    return with_title(
        alt.layer(band, line).properties(width=WIDTH, height=HEIGHT), title, *subtitles
    )


def _dashes(order: Sequence[str]) -> alt.StrokeDash:
    """Return how each line is dashed; many lines are not, for they would be hard to follow."""
    ways = DASHES[: len(order)] if len(order) <= len(DASHES) else DASHES[:1] * len(order)
    scale = alt.Scale(domain=list(order), range=[list(way) for way in ways])
    return alt.StrokeDash("line:N", sort=list(order), scale=scale, legend=None)


def _rows(line: ChartSeries) -> list[tuple[str, float, float, float, float]]:
    """Return the points of a line that are known, each with the ends of its band."""
    margins = [0.0] * len(line.positions) if line.margins is None else line.margins.tolist()
    return [
        (line.name, at, share, max(0.0, share - _known(margin)), min(1.0, share + _known(margin)))
        for at, share, margin in zip(
            line.positions.tolist(), line.shares.tolist(), margins, strict=True
        )
        if isfinite(share)
    ]


def _known(margin: float) -> float:
    return margin if isfinite(margin) else 0.0
