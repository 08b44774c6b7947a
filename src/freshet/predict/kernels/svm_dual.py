"""Compiled solver of the dual of a support vector classifier (C-SVC) for a small dense kernel.

Sequential minimal optimisation with second-order selection of the pair (Fan, Chen and Lin 2005).
A coefficient is the label (-1 or 1) times the dual variable, so it lies between 0 and the label
times its limit, and the coefficients sum to 0. The residual of an example is its label minus the
decision without bias. The loops have no branches so that they use vector instructions: an example
that may not be selected has a barrier, added to its residual. The sums are stored, so that the
highest one is found by comparing equal numbers.

With a large limit many coefficients are free, and pairs converge slowly. Therefore all free
coefficients are moved at once now and then, towards the solution of their linear equations. Such a
step never decreases the objective, so that convergence is that of the pairs.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray

MAX_ITERATIONS = 100_000
MIN_CURVATURE = 1e-12
ROUNDING = 1e-12
FAR = 1e100
PAIRS_PER_NEWTON_STEP, MIN_FREE, RIDGE = 40, 3, 1e-10
VECTOR_MATH = {"nnan", "nsz", "contract"}


class _DualState(NamedTuple):
    """The columns of the solver, one value per example."""

    coefficients: FloatArray
    lower: FloatArray
    upper: FloatArray
    residuals: FloatArray
    barriers_above: FloatArray
    barriers_below: FloatArray
    candidates: FloatArray
    gains: FloatArray


@njit(cache=True, nogil=True, error_model="numpy", fastmath=VECTOR_MATH)
def inverse_curvatures(kernel: FloatArray) -> FloatArray:
    """Return one divided by the curvature of the dual along each pair of examples."""
    size = len(kernel)
    inverses, diagonal = np.empty((size, size)), np.empty(size)
    for row in range(size):
        diagonal[row] = kernel[row, row]
    for row in range(size):
        for other in range(size):
            curvature = diagonal[row] + diagonal[other] - 2.0 * kernel[row, other]
            inverses[row, other] = 1.0 / max(curvature, MIN_CURVATURE)
    return inverses


@njit(cache=True, nogil=True, error_model="numpy")
def solve_dual(
    kernel: FloatArray,
    inverses: FloatArray,
    signs: FloatArray,
    limits: FloatArray,
    coefficients: FloatArray,
    tolerance: float,
) -> float:
    """Solve the dual in place, starting from the given coefficients, and return the bias.

    ``inverses`` are the inverse curvatures of the kernel, ``signs`` the labels as -1 and 1,
    ``limits`` the penalty C of each example. Coefficients outside their limits are clipped, and
    their sum is repaired, before the first step.
    """
    state = _feasible_state(kernel, signs, limits, coefficients)
    highest = _update_residuals(state, kernel[0], kernel[0], 0.0)
    for iteration in range(1, MAX_ITERATIONS):
        if iteration % PAIRS_PER_NEWTON_STEP == 0:
            _move_free(state, kernel)
            highest = _update_residuals(state, kernel[0], kernel[0], 0.0)
        first = _position(state.candidates, highest)
        best, lowest = _measure_gains(state, inverses[first], highest)
        if highest - lowest < tolerance:
            break
        second = _position(state.gains, best)
        step = _move(state, first, second, inverses[first, second])
        highest = _update_residuals(state, kernel[first], kernel[second], step)
    return _bias(state)


@njit(cache=True, nogil=True)
def _feasible_state(
    kernel: FloatArray, signs: FloatArray, limits: FloatArray, coefficients: FloatArray
) -> _DualState:
    """Clip the coefficients and move the latest ones that have room until the sum is 0."""
    size, total, largest = len(signs), 0.0, 0.0
    lower, upper = np.empty(size), np.empty(size)
    for row in range(size):
        lower[row], upper[row] = (
            min(signs[row] * limits[row], 0.0),
            max(signs[row] * limits[row], 0.0),
        )
        coefficients[row] = min(max(coefficients[row], lower[row]), upper[row])
        total += coefficients[row]
        largest = max(largest, limits[row])
    for row in range(size - 1, -1, -1):
        if abs(total) <= ROUNDING * largest:
            break
        moved = min(max(coefficients[row] - total, lower[row]), upper[row])
        total += moved - coefficients[row]
        coefficients[row] = moved
    state = _DualState(
        coefficients,
        lower,
        upper,
        signs.copy(),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size),
    )
    for row in range(size):
        _set_coefficient(state, row, coefficients[row])
        if coefficients[row] != 0.0:
            _add_multiple(state.residuals, kernel[row], -coefficients[row])
    return state


@njit(cache=True, nogil=True)
def _set_coefficient(state: _DualState, row: int, value: float) -> None:
    """Set a coefficient, exactly to a limit if it is that close, and its barriers."""
    lower, upper = state.lower[row], state.upper[row]
    margin = ROUNDING * (upper - lower)
    if value <= lower + margin:
        value = lower
    if value >= upper - margin:
        value = upper
    state.coefficients[row] = value
    state.barriers_above[row] = 0.0 if value < upper else -FAR
    state.barriers_below[row] = 0.0 if value > lower else FAR


@njit(cache=True, nogil=True, fastmath=VECTOR_MATH)
def _add_multiple(residuals: FloatArray, values: FloatArray, factor: float) -> None:
    for row in range(len(residuals)):
        residuals[row] += factor * values[row]


@njit(cache=True, nogil=True)
def _position(values: FloatArray, highest: float) -> int:
    """Return the first position of the highest value."""
    for position in range(len(values)):
        if values[position] >= highest:
            return position
    return 0


@njit(cache=True, nogil=True, fastmath=VECTOR_MATH)
def _measure_gains(state: _DualState, inverses: FloatArray, highest: float) -> tuple[float, float]:
    """Write what each partner of the first coefficient gains.

    Return the best gain, and the lowest residual of the coefficients above their lower limits.
    """
    residuals, barriers, gains = state.residuals, state.barriers_below, state.gains
    lowest, best = FAR, 0.0
    for row in range(len(residuals)):
        residual = residuals[row] + barriers[row]
        gap = max(highest - residual, 0.0)
        gain = gap * gap * inverses[row]
        gains[row] = gain
        lowest = min(lowest, residual)
        best = max(best, gain)
    return best, lowest


@njit(cache=True, nogil=True)
def _move(state: _DualState, first: int, second: int, inverse: float) -> float:
    """Increase the first coefficient and decrease the second by the best step; return the step."""
    residuals, coefficients = state.residuals, state.coefficients
    step: float = min(
        (residuals[first] - residuals[second]) * inverse,
        state.upper[first] - coefficients[first],
        coefficients[second] - state.lower[second],
    )
    _set_coefficient(state, first, coefficients[first] + step)
    _set_coefficient(state, second, coefficients[second] - step)
    return step


@njit(cache=True, nogil=True, error_model="numpy")
def _move_free(state: _DualState, kernel: FloatArray) -> None:
    """Move all free coefficients towards the solution for them, until one meets its limit.

    A free coefficient is between its limits. At the solution all free residuals are equal, and the
    sum of the coefficients is unchanged.
    """
    free = np.flatnonzero((state.barriers_above == 0.0) & (state.barriers_below == 0.0))
    if len(free) < MIN_FREE:
        return
    factor = _factor_rows(kernel, free)
    solutions = np.ones((2, len(free)))
    for position in range(len(free)):
        solutions[0, position] = state.residuals[free[position]]
    _solve_factored(factor, solutions)
    steps = solutions[0] - solutions[0].sum() / solutions[1].sum() * solutions[1]
    share = 1.0
    for position in range(len(free)):
        row, step = free[position], steps[position]
        limit = state.upper[row] if step > 0.0 else state.lower[row]
        room = limit - state.coefficients[row]
        if abs(step) * share > abs(room):
            share = room / step
    for position in range(len(free)):
        row, step = free[position], share * steps[position]
        _set_coefficient(state, row, state.coefficients[row] + step)
        _add_multiple(state.residuals, kernel[row], -step)


@njit(cache=True, nogil=True, error_model="numpy")
def _factor_rows(kernel: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
    """Return the Cholesky factor of the kernel of some rows; a ridge makes it definite."""
    size = len(rows)
    factor = np.zeros((size, size))
    for row in range(size):
        for other in range(row + 1):
            rest = kernel[rows[row], rows[other]] - _dot(factor[row], factor[other], other)
            if other < row:
                factor[row, other] = rest / factor[other, other]
            else:
                ridge = RIDGE * kernel[rows[row], rows[row]]
                factor[row, row] = np.sqrt(max(rest, 0.0) + ridge)
    return factor


@njit(cache=True, nogil=True)
def _solve_factored(factor: FloatArray, solutions: FloatArray) -> None:
    """Solve for each row of ``solutions`` as a right-hand side, in place."""
    size = len(factor)
    for solution in solutions:
        for row in range(size):
            solution[row] = (solution[row] - _dot(factor[row], solution, row)) / factor[row, row]
        for row in range(size - 1, -1, -1):
            solution[row] /= factor[row, row]
            _add_multiple(solution[:row], factor[row], -solution[row])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dot(first: FloatArray, second: FloatArray, size: int) -> float:
    """Return the product of the first values of two rows."""
    total = 0.0
    for position in range(size):
        total += first[position] * second[position]
    return total


@njit(cache=True, nogil=True, fastmath=VECTOR_MATH)
def _update_residuals(
    state: _DualState, first_row: FloatArray, second_row: FloatArray, step: float
) -> float:
    """Update the residuals after a step, and write which of them may be selected next.

    Return the highest residual of the coefficients below their upper limits.
    """
    residuals, barriers, candidates = state.residuals, state.barriers_above, state.candidates
    highest = -FAR
    for row in range(len(residuals)):
        residual = residuals[row] - step * (first_row[row] - second_row[row])
        candidate = residual + barriers[row]
        residuals[row] = residual
        candidates[row] = candidate
        highest = max(highest, candidate)
    return highest


@njit(cache=True, nogil=True)
def _bias(state: _DualState) -> float:
    """Return the mean residual of free coefficients, or the middle of the interval allowed."""
    total, free, lowest, highest = 0.0, 0, FAR, -FAR
    for row in range(len(state.residuals)):
        residual = state.residuals[row]
        if state.barriers_above[row] == 0.0 and state.barriers_below[row] == 0.0:
            total += residual
            free += 1
        highest = max(highest, residual + state.barriers_above[row])
        lowest = min(lowest, residual + state.barriers_below[row])
    if free > 0:
        return total / free
    return 0.5 * (highest + lowest)
