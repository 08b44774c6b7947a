"""Groups of pages beside each other: a dot for a mean, a line for how sure it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from freshet.core.humanize import duration_text
from freshet.draw.axes import duration_axis, duration_scale, share_axis
from freshet.draw.theme import (
    BLUE,
    INK,
    PAPER,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    shorten,
    with_title,
)

MOST_ROWS = 40
FEWEST = 5
ROW_HEIGHT = 22


@dataclass(frozen=True, slots=True)
class GroupEstimate:
    """A group's mean of something, between the bounds that hold it with 95 %; NaN: unknown."""

    group: str
    pages: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _HorizontalScale:
    """How a measure is laid out from left to right."""

    scale: alt.Scale
    axis: alt.Axis


@dataclass(frozen=True, slots=True)
class _ChartHeading:
    """What is written above the dots: what they show, by what, and what a test said."""

    plain: str
    write: Callable[[float], str]
    by: str
    note: str

    def title(self, known: Sequence[GroupEstimate]) -> str:
        """Name the groups at both ends, of those with enough pages to tell."""
        telling = sorted((each for each in known if each.pages >= FEWEST), key=lambda e: e.mean)
        if len(telling) < 2:
            return f"{self.plain}, by {self.by}"
        first, last = telling[0], telling[-1]
        ends = (f"{self.write(each.mean)} ({shorten(each.group, 24)})" for each in (first, last))
        return f"{self.plain}: {' to '.join(ends)}"

    def lines(self, shown: int, groups: int) -> list[str]:
        """Return how the dots are to be read, and what a test said."""
        which = "" if shown == groups else f"; {shown} of {groups} groups"
        read = f"by {self.by}, (pages), 95 % intervals; hollow: fewer than {FEWEST} pages{which}"
        return [read, self.note] if self.note else [read]


def group_intervals_chart(estimates: Sequence[GroupEstimate], *, by: str, note: str = "") -> Chart:
    """Draw the mean time between changes of groups, in hours; ``note`` tells how they differ."""
    known = _known(estimates)
    values = [value for each in known for value in (each.mean, each.low, each.high)]
    kept = [value for value in values if np.isfinite(value) and value > 0]
    across = _HorizontalScale(
        duration_scale(kept), duration_axis("mean time between changes (log scale)")
    )
    heading = _ChartHeading(
        "Time between changes", lambda hours: duration_text(hours / 24), by, note
    )
    return _dots(known, len(estimates), across, heading)


def group_similarities_chart(
    estimates: Sequence[GroupEstimate], *, by: str, note: str = ""
) -> Chart:
    """Draw the mean Dice given change of groups of pages; ``note`` tells how they differ."""
    known = [_within_one(each) for each in _known(estimates)]
    axis = share_axis("mean Dice given change (1: the same words)")
    across = _HorizontalScale(alt.Scale(zero=False, domainMax=1.0), axis)
    heading = _ChartHeading("Dice given change", lambda dice: f"{dice:.2f}", by, note)
    return _dots(known, len(estimates), across, heading)


def _known(estimates: Sequence[GroupEstimate]) -> list[GroupEstimate]:
    known = [each for each in estimates if np.isfinite(each.mean)]
    if not known:
        raise EmptyChartError("no picture of groups: none of them has changes to measure")
    return sorted(known, key=lambda each: -each.pages)[:MOST_ROWS]


def _dots(
    known: Sequence[GroupEstimate], groups: int, across: _HorizontalScale, heading: _ChartHeading
) -> Chart:
    order = [_name(each) for each in sorted(known, key=lambda each: each.mean)]
    data = chart_rows(
        group=[_name(each) for each in known], mean=[each.mean for each in known],
        low=[_bound(each.low, each) for each in known],
        high=[_bound(each.high, each) for each in known],
        fill=[BLUE if each.pages >= FEWEST else PAPER for each in known],
    )  # fmt: skip
    y = alt.Y(
        "group:N", sort=order, title=None,
        axis=alt.Axis(labelLimit=280, labelFontSize=12, labelColor=INK, ticks=False, domain=False),
    )  # fmt: skip
    base = alt.Chart(data).encode(y=y)
    bars = base.mark_rule(color=BLUE, strokeWidth=3, opacity=0.4).encode(
        x=alt.X("low:Q", scale=across.scale, axis=across.axis), x2="high:Q"
    )
    dots = base.mark_point(stroke=BLUE, size=90, opacity=1, strokeWidth=2).encode(
        x=alt.X("mean:Q", scale=across.scale, axis=across.axis), fill=alt.Fill("fill:N", scale=None)
    )
    picture = alt.layer(bars, dots).properties(width=WIDTH, height=ROW_HEIGHT * len(known))
    return with_title(picture, heading.title(known), *heading.lines(len(known), groups))


def _name(each: GroupEstimate) -> str:
    """Write a group with its size.

    >>> _name(GroupEstimate("org", 12, 1.0, 0.5, 2.0))
    'org (12)'
    """
    return f"{shorten(each.group, 40)} ({each.pages:,})"


def _within_one(each: GroupEstimate) -> GroupEstimate:
    """Return an estimate of a share whose bounds are shares, too."""
    low, high = np.clip([each.low, each.high], 0.0, 1.0).tolist()
    return GroupEstimate(each.group, each.pages, each.mean, low, high)


def _bound(bound: float, each: GroupEstimate) -> float:
    """Return a bound, or the mean itself where it is unknown or below what a scale can hold."""
    return bound if np.isfinite(bound) and bound > 0 else each.mean
