"""How often and how much: time between changes against what stays (Adar et al. 2009, Fig. 2)."""

from dataclasses import dataclass

import altair as alt
import numpy as np

from freshet.core.humanize import duration_text, interval_text
from freshet.core.types import FloatArray
from freshet.draw.axes import (
    clip_to_a_minute,
    duration_axis,
    duration_scale,
    scale_floor,
    share_axis,
)
from freshet.draw.theme import (
    BLUE,
    HEIGHT,
    ORANGE,
    QUIET,
    WIDTH,
    Chart,
    EmptyChartError,
    chart_rows,
    count_phrase,
    shorten,
    with_title,
)

MOST_POINTS = 4_000
STAYS = "Dice with the version before (1: the same words)"


@dataclass(frozen=True, slots=True)
class _PointCloud:
    """Points to draw, at most so many of those known; the medians are those of all."""

    hours: FloatArray
    dices: FloatArray
    count: int
    middle: float
    kept: float

    @property
    def note(self) -> str:
        """Say what the cross is, and where not all points are shown."""
        some = f" {MOST_POINTS:,} of them are shown." if len(self.hours) < self.count else ""
        return f"the cross marks both medians.{some}"


def page_changes_scatter(hours: FloatArray, dices: FloatArray, *, page: str) -> Chart:
    """Draw one page's changes: hours since the version before, and the Dice of each change."""
    cloud = _cloud(hours, dices, "no change whose interval and amount are known")
    picture = _points(cloud, "time since the version before (log scale)", STAYS)
    often, kept = duration_text(cloud.middle / 24), f"Dice {cloud.kept:.2f} or more"
    return with_title(
        picture,
        f"Half of the changes come within {often}, half keep {kept}",
        shorten(page),
        f"{count_phrase(cloud.count, 'change')}; {cloud.note}",
    )


def page_means_scatter(hours: FloatArray, dices: FloatArray) -> Chart:
    """Draw pages by their mean time between changes and their mean Dice given change."""
    cloud = _cloud(hours, dices, "no page with a change whose amount is known")
    picture = _points(cloud, "mean time between changes (log scale)", "mean Dice given change")
    return with_title(
        picture,
        f"Half of the pages change every {interval_text(cloud.middle / 24)} or more often, "
        f"half keep Dice {cloud.kept:.2f} or more",
        f"{count_phrase(cloud.count, 'page')} that changed, a dot each; {cloud.note}",
    )


def _cloud(hours: FloatArray, dices: FloatArray, missing: str) -> _PointCloud:
    places = np.flatnonzero(np.isfinite(hours) & np.isfinite(dices))
    if not len(places):
        raise EmptyChartError(f"no scatter of changes: {missing}")
    known, kept = clip_to_a_minute(hours[places]), dices[places]
    shown = np.linspace(0, len(places) - 1, min(len(places), MOST_POINTS)).astype(int)
    middles = np.median(known).item(), np.median(kept).item()
    return _PointCloud(known[shown], kept[shown], len(places), *middles)


def _points(cloud: _PointCloud, across: str, up: str) -> Chart:
    x = alt.X("hours:Q", scale=duration_scale(cloud.hours), axis=duration_axis(across))
    y = alt.Y("dice:Q", scale=_dice_scale(cloud.dices), axis=share_axis(up))
    dots = (
        alt
        .Chart(chart_rows(hours=cloud.hours, dice=cloud.dices))
        .mark_circle(color=BLUE, size=36, opacity=_opacity(len(cloud.hours)))
        .encode(x=x, y=y, tooltip=[alt.Tooltip("hours:Q", format=",.2f"), "dice:Q"])
    )
    middle = chart_rows(hours=[cloud.middle], dice=[cloud.kept])
    lines = [
        alt.Chart(middle).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(x=x),
        alt.Chart(middle).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(y=y),
        alt
        .Chart(middle)
        .mark_point(shape="cross", color=ORANGE, fill=ORANGE, size=130, opacity=1)
        .encode(x=x, y=y),
    ]
    return alt.layer(dots, *lines).properties(width=WIDTH, height=HEIGHT)


def _dice_scale(dices: FloatArray) -> alt.Scale:
    return alt.Scale(domain=[scale_floor(dices.tolist()), 1.0], nice=False)


def _opacity(points: int) -> float:
    """Return how dense dots may be: the more there are, the fainter each.

    >>> _opacity(10), _opacity(4_000)
    (0.8, 0.2)
    """
    return round(max(0.2, min(0.8, 30 / points**0.5 / 2)), 1)
