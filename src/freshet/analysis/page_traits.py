"""How the versions of a page drift: its curve, the life of its words and of its elements."""

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


def page_traits(history: PageVersions, url: str, curve: ChangeCurve | None = None) -> PageTraits:
    """Return what can be said of a page from its versions; ``curve`` spares to make it again."""
    curve = page_curve(history.series, url) if curve is None else curve
    lives, lacking = _survival(history)
    stay, go = _shares(history.series)
    words = () if stay is not None else (("stay", "fewer than two moments are known"),)
    return PageTraits(
        shape=curve.shape,
        knot_hours=curve.knot.hours if curve.knot else None,
        knot_dice=curve.knot.dice if curve.knot else None,
        survival=lives.shares if lives else (),
        stay=stay,
        go=go,
        why=(*_flat(curve), *lacking, *words),
    )


def page_curve(series: VersionSeries, url: str) -> ChangeCurve:
    """Return a page's change curve; its address seeds the draw of starts, so that it stays."""
    return change_curve(series, rng=np.random.default_rng(hash_name(url)))


def _flat(curve: ChangeCurve) -> Reasons:
    if curve.shape is None:
        return (("shape", curve.why),)
    return () if curve.knot else (("knot_hours", "the curve has no knot"),)


def _survival(history: PageVersions) -> tuple[ElementSurvival | None, Reasons]:
    """Return the survival of a page's first elements, over the weeks that are asked for.

    Where only some versions' elements are held, nothing is said of shorter times than lie between
    two of these.
    """
    if all(dom is None for dom in history.dom_series.doms):
        return None, (("survival", "no version has elements"),)
    first = _first_weeks(history.dom_series)
    found = element_survival(dom_history(first, grid_timeline(first), MAX_ROWS))
    if not found.elements:
        return None, (("survival", "nothing is known after the first step"),)
    return _only_after(found, _longest_stay(first) if history.dom_stride > 1 else 0.0), ()


def _longest_stay(structure: VersionSeries) -> float:
    """Return the longest time for which one version's elements stand for others'."""
    shown = np.flatnonzero(np.diff(structure.version_indices, prepend=-1))
    times = structure.times[shown]
    return float(np.diff(times, append=structure.times[-1]).max(initial=0.0))


def _only_after(found: ElementSurvival, least: float) -> ElementSurvival:
    pairs = zip(found.horizons, found.shares, strict=True)
    return replace(found, shares=tuple(share if at > least else None for at, share in pairs))


def _first_weeks(structure: VersionSeries) -> VersionSeries:
    """Return the looks of a page up to the last time at which survival is asked for."""
    end = int(np.searchsorted(structure.times, structure.times[0] + SURVIVAL_SECONDS, side="right"))
    return VersionSeries(
        structure.times[:end], structure.version_indices[:end], structure.terms, structure.doms
    )


def _shares(series: VersionSeries) -> tuple[float | None, float | None]:
    """Return which shares of a page's words have a high and a low staying power."""
    lives = word_lifespans(series)
    if lives.known_points < 2 or not len(lives):
        return None, None
    power = lives.staying_power
    return float(np.mean(power > HIGH_STAYING_POWER)), float(np.mean(power < LOW_STAYING_POWER))
