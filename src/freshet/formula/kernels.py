"""The compiled loops of ranking: values of a program, and the running sums of what is known."""

from collections.abc import Callable
from math import exp, log
from typing import cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core import tie_break
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray
from freshet.formula.expression import LARGEST_VALUE, SMALLEST_DIVISOR

CodeArray = NDArray[np.int64]

NUMBER, NAME, ADD, SUBTRACT, MULTIPLY, DIVIDE, LOG, POW, EXP = range(9)
BLOCK = 256

N, CHANGES, AGE, CG, NAD, SAD, AAD, GAD = range(8)
LOOKS, SEEN, CLOCK, LAST, RISING, DOUBLING = range(6)
SUM_COUNT = 6

One = Callable[[np.uint64], np.uint64]
splitmix64 = cast("One", njit(cache=True, nogil=True)(tie_break.splitmix64))


@njit(cache=True, nogil=True, error_model="numpy")
def _cut(value: float) -> float:
    """Return a number of bounded size; what is no number becomes 0, and -0 does as well."""
    if value < LARGEST_VALUE:
        return value + 0.0 if value > -LARGEST_VALUE else -LARGEST_VALUE
    return LARGEST_VALUE if value >= LARGEST_VALUE else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def apply_function(code: int, left: float, right: float) -> float:
    """Return the value of one function under the protected rules."""
    if code == ADD:
        return _cut(left + right)
    if code == SUBTRACT:
        return _cut(left - right)
    if code == MULTIPLY:
        return _cut(left * right)
    if code == DIVIDE:
        return _cut(left / right) if abs(right) >= SMALLEST_DIVISOR else 0.0
    if code == LOG:
        return _cut(log(left)) if left > 0.0 else 0.0
    if code == POW:
        return _cut(left**right)
    return _cut(exp(left))


@njit(cache=True, nogil=True, error_model="numpy")
def _fill(code: int, left: FloatArray, right: FloatArray, into: FloatArray, count: int) -> None:
    """Compute one function for a block of pages; a loop each, that the compiler can unroll."""
    if code == ADD:
        for place in range(count):
            into[place] = min(max(left[place] + right[place], -LARGEST_VALUE), LARGEST_VALUE) + 0.0
    elif code == SUBTRACT:
        for place in range(count):
            into[place] = min(max(left[place] - right[place], -LARGEST_VALUE), LARGEST_VALUE) + 0.0
    elif code == MULTIPLY:
        for place in range(count):
            into[place] = min(max(left[place] * right[place], -LARGEST_VALUE), LARGEST_VALUE) + 0.0
    else:
        for place in range(count):
            into[place] = apply_function(code, left[place], right[place])


@njit(cache=True, nogil=True, error_model="numpy")
def evaluate_program(
    steps: CodeArray, numbers: FloatArray, columns: FloatArray, first: int, values: FloatArray
) -> None:
    """Compute a program for the pages from ``first`` on, a row of columns for every name."""
    count = len(values)
    made = np.empty((len(steps), BLOCK))
    for step in range(len(steps)):
        if steps[step, 0] == NUMBER:
            made[step, :] = numbers[step]
    for start in range(first, count, BLOCK):
        size = min(BLOCK, count - start)
        for step in range(len(steps)):
            code, left, right = steps[step]
            if code == NAME:
                made[step, :size] = columns[left, start : start + size]
            elif code > NAME:
                _fill(code, made[left], made[right], made[step], size)
        values[start : start + size] = made[-1, :size]


@njit(cache=True, nogil=True, error_model="numpy")
def add_look(row: FloatArray, gap: float, changed: bool, needs: CodeArray, by_cycle: bool) -> None:
    """Add one look to a row of sums; what nobody needs stays 0."""
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
    for place in range(len(rows)):
        add_look(rows[place], gaps[place], changed[place], needs, by_cycle)


@njit(cache=True, nogil=True, error_model="numpy")
def _estimate(name: int, row: FloatArray, age: float, by_cycle: bool) -> float:
    """Return the rate that one of the estimators gives, 0 before the first look."""
    looks, seen = float(row[LOOKS]), float(row[SEEN])
    if name == CG:
        return log((looks + 0.5) / (looks - seen + 0.5))
    idle = max(0.0, age - 1.0) if by_cycle else 0.0
    reading = float(row[CLOCK]) + idle
    if reading <= 0.0:
        return 0.0
    if name == NAD:
        return seen / reading
    if name == SAD:
        return float(row[LAST]) if idle <= 0.0 else 0.0
    if name == AAD:
        return float(row[RISING]) / (reading * (reading + 1.0) / 2.0)
    return float(row[DOUBLING] * 0.5**idle / (2.0 - 2.0 * 0.5**reading))


@njit(cache=True, nogil=True, error_model="numpy")
def write_variables(
    names: CodeArray,
    known: tuple[FloatArray, FloatArray],
    by_cycle: bool,
    first: int,
    told: FloatArray,
) -> None:
    """Write what names stand for, a row of ``told`` each, from the place ``first`` on.

    ``known`` are the rows of sums and the cycles since each one's last look.
    """
    rows, ages = known
    for place in range(len(names)):
        name, into = names[place], told[place]
        if name == AGE:
            into[first : len(ages)] = ages[first:]
        elif name <= CHANGES:
            into[first : len(ages)] = rows[first : len(ages), LOOKS if name == N else SEEN]
        else:
            for row in range(first, len(ages)):
                into[row] = _estimate(name, rows[row], ages[row], by_cycle)
