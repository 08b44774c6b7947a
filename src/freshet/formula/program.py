"""Formulas compiled to programs: the distinct subexpressions in order of evaluation."""

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
    """Steps of (function code, first operand, second operand); operands are earlier steps.

    A subexpression that occurs twice is one step. A step without operands is a number, or a
    variable given by its index in ``variables``.
    """

    variables: tuple[str, ...]
    steps: CodeArray
    numbers: FloatArray

    def evaluate(self, variable_values: Mapping[str, FloatArray], count: int) -> FloatArray:
        """Return the program's value for ``count`` pages, given an array per variable.

        Adding 0 turns -0 into 0: the two differ in a power with a negative exponent.

        >>> from freshet.formula.expression import parse_formula
        >>> columns = {"X": np.ones(2), "t": np.array([2., 4.])}
        >>> compile_formula(parse_formula("X / (t - 2)", ("X", "t"))).evaluate(columns, 2)
        array([0. , 0.5])
        """
        columns = np.empty((len(self.variables), count))
        for index, variable in enumerate(self.variables):
            np.add(variable_values[variable], 0.0, out=columns[index])
        values = np.empty(count)
        kernels.evaluate_program(self.steps, self.numbers, columns, 0, values)
        return values


@lru_cache(maxsize=CACHED_PROGRAMS)
def compile_formula(formula: Formula) -> FormulaProgram:
    """Return the program that evaluates a formula.

    >>> from freshet.formula.expression import parse_formula
    >>> len(compile_formula(parse_formula("(t + 1) * (t + 1)", ("t",))).steps)
    4
    """
    variables = tuple(sorted(formula.variables))
    step_numbers: dict[tuple[FormulaToken, ...], int] = {}
    steps: list[tuple[int, int, int]] = []
    numbers: list[float] = []
    stack: list[int] = []
    for token in reversed(formula.tokens):
        operands = [stack.pop() for _ in range(arity(token))]
        subexpression = (token, *operands)
        if subexpression not in step_numbers:
            step_numbers[subexpression] = len(steps)
            steps.append(_step(token, operands, variables))
            numbers.append(token if isinstance(token, float) else 0.0)
        stack.append(step_numbers[subexpression])
    return FormulaProgram(variables, np.array(steps, np.int64), np.array(numbers))


def _step(
    token: FormulaToken, operands: list[int], variables: tuple[str, ...]
) -> tuple[int, int, int]:
    if isinstance(token, float):
        return kernels.NUMBER, 0, 0
    if not operands:
        return kernels.NAME, variables.index(token), 0
    return FUNCTION_CODES[token], operands[0], operands[-1]
