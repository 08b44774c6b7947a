"""Measures that are compared: a line for each series, with the band in which its mean may lie."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import altair as alt

from freshet.core.types import Floats
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
    NothingToDraw,
    Picture,
    finished,
    table,
)

COLOURS = (BLUE, ORANGE, GREEN, ROSE, SKY, RED, INK)
MOST_DOTS = 12


@dataclass(frozen=True, slots=True)
class Line:
    """A series of shares; ``margins`` say how far from each the true one may lie, NaN: unknown."""

    name: str
    at: Floats
    shares: Floats
    margins: Floats | None = None


def lines(series: Sequence[Line], *, title: str, of: str, across: str, measure: str) -> Picture:
    """Draw series over what they go across, each in a colour of its own."""
    rows = [row for line in series for row in _rows(line)]
    if not rows:
        raise NothingToDraw(f"no lines: nothing is known of {measure}")
    names, at, shares, low, high = zip(*rows, strict=True)
    order = [line.name for line in series]
    colour = alt.Color(
        "line:N",
        sort=order,
        scale=alt.Scale(domain=order, range=list(COLOURS[: len(order)])),
        legend=alt.Legend(orient="top", title=None, symbolOpacity=1, symbolType="square"),
    )
    base = alt.Chart(table(line=names, at=at, share=shares, low=low, high=high)).encode(
        x=alt.X("at:Q", axis=alt.Axis(title=across), scale=alt.Scale(nice=False, zero=False)),
        color=colour,
    )
    scale = alt.Scale(zero=False)
    band = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", scale=scale, axis=share_axis(measure)), y2="high:Q"
    )
    dots = len(rows) <= MOST_DOTS * len(order)
    line = base.mark_line(strokeWidth=1.8, point=dots).encode(y=alt.Y("share:Q", scale=scale))
    return finished(alt.layer(band, line).properties(width=WIDTH, height=HEIGHT), title, of)


def _rows(line: Line) -> list[tuple[str, float, float, float, float]]:
    """Return the points of a line that are known, each with the ends of its band."""
    margins = [0.0] * len(line.at) if line.margins is None else line.margins.tolist()
    return [
        (line.name, at, share, max(0.0, share - _known(margin)), min(1.0, share + _known(margin)))
        for at, share, margin in zip(line.at.tolist(), line.shares.tolist(), margins, strict=True)
        if isfinite(share)
    ]


def _known(margin: float) -> float:
    return margin if isfinite(margin) else 0.0
