"""Compiled loops: evaluating a program, and the running sums behind the variables."""

from collections.abc import Callable
from math import exp, log
from typing import cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core import hashing
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray
from freshet.formula.expression import LARGEST_VALUE, SMALLEST_DIVISOR

CodeArray = NDArray[np.int64]

NUMBER, NAME, ADD, SUBTRACT, MULTIPLY, DIVIDE, LOG, POW, EXP = range(9)
BLOCK = 256

N, CHANGES, AGE, CG, NAD, SAD, AAD, GAD = range(8)
LOOKS, SEEN, CLOCK, LAST, RISING, DOUBLING = range(6)
SUM_COUNT = 6

ScalarHash = Callable[[np.uint64], np.uint64]
splitmix64 = cast("ScalarHash", njit(cache=True, nogil=True)(hashing.splitmix64))


@njit(cache=True, nogil=True, error_model="numpy")
def _clip_finite(value: float) -> float:
    """Return a value clipped to the allowed range, with 0 in place of NaN and -0."""
    if value < LARGEST_VALUE:
        return value + 0.0 if value > -LARGEST_VALUE else -LARGEST_VALUE
    return LARGEST_VALUE if value >= LARGEST_VALUE else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def apply_function(code: int, first: float, second: float) -> float:
    """Return the value of one function, which is always finite; unary ones ignore ``second``."""
    if code == ADD:
        return _clip_finite(first + second)
    if code == SUBTRACT:
        return _clip_finite(first - second)
    if code == MULTIPLY:
        return _clip_finite(first * second)
    if code == DIVIDE:
        return _clip_finite(first / second) if abs(second) >= SMALLEST_DIVISOR else 0.0
    if code == LOG:
        return _clip_finite(log(first)) if first > 0.0 else 0.0
    if code == POW:
        return _clip_finite(first**second)
    return _clip_finite(exp(first))


@njit(cache=True, nogil=True, error_model="numpy")
def _fill(
    code: int, first: FloatArray, second: FloatArray, results: FloatArray, count: int
) -> None:
    """Compute one function for a block of pages; simple functions have loops of their own.

    The compiler vectorises a loop over one operator, but not a loop over a call.
    """
    if code == ADD:
        for index in range(count):
            results[index] = (
                min(max(first[index] + second[index], -LARGEST_VALUE), LARGEST_VALUE) + 0.0
            )
    elif code == SUBTRACT:
        for index in range(count):
            results[index] = (
                min(max(first[index] - second[index], -LARGEST_VALUE), LARGEST_VALUE) + 0.0
            )
    elif code == MULTIPLY:
        for index in range(count):
            results[index] = (
                min(max(first[index] * second[index], -LARGEST_VALUE), LARGEST_VALUE) + 0.0
            )
    else:
        for index in range(count):
            results[index] = apply_function(code, first[index], second[index])


@njit(cache=True, nogil=True, error_model="numpy")
def evaluate_program(
    steps: CodeArray, numbers: FloatArray, columns: FloatArray, first_page: int, values: FloatArray
) -> None:
    """Write a program's values for the pages from ``first_page`` on.

    ``columns`` has a row per variable of the program.
    """
    count = len(values)
    step_values = np.empty((len(steps), BLOCK))
    for step in range(len(steps)):
        if steps[step, 0] == NUMBER:
            step_values[step, :] = numbers[step]
    for start in range(first_page, count, BLOCK):
        size = min(BLOCK, count - start)
        for step in range(len(steps)):
            code, first_operand, second_operand = steps[step]
            if code == NAME:
                step_values[step, :size] = columns[first_operand, start : start + size]
            elif code > NAME:
                _fill(
                    code,
                    step_values[first_operand],
                    step_values[second_operand],
                    step_values[step],
                    size,
                )
        values[start : start + size] = step_values[-1, :size]


@njit(cache=True, nogil=True, error_model="numpy")
def add_look(row: FloatArray, gap: float, changed: bool, needs: CodeArray, by_cycle: bool) -> None:
    """Add one look to a row of sums; sums that are not needed stay 0."""
    if needs[LOOKS]:
        row[LOOKS] += 1.0
    if needs[SEEN] and changed:
        row[SEEN] += 1.0
    if not needs[CLOCK]:
        return
    elapsed = gap if by_cycle else 1.0
    row[CLOCK] += elapsed
    if needs[LAST] and elapsed > 0:
        row[LAST] = 1.0 if changed else 0.0
    if needs[RISING] and changed:
        row[RISING] += row[CLOCK]
    if needs[DOUBLING]:
        row[DOUBLING] = row[DOUBLING] * 0.5**elapsed + (1.0 if changed else 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def add_looks(
    rows: FloatArray, gaps: FloatArray, changed: BoolArray, needs: CodeArray, by_cycle: bool
) -> None:
    """Add one look to every row."""
    for index in range(len(rows)):
        add_look(rows[index], gaps[index], changed[index], needs, by_cycle)


@njit(cache=True, nogil=True, error_model="numpy")
def _estimate(variable: int, row: FloatArray, age: float, by_cycle: bool) -> float:
    """Return the change rate by one estimator, 0 before the first look."""
    looks, changes = float(row[LOOKS]), float(row[SEEN])
    if variable == CG:
        return log((looks + 0.5) / (looks - changes + 0.5))
    idle = max(0.0, age - 1.0) if by_cycle else 0.0
    reading = float(row[CLOCK]) + idle
    if reading <= 0.0:
        return 0.0
    if variable == NAD:
        return changes / reading
    if variable == SAD:
        return float(row[LAST]) if idle <= 0.0 else 0.0
    if variable == AAD:
        return float(row[RISING]) / (reading * (reading + 1.0) / 2.0)
    return float(row[DOUBLING] * 0.5**idle / (2.0 - 2.0 * 0.5**reading))


@njit(cache=True, nogil=True, error_model="numpy")
def write_variables(
    variables: CodeArray,
    state: tuple[FloatArray, FloatArray],
    by_cycle: bool,
    first_row: int,
    columns: FloatArray,
) -> None:
    """Write the values of variables for the rows from ``first_row`` on, a row of ``columns`` each.

    ``state`` holds the rows of sums and the cycles since each row's last look.
    """
    rows, ages = state
    for index in range(len(variables)):
        variable, column = variables[index], columns[index]
        if variable == AGE:
            column[first_row : len(ages)] = ages[first_row:]
        elif variable <= CHANGES:
            column[first_row : len(ages)] = rows[
                first_row : len(ages), LOOKS if variable == N else SEEN
            ]
        else:
            for row in range(first_row, len(ages)):
                column[row] = _estimate(variable, rows[row], ages[row], by_cycle)
