"""Chart of a page's change curve and its knot (Adar et al. 2009, Fig. 4)."""

from collections.abc import Sequence

import numpy as np

from freshet.core.humanize import duration_text, slope_text
from freshet.core.types import FloatArray
from freshet.draw.axes import scale_floor, share_axis
from freshet.draw.chart_library import alt
from freshet.draw.theme import (
    BLUE,
    HEIGHT,
    INK,
    ORANGE,
    PAPER,
    SKY,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    shorten,
    with_title,
)
from freshet.measure.dynamics.curve.change_curve import ChangeCurve, CurveKnot
from freshet.measure.dynamics.curve.segments import FittedLine

MAX_POINTS = 2_000
MAX_DOTS = 250
SHOWN_KNOT_SPANS, MIN_SHOWN_HOURS = 15.0, 24.0
MAX_HOURS_AXIS = 96.0


def change_curve_chart(curve: ChangeCurve, *, page: str) -> Chart:
    """Draw a change curve, the lines fitted to it, and its knot if it has one."""
    if not len(curve):
        raise EmptyChartError(f"no change curve: {curve.why}")
    knot, last = curve.knot, _last_shown_hour(curve.hours, curve.knot)
    rows = np.flatnonzero(curve.hours <= last)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_POINTS)).astype(int)]
    hours, dice = curve.hours[rows], curve.dice[rows]
    unit = 1.0 if hours.max() <= MAX_HOURS_AXIS else 24.0
    unit_name = "hours" if unit == 1.0 else "days"
    x = alt.X(
        "time:Q",
        axis=alt.Axis(title=f"time since the start ({unit_name})"),
        scale=alt.Scale(nice=False),
    )
    low = scale_floor([*dice.tolist(), knot.dice if knot else 1.0])
    y = alt.Y(
        "dice:Q",
        axis=share_axis("Dice with the version at the start (1: the same words)"),
        scale=alt.Scale(domain=[low, 1.0], nice=False, clamp=True),
    )
    layers = [_curve_layer(hours / unit, dice, x, y)]
    shown_lines = [line for line in curve.segments if line.begins < last]
    if shown_lines:
        layers.append(_lines_layer(shown_lines, unit, x, y, last))
    if knot is not None:
        layers += _knot_layers(knot, unit, x, y, label_left=knot.hours > hours.max() * 0.6)
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    is_cut = last < np.max(curve.hours)
    cut = f"; the first {duration_text(last / 24)} are shown" if is_cut else ""
    legend = _lines_text(curve.segments, knot) + cut
    return with_title(chart, _title(curve.shape, knot, curve.level), shorten(page), legend)


def _last_shown_hour(hours: FloatArray, knot: CurveKnot | None) -> float:
    """Return the last hour of the chart: the end, or less where the knot would be squeezed.

    >>> _last_shown_hour(np.arange(1000.0), CurveKnot(10.0, 0.5))
    150.0
    >>> _last_shown_hour(np.arange(9.0), None)
    8.0
    """
    last = float(hours.max())
    return last if knot is None else min(last, max(SHOWN_KNOT_SPANS * knot.hours, MIN_SHOWN_HOURS))


def _curve_layer(times: FloatArray, dice: FloatArray, x: alt.X, y: alt.Y) -> alt.Chart:
    has_dots = len(times) <= MAX_DOTS
    points = alt.OverlayMarkDef(color=BLUE, size=18) if has_dots else False
    colour, stroke = (SKY, 2.0) if has_dots else (BLUE, 1.2)
    return (
        alt
        .Chart(chart_rows(time=times, dice=dice))
        .mark_line(color=colour, strokeWidth=stroke, point=points)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("time:Q", format=".1f"), "dice:Q"])
    )


def _lines_layer(
    lines: Sequence[FittedLine], unit: float, x: alt.X, y: alt.Y, last: float
) -> alt.Chart:
    ends = [
        (number, hour, line.at(hour))
        for number, line in enumerate(lines)
        for hour in (line.begins, min(line.ends, last))
    ]
    numbers, hours, dice = zip(*ends, strict=True)
    data = chart_rows(line=numbers, time=[hour / unit for hour in hours], dice=dice)
    return (
        alt
        .Chart(data)
        .mark_line(color=ORANGE, strokeWidth=3, opacity=0.95)
        .encode(x=x, y=y, detail="line:N")
    )


def _knot_layers(
    knot: CurveKnot, unit: float, x: alt.X, y: alt.Y, *, label_left: bool
) -> list[alt.Chart]:
    label = f"knot after {duration_text(knot.hours / 24)}, Dice {knot.dice:.2f}"
    point = alt.Chart(chart_rows(time=[knot.hours / unit], dice=[knot.dice], label=[label]))
    dot = point.mark_circle(color=PAPER, stroke=ORANGE, strokeWidth=3, size=150, opacity=1)
    text = point.mark_text(
        align="right" if label_left else "left", dx=-4 if label_left else 4, dy=-20, fontSize=13,
        color=INK, fontWeight="bold",
    )  # fmt: skip
    return [dot.encode(x=x, y=y), text.encode(x=x, y=y, text="label:N")]


def _title(shape: str | None, knot: CurveKnot | None, level: float | None = None) -> str:
    """Return the sentence that the curve shows.

    >>> _title("knotted", CurveKnot(48.0, 0.75), 0.7)
    'Similarity falls for 2 days, then Dice stays near 0.70'
    """
    if knot is not None and level is not None:
        falling = duration_text(knot.hours / 24)
        return f"Similarity falls for {falling}, then Dice stays near {level:.2f}"
    if shape == "flat":
        return "The page stays similar to its past"
    if shape == "sloped":
        return "The page keeps losing similarity to its past"
    return "Similarity of the page to its past"


def _lines_text(lines: Sequence[FittedLine], knot: CurveKnot | None) -> str:
    """Return the meaning of the fitted lines.

    >>> _lines_text([FittedLine(0, 9, -0.01, 1.0, 0.0)], None)
    'orange: the fitted line, -0.240 Dice a day'
    """
    slopes = [slope_text(line.slope, "Dice") for line in lines]
    if not slopes:
        return "no line is fitted"
    if knot is None or len(slopes) == 1:
        return f"orange: the fitted line, {slopes[0]}"
    return f"orange: the two fitted lines, {slopes[0]}, then {slopes[1]}"
