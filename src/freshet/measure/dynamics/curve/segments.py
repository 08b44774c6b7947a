"""One or two straight lines fitted to a curve (Adar et al. 2009, section 4.2.2).

The paper moves a guessed knot to the right while the first line fits no worse. Here all split
points are tried, at the cost of one through running sums. The paper's heuristic is ``paper_knot``.
"""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray

MIN_POINTS_PER_LINE = 2
MAX_ERROR_RISE, NO_ERROR_RISE = 1.05, 1.0
MAX_SLOPE_DIFFERENCE = 0.1
_NEGLIGIBLE = 1e-9
_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class FittedLine:
    """A straight line over a range of a curve, and the sum of its squared errors."""

    begins: float
    ends: float
    slope: float
    intercept: float
    error: float

    def at(self, position: float) -> float:
        """Return the height of the line at a position."""
        return self.intercept + self.slope * position


@dataclass(frozen=True, slots=True)
class _RunningFits:
    """For each point the line fitted to all points up to it."""

    slopes: FloatArray
    intercepts: FloatArray
    errors: FloatArray


def fit_line(x: FloatArray, y: FloatArray, weights: FloatArray) -> FittedLine:
    """Return the line of least squares.

    >>> points = np.arange(5.0)
    >>> fit_line(points, 1 - points / 10, np.ones(5)).slope
    -0.1
    """
    line = _running_fits(x, y, weights)
    return _fitted_line(line, -1, float(x[0]), float(x[-1]))


def fit_two_lines(
    x: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FittedLine, FittedLine] | None:
    """Return the two lines of least squares over all split points; None for few points.

    Each line has at least two points; ``x`` is strictly increasing.

    >>> points = np.arange(9.0)
    >>> first, second = fit_two_lines(points, np.maximum(1 - points / 10, 0.6), np.ones(9))
    >>> first.ends, second.begins, round(crossing(first, second), 9)
    (3.0, 4.0, 4.0)
    """
    if len(x) < 2 * MIN_POINTS_PER_LINE:
        return None
    left_fits = _running_fits(x, y, weights)
    right_fits = _running_fits(x[::-1], y[::-1], weights[::-1])
    errors = left_fits.errors[:-1] + right_fits.errors[::-1][1:]
    split = (
        MIN_POINTS_PER_LINE
        - 1
        + int(np.argmin(errors[MIN_POINTS_PER_LINE - 1 : len(errors) - MIN_POINTS_PER_LINE + 1]))
    )
    first = _fitted_line(left_fits, split, float(x[0]), float(x[split]))
    second = _fitted_line(right_fits, len(x) - split - 2, float(x[split + 1]), float(x[-1]))
    return first, second


def fit_lines_at_knot(
    x: FloatArray, y: FloatArray, weights: FloatArray, knot: float
) -> tuple[FittedLine, FittedLine] | None:
    """Return the two lines that meet at a knot and fit the points best; None for few points."""
    split = int(np.searchsorted(x, knot, side="right"))
    if min(split, len(x) - split) < MIN_POINTS_PER_LINE:
        return None
    distances = x - knot
    basis = np.stack(
        [np.ones(len(x)), np.minimum(distances, 0.0), np.maximum(distances, 0.0)], axis=1
    )
    weight_roots = np.sqrt(weights)
    height, slope_before, slope_after = np.linalg.lstsq(
        basis * weight_roots[:, None], y * weight_roots, rcond=None
    )[0].tolist()
    errors = weights * (y - basis @ (height, slope_before, slope_after)) ** 2
    intercepts = height - slope_before * knot, height - slope_after * knot
    first_error, second_error = float(errors[:split].sum()), float(errors[split:].sum())
    return (
        FittedLine(float(x[0]), knot, slope_before, intercepts[0], first_error),
        FittedLine(knot, float(x[-1]), slope_after, intercepts[1], second_error),
    )


def crossing(first: FittedLine, second: FittedLine) -> float:
    """Return where two lines meet, or the middle between them where that is outside their range."""
    between = (first.ends + second.begins) / 2
    if first.slope == second.slope:
        return between
    intersection = (second.intercept - first.intercept) / (first.slope - second.slope)
    return intersection if first.begins <= intersection <= second.ends else between


def paper_knot(
    x: FloatArray, y: FloatArray, *, max_error_rise: float = MAX_ERROR_RISE
) -> float | None:
    """Return the knot by the paper's heuristic; None where it finds none.

    It starts where the line through all points first crosses the curve. It moves on while the mean
    squared error of the first line rises by at most a twentieth, or, in the paper's own wording
    (``max_error_rise`` 1), does not rise.
    """
    if len(x) < 2 * MIN_POINTS_PER_LINE:
        return None
    weights = np.ones(len(x))
    single_line = fit_line(x, y, weights)
    is_above = y > single_line.intercept + single_line.slope * x
    crossings = np.flatnonzero(is_above[1:] != is_above[:-1])
    if not len(crossings):
        return None
    mean_errors = _running_fits(x, y, weights).errors / np.arange(1, len(x) + 1)
    has_risen = mean_errors[1:] > max_error_rise * mean_errors[:-1] + _NEGLIGIBLE
    stops = np.flatnonzero(has_risen[crossings[0] :])
    if not len(stops):
        return None
    knot = float(x[crossings[0] + stops[0]])
    return knot if knot > 0 else None


def has_two_slopes(x: FloatArray, y: FloatArray, knot: float) -> bool:
    """Return whether the lines before and after a knot have clearly different slopes."""
    split = int(np.searchsorted(x, knot, side="right"))
    if min(split, len(x) - split) < MIN_POINTS_PER_LINE:
        return False
    slopes = [
        fit_line(x[part], y[part], np.ones(len(x[part]))).slope
        for part in (slice(None, split), slice(split, None))
    ]
    return abs(slopes[0] - slopes[1]) > MAX_SLOPE_DIFFERENCE * max(map(abs, slopes))


def _running_fits(x: FloatArray, y: FloatArray, weights: FloatArray) -> _RunningFits:
    """Fit a line to the points up to each point, from running sums about the means."""
    middle_x, middle_y = float(x.mean()), float(y.mean())
    unit = float(np.ptp(x)) or 1.0
    u, v = (x - middle_x) / unit, y - middle_y
    weight_sums = np.cumsum(weights)
    sum_u, sum_v = np.cumsum(weights * u), np.cumsum(weights * v)
    spread = np.cumsum(weights * u * u) - sum_u * sum_u / weight_sums
    shared = np.cumsum(weights * u * v) - sum_u * sum_v / weight_sums
    errors = np.cumsum(weights * v * v) - sum_v * sum_v / weight_sums
    has_spread = spread > _NO_SPREAD
    slopes = np.where(has_spread, shared / np.where(has_spread, spread, 1.0), 0.0)
    heights = (sum_v - slopes * sum_u) / weight_sums
    slopes_x = slopes / unit
    intercepts = middle_y + heights - slopes_x * middle_x
    return _RunningFits(slopes_x, intercepts, np.maximum(errors - slopes * shared, 0.0))


def _fitted_line(fits: _RunningFits, index: int, start: float, end: float) -> FittedLine:
    columns = (fits.slopes, fits.intercepts, fits.errors)
    return FittedLine(start, end, *(float(column[index]) for column in columns))
