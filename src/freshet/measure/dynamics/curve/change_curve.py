"""The change curve: similarity of a page to its past, step by step (Adar et al. 2009, 4.2.1)."""

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
from freshet.measure.dynamics.curve.segments import (
    NO_ERROR_RISE,
    FittedLine,
    fit_line,
    fit_lines_at_knot,
    has_two_slopes,
    paper_knot,
)
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
    """The point where a curve levels off: hours after the start, and the curve's Dice there."""

    hours: float
    dice: float


@dataclass(frozen=True, slots=True)
class ChangeCurve:
    """The mean similarity of a page to itself so many hours before.

    ``counts`` is the number of starts in each mean; ``starts`` are their times (epoch seconds) and
    ``step`` the grid step in seconds. ``knot`` is that of the two lines of least squares over word
    drift, ``paper_knot`` that of the paper's heuristic in its own wording; only knotted curves have
    them. ``segments`` are one line or, with a knot, two, over hours.
    ``shape`` is the class of ``features``. Where there is too little data there are no points,
    ``shape`` is None and ``why`` is the reason.
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
    paper_knot: CurveKnot | None = None

    def __len__(self) -> int:
        return len(self.hours)

    @property
    def level(self) -> float | None:
        """Return the Dice at which the curve stays after its knot: the mean of its points there."""
        if self.knot is None:
            return None
        is_after = self.hours > self.knot.hours
        return float(np.average(self.dice[is_after], weights=self.counts[is_after]))


def change_curve(
    series: VersionSeries,
    *,
    rng: RandomGenerator,
    step: float | None = None,
    starts: int = DEFAULT_STARTS,
) -> ChangeCurve:
    """Return a page's curve from up to ``starts`` random times of its first week."""
    step = step or default_step(series.times)
    looks = len(np.unique(series.times))
    if 0 < looks < MIN_LOOKS:
        reason = f"looks at {looks} time{'s' * (looks > 1)}; a curve needs {MIN_LOOKS}"
        return _empty_curve(np.empty(0), step, reason)
    versions = versions_on_grid(series.times, series.version_indices, step)
    start_points = _draw_starts(versions, step, starts, rng)
    if not len(start_points):
        return _empty_curve(np.empty(0), step, "the page has no looks")
    start_times = series.times[0] + step * start_points
    curves = start_curves(versions, start_points, series.terms)
    lags, dice, counts = _mean_curve(curves)
    if len(lags) < MIN_POINTS:
        reason = f"{len(lags)} points with a known version; a curve needs {MIN_POINTS}"
        return _empty_curve(start_times, step, reason)
    bend = fit_bend_to_starts(curves)
    hours = lags.astype(np.float64) * (step / HOUR)
    feature_values = shape_features(hours, dice, counts, bend)
    shape = classify_shape(feature_values)
    knot_bend = bend if shape == "knotted" else None
    knot, segments = _fit_lines((hours, dice, counts), knot_bend, curves, step)
    heuristic_knot = _find_paper_knot(hours, dice) if shape == "knotted" else None
    return ChangeCurve(
        hours, dice, counts, start_times, step, knot, segments, shape, feature_values,
        paper_knot=heuristic_knot,
    )  # fmt: skip


def _find_paper_knot(hours: FloatArray, dice: FloatArray) -> CurveKnot | None:
    """Return the knot as the paper words it: the error of the first line must not rise."""
    knot_hours = paper_knot(hours, dice, max_error_rise=NO_ERROR_RISE)
    if knot_hours is None or not has_two_slopes(hours, dice, knot_hours):
        return None
    return CurveKnot(knot_hours, _dice_at(knot_hours, hours, dice))


def _dice_at(knot_hours: float, hours: FloatArray, dice: FloatArray) -> float:
    """Return the curve's Dice at a time, between two points on the line that joins them."""
    return float(np.interp(knot_hours, hours, dice))


def _draw_starts(
    versions: IndexArray, step: float, starts: int, rng: RandomGenerator
) -> PositionArray:
    """Draw known times of the first week, or of the first half of a shorter history."""
    last_point = min(round(WEEK / step), (len(versions) + 1) // 2)
    known_points = np.flatnonzero(versions[: max(1, last_point)] != UNKNOWN_VERSION)
    return np.sort(
        rng.choice(known_points, min(starts, len(known_points), MAX_STARTS), replace=False)
    )


def _mean_curve(curves: list[StartCurve]) -> tuple[PositionArray, FloatArray, IndexArray]:
    """Return the steps of any curve, the mean Dice at each, and the number of curves."""
    steps = np.concatenate([curve.steps for curve in curves])
    dice = np.concatenate([curve.dice for curve in curves])
    counts = np.bincount(steps)
    distinct_steps = np.flatnonzero(counts)
    counts = counts[distinct_steps]
    return (
        distinct_steps,
        np.bincount(steps, dice)[distinct_steps] / counts,
        counts.astype(np.int32),
    )


def _fit_lines(
    points: tuple[FloatArray, FloatArray, IndexArray],
    bend: BendFit | None,
    curves: list[StartCurve],
    step: float,
) -> tuple[CurveKnot | None, tuple[FittedLine, ...]]:
    """Return the knot, if there is one, and the line or lines over hours.

    The start itself is left out, because Dice is always 1 there.
    """
    hours, dice, weights = points[0][1:], points[1][1:], points[2][1:].astype(np.float64)
    single_line = (fit_line(hours, dice, weights),)
    knot_drift = find_knot_drift(bend, curves)
    steps = None if knot_drift is None else mean_steps_to_drift(knot_drift, curves)
    if steps is None:
        return None, single_line
    knot_hours = steps * step / HOUR
    lines = fit_lines_at_knot(hours, dice, weights, knot_hours)
    if lines is None:
        return None, single_line
    return CurveKnot(knot_hours, _dice_at(knot_hours, hours, dice)), lines


def _empty_curve(moments: FloatArray, step: float, why: str) -> ChangeCurve:
    nothing = np.empty(0)
    return ChangeCurve(nothing, nothing, np.empty(0, np.int32), moments, step, why=why)
