"""The survival and the gain of change processes, by the gamma functions of SciPy."""

import math

from scipy.special import gammainc, gammaincc

from freshet.schedule.cadence import POISSON_CELLS

SHAPE = 6


def gap_survival(changes: float) -> float:
    """Return the chance that an Erlang gap of mean 1 is longer."""
    return float(gammaincc(SHAPE, SHAPE * changes))


def plain_survival(cell: int, changes: float) -> float:
    """Return the chance of no change after a number of expected changes.

    A regular page is first looked at in the middle of a gap. The time to its next change has the
    survival of a renewal process in equilibrium: the mean of what a gap is longer.
    """
    if cell < POISSON_CELLS:
        return math.exp(-changes)
    return float(gammaincc(SHAPE + 1, SHAPE * changes)) - changes * gap_survival(changes)


def survival_integral(changes: float) -> float:
    """Return the integral of the survival of a regular page from 0, by parts."""
    gained = fresh_days_gained(POISSON_CELLS, changes, 0.0)
    return gained + changes * plain_survival(POISSON_CELLS, changes)


def fresh_days_gained(cell: int, changes: float, hazard: float) -> float:
    """Return the fresh days that a look gains over a later one, in mean gaps.

    Expected changes and the hazard of shared events are since the last look. Without events it is
    the integral of x · g(x), where g is the density of the time to the next change.
    """
    if cell < POISSON_CELLS:
        return float(gammainc(2, changes + hazard))
    mean_square = (1 + 1 / SHAPE) * float(gammainc(SHAPE + 2, SHAPE * changes))
    gained = (mean_square + changes**2 * gap_survival(changes)) / 2
    lifetime = (1 + 1 / SHAPE) / 2
    survival = plain_survival(cell, changes)
    return lifetime - math.exp(-hazard) * (lifetime - gained + hazard * survival)
