"""Line chart of several series, each with the confidence band of its mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from freshet.core.types import FloatArray
from freshet.draw.axes import share_axis
from freshet.draw.chart_library import alt
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
DASH_PATTERNS = ((1, 0), (7, 7), (2, 9))
MAX_MARKED_POSITIONS = 12


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """A series of shares, and the half widths of their confidence intervals (NaN: unknown)."""

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
    """Draw each series in its own colour.

    Up to three lines also have their own dash pattern, so that lines on top of each other remain
    visible. Where there are few positions, the axis is marked at these only.
    """
    rows = [row for line in series for row in _rows(line)]
    if not rows:
        raise EmptyChartError(f"no lines: there are no values of {y_title}")
    names, positions, shares, low, high = zip(*rows, strict=True)
    order = [line.name for line in series]
    colour = alt.Color(
        "line:N",
        sort=order,
        scale=alt.Scale(domain=order, range=list(COLOURS[: len(order)])),
        legend=alt.Legend(orient="top", title=None, symbolOpacity=1, symbolType="square"),
    )
    ticks = sorted(set(positions))
    few = len(ticks) <= MAX_MARKED_POSITIONS
    axis = (
        alt.Axis(title=x_title, values=ticks, labelExpr="datum.value")
        if few
        else alt.Axis(title=x_title)
    )
    base = alt.Chart(chart_rows(line=names, at=positions, share=shares, low=low, high=high)).encode(
        x=alt.X("at:Q", axis=axis, scale=alt.Scale(nice=False, zero=False)),
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
    """Return the dash pattern of each line; more than three lines are solid."""
    is_few = len(order) <= len(DASH_PATTERNS)
    patterns = DASH_PATTERNS[: len(order)] if is_few else DASH_PATTERNS[:1] * len(order)
    scale = alt.Scale(domain=list(order), range=[list(pattern) for pattern in patterns])
    return alt.StrokeDash("line:N", sort=list(order), scale=scale, legend=None)


def _rows(series: ChartSeries) -> list[tuple[str, float, float, float, float]]:
    """Return the known points of a series, with both ends of their confidence interval."""
    margins = np.zeros(len(series.shares)) if series.margins is None else series.margins
    margins = np.where(np.isfinite(margins), margins, 0.0)
    low = np.maximum(series.shares - margins, 0.0)
    high = np.minimum(series.shares + margins, 1.0)
    columns = (column.tolist() for column in (series.positions, series.shares, low, high))
    points = zip(*columns, strict=True)
    return [(series.name, *point) for point in points if isfinite(point[1])]
