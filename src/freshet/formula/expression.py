"""Formulas that score pages: syntax, parser and a plain numpy evaluation.

A formula is stored as its tokens in prefix order: function names, variables of a page and numbers.
Text is parsed by the grammar below and never executed as Python.

    sum     = product { ("+" | "-") product }
    product = factor { ("*" | "/") factor }
    factor  = ["-"] factor | number | name | function "(" sum { "," sum } ")" | "(" sum ")"

Every value is finite (Santos et al. 2015, section 4). Division by less than 1e-12 gives 0, the
logarithm of a number that is not positive gives 0, NaN and -0 become 0, and values are clipped to
±1e30.
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


def _divide(dividend: FloatArray, divisor: FloatArray) -> FloatArray:
    is_small = np.abs(divisor) < SMALLEST_DIVISOR
    return np.where(is_small, 0.0, dividend / np.where(is_small, 1.0, divisor))


def _logarithm(values: FloatArray) -> FloatArray:
    is_positive = values > 0
    return np.where(is_positive, np.log(np.where(is_positive, values, 1.0)), 0.0)


FUNCTIONS: Mapping[str, tuple[int, Callable[..., FloatArray]]] = {
    "+": (2, np.add),
    "-": (2, np.subtract),
    "*": (2, np.multiply),
    "/": (2, _divide),
    "log": (1, _logarithm),
    "pow": (2, np.power),
    "exp": (1, np.exp),
}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, stored as its tokens in prefix order.

    >>> str(Formula(("*", "t", "+", "X", 0.5)))
    't * (X + 0.5)'
    """

    tokens: tuple[FormulaToken, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def __str__(self) -> str:
        return _format_tokens(self.tokens)

    @property
    def variables(self) -> frozenset[str]:
        """Return the variables that the formula uses."""
        return frozenset(
            token for token in self.tokens if isinstance(token, str) and token not in FUNCTIONS
        )

    @property
    def depth(self) -> int:
        """Return the number of levels of the tree; a single variable has one.

        >>> parse_formula("t * (X + 1)", ("t", "X")).depth
        3
        """
        parent_levels, depth = [0], 0
        for token in self.tokens:
            level = parent_levels.pop() + 1
            depth = max(depth, level)
            parent_levels += [level] * arity(token)
        return depth

    def evaluate(self, variable_values: Mapping[str, FloatArray], count: int) -> FloatArray:
        """Return the formula's value for ``count`` pages, given an array per variable.

        >>> columns = {"X": np.ones(2), "t": np.array([2., 4.])}
        >>> parse_formula("X / (t - 2)", ("X", "t")).evaluate(columns, 2)
        array([0. , 0.5])
        """
        stack: list[FloatArray] = []
        with np.errstate(all="ignore"):
            for token in reversed(self.tokens):
                if isinstance(token, float):
                    stack.append(np.full(count, token))
                elif token in FUNCTIONS:
                    argument_count, function = FUNCTIONS[token]
                    arguments = [stack.pop() for _ in range(argument_count)]
                    stack.append(_clip_finite(function(*arguments)))
                else:
                    stack.append(variable_values[token] + 0.0)
        return stack.pop()


def _clip_finite(values: FloatArray) -> FloatArray:
    """Return values clipped to the allowed range, with 0 in place of NaN and -0."""
    return np.clip(np.nan_to_num(values, copy=False, nan=0.0), -LARGEST_VALUE, LARGEST_VALUE) + 0.0


def arity(token: FormulaToken) -> int:
    """Return the number of arguments of a token: 0 for variables and numbers."""
    return FUNCTIONS[token][0] if isinstance(token, str) and token in FUNCTIONS else 0


def subtree_end(tokens: Sequence[FormulaToken], start: int) -> int:
    """Return the end of the subtree that starts at a token.

    >>> subtree_end(("*", "t", "+", "X", 0.5), 2)
    5
    """
    open_arguments, end = 1, start
    while open_arguments:
        open_arguments += arity(tokens[end]) - 1
        end += 1
    return end


def parse_formula(text: str, variables: Sequence[str]) -> Formula:
    """Parse a formula that may use these variables.

    >>> parse_formula("t*X", ("t", "X")).tokens
    ('*', 't', 'X')
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise UsageError(
            f"a formula of {len(text):,} characters: at most {MAX_TEXT_LENGTH:,} are allowed; "
            "shorten it"
        )
    parser = _FormulaParser(text, variables)
    tokens = parser.sum(0)
    parser.expect_end()
    return Formula(tuple(tokens))


class _FormulaParser:
    """A recursive descent parser: one method per rule of the grammar."""

    def __init__(self, text: str, variables: Sequence[str]) -> None:
        self._text = text
        self._variables = variables
        self._lexemes = list(self._split())
        self._index = 0

    def _split(self) -> Iterator[tuple[str, str, int]]:
        """Yield the kind, text and offset of every lexeme."""
        offset, end = 0, len(self._text.rstrip())
        while offset < end:
            match = _TOKEN.match(self._text, offset)
            if match is None or match.lastgroup is None:
                raise self._error(f"cannot read {self._text[offset:].strip()[:20]!r}", offset)
            yield match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)
            offset = match.end()

    def _error(self, problem: str, offset: int | None = None) -> UsageError:
        """Return an error at an offset, by default that of the next lexeme."""
        if offset is None:
            at_end = self._index >= len(self._lexemes)
            offset = len(self._text) if at_end else self._lexemes[self._index][2]
        return UsageError(
            f"formula {self._text[:80]!r}, character {offset + 1}: {problem}; write it like "
            f"t * (X + 0.5), with {', '.join(self._variables)}, + - * / log() exp() pow(,) and "
            "numbers"
        )

    def _next_text(self) -> str:
        """Return the text of the next lexeme, empty at the end."""
        return self._lexemes[self._index][1] if self._index < len(self._lexemes) else ""

    def _expect(self, text: str) -> None:
        if self._next_text() != text:
            raise self._error(f"{text!r} is missing")
        self._index += 1

    def expect_end(self) -> None:
        """Refuse text after a complete formula."""
        if self._index < len(self._lexemes):
            raise self._error(f"{self._next_text()!r} is one too many")

    def sum(self, depth: int) -> list[FormulaToken]:
        """Parse products joined by + and -."""
        return self._chain(("+", "-"), self._product, depth)

    def _product(self, depth: int) -> list[FormulaToken]:
        return self._chain(("*", "/"), self._factor, depth)

    def _chain(
        self,
        operators: tuple[str, str],
        parse_operand: Callable[[int], list[FormulaToken]],
        depth: int,
    ) -> list[FormulaToken]:
        if depth > MAX_NESTING:
            raise self._error(f"more than {MAX_NESTING} brackets deep")
        tokens = parse_operand(depth)
        while self._next_text() in operators:
            operator = self._next_text()
            self._index += 1
            tokens = [operator, *tokens, *parse_operand(depth)]
        return tokens

    def _factor(self, depth: int) -> list[FormulaToken]:
        if self._index >= len(self._lexemes):
            raise self._error("something is missing at the end")
        kind, text, _ = self._lexemes[self._index]
        if text == "-":
            return self._negation(depth)
        if text == "(":
            self._index += 1
            tokens = self.sum(depth + 1)
            self._expect(")")
            return tokens
        if kind == "sign":
            raise self._error(f"{text!r} does not belong here")
        if kind == "number":
            self._index += 1
            return [min(float(text), LARGEST_VALUE)]
        return self._variable_or_call(text, depth)

    def _negation(self, depth: int) -> list[FormulaToken]:
        self._index += 1
        if depth >= MAX_NESTING:
            raise self._error(f"more than {MAX_NESTING} signs deep")
        tokens = self._factor(depth + 1)
        if len(tokens) == 1 and isinstance(tokens[0], float):
            return [0.0 - tokens[0]]
        return ["-", 0.0, *tokens]

    def _variable_or_call(self, name: str, depth: int) -> list[FormulaToken]:
        if name not in self._variables and name not in FUNCTIONS:
            raise self._error(f"{name!r} is unknown")
        self._index += 1
        if name in self._variables:
            return [name]
        self._expect("(")
        tokens: list[FormulaToken] = [name, *self.sum(depth + 1)]
        for _ in range(FUNCTIONS[name][0] - 1):
            self._expect(",")
            tokens += self.sum(depth + 1)
        self._expect(")")
        return tokens


def _format_tokens(tokens: Sequence[FormulaToken]) -> str:
    """Write tokens in infix notation, with brackets only where they are needed."""
    operands: list[tuple[str, int]] = []
    for token in reversed(tokens):
        if isinstance(token, float):
            operands.append((_format_number(token), 0 if token >= 0 else 2))
        elif token in INFIX_OPERATORS:
            level = 2 if token in "+-" else 1
            (first, first_level), (second, second_level) = operands.pop(), operands.pop()
            first = f"({first})" if first_level > level else first
            second = f"({second})" if second_level >= level and second_level else second
            operands.append((f"{first} {token} {second}", level))
        elif token in FUNCTIONS:
            arguments = [operands.pop()[0] for _ in range(FUNCTIONS[token][0])]
            operands.append((f"{token}({', '.join(arguments)})", 0))
        else:
            operands.append((token, 0))
    return operands.pop()[0]


def _format_number(number: float) -> str:
    """Write a number so that parsing it gives the same number."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)
