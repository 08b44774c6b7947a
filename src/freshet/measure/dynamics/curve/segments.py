"""Lines through a curve: one, or the two that fit it best (Adar et al. 2009, section 4.2.2).

The paper moves a guessed knot to the right while the first line fits no worse; here all places
are tried, which running sums make as cheap as one. The paper's way is kept as ``paper_knot``.
"""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray

MIN_POINTS_PER_LINE = 2
MAX_ERROR_RISE = 1.05
_NEGLIGIBLE = 1e-9
_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class FittedLine:
    """A straight line over a stretch of a curve, and the sum of its squared errors."""

    begins: float
    ends: float
    slope: float
    intercept: float
    error: float

    def at(self, place: float) -> float:
        """Return the line's height at a place."""
        return self.intercept + self.slope * place


@dataclass(frozen=True, slots=True)
class _RunningFits:
    """For each point the line through all points up to it: slopes, intercepts and errors."""

    slopes: FloatArray
    intercepts: FloatArray
    errors: FloatArray


def fit_line(x: FloatArray, y: FloatArray, weights: FloatArray) -> FittedLine:
    """Return the line of least squares.

    >>> points = np.arange(5.0)
    >>> fit_line(points, 1 - points / 10, np.ones(5)).slope
    -0.1
    """
    line = _running(x, y, weights)
    return _line(line, -1, float(x[0]), float(x[-1]))


def fit_two_lines(
    x: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FittedLine, FittedLine] | None:
    """Return the two lines of least squares over all places to part the points; None for few.

    Each line has at least two points; ``x`` rises strictly.

    >>> points = np.arange(9.0)
    >>> first, second = fit_two_lines(points, np.maximum(1 - points / 10, 0.6), np.ones(9))
    >>> first.ends, second.begins, round(crossing(first, second), 9)
    (3.0, 4.0, 4.0)
    """
    if len(x) < 2 * MIN_POINTS_PER_LINE:
        return None
    left = _running(x, y, weights)
    right = _running(x[::-1], y[::-1], weights[::-1])
    errors = left.errors[:-1] + right.errors[::-1][1:]
    part = (
        MIN_POINTS_PER_LINE
        - 1
        + int(np.argmin(errors[MIN_POINTS_PER_LINE - 1 : len(errors) - MIN_POINTS_PER_LINE + 1]))
    )
    first = _line(left, part, float(x[0]), float(x[part]))
    second = _line(right, len(x) - part - 2, float(x[part + 1]), float(x[-1]))
    return first, second


def fit_lines_at_knot(
    x: FloatArray, y: FloatArray, weights: FloatArray, knot: float
) -> tuple[FittedLine, FittedLine] | None:
    """Return the two lines that meet at a knot and fit the points before and after it best."""
    part = int(np.searchsorted(x, knot, side="right"))
    if min(part, len(x) - part) < MIN_POINTS_PER_LINE:
        return None
    away = x - knot
    parts = np.stack([np.ones(len(x)), np.minimum(away, 0.0), np.maximum(away, 0.0)], axis=1)
    root = np.sqrt(weights)
    height, before, after = np.linalg.lstsq(parts * root[:, None], y * root, rcond=None)[0].tolist()
    errors = weights * (y - parts @ (height, before, after)) ** 2
    return (
        FittedLine(float(x[0]), knot, before, height - before * knot, float(errors[:part].sum())),
        FittedLine(knot, float(x[-1]), after, height - after * knot, float(errors[part:].sum())),
    )


def crossing(first: FittedLine, second: FittedLine) -> float:
    """Return where two lines meet, or the middle between them where that is off their points."""
    between = (first.ends + second.begins) / 2
    if first.slope == second.slope:
        return between
    meet = (second.intercept - first.intercept) / (first.slope - second.slope)
    return meet if first.begins <= meet <= second.ends else between


def paper_knot(x: FloatArray, y: FloatArray) -> float | None:
    """Return the knot that the paper's heuristic finds, None where it finds none.

    It starts where the line through the whole curve first meets it, and goes on while the mean
    squared error of the first line does not rise by more than a twentieth.
    """
    if len(x) < 2 * MIN_POINTS_PER_LINE:
        return None
    weights = np.ones(len(x))
    whole = fit_line(x, y, weights)
    above = y > whole.intercept + whole.slope * x
    met = np.flatnonzero(above[1:] != above[:-1])
    if not len(met):
        return None
    means = _running(x, y, weights).errors / np.arange(1, len(x) + 1)
    rises = means[1:] > MAX_ERROR_RISE * means[:-1] + _NEGLIGIBLE
    stops = np.flatnonzero(rises[met[0] :])
    if not len(stops):
        return None
    knot = float(x[met[0] + stops[0]])
    return knot if knot > 0 else None


def _running(x: FloatArray, y: FloatArray, weights: FloatArray) -> _RunningFits:
    """Fit a line to the points up to each point, from running sums about the means."""
    middle_x, middle_y = float(x.mean()), float(y.mean())
    unit = float(np.ptp(x)) or 1.0
    u, v = (x - middle_x) / unit, y - middle_y
    mass = np.cumsum(weights)
    sum_u, sum_v = np.cumsum(weights * u), np.cumsum(weights * v)
    spread = np.cumsum(weights * u * u) - sum_u * sum_u / mass
    shared = np.cumsum(weights * u * v) - sum_u * sum_v / mass
    errors = np.cumsum(weights * v * v) - sum_v * sum_v / mass
    wide = spread > _NO_SPREAD
    slopes = np.where(wide, shared / np.where(wide, spread, 1.0), 0.0)
    heights = (sum_v - slopes * sum_u) / mass
    slopes_x = slopes / unit
    intercepts = middle_y + heights - slopes_x * middle_x
    return _RunningFits(slopes_x, intercepts, np.maximum(errors - slopes * shared, 0.0))


def _line(running: _RunningFits, at: int, begins: float, ends: float) -> FittedLine:
    return FittedLine(
        begins,
        ends,
        float(running.slopes[at]),
        float(running.intercepts[at]),
        float(running.errors[at]),
    )
