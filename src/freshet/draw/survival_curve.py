"""Chart of the share of elements that are still there over time (Adar et al. 2009, Table 4)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from freshet.core.humanize import duration_text, percent_text
from freshet.draw.axes import duration_axis_at, duration_scale, scale_floor
from freshet.draw.chart_library import alt
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
from freshet.measure.dynamics.structure.survival import SURVIVAL_HORIZONS

NEAR_RATIO = 1.5
LEFT, RIGHT = "left", "right"
HISTORY_TOO_SHORT = "the history is too short"
COLOURS = (BLUE, ORANGE, GREEN, ROSE)
HORIZON_HOURS = tuple(seconds / 3600 for seconds in SURVIVAL_HORIZONS)


def survival_curve(
    curves: Mapping[str, Sequence[float | None]],
    *,
    subtitle: str,
    missing: str = HISTORY_TOO_SHORT,
) -> Chart:
    """Draw one survival curve, or several to compare, by their names.

    A curve has the share of elements still there at each survival horizon, None where it is
    unknown. ``missing`` is the reason given where no share is known.
    """
    points = [
        (name, hours, share)
        for name, shares in curves.items()
        for hours, share in zip(HORIZON_HOURS, shares, strict=False)
        if share is not None
    ]
    if not points:
        raise EmptyChartError(f"no survival curve: {missing}")
    names, hours, shares = zip(*points, strict=True)
    data = chart_rows(
        curve=names, hours=hours, share=shares, label=[f"{share:.1%}" for share in shares],
        side=_label_sides(hours),
    )  # fmt: skip
    order = list(curves)
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
    layers = [line, *_label_layers(base)] if len(order) == 1 else [line]
    return with_title(
        alt.layer(*layers).properties(width=WIDTH, height=HEIGHT),
        _title(len(order), hours[-1], shares[-1]),
        subtitle,
    )


def _label_layers(base: alt.Chart) -> list[alt.Chart]:
    """Write each share to the right of its point, or to the left where the next point is near."""
    text: dict[str, Any] = {"text": alt.Text("label:N"), "color": alt.value(INK)}
    right = base.transform_filter(alt.datum.side == RIGHT).mark_text(align="left", dx=7, dy=-10)
    left_side = base.transform_filter(alt.datum.side == LEFT).mark_text(align="right", dx=2, dy=-12)
    return [right.encode(**text), left_side.encode(**text)]


def _label_sides(hours: Sequence[float]) -> list[str]:
    """Return the side of each point on which its share is written.

    >>> _label_sides([24.0, 672.0, 840.0])
    ['right', 'left', 'right']
    """
    is_near = [later < NEAR_RATIO * earlier for earlier, later in pairwise(hours)]
    return [LEFT if near else RIGHT for near in (*is_near, False)]


def _title(curves: int, hours: float, share: float) -> str:
    """Return what the last point of the only curve shows, or a heading for several curves.

    >>> _title(1, 840.0, 0.843)
    'After 35 days, 84% of the elements are still there'
    """
    if curves > 1:
        return "Share of the elements that are still there"
    after = duration_text(hours / 24)
    return f"After {after}, {percent_text(share)} of the elements are still there"
