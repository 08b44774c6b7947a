"""Axes that several pictures share: spans of time from minutes to years, and moments in UTC."""

from collections.abc import Iterable

import altair as alt
import numpy as np

from freshet.core.types import FloatArray

DURATION_MARKS = {
    1 / 60: "1 min",
    1 / 6: "10 min",
    1.0: "1 h",
    6.0: "6 h",
    24.0: "1 d",
    168.0: "1 w",
    720.0: "30 d",
    4_383.0: "6 mo",
    8_766.0: "1 y",
    87_660.0: "10 y",
}
MIN_HOURS = 1 / 60
MILLISECONDS = 1000.0


def duration_axis(title: str) -> alt.Axis:
    """Return an axis of hours on a log scale, marked at spans that have a name."""
    names = ", ".join(f"'{hours:.4f}': '{name}'" for hours, name in DURATION_MARKS.items())
    return alt.Axis(
        title=title,
        values=list(DURATION_MARKS),
        labelExpr=f"{{{names}}}[format(datum.value, '.4f')]",
        labelOverlap="greedy",
        grid=True,
    )


def duration_axis_at(title: str, hours: Iterable[float]) -> alt.Axis:
    """Return an axis of hours that is marked at these, and nowhere else."""
    listed = sorted(set(hours))
    names = ", ".join(f"'{each:.4f}': '{hours_label(each)}'" for each in listed)
    return alt.Axis(
        title=title, values=listed, labelExpr=f"{{{names}}}[format(datum.value, '.4f')]"
    )


def hours_label(hours: float) -> str:
    """Write hours with the largest unit that counts them whole, in as few letters as can be.

    >>> hours_label(2), hours_label(24), hours_label(336), hours_label(0.5)
    ('2 h', '1 d', '2 w', '0.5 h')
    """
    for length, unit in ((168, "w"), (24, "d")):
        if hours >= length and hours % length == 0:
            return f"{hours / length:g} {unit}"
    return f"{hours:g} h"


def duration_scale(hours: Iterable[float]) -> alt.Scale:
    """Return a log scale that holds these hours with a little room around them."""
    values = clip_to_a_minute(np.fromiter(hours, np.float64))
    return alt.Scale(
        type="log",
        domain=[float(values.min()) / 1.6, float(values.max()) * 1.6],
        nice=False,
    )


def clip_to_a_minute(hours: FloatArray) -> FloatArray:
    """Return hours as a log scale can show them: what is shorter than a minute counts as one.

    >>> clip_to_a_minute(np.array([0.0, 2.0])).round(3).tolist()
    [0.017, 2.0]
    """
    return np.maximum(np.asarray(hours, np.float64), MIN_HOURS)


def to_milliseconds(seconds: Iterable[float]) -> list[float]:
    """Return epoch seconds as the milliseconds that charts count in."""
    return [float(each) * MILLISECONDS for each in seconds]


def time_axis() -> alt.Axis:
    """Return an axis of moments in UTC."""
    return alt.Axis(title="time (UTC)", labelOverlap="greedy", grid=True, tickCount=8)


def share_axis(title: str) -> alt.Axis:
    """Return an axis of shares between 0 and 1."""
    return alt.Axis(title=title, format=".2~f", tickCount=6)


def scale_floor(values: Iterable[float]) -> float:
    """Return a round number just below all of these shares, for a scale that ends at 1.

    >>> scale_floor([0.93, 0.87]), scale_floor([1.0]), scale_floor([0.02])
    (0.8, 0.9, 0.0)
    """
    lowest = min(values, default=1.0)
    return max(0.0, min(0.9, np.floor(lowest * 10).item() / 10))
