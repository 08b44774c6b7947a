"""Shorter formulas of the same value, by identities that hold under the protected rules.

Only what is exact for every finite value is used: x + 0, x - 0, x * 1, x / 1, pow(x, 1) are x;
x - x, 0 * x, 0 / x and x / 0 are 0; pow(x, 0) and pow(1, x) are 1; x + x is x * 2; a part without
names is its value. x / x is left alone, for it is 0 where x is. The parts of a sum or product stand
in one order, constants last, so that equal formulas have one text.
"""

from freshet.formula.expression import SMALLEST_DIVISOR, Formula, FormulaToken, arity
from freshet.formula.kernels import apply_function
from freshet.formula.program import FUNCTION_CODES

Part = tuple[FormulaToken, ...]

_ZERO, _ONE, _TWO = (0.0,), (1.0,), (2.0,)
_NEUTRAL: dict[str, Part] = {"+": _ZERO, "-": _ZERO, "*": _ONE, "/": _ONE, "pow": _ONE}
_SYMMETRIC = ("+", "*")
_OPPOSITE = {"+": "-", "-": "+"}


def simplify(formula: Formula) -> Formula:
    """Return a formula of the same value without what does nothing, in one order.

    >>> from freshet.formula.expression import parse_formula
    >>> str(simplify(parse_formula("(t + 0) * X - (n - n) / 3 + 2 * 5", ("t", "X", "n"))))
    'X * t + 10'
    """
    parts: list[Part] = []
    for token in reversed(formula.tokens):
        given = [parts.pop() for _ in range(arity(token))]
        parts.append(_shorter(token, given))
    return Formula(parts.pop())


def _shorter(token: FormulaToken, given: list[Part]) -> Part:
    """Return a function of simplified parts, simplified itself."""
    if not given:
        return (token,)
    sign = str(token)
    constants = [float(part[0]) for part in given if _is_constant(part)]
    if len(constants) == len(given):
        return (float(apply_function(FUNCTION_CODES[sign], constants[0], constants[-1])),)
    if len(given) == 1:
        return (sign, *given[0])
    left, right = sorted(given, key=_order) if sign in _SYMMETRIC else given
    found = _identity(sign, left, right)
    return _joined(sign, left, right) if found is None else found


def _identity(sign: str, left: Part, right: Part) -> Part | None:
    """Return what two parts amount to where one of them does nothing; None where both count."""
    if right == _NEUTRAL[sign]:
        return left
    if (sign == "-" and left == right) or (sign == "/" and _is_no_divisor(right)):
        return _ZERO
    if (sign == "*" and right == _ZERO) or (sign == "/" and left == _ZERO):
        return _ZERO
    if sign == "pow" and (right == _ZERO or left == _ONE):
        return _ONE
    return ("*", *left, *_TWO) if sign == "+" and left == right else None


def _joined(sign: str, left: Part, right: Part) -> Part:
    """Put two parts together; adding a negative constant is taking a positive one away."""
    if sign in _OPPOSITE and isinstance(right[0], float) and right[0] < 0:
        return (_OPPOSITE[sign], *left, -right[0])
    return (sign, *left, *right)


def _is_constant(part: Part) -> bool:
    return isinstance(part[0], float)


def _is_no_divisor(part: Part) -> bool:
    return isinstance(part[0], float) and abs(part[0]) < SMALLEST_DIVISOR


def _order(part: Part) -> tuple[bool, list[str]]:
    return _is_constant(part), [str(token) for token in part]
