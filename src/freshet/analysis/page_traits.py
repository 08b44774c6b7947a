"""Traits of a page from its versions: its curve, the lifespans of its words and elements."""

from dataclasses import replace

import numpy as np

from freshet.analysis.page_versions import PageVersions
from freshet.core.tables import hash_name
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.curve.change_curve import ChangeCurve, change_curve
from freshet.measure.dynamics.structure.dom_history import dom_history, grid_timeline
from freshet.measure.dynamics.structure.survival import (
    SURVIVAL_HORIZONS,
    ElementSurvival,
    element_survival,
)
from freshet.measure.dynamics.terms.lifespans import word_lifespans
from freshet.measure.dynamics.terms.term_table import HIGH_STAYING_POWER, LOW_STAYING_POWER
from freshet.measure.statistics.page_summary import PageTraits

MAX_ROWS = 250_000
SURVIVAL_SECONDS = SURVIVAL_HORIZONS[-1] + 86_400.0

Reasons = tuple[tuple[str, str], ...]


def page_traits(versions: PageVersions, url: str, curve: ChangeCurve | None = None) -> PageTraits:
    """Return the traits of a page; ``curve`` is its change curve if that is known already."""
    curve = page_curve(versions.series, url) if curve is None else curve
    survival, survival_reasons = _survival(versions)
    stay, go = _staying_power_shares(versions.series)
    word_reasons = () if stay is not None else (("stay", "fewer than two times are known"),)
    return PageTraits(
        shape=curve.shape,
        knot_hours=curve.knot.hours if curve.knot else None,
        knot_dice=curve.knot.dice if curve.knot else None,
        survival=survival.shares if survival else (),
        stay=stay,
        go=go,
        why=(*_curve_reasons(curve), *survival_reasons, *word_reasons),
    )


def page_curve(series: VersionSeries, url: str) -> ChangeCurve:
    """Return a page's change curve; its URL seeds the random starts, so it is reproducible."""
    return change_curve(series, rng=np.random.default_rng(hash_name(url)))


def _curve_reasons(curve: ChangeCurve) -> Reasons:
    if curve.shape is None:
        return (("shape", curve.why),)
    return () if curve.knot else (("knot_hours", "the curve has no knot"),)


def _survival(versions: PageVersions) -> tuple[ElementSurvival | None, Reasons]:
    """Return the survival of a page's first elements, over the weeks of the horizons.

    Where only some versions have DOM rows in memory, shares at shorter times than between two of
    these are unknown.
    """
    if all(dom is None for dom in versions.dom_series.doms):
        return None, (("survival", "no version has elements"),)
    first_weeks = _first_weeks(versions.dom_series)
    survival = element_survival(dom_history(first_weeks, grid_timeline(first_weeks), MAX_ROWS))
    if not survival.elements:
        return None, (("survival", "the history is too short"),)
    return _without_short_horizons(
        survival, _longest_stay(first_weeks) if versions.dom_stride > 1 else 0.0
    ), ()


def _longest_stay(series: VersionSeries) -> float:
    """Return the longest time covered by the DOM rows of one version."""
    stay_starts = np.flatnonzero(np.diff(series.version_indices, prepend=-1))
    times = series.times[stay_starts]
    return float(np.diff(times, append=series.times[-1]).max(initial=0.0))


def _without_short_horizons(survival: ElementSurvival, min_seconds: float) -> ElementSurvival:
    pairs = zip(survival.horizons, survival.shares, strict=True)
    return replace(
        survival, shares=tuple(share if seconds > min_seconds else None for seconds, share in pairs)
    )


def _first_weeks(series: VersionSeries) -> VersionSeries:
    """Return the looks of a page up to the last survival horizon."""
    end = int(np.searchsorted(series.times, series.times[0] + SURVIVAL_SECONDS, side="right"))
    return VersionSeries(
        series.times[:end], series.version_indices[:end], series.terms, series.doms
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
