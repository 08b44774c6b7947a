"""Axes and scales that several charts share: durations, times in UTC and shares."""

from collections.abc import Iterable

import numpy as np

from freshet.core.types import FloatArray
from freshet.draw.chart_library import alt
from freshet.draw.time_ticks import time_ticks

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
    """Return an axis of hours for a log scale, marked at round durations."""
    names = ", ".join(f"'{hours:.4f}': '{name}'" for hours, name in DURATION_MARKS.items())
    return alt.Axis(
        title=title,
        values=list(DURATION_MARKS),
        labelExpr=f"{{{names}}}[format(datum.value, '.4f')]",
        labelOverlap="greedy",
        grid=True,
    )


def duration_axis_at(title: str, hours: Iterable[float]) -> alt.Axis:
    """Return an axis of hours that is marked at these hours only."""
    ticks = sorted(set(hours))
    names = ", ".join(f"'{tick:.4f}': '{hours_label(tick)}'" for tick in ticks)
    return alt.Axis(title=title, values=ticks, labelExpr=f"{{{names}}}[format(datum.value, '.4f')]")


def hours_label(hours: float) -> str:
    """Return hours as a short text, in the largest unit that gives a whole number.

    >>> hours_label(2), hours_label(24), hours_label(336), hours_label(0.5)
    ('2 h', '1 d', '2 w', '0.5 h')
    """
    for length, unit in ((168, "w"), (24, "d")):
        if hours >= length and hours % length == 0:
            return f"{hours / length:g} {unit}"
    return f"{hours:g} h"


def duration_scale(hours: Iterable[float]) -> alt.Scale:
    """Return a log scale over these hours, with a margin at both ends."""
    values = clip_to_a_minute(np.fromiter(hours, np.float64))
    return alt.Scale(
        type="log",
        domain=[float(values.min()) / 1.6, float(values.max()) * 1.6],
        nice=False,
    )


def clip_to_a_minute(hours: FloatArray) -> FloatArray:
    """Return hours for a log scale: values below one minute become one minute.

    >>> clip_to_a_minute(np.array([0.0, 2.0])).round(3).tolist()
    [0.017, 2.0]
    """
    return np.maximum(np.asarray(hours, np.float64), MIN_HOURS)


def to_milliseconds(seconds: Iterable[float]) -> list[float]:
    """Return epoch seconds as epoch milliseconds, the unit of charts."""
    return [float(second) * MILLISECONDS for second in seconds]


def time_axis(start: float, end: float) -> alt.Axis:
    """Return an axis in UTC for the time between two moments (epoch seconds)."""
    ticks = [(round(epoch * MILLISECONDS), label) for epoch, label in time_ticks(start, end)]
    names = ", ".join(f"'{value}': '{label}'" for value, label in ticks)
    return alt.Axis(
        title="time (UTC)",
        values=[value for value, _ in ticks],
        labelExpr=f"{{{names}}}[format(datum.value, 'd')]",
        labelOverlap="greedy",
        grid=True,
    )


def share_axis(title: str) -> alt.Axis:
    """Return an axis of shares between 0 and 1."""
    return alt.Axis(title=title, format=".2~f", tickCount=6)


def scale_floor(values: Iterable[float]) -> float:
    """Return a multiple of 0.1 below all of these shares, for a scale that ends at 1.

    >>> scale_floor([0.93, 0.87]), scale_floor([1.0]), scale_floor([0.02])
    (0.8, 0.9, 0.0)
    """
    lowest = min(values, default=1.0)
    return max(0.0, min(0.9, np.floor(lowest * 10).item() / 10))
