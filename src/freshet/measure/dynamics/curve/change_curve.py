"""The change curve: how alike a page is to what it was, step by step (Adar et al. 2009, 4.2.1)."""

from dataclasses import dataclass, field

import numpy as np

from freshet.core.types import FloatArray, IndexArray
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.curve.knot import (
    BendFit,
    find_knot_drift,
    fit_bend_to_starts,
    mean_steps_to_drift,
)
from freshet.measure.dynamics.curve.segments import FittedLine, fit_line, fit_lines_at_knot
from freshet.measure.dynamics.curve.shape import CurveShape, classify_shape, shape_features
from freshet.measure.dynamics.curve.start_curves import PositionArray, StartCurve, start_curves
from freshet.measure.dynamics.time_grid import (
    DAY,
    HOUR,
    UNKNOWN_VERSION,
    default_step,
    versions_on_grid,
)

DEFAULT_STARTS, MAX_STARTS = 5, 60
WEEK = 7 * DAY
MIN_POINTS = MIN_LOOKS = 8

RandomGenerator = np.random.Generator


@dataclass(frozen=True, slots=True)
class CurveKnot:
    """When a curve levels off, in hours after the start, and how alike the page then is."""

    hours: float
    dice: float


@dataclass(frozen=True, slots=True)
class ChangeCurve:
    """How alike a page is to what it was so many hours before, in the mean over starts.

    ``counts`` says over how many starts; ``starts`` are their times (epoch seconds), ``step`` that
    of the grid in seconds. ``segments`` are one line or, with a knot, two, over hours; ``shape`` is
    told from ``shape_features``. Where there is too little to say there are no points, ``shape`` is None
    and ``why`` says what is missing.
    """

    hours: FloatArray
    dice: FloatArray
    counts: IndexArray
    starts: FloatArray
    step: float
    knot: CurveKnot | None = None
    segments: tuple[FittedLine, ...] = ()
    shape: CurveShape | None = None
    features: FloatArray = field(default_factory=lambda: np.empty(0))
    why: str = ""

    def __len__(self) -> int:
        return len(self.hours)


def change_curve(
    series: VersionSeries,
    *,
    rng: RandomGenerator,
    step: float | None = None,
    starts: int = DEFAULT_STARTS,
) -> ChangeCurve:
    """Return a page's curve from up to ``starts`` random moments of its first week."""
    step = step or default_step(series.times)
    looks = len(np.unique(series.times))
    if 0 < looks < MIN_LOOKS:
        why = f"seen at {looks} moment{'s' * (looks > 1)}; a curve takes {MIN_LOOKS}"
        return _too_little(np.empty(0), step, why)
    states = versions_on_grid(series.times, series.version_indices, step)
    begins = _drawn_starts(states, step, starts, rng)
    if not len(begins):
        return _too_little(np.empty(0), step, "the page was never seen")
    moments = series.times[0] + step * begins
    single = start_curves(states, begins, series.terms)
    lags, dice, counts = _mean(single)
    if len(lags) < MIN_POINTS:
        why = f"{len(lags)} points where the page is known; a curve takes {MIN_POINTS}"
        return _too_little(moments, step, why)
    bend = fit_bend_to_starts(single)
    hours = lags.astype(np.float64) * (step / HOUR)
    told = shape_features(hours, dice, counts, bend)
    shape = classify_shape(told)
    knotted = bend if shape == "knotted" else None
    knot, segments = _fitted((hours, dice, counts), knotted, single, step)
    return ChangeCurve(hours, dice, counts, moments, step, knot, segments, shape, told)


def _drawn_starts(
    states: IndexArray, step: float, starts: int, rng: RandomGenerator
) -> PositionArray:
    """Draw known moments of the first week, or of the first half where all is shorter."""
    first = min(round(WEEK / step), (len(states) + 1) // 2)
    early = np.flatnonzero(states[: max(1, first)] != UNKNOWN_VERSION)
    return np.sort(rng.choice(early, min(starts, len(early), MAX_STARTS), replace=False))


def _mean(single: list[StartCurve]) -> tuple[PositionArray, FloatArray, IndexArray]:
    """Return the steps that any strand has, the mean of those that have it, and their number."""
    steps = np.concatenate([strand.steps for strand in single])
    dice = np.concatenate([strand.dice for strand in single])
    counts = np.bincount(steps)
    lags = np.flatnonzero(counts)
    counts = counts[lags]
    return lags, np.bincount(steps, dice)[lags] / counts, counts.astype(np.int32)


def _fitted(
    points: tuple[FloatArray, FloatArray, IndexArray],
    bend: BendFit | None,
    single: list[StartCurve],
    step: float,
) -> tuple[CurveKnot | None, tuple[FittedLine, ...]]:
    """Return the knot, where there is one, and the line or lines over hours.

    The start itself is left out: it is like itself on any page.
    """
    hours, dice, weights = points[0][1:], points[1][1:], points[2][1:].astype(np.float64)
    whole = (fit_line(hours, dice, weights),)
    place = find_knot_drift(bend, single)
    steps = None if place is None else mean_steps_to_drift(place, single)
    if steps is None:
        return None, whole
    knot = steps * step / HOUR
    lines = fit_lines_at_knot(hours, dice, weights, knot)
    if lines is None:
        return None, whole
    return CurveKnot(knot, min(max(lines[1].at(knot), 0.0), 1.0)), lines


def _too_little(moments: FloatArray, step: float, why: str) -> ChangeCurve:
    nothing = np.empty(0)
    return ChangeCurve(nothing, nothing, np.empty(0, np.int32), moments, step, why=why)
