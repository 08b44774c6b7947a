"""Traits of a page from its versions: its curve, the lifespans of its words and elements."""

from dataclasses import replace

import numpy as np

from freshet.analysis.page_versions import PageVersions
from freshet.core.tables import hash_name
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.curve.change_curve import ChangeCurve, change_curve
from freshet.measure.dynamics.structure.dom_history import look_timeline
from freshet.measure.dynamics.structure.element_history import element_history
from freshet.measure.dynamics.structure.survival import (
    SURVIVAL_HORIZONS,
    ElementSurvival,
    element_survival,
    without_short_horizons,
)
from freshet.measure.dynamics.terms.lifespans import word_lifespans
from freshet.measure.dynamics.terms.term_table import HIGH_STAYING_POWER, LOW_STAYING_POWER
from freshet.measure.dynamics.time_grid import DAY
from freshet.measure.statistics.page_summary import PageTraits

CURVE_SECONDS = 35 * DAY

Reasons = tuple[tuple[str, str], ...]


def page_traits(
    versions: PageVersions, url: str, *, curve: ChangeCurve | None = None, whole: bool = False
) -> PageTraits:
    """Return the traits of a page; ``curve`` is its change curve if that is known already.

    With ``whole`` the curve is that of the whole history and not of its first weeks.
    """
    curve = page_curve(versions.series, url, whole=whole) if curve is None else curve
    survival, survival_reasons = _survival(versions)
    stay, go = _staying_power_shares(versions.series)
    word_reasons = () if stay is not None else (("stay", "fewer than two times are known"),)
    return PageTraits(
        shape=curve.shape,
        knot_hours=curve.knot.hours if curve.knot else None,
        knot_dice=curve.knot.dice if curve.knot else None,
        paper_knot_hours=curve.paper_knot.hours if curve.paper_knot else None,
        paper_knot_dice=curve.paper_knot.dice if curve.paper_knot else None,
        survival=survival.shares if survival else (),
        unbroken_survival=survival.unbroken_shares if survival else (),
        stay=stay,
        go=go,
        why=(*_curve_reasons(curve), *survival_reasons, *word_reasons),
    )


def page_curve(series: VersionSeries, url: str, *, whole: bool = False) -> ChangeCurve:
    """Return a page's change curve over its first five weeks, as in the paper, or over all.

    Over years a page has no knot that can be compared with another's. The URL seeds the random
    starts, so the curve is reproducible.
    """
    if not whole and len(series):
        end = int(np.searchsorted(series.times, series.times[0] + CURVE_SECONDS, side="right"))
        series = _first_looks(series, end)
    return change_curve(series, rng=np.random.default_rng(hash_name(url)))


def _curve_reasons(curve: ChangeCurve) -> Reasons:
    if curve.shape is None:
        return (("shape", curve.why),)
    return () if curve.knot else (("knot_hours", "the curve has no knot"),)


def _survival(versions: PageVersions) -> tuple[ElementSurvival | None, Reasons]:
    """Return the survival of a page's first elements, over the weeks of the horizons.

    Where the history has so many changes that only some versions could be used, shares at shorter
    times than between two of these are unknown.
    """
    series = versions.dom_series
    if not series.has_dom.any():
        return None, (("survival", "no version has elements"),)
    series = _first_weeks(series)
    history = element_history(series, look_timeline(series))
    survival = element_survival(history)
    if not survival.elements:
        return None, (("survival", "the history is too short"),)
    longest_stay = float(history.timeline.seconds.max()) if history.stride > 1 else 0.0
    return without_short_horizons(survival, longest_stay), ()


def _first_weeks(series: VersionSeries) -> VersionSeries:
    """Return the looks of a page up to the last survival horizon, and the next one.

    The next look says that the version before it was still known at the horizon.
    """
    end = int(np.searchsorted(series.times, series.times[0] + SURVIVAL_HORIZONS[-1], side="right"))
    return _first_looks(series, end + 1)


def _first_looks(series: VersionSeries, count: int) -> VersionSeries:
    return replace(
        series, times=series.times[:count], version_indices=series.version_indices[:count]
    )


def _staying_power_shares(series: VersionSeries) -> tuple[float | None, float | None]:
    """Return the shares of a page's words with a high and a low staying power."""
    lifespans = word_lifespans(series)
    if lifespans.known_points < 2 or not len(lifespans):
        return None, None
    staying_power = lifespans.staying_power
    return float(np.mean(staying_power > HIGH_STAYING_POWER)), float(
        np.mean(staying_power < LOW_STAYING_POWER)
    )
