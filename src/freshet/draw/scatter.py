"""How often and how much: time between changes against what stays (Adar et al. 2009, Fig. 2)."""

from dataclasses import dataclass

import altair as alt
import numpy as np

from freshet.core.humanize import each, span
from freshet.core.types import Floats
from freshet.draw.axes import at_least_a_minute, floor_of, share_axis, span_axis, span_scale
from freshet.draw.theme import (
    BLUE,
    HEIGHT,
    ORANGE,
    QUIET,
    WIDTH,
    NothingToDraw,
    Picture,
    counted,
    finished,
    short,
    table,
)

MOST_POINTS = 4_000
STAYS = "Dice with the version before (1: the same words)"


@dataclass(frozen=True, slots=True)
class _Cloud:
    """Points to draw, at most so many of those known; the medians are those of all."""

    hours: Floats
    dices: Floats
    count: int
    middle: float
    kept: float

    @property
    def note(self) -> str:
        """Say what the cross is, and where not all points are shown."""
        some = f" {MOST_POINTS:,} of them are shown." if len(self.hours) < self.count else ""
        return f"the cross marks both medians.{some}"


def changes_of_a_page(hours: Floats, dices: Floats, *, page: str) -> Picture:
    """Draw one page's changes: hours since the version before, and the Dice of each change."""
    cloud = _cloud(hours, dices, "no change whose interval and amount are known")
    picture = _points(cloud, "time since the version before (log scale)", STAYS)
    often, kept = span(cloud.middle / 24), f"Dice {cloud.kept:.2f} or more"
    return finished(
        picture,
        f"Half of the changes come within {often}, half keep {kept}",
        short(page),
        f"{counted(cloud.count, 'change')}; {cloud.note}",
    )


def means_of_pages(hours: Floats, dices: Floats) -> Picture:
    """Draw pages by their mean time between changes and their mean Dice given change."""
    cloud = _cloud(hours, dices, "no page with a change whose amount is known")
    picture = _points(cloud, "mean time between changes (log scale)", "mean Dice given change")
    return finished(
        picture,
        f"Half of the pages change every {each(cloud.middle / 24)} or more often, "
        f"half keep Dice {cloud.kept:.2f} or more",
        f"{counted(cloud.count, 'page')} that changed, a dot each; {cloud.note}",
    )


def _cloud(hours: Floats, dices: Floats, missing: str) -> _Cloud:
    places = np.flatnonzero(np.isfinite(hours) & np.isfinite(dices))
    if not len(places):
        raise NothingToDraw(f"no scatter of changes: {missing}")
    known, kept = at_least_a_minute(hours[places]), dices[places]
    shown = np.linspace(0, len(places) - 1, min(len(places), MOST_POINTS)).astype(int)
    middles = np.median(known).item(), np.median(kept).item()
    return _Cloud(known[shown], kept[shown], len(places), *middles)


def _points(cloud: _Cloud, across: str, up: str) -> Picture:
    x = alt.X("hours:Q", scale=span_scale(cloud.hours), axis=span_axis(across))
    y = alt.Y("dice:Q", scale=_dice_scale(cloud.dices), axis=share_axis(up))
    dots = (
        alt
        .Chart(table(hours=cloud.hours, dice=cloud.dices))
        .mark_circle(color=BLUE, size=36, opacity=_opacity(len(cloud.hours)))
        .encode(x=x, y=y, tooltip=[alt.Tooltip("hours:Q", format=",.2f"), "dice:Q"])
    )
    middle = table(hours=[cloud.middle], dice=[cloud.kept])
    lines = [
        alt.Chart(middle).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(x=x),
        alt.Chart(middle).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(y=y),
        alt
        .Chart(middle)
        .mark_point(shape="cross", color=ORANGE, fill=ORANGE, size=130, opacity=1)
        .encode(x=x, y=y),
    ]
    return alt.layer(dots, *lines).properties(width=WIDTH, height=HEIGHT)


def _dice_scale(dices: Floats) -> alt.Scale:
    return alt.Scale(domain=[floor_of(dices.tolist()), 1.0], nice=False)


def _opacity(points: int) -> float:
    """Return how dense dots may be: the more there are, the fainter each.

    >>> _opacity(10), _opacity(4_000)
    (0.8, 0.2)
    """
    return round(max(0.2, min(0.8, 30 / points**0.5 / 2)), 1)
