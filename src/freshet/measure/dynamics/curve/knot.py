"""The knot of a change curve: where two lines over the word drift meet, as a time.

The curves of all starts are combined over the page's word drift, where they are straight whatever
the rhythm. The two lines of least squares cross at the drift after which nothing more is lost. Each
start reaches that drift at its own time; the knot is the mean of these times. 19 of 20 planted
knots are found within a tenth; the same two lines over plain time find 14, and the paper's
heuristic 8 (``experiments/curve_shapes``).
"""

from dataclasses import dataclass
from math import inf, log

import numpy as np

from freshet.core.types import FloatArray
from freshet.measure.dynamics.curve.segments import FittedLine, crossing, fit_line, fit_two_lines
from freshet.measure.dynamics.curve.start_curves import StartCurve
from freshet.measure.dynamics.time_grid import MAX_GAP_STEPS

MAX_SLOPE_RATIO = 0.5
MAX_GAP_SHARE = 0.5
MIN_DROP = 0.005
MIN_INNER_DROP_SHARE, MAX_INNER_KNOT_SHARE = 0.5, 0.05
_EXACT = 1e-4
_MORE_PARAMETERS = 3


@dataclass(frozen=True, slots=True)
class BendFit:
    """One line and two lines through the same points, and how much better the two fit.

    ``bic_gain`` is the difference of the two criteria (BIC) in nats per point, ``error_ratio`` that
    of the errors. ``crossing`` is where the two lines meet.
    """

    single_line: FittedLine
    first_line: FittedLine
    second_line: FittedLine
    crossing: float
    point_count: int
    bic_gain: float
    error_ratio: float

    @property
    def slope_ratio(self) -> float:
        """Return the second slope over the first; 1 where the first line is level."""
        return self.second_line.slope / self.first_line.slope if self.first_line.slope else 1.0

    @property
    def is_knot(self) -> bool:
        """Whether the curve clearly falls and then levels off."""
        levels = abs(self.slope_ratio) < MAX_SLOPE_RATIO
        return self.bic_gain > 0 and self.crossing > 0 and levels and self.drop > MIN_DROP

    @property
    def drop(self) -> float:
        """Return how far the first line falls up to the crossing."""
        return -self.first_line.slope * (self.crossing - self.first_line.begins)


def fit_bend(x: FloatArray, y: FloatArray, weights: FloatArray) -> BendFit | None:
    """Fit one line and two lines; None for too few distinct positions.

    Points at the same position count as one point: neighbours with the same words are no further
    evidence.
    """
    positions, dice, weight_sums = _mean_by_position(x, y, weights)
    lines = fit_two_lines(positions, dice, weight_sums)
    if lines is None:
        return None
    single_line, point_count = fit_line(positions, dice, weight_sums), len(positions)
    floor = _EXACT**2 * float(weight_sums.sum())
    ratio = (single_line.error + floor) / (lines[0].error + lines[1].error + floor)
    gain = log(ratio) - _MORE_PARAMETERS * log(point_count) / point_count
    return BendFit(single_line, *lines, crossing(*lines), point_count, gain, ratio)


def fit_bend_to_starts(curves: list[StartCurve], *, max_drift: float = inf) -> BendFit | None:
    """Fit the lines to the curves of all starts over drift, without the starts themselves."""
    drift = np.concatenate([curve.drift[1:] for curve in curves])
    dice = np.concatenate([curve.dice[1:] for curve in curves])
    is_within = drift <= max_drift
    return fit_bend(drift[is_within], dice[is_within], np.ones(int(is_within.sum())))


def find_knot_drift(outer_bend: BendFit | None, curves: list[StartCurve]) -> float | None:
    """Return the drift at which the fast changes are complete; None where nothing levels off.

    Over years a page drifts on after its knot, and the two lines may split that long tail. So the
    part before a bend is searched too. Its bend is used if it has most of the drop within a small
    part of the drift; further within, curves are only round.
    """
    if outer_bend is None or not outer_bend.is_knot:
        return None
    outermost = innermost = outer_bend
    while (inner_bend := fit_bend_to_starts(curves, max_drift=innermost.crossing)) is not None:
        if not inner_bend.is_knot or inner_bend.drop < MIN_INNER_DROP_SHARE * innermost.drop:
            break
        innermost = inner_bend
    return (
        innermost.crossing
        if innermost.crossing < MAX_INNER_KNOT_SHARE * outermost.crossing
        else outermost.crossing
    )


def mean_steps_to_drift(drift: float, curves: list[StartCurve]) -> float | None:
    """Return the mean number of steps to a drift; None where most curves do not reach it."""
    step_counts = [
        steps for curve in curves if (steps := _steps_to_drift(drift, curve)) is not None
    ]
    return float(np.mean(step_counts)) if 2 * len(step_counts) > len(curves) else None


def _steps_to_drift(drift: float, curve: StartCurve) -> float | None:
    """Return the step at which a curve reaches a drift; None where it does not.

    A change is between two looks: on average halfway. After a long gap without looks its time is
    unknown.
    """
    change_points = np.flatnonzero(np.diff(curve.drift, prepend=0.0) > 0)
    drifts = curve.drift[change_points]
    if not len(drifts) or drifts[-1] < drift:
        return None
    midpoints = (drifts[:-1] + drifts[1:]) / 2
    change_point = change_points[np.searchsorted(midpoints, drift)]
    before, after = float(curve.steps[change_point - 1]), float(curve.steps[change_point])
    gap, middle = after - before, (before + after) / 2
    return None if gap > max(MAX_GAP_STEPS, MAX_GAP_SHARE * middle) else middle


def _mean_by_position(
    x: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weighted mean of the points at each position."""
    positions, group = np.unique(x, return_inverse=True)
    weight_sums = np.bincount(group, weights).astype(np.float64)
    return positions, np.bincount(group, weights * y) / weight_sums, weight_sums
