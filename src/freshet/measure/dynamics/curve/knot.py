"""Where a change curve levels off: two lines over the words that came and went, told in time.

The curves of all starts are laid over each other on the page's own clock (``drift``), where they
are straight however lively the hours were, and the two lines of least squares cross at the drift
that leaves nothing of what was there. Each start has its own time of reaching it; the knot is
their mean. So 19 of 20 planted knots are found within a tenth, where the same two lines over plain
time find 14, and the paper's heuristic 8 (``experiments/curve_shapes``).
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
    """One line and two through the same points, and by how much the two explain them better.

    ``bic_gain`` is the difference of the two criteria (BIC) in nats a point, and ``error_ratio`` that
    of the errors; ``crossing`` is where the two lines meet.
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
        """Return the second slope over the first, 1 where there is no first."""
        return self.second_line.slope / self.first_line.slope if self.first_line.slope else 1.0

    @property
    def is_knot(self) -> bool:
        """Whether the curve falls and then levels off, beyond doubt."""
        levels = abs(self.slope_ratio) < MAX_SLOPE_RATIO
        return self.bic_gain > 0 and self.crossing > 0 and levels and self.drop > MIN_DROP

    @property
    def drop(self) -> float:
        """Return how far the first line falls up to the place where both meet."""
        return -self.first_line.slope * (self.crossing - self.first_line.begins)


def fit_bend(x: FloatArray, y: FloatArray, weights: FloatArray) -> BendFit | None:
    """Fit one line and two; None for too few different places.

    Points that share a place are one point, and only those count in the criterion: neighbours
    that show the same words are no evidence of their own.
    """
    places, dice, mass = _merged(x, y, weights)
    lines = fit_two_lines(places, dice, mass)
    if lines is None:
        return None
    whole, points = fit_line(places, dice, mass), len(places)
    floor = _EXACT**2 * float(mass.sum())
    ratio = (whole.error + floor) / (lines[0].error + lines[1].error + floor)
    gain = log(ratio) - _MORE_PARAMETERS * log(points) / points
    return BendFit(whole, *lines, crossing(*lines), points, gain, ratio)


def fit_bend_to_starts(strands: list[StartCurve], *, max_drift: float = inf) -> BendFit | None:
    """Lay strands over each other on the page's clock and fit the lines, the starts left out."""
    moved = np.concatenate([strand.drift[1:] for strand in strands])
    dice = np.concatenate([strand.dice[1:] for strand in strands])
    within = moved <= max_drift
    return fit_bend(moved[within], dice[within], np.ones(int(within.sum())))


def find_knot_drift(found: BendFit | None, strands: list[StartCurve]) -> float | None:
    """Return the drift at which what changes fastest is gone, None where nothing levels off.

    Over years a page moves on even after its knot, and two lines may part that long tail. So what
    comes before a bend is searched too, and taken if it holds the better part of the fall and is
    over in a small part of the way; within that, curves are only round.
    """
    if found is None or not found.is_knot:
        return None
    outer = inner = found
    while (within := fit_bend_to_starts(strands, max_drift=inner.crossing)) is not None:
        if not within.is_knot or within.drop < MIN_INNER_DROP_SHARE * inner.drop:
            break
        inner = within
    return (
        inner.crossing if inner.crossing < MAX_INNER_KNOT_SHARE * outer.crossing else outer.crossing
    )


def mean_steps_to_drift(place: float, strands: list[StartCurve]) -> float | None:
    """Return after how many steps strands had moved so far, in the mean of those that did."""
    reached = [steps for strand in strands if (steps := _reached(place, strand)) is not None]
    return float(np.mean(reached)) if 2 * len(reached) > len(strands) else None


def _reached(place: float, strand: StartCurve) -> float | None:
    """Return the step of the move that ends nearest to a place, None where none came so far.

    A move came between two looks: in the mean, halfway. Where nobody looked for long, that says
    nothing of when it came.
    """
    moves = np.flatnonzero(np.diff(strand.drift, prepend=0.0) > 0)
    ends = strand.drift[moves]
    if not len(ends) or ends[-1] < place:
        return None
    middles = (ends[:-1] + ends[1:]) / 2
    move = moves[np.searchsorted(middles, place)]
    before, after = float(strand.steps[move - 1]), float(strand.steps[move])
    gap, middle = after - before, (before + after) / 2
    return None if gap > max(MAX_GAP_STEPS, MAX_GAP_SHARE * middle) else middle


def _merged(
    x: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the points with one for each place: the mean of those there."""
    places, which = np.unique(x, return_inverse=True)
    mass = np.bincount(which, weights).astype(np.float64)
    return places, np.bincount(which, weights * y) / mass, mass
