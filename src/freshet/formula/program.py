"""A formula as a program: its distinct parts in the order in which they are computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from freshet.core.types import Floats
from freshet.formula import kernels
from freshet.formula.expression import Formula, Token, arity
from freshet.formula.kernels import Codes

CODES: Mapping[str, int] = {
    "+": kernels.ADD,
    "-": kernels.SUBTRACT,
    "*": kernels.MULTIPLY,
    "/": kernels.DIVIDE,
    "log": kernels.LOG,
    "pow": kernels.POW,
    "exp": kernels.EXP,
}
KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Program:
    """Steps of code, left part and right part; parts that occur twice are computed once.

    A step without parts is a number, or the place of a name in ``names``.
    """

    names: tuple[str, ...]
    steps: Codes
    numbers: Floats

    def values(self, known: Mapping[str, Floats], count: int) -> Floats:
        """Compute the program for ``count`` pages, of which columns are known by name.

        Adding 0 makes a plain 0 of -0, which only a power with a negative exponent tells apart.

        >>> from freshet.formula.expression import parse
        >>> told = {"X": np.ones(2), "t": np.array([2., 4.])}
        >>> program(parse("X / (t - 2)", ("X", "t"))).values(told, 2)
        array([0. , 0.5])
        """
        columns = np.empty((len(self.names), count))
        for place, name in enumerate(self.names):
            np.add(known[name], 0.0, out=columns[place])
        values = np.empty(count)
        kernels.evaluate(self.steps, self.numbers, columns, 0, values)
        return values


@lru_cache(maxsize=KEPT)
def program(formula: Formula) -> Program:
    """Return the program of a formula.

    >>> from freshet.formula.expression import parse
    >>> len(program(parse("(t + 1) * (t + 1)", ("t",))).steps)
    4
    """
    names = tuple(sorted(formula.names))
    places: dict[tuple[Token, ...], int] = {}
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
    return Program(names, np.array(steps, np.int64), np.array(numbers))


def _step(token: Token, parts: list[int], names: tuple[str, ...]) -> tuple[int, int, int]:
    if isinstance(token, float):
        return kernels.NUMBER, 0, 0
    if not parts:
        return kernels.NAME, names.index(token), 0
    return CODES[token], parts[0], parts[-1]
