"""A formula as a program: its distinct parts in the order in which they are computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from freshet.core.types import FloatArray
from freshet.formula import kernels
from freshet.formula.expression import Formula, FormulaToken, arity
from freshet.formula.kernels import CodeArray

FUNCTION_CODES: Mapping[str, int] = {
    "+": kernels.ADD,
    "-": kernels.SUBTRACT,
    "*": kernels.MULTIPLY,
    "/": kernels.DIVIDE,
    "log": kernels.LOG,
    "pow": kernels.POW,
    "exp": kernels.EXP,
}
CACHED_PROGRAMS = 10_000


@dataclass(frozen=True, slots=True)
class FormulaProgram:
    """Steps of code, left part and right part; parts that occur twice are computed once.

    A step without parts is a number, or the place of a name in ``variables``.
    """

    variables: tuple[str, ...]
    steps: CodeArray
    numbers: FloatArray

    def evaluate(self, variable_values: Mapping[str, FloatArray], count: int) -> FloatArray:
        """Compute the program for ``count`` pages, of which columns are known by name.

        Adding 0 makes a plain 0 of -0, which only a power with a negative exponent tells apart.

        >>> from freshet.formula.expression import parse_formula
        >>> told = {"X": np.ones(2), "t": np.array([2., 4.])}
        >>> compile_formula(parse_formula("X / (t - 2)", ("X", "t"))).evaluate(told, 2)
        array([0. , 0.5])
        """
        columns = np.empty((len(self.variables), count))
        for place, name in enumerate(self.variables):
            np.add(variable_values[name], 0.0, out=columns[place])
        values = np.empty(count)
        kernels.evaluate_program(self.steps, self.numbers, columns, 0, values)
        return values


@lru_cache(maxsize=CACHED_PROGRAMS)
def compile_formula(formula: Formula) -> FormulaProgram:
    """Return the program of a formula.

    >>> from freshet.formula.expression import parse_formula
    >>> len(compile_formula(parse_formula("(t + 1) * (t + 1)", ("t",))).steps)
    4
    """
    names = tuple(sorted(formula.variables))
    places: dict[tuple[FormulaToken, ...], int] = {}
    steps: list[tuple[int, int, int]] = []
    numbers: list[float] = []
    waiting: list[int] = []
    for token in reversed(formula.tokens):
        parts = [waiting.pop() for _ in range(arity(token))]
        step = (token, *parts)
        if step not in places:
            places[step] = len(steps)
            steps.append(_step(token, parts, names))
            numbers.append(token if isinstance(token, float) else 0.0)
        waiting.append(places[step])
    return FormulaProgram(names, np.array(steps, np.int64), np.array(numbers))


def _step(token: FormulaToken, parts: list[int], names: tuple[str, ...]) -> tuple[int, int, int]:
    if isinstance(token, float):
        return kernels.NUMBER, 0, 0
    if not parts:
        return kernels.NAME, names.index(token), 0
    return FUNCTION_CODES[token], parts[0], parts[-1]
