"""The change curve: how alike a page is to what it was, step by step (Adar et al. 2009, 4.2.1)."""

from dataclasses import dataclass, field

import numpy as np

from freshet.core.types import Floats, Indices
from freshet.core.version_series import Series
from freshet.measure.dynamics.curve.knot import Bend, bend_of, first_knot, steps_to
from freshet.measure.dynamics.curve.segments import Line, lines_about, one_line
from freshet.measure.dynamics.curve.shape import Shape, features, likeliest
from freshet.measure.dynamics.curve.start_curves import Places, Strand, strands
from freshet.measure.dynamics.time_grid import DAY, HOUR, UNSEEN, on_grid, usual_step

STARTS, MOST_STARTS = 5, 60
WEEK = 7 * DAY
FEWEST_POINTS = FEWEST_LOOKS = 8

Chance = np.random.Generator


@dataclass(frozen=True, slots=True)
class Knot:
    """When a curve levels off, in hours after the start, and how alike the page then is."""

    hours: float
    dice: float


@dataclass(frozen=True, slots=True)
class Curve:
    """How alike a page is to what it was so many hours before, in the mean over starts.

    ``counts`` says over how many starts; ``starts`` are their times (epoch seconds), ``step`` that
    of the grid in seconds. ``segments`` are one line or, with a knot, two, over hours; ``shape`` is
    told from ``features``. Where there is too little to say there are no points, ``shape`` is None
    and ``why`` says what is missing.
    """

    hours: Floats
    dice: Floats
    counts: Indices
    starts: Floats
    step: float
    knot: Knot | None = None
    segments: tuple[Line, ...] = ()
    shape: Shape | None = None
    features: Floats = field(default_factory=lambda: np.empty(0))
    why: str = ""

    def __len__(self) -> int:
        return len(self.hours)


def change_curve(
    series: Series, *, rng: Chance, step: float | None = None, starts: int = STARTS
) -> Curve:
    """Return a page's curve from up to ``starts`` random moments of its first week."""
    step = step or usual_step(series.times)
    looks = len(np.unique(series.times))
    if 0 < looks < FEWEST_LOOKS:
        why = f"seen at {looks} moment{'s' * (looks > 1)}; a curve takes {FEWEST_LOOKS}"
        return _too_little(np.empty(0), step, why)
    states = on_grid(series.times, series.shown, step)
    begins = _drawn_starts(states, step, starts, rng)
    if not len(begins):
        return _too_little(np.empty(0), step, "the page was never seen")
    moments = series.times[0] + step * begins
    single = strands(states, begins, series.terms)
    lags, dice, counts = _mean(single)
    if len(lags) < FEWEST_POINTS:
        why = f"{len(lags)} points where the page is known; a curve takes {FEWEST_POINTS}"
        return _too_little(moments, step, why)
    bend = bend_of(single)
    hours = lags.astype(np.float64) * (step / HOUR)
    told = features(hours, dice, counts, bend)
    shape = likeliest(told)
    knotted = bend if shape == "knotted" else None
    knot, segments = _fitted((hours, dice, counts), knotted, single, step)
    return Curve(hours, dice, counts, moments, step, knot, segments, shape, told)


def _drawn_starts(states: Indices, step: float, starts: int, rng: Chance) -> Places:
    """Draw known moments of the first week, or of the first half where all is shorter."""
    first = min(round(WEEK / step), (len(states) + 1) // 2)
    early = np.flatnonzero(states[: max(1, first)] != UNSEEN)
    return np.sort(rng.choice(early, min(starts, len(early), MOST_STARTS), replace=False))


def _mean(single: list[Strand]) -> tuple[Places, Floats, Indices]:
    """Return the steps that any strand has, the mean of those that have it, and their number."""
    steps = np.concatenate([strand.steps for strand in single])
    dice = np.concatenate([strand.dice for strand in single])
    counts = np.bincount(steps)
    lags = np.flatnonzero(counts)
    counts = counts[lags]
    return lags, np.bincount(steps, dice)[lags] / counts, counts.astype(np.int32)


def _fitted(
    points: tuple[Floats, Floats, Indices], bend: Bend | None, single: list[Strand], step: float
) -> tuple[Knot | None, tuple[Line, ...]]:
    """Return the knot, where there is one, and the line or lines over hours.

    The start itself is left out: it is like itself on any page.
    """
    hours, dice, weights = points[0][1:], points[1][1:], points[2][1:].astype(np.float64)
    whole = (one_line(hours, dice, weights),)
    place = first_knot(bend, single)
    steps = None if place is None else steps_to(place, single)
    if steps is None:
        return None, whole
    knot = steps * step / HOUR
    lines = lines_about(hours, dice, weights, knot)
    if lines is None:
        return None, whole
    return Knot(knot, min(max(lines[1].at(knot), 0.0), 1.0)), lines


def _too_little(moments: Floats, step: float, why: str) -> Curve:
    nothing = np.empty(0)
    return Curve(nothing, nothing, np.empty(0, np.int32), moments, step, why=why)
