"""Formulas that rank pages: how they are written, read and computed.

A formula is kept as its tokens in prefix order: names of functions, names of what is known of a
page, and numbers. Text is read by the grammar below and never run as Python.

    sum     = product { ("+" | "-") product }
    product = factor { ("*" | "/") factor }
    factor  = ["-"] factor | number | name | function "(" sum { "," sum } ")" | "(" sum ")"

Every value is finite (Santos et al. 2015, section 4): a quotient by less than 1e-12 is 0, the
logarithm of what is not positive is 0, whatever is no number becomes 0 and so does -0, and all is
cut at ±1e30.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.errors import UsageError
from freshet.core.types import FloatArray

FormulaToken = str | float

LARGEST_VALUE = 1e30
SMALLEST_DIVISOR = 1e-12
MAX_TEXT_LENGTH = 20_000
MAX_NESTING = 100
INFIX_OPERATORS = ("+", "-", "*", "/")

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[-+*/(),]))",
    re.ASCII,
)


def _divided(above: FloatArray, below: FloatArray) -> FloatArray:
    small = np.abs(below) < SMALLEST_DIVISOR
    return np.where(small, 0.0, above / np.where(small, 1.0, below))


def _logarithm(value: FloatArray) -> FloatArray:
    positive = value > 0
    return np.where(positive, np.log(np.where(positive, value, 1.0)), 0.0)


FUNCTIONS: Mapping[str, tuple[int, Callable[..., FloatArray]]] = {
    "+": (2, np.add),
    "-": (2, np.subtract),
    "*": (2, np.multiply),
    "/": (2, _divided),
    "log": (1, _logarithm),
    "pow": (2, np.power),
    "exp": (1, np.exp),
}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula by its tokens in prefix order.

    >>> str(Formula(("*", "t", "+", "X", 0.5)))
    't * (X + 0.5)'
    """

    tokens: tuple[FormulaToken, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def __str__(self) -> str:
        return _spelled(self.tokens)

    @property
    def variables(self) -> frozenset[str]:
        """Return what the formula asks to know of a page."""
        return frozenset(
            token for token in self.tokens if isinstance(token, str) and token not in FUNCTIONS
        )

    @property
    def depth(self) -> int:
        """Return how many levels the formula has; a single name has one.

        >>> parse_formula("t * (X + 1)", ("t", "X")).depth
        3
        """
        waiting, deepest = [0], 0
        for token in self.tokens:
            level = waiting.pop() + 1
            deepest = max(deepest, level)
            waiting += [level] * arity(token)
        return deepest

    def evaluate(self, variable_values: Mapping[str, FloatArray], count: int) -> FloatArray:
        """Compute the formula for ``count`` pages, of which columns are known by name.

        >>> parse_formula("X / (t - 2)", ("X", "t")).evaluate({"X": np.ones(2), "t": np.array([2., 4.])}, 2)
        array([0. , 0.5])
        """
        stack: list[FloatArray] = []
        with np.errstate(all="ignore"):
            for token in reversed(self.tokens):
                if isinstance(token, float):
                    stack.append(np.full(count, token))
                elif token in FUNCTIONS:
                    size, function = FUNCTIONS[token]
                    stack.append(_finite(function(*(stack.pop() for _ in range(size)))))
                else:
                    stack.append(variable_values[token] + 0.0)
        return stack.pop()


def _finite(values: FloatArray) -> FloatArray:
    """Make every value a number of bounded size, and -0 a plain 0."""
    return np.clip(np.nan_to_num(values, copy=False, nan=0.0), -LARGEST_VALUE, LARGEST_VALUE) + 0.0


def arity(token: FormulaToken) -> int:
    """Return how many parts follow a token."""
    return FUNCTIONS[token][0] if isinstance(token, str) and token in FUNCTIONS else 0


def subtree_end(tokens: Sequence[FormulaToken], start: int) -> int:
    """Return where the part that begins at a place ends.

    >>> subtree_end(("*", "t", "+", "X", 0.5), 2)
    5
    """
    missing, at = 1, start
    while missing:
        missing += arity(tokens[at]) - 1
        at += 1
    return at


def parse_formula(text: str, variables: Sequence[str]) -> Formula:
    """Read a formula that may ask for these names.

    >>> parse_formula("t*X", ("t", "X")).tokens
    ('*', 't', 'X')
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise UsageError(
            f"a formula of {len(text):,} characters: at most {MAX_TEXT_LENGTH:,} are read; shorten it"
        )
    reader = _FormulaParser(text, variables)
    tokens = reader.sum(0)
    reader.expect_end()
    return Formula(tuple(tokens))


class _FormulaParser:
    """Reads a text token by token."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self._text = text
        self._names = names
        self._pieces = list(self._split())
        self._at = 0

    def _split(self) -> Iterator[tuple[str, str, int]]:
        at, end = 0, len(self._text.rstrip())
        while at < end:
            found = _TOKEN.match(self._text, at)
            if found is None or found.lastgroup is None:
                raise self._wrong(f"cannot read {self._text[at:].strip()[:20]!r}", at)
            yield found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)
            at = found.end()

    def _wrong(self, what: str, at: int) -> UsageError:
        return UsageError(
            f"formula {self._text[:80]!r}, character {at + 1}: {what}; write it like t * (X + 0.5),"
            f" with {', '.join(self._names)}, + - * / log() exp() pow(,) and numbers"
        )

    def _next(self) -> str:
        return self._pieces[self._at][1] if self._at < len(self._pieces) else ""

    def _take(self, wanted: str) -> None:
        if self._next() != wanted:
            raise self._wrong(f"{wanted!r} is missing", self._place())
        self._at += 1

    def _place(self) -> int:
        return self._pieces[self._at][2] if self._at < len(self._pieces) else len(self._text)

    def expect_end(self) -> None:
        """Refuse what follows a whole formula."""
        if self._at < len(self._pieces):
            raise self._wrong(f"{self._next()!r} is one too many", self._place())

    def sum(self, depth: int) -> list[FormulaToken]:
        """Read terms with + and - between them."""
        return self._chain(("+", "-"), self._product, depth)

    def _product(self, depth: int) -> list[FormulaToken]:
        return self._chain(("*", "/"), self._factor, depth)

    def _chain(
        self, signs: tuple[str, str], part: Callable[[int], list[FormulaToken]], depth: int
    ) -> list[FormulaToken]:
        if depth > MAX_NESTING:
            raise self._wrong(f"more than {MAX_NESTING} brackets deep", self._place())
        tokens = part(depth)
        while self._next() in signs:
            sign = self._next()
            self._at += 1
            tokens = [sign, *tokens, *part(depth)]
        return tokens

    def _factor(self, depth: int) -> list[FormulaToken]:
        if self._at >= len(self._pieces):
            raise self._wrong("something is missing at the end", len(self._text))
        kind, text, _ = self._pieces[self._at]
        if text == "-":
            return self._negative(depth)
        if text == "(":
            return self._bracketed(depth)
        if kind == "sign":
            raise self._wrong(f"{text!r} does not belong here", self._place())
        if kind == "number":
            self._at += 1
            return [_number(text)]
        return self._named(text, depth)

    def _negative(self, depth: int) -> list[FormulaToken]:
        self._at += 1
        tokens = self._factor(depth + 1) if depth < MAX_NESTING else self._too_deep()
        if len(tokens) == 1 and isinstance(tokens[0], float):
            return [0.0 - tokens[0]]
        return ["-", 0.0, *tokens]

    def _too_deep(self) -> list[FormulaToken]:
        raise self._wrong(f"more than {MAX_NESTING} signs deep", self._place())

    def _bracketed(self, depth: int) -> list[FormulaToken]:
        self._take("(")
        tokens = self.sum(depth + 1)
        self._take(")")
        return tokens

    def _named(self, text: str, depth: int) -> list[FormulaToken]:
        if text in self._names:
            self._at += 1
            return [text]
        if text not in FUNCTIONS:
            raise self._wrong(f"{text!r} is unknown", self._place())
        self._at += 1
        self._take("(")
        tokens: list[FormulaToken] = [text, *self.sum(depth + 1)]
        for _ in range(FUNCTIONS[text][0] - 1):
            self._take(",")
            tokens += self.sum(depth + 1)
        self._take(")")
        return tokens


def _number(text: str) -> float:
    return min(float(text), LARGEST_VALUE)


def _spelled(tokens: Sequence[FormulaToken]) -> str:
    """Write tokens as a reader would: brackets only where they are needed."""
    parts: list[tuple[str, int]] = []
    for token in reversed(tokens):
        if isinstance(token, float):
            parts.append((_written(token), 0 if token >= 0 else 2))
        elif token in INFIX_OPERATORS:
            level = 2 if token in "+-" else 1
            (left, left_level), (right, right_level) = parts.pop(), parts.pop()
            left = f"({left})" if left_level > level else left
            right = f"({right})" if right_level >= level and right_level else right
            parts.append((f"{left} {token} {right}", level))
        elif token in FUNCTIONS:
            inner = [parts.pop()[0] for _ in range(FUNCTIONS[token][0])]
            parts.append((f"{token}({', '.join(inner)})", 0))
        else:
            parts.append((token, 0))
    return parts.pop()[0]


def _written(number: float) -> str:
    """Write a number so that it reads back as itself."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)
