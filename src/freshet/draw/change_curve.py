"""How a page drifts away from what it was: its change curve, and the knot where that ends
(Adar et al. 2009, Fig. 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from freshet.core.humanize import duration_text, slope_text
from freshet.core.types import FloatArray
from freshet.draw.axes import scale_floor, share_axis
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

MOST_POINTS = 2_000
MOST_DOTS = 250
KNOT_SPANS, FEWEST_HOURS = 15.0, 24.0
LONGEST_IN_HOURS = 96.0


@dataclass(frozen=True, slots=True)
class CurveSegment:
    """A straight line over a span of a curve: Dice = intercept + slope per hour times hours."""

    start: float
    end: float
    slope: float
    intercept: float

    def at(self, hours: float) -> float:
        """Return the line's Dice so many hours after the start."""
        return self.intercept + self.slope * hours


@dataclass(frozen=True, slots=True)
class KnotMark:
    """Where a curve bends: hours after the start, and the Dice there."""

    hours: float
    dice: float


def change_curve_chart(
    hours: FloatArray,
    dices: FloatArray,
    *,
    page: str,
    shape: str = "",
    segments: Sequence[CurveSegment] = (),
    knot: KnotMark | None = None,
) -> Chart:
    """Draw a change curve, the lines fitted to it, and its knot where it has one."""
    known = np.flatnonzero(np.isfinite(dices))
    last = _last_shown(hours[known], knot)
    known = known[hours[known] <= last]
    if len(known) < 2:
        raise EmptyChartError("no change curve: fewer than two moments can be compared")
    known = known[np.linspace(0, len(known) - 1, min(len(known), MOST_POINTS)).astype(int)]
    unit = 1.0 if hours[known].max() <= LONGEST_IN_HOURS else 24.0
    x = alt.X("time:Q", axis=alt.Axis(title=_axis_title(unit)), scale=alt.Scale(nice=False))
    low = scale_floor([*dices[known].tolist(), knot.dice if knot else 1.0])
    y = alt.Y(
        "dice:Q",
        axis=share_axis("Dice with the version at the start (1: the same words)"),
        scale=alt.Scale(domain=[low, 1.0], nice=False, clamp=True),
    )
    layers = [_measured(hours[known] / unit, dices[known], x, y)]
    if segments:
        layers.append(_fitted([line for line in segments if line.start < last], unit, x, y, last))
    if knot is not None:
        layers += _marked(knot, unit, x, y, right=knot.hours > hours[known].max() * 0.6)
    picture = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    cut = f"; the first {duration_text(last / 24)} are shown" if last < np.max(hours) else ""
    return with_title(picture, _title(shape, knot), shorten(page), _reading(segments, knot) + cut)


def _last_shown(hours: FloatArray, knot: KnotMark | None) -> float:
    """Return up to when a curve is shown: all of it, unless its knot would be squeezed.

    >>> _last_shown(np.arange(1000.0), KnotMark(10.0, 0.5)), _last_shown(np.arange(9.0), None)
    (150.0, 8.0)
    """
    whole = float(hours.max()) if len(hours) else 0.0
    return whole if knot is None else min(whole, max(KNOT_SPANS * knot.hours, FEWEST_HOURS))


def _axis_title(unit: float) -> str:
    return f"time since the start ({'hours' if unit == 1.0 else 'days'})"


def _measured(times: FloatArray, dices: FloatArray, x: alt.X, y: alt.Y) -> alt.Chart:
    dotted = len(times) <= MOST_DOTS
    points = alt.OverlayMarkDef(color=BLUE, size=18) if dotted else False
    colour, stroke = (SKY, 2.0) if dotted else (BLUE, 1.2)
    return (
        alt
        .Chart(chart_rows(time=times, dice=dices))
        .mark_line(color=colour, strokeWidth=stroke, point=points)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("time:Q", format=".1f"), "dice:Q"])
    )


def _fitted(
    segments: Sequence[CurveSegment], unit: float, x: alt.X, y: alt.Y, last: float
) -> alt.Chart:
    ends = [
        (number, hour, line.at(hour))
        for number, line in enumerate(segments)
        for hour in (line.start, min(line.end, last))
    ]
    numbers, hours, dices = zip(*ends, strict=True)
    data = chart_rows(line=numbers, time=[each / unit for each in hours], dice=dices)
    return (
        alt
        .Chart(data)
        .mark_line(color=ORANGE, strokeWidth=3, opacity=0.95)
        .encode(x=x, y=y, detail="line:N")
    )


def _marked(knot: KnotMark, unit: float, x: alt.X, y: alt.Y, *, right: bool) -> list[alt.Chart]:
    label = f"knot after {duration_text(knot.hours / 24)}, Dice {knot.dice:.2f}"
    point = alt.Chart(chart_rows(time=[knot.hours / unit], dice=[knot.dice], label=[label]))
    dot = point.mark_circle(color=PAPER, stroke=ORANGE, strokeWidth=3, size=150, opacity=1)
    words = point.mark_text(
        align="right" if right else "left", dx=-4 if right else 4, dy=-20, fontSize=13, color=INK,
        fontWeight="bold",
    )  # fmt: skip
    return [dot.encode(x=x, y=y), words.encode(x=x, y=y, text="label:N")]


def _title(shape: str, knot: KnotMark | None) -> str:
    """Say what the curve shows.

    >>> _title("knotted", KnotMark(48.0, 0.7))
    'What was there fades for 2 days, then Dice 0.70 stays'
    """
    if knot is not None:
        return f"What was there fades for {duration_text(knot.hours / 24)}, then Dice {knot.dice:.2f} stays"
    if shape == "flat":
        return "The page hardly drifts from what it was"
    if shape == "sloped":
        return "The page keeps drifting from what it was"
    return "How the page drifts from what it was"


def _reading(segments: Sequence[CurveSegment], knot: KnotMark | None) -> str:
    """Say what the lines mean.

    >>> _reading([CurveSegment(0, 9, -0.01, 1.0)], None)
    'orange: the line that fits, -0.240 Dice a day'
    """
    slopes = [slope_text(line.slope, "Dice") for line in segments]
    if not slopes:
        return "no line is fitted"
    if knot is None or len(slopes) == 1:
        return f"orange: the line that fits, {slopes[0]}"
    return f"orange: the two lines that fit, {slopes[0]}, then {slopes[1]}"
