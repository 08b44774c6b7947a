"""How the versions of a page drift: its curve, the life of its words and of its elements."""

from dataclasses import replace

import numpy as np

from freshet.analysis.page_versions import History
from freshet.core.tables import key_of
from freshet.core.version_series import Series
from freshet.measure.dynamics.curve.change_curve import Curve, change_curve
from freshet.measure.dynamics.structure.dom_history import grid_timeline, serialise
from freshet.measure.dynamics.structure.survival import HORIZONS, Survival, survival
from freshet.measure.dynamics.terms.lifespans import lifespans
from freshet.measure.dynamics.terms.term_table import GOES, STAYS
from freshet.measure.statistics.page_summary import Traits

MOST_ROWS = 250_000
FIRST_WEEKS = HORIZONS[-1] + 86_400.0

Reasons = tuple[tuple[str, str], ...]


def traits_of(history: History, url: str, curve: Curve | None = None) -> Traits:
    """Return what can be said of a page from its versions; ``curve`` spares to make it again."""
    curve = curve_of(history.series, url) if curve is None else curve
    lives, lacking = _survival(history)
    stay, go = _shares(history.series)
    words = () if stay is not None else (("stay", "fewer than two moments are known"),)
    return Traits(
        shape=curve.shape,
        knot_hours=curve.knot.hours if curve.knot else None,
        knot_dice=curve.knot.dice if curve.knot else None,
        survival=lives.shares if lives else (),
        stay=stay,
        go=go,
        why=(*_flat(curve), *lacking, *words),
    )


def curve_of(series: Series, url: str) -> Curve:
    """Return a page's change curve; its address seeds the draw of starts, so that it stays."""
    return change_curve(series, rng=np.random.default_rng(key_of(url)))


def _flat(curve: Curve) -> Reasons:
    if curve.shape is None:
        return (("shape", curve.why),)
    return () if curve.knot else (("knot_hours", "the curve has no knot"),)


def _survival(history: History) -> tuple[Survival | None, Reasons]:
    """Return the survival of a page's first elements, over the weeks that are asked for.

    Where only some versions' elements are held, nothing is said of shorter times than lie between
    two of these.
    """
    if all(dom is None for dom in history.structure.doms):
        return None, (("survival", "no version has elements"),)
    first = _first_weeks(history.structure)
    found = survival(serialise(first, grid_timeline(first), MOST_ROWS))
    if not found.elements:
        return None, (("survival", "nothing is known after the first step"),)
    return _only_after(found, _longest_stay(first) if history.dom_stride > 1 else 0.0), ()


def _longest_stay(structure: Series) -> float:
    """Return the longest time for which one version's elements stand for others'."""
    shown = np.flatnonzero(np.diff(structure.shown, prepend=-1))
    times = structure.times[shown]
    return float(np.diff(times, append=structure.times[-1]).max(initial=0.0))


def _only_after(found: Survival, least: float) -> Survival:
    pairs = zip(found.horizons, found.shares, strict=True)
    return replace(found, shares=tuple(share if at > least else None for at, share in pairs))


def _first_weeks(structure: Series) -> Series:
    """Return the looks of a page up to the last time at which survival is asked for."""
    end = int(np.searchsorted(structure.times, structure.times[0] + FIRST_WEEKS, side="right"))
    return Series(structure.times[:end], structure.shown[:end], structure.terms, structure.doms)


def _shares(series: Series) -> tuple[float | None, float | None]:
    """Return which shares of a page's words have a high and a low staying power."""
    lives = lifespans(series)
    if lives.known < 2 or not len(lives):
        return None, None
    power = lives.staying_power
    return float(np.mean(power > STAYS)), float(np.mean(power < GOES))
