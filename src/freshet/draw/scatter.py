"""Scatter plots of time between changes against Dice (Adar et al. 2009, Fig. 2)."""

from dataclasses import dataclass

import numpy as np

from freshet.core.humanize import count_text, duration_text, interval_text
from freshet.core.types import FloatArray
from freshet.draw.axes import (
    clip_to_a_minute,
    duration_axis,
    duration_scale,
    scale_floor,
    share_axis,
)
from freshet.draw.chart_library import alt
from freshet.draw.theme import (
    BLUE,
    HEIGHT,
    ORANGE,
    QUIET,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    shorten,
    with_title,
)
from freshet.measure.statistics.page_summary import HOUR_SECONDS, LookTable

MAX_POINTS = 4_000


@dataclass(frozen=True, slots=True)
class _PointCloud:
    """The points to draw, thinned to a maximum, with the number and the medians of all points."""

    hours: FloatArray
    dice: FloatArray
    count: int
    median_hours: float
    median_dice: float

    @property
    def note(self) -> str:
        """Return the meaning of the cross, and the number of points if some are left out."""
        some = f" {MAX_POINTS:,} of them are shown." if len(self.hours) < self.count else ""
        return f"the cross marks both medians.{some}"


def page_changes_scatter(looks: LookTable, *, page: str) -> Chart:
    """Draw the changes of one page: hours since the version before, and Dice with it."""
    hours = np.diff(looks.version_times) / HOUR_SECONDS
    dice = looks.dice[looks.starts_version][1:]
    cloud = _point_cloud(hours, dice, "no change whose interval and amount are known")
    chart = _scatter_chart(
        cloud,
        "time since the version before (log scale)",
        "Dice with the version before (1: the same words)",
    )
    median = duration_text(cloud.median_hours / 24)
    return with_title(
        chart,
        f"Half of the changes come within {median}, half keep Dice {cloud.median_dice:.2f} or more",
        shorten(page),
        f"{count_text(cloud.count, 'change')}; {cloud.note}",
    )


def page_means_scatter(hours: FloatArray, dice: FloatArray) -> Chart:
    """Draw pages by their mean time between changes and their mean Dice given change."""
    cloud = _point_cloud(hours, dice, "no page with a change whose amount is known")
    chart = _scatter_chart(cloud, "mean time between changes (log scale)", "mean Dice given change")
    return with_title(
        chart,
        f"Half of the pages change every {interval_text(cloud.median_hours / 24)} or more often, "
        f"half keep Dice {cloud.median_dice:.2f} or more",
        f"{count_text(cloud.count, 'page')} that changed, a dot each; {cloud.note}",
    )


def _point_cloud(hours: FloatArray, dice: FloatArray, missing: str) -> _PointCloud:
    is_known = np.isfinite(hours) & np.isfinite(dice)
    if not is_known.any():
        raise EmptyChartError(f"no scatter of changes: {missing}")
    hours, dice = clip_to_a_minute(hours[is_known]), dice[is_known]
    shown = np.linspace(0, len(hours) - 1, min(len(hours), MAX_POINTS)).astype(int)
    medians = np.median(hours).item(), np.median(dice).item()
    return _PointCloud(hours[shown], dice[shown], len(hours), *medians)


def _scatter_chart(cloud: _PointCloud, x_title: str, y_title: str) -> Chart:
    x = alt.X("hours:Q", scale=duration_scale(cloud.hours), axis=duration_axis(x_title))
    y = alt.Y(
        "dice:Q",
        scale=alt.Scale(domain=[scale_floor(cloud.dice.tolist()), 1.0], nice=False),
        axis=share_axis(y_title),
    )
    dots = (
        alt
        .Chart(chart_rows(hours=cloud.hours, dice=cloud.dice))
        .mark_circle(color=BLUE, size=36, opacity=_opacity(len(cloud.hours)))
        .encode(x=x, y=y, tooltip=[alt.Tooltip("hours:Q", format=",.2f"), "dice:Q"])
    )
    medians = chart_rows(hours=[cloud.median_hours], dice=[cloud.median_dice])
    lines = [
        alt.Chart(medians).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(x=x),
        alt.Chart(medians).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(y=y),
        alt
        .Chart(medians)
        .mark_point(shape="cross", color=ORANGE, fill=ORANGE, size=130, opacity=1)
        .encode(x=x, y=y),
    ]
    return alt.layer(dots, *lines).properties(width=WIDTH, height=HEIGHT)


def _opacity(points: int) -> float:
    """Return the opacity of a dot, lower the more dots there are.

    >>> _opacity(10), _opacity(4_000)
    (0.8, 0.2)
    """
    return round(max(0.2, min(0.8, 30 / points**0.5 / 2)), 1)
