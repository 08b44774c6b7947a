"""How long the elements of pages live: the share still there after so long (Adar et al. 2009,
Table 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

import altair as alt

from freshet.core.humanize import duration_text
from freshet.core.shares import percent_text
from freshet.draw.axes import duration_axis_at, duration_scale, scale_floor
from freshet.draw.theme import (
    BLUE,
    GREEN,
    HEIGHT,
    INK,
    ORANGE,
    ROSE,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    with_title,
)

NEAR = 1.5
LEFT, RIGHT = "left", "right"
HISTORY_TOO_SHORT = "the history is too short to tell"
COLOURS = (BLUE, ORANGE, GREEN, ROSE)


@dataclass(frozen=True, slots=True)
class SurvivalSeries:
    """The share of elements still there after each of so many hours; NaN where it is unknown."""

    name: str
    hours: Sequence[float]
    shares: Sequence[float]


def survival_curve(
    curves: Sequence[SurvivalSeries], *, subtitle: str, missing: str = HISTORY_TOO_SHORT
) -> Chart:
    """Draw one survival curve, or several to compare; ``subtitle`` says whose they are.

    ``missing`` tells what is missing where nothing is known.
    """
    known = [
        (curve.name, hours, share)
        for curve in curves
        for hours, share in zip(curve.hours, curve.shares, strict=True)
        if isfinite(share)
    ]
    if not known:
        raise EmptyChartError(f"no survival curve: {missing}")
    names, hours, shares = zip(*known, strict=True)
    data = chart_rows(
        curve=names, hours=hours, share=shares, label=[f"{each:.1%}" for each in shares],
        side=_sides(hours),
    )  # fmt: skip
    order = [curve.name for curve in curves]
    scale = alt.Scale(domain=order, range=list(COLOURS[: len(order)]))
    legend = alt.Legend(orient="top", title=None) if len(order) > 1 else None
    base = alt.Chart(data).encode(
        x=alt.X(
            "hours:Q", scale=duration_scale(hours),
            axis=duration_axis_at("time since the start (log scale)", hours),
        ),
        y=alt.Y(
            "share:Q", title="elements still there",
            axis=alt.Axis(format="%"), scale=alt.Scale(domain=[scale_floor(shares), 1], nice=False),
        ),
        color=alt.Color("curve:N", sort=order, scale=scale, legend=legend),
    )  # fmt: skip
    line = base.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=70))
    layers = [line, *_labels(base)] if len(order) == 1 else [line]
    return with_title(
        alt.layer(*layers).properties(width=WIDTH, height=HEIGHT),
        _title(len(order), hours[-1], shares[-1]),
        subtitle,
    )


def _labels(base: alt.Chart) -> list[alt.Chart]:
    """Write each share beside its point: to the right, or to the left where the next is near."""
    chosen = base.transform_filter
    return [
        chosen(alt.datum.side == RIGHT).mark_text(align="left", dx=7, dy=-10).encode(**_spelt()),
        chosen(alt.datum.side == LEFT).mark_text(align="right", dx=2, dy=-12).encode(**_spelt()),
    ]


def _spelt() -> dict[str, Any]:
    return {"text": alt.Text("label:N"), "color": alt.value(INK)}


def _sides(hours: Sequence[float]) -> list[str]:
    """Return on which side of each point its share is written.

    >>> _sides([24.0, 672.0, 840.0])
    ['right', 'left', 'right']
    """
    near = [later < NEAR * earlier for earlier, later in pairwise(hours)]
    return [LEFT if close else RIGHT for close in (*near, False)]


def _title(curves: int, hours: float, share: float) -> str:
    """Say what the last point of the only curve shows, or what several are there for.

    >>> _title(1, 840.0, 0.843)
    'After 35 days, 84% of the elements are still there'
    """
    if curves > 1:
        return "Which share of the elements is still there after how long"
    return (
        f"After {duration_text(hours / 24)}, {percent_text(share)} of the elements are still there"
    )
