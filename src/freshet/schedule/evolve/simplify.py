"""Shorter formulas of the same value, by identities that hold under the protected rules.

Only what is exact for every finite value is used: x + 0, x - 0, x * 1, x / 1, pow(x, 1) are x;
x - x, 0 * x, 0 / x and x / 0 are 0; pow(x, 0) is 1; a part without names is its value. x / x is
left alone, for it is 0 where x is.
"""

from freshet.core.formula import Formula, Token, arity

Part = tuple[Token, ...]


def simplified(formula: Formula) -> Formula:
    """Return a formula of the same value without what does nothing.

    >>> from freshet.core.formula import parse
    >>> str(simplified(parse("(t + 0) * X - (n - n) / 3 + 2 * 5", ("t", "X", "n"))))
    't * X + 10'
    """
    parts: list[Part] = []
    for token in reversed(formula.tokens):
        given = [parts.pop() for _ in range(arity(token))]
        parts.append(_shorter(token, given))
    return Formula(parts.pop())


def _shorter(token: Token, given: list[Part]) -> Part:
    """Return a function of simplified parts, simplified itself."""
    whole: Part = (token, *(each for part in given for each in part))
    if not given:
        return whole
    if all(len(part) == 1 and isinstance(part[0], float) for part in given):
        return (float(Formula(whole).values({}, 1)[0]),)
    if len(given) == 1:
        return whole
    return _identity(str(token), *given) or whole


def _identity(sign: str, left: Part, right: Part) -> Part | None:
    """Return what two parts amount to where one of them does nothing; None where both count."""
    zero, one = (0.0,), (1.0,)
    if right == _NEUTRAL.get(sign):
        return left
    if sign in _SYMMETRIC and left == _NEUTRAL[sign]:
        return right
    if (sign == "-" and left == right) or (sign in "*/" and zero in (left, right)):
        return zero
    return one if sign == "pow" and right == zero else None


_NEUTRAL: dict[str, Part] = {"+": (0.0,), "-": (0.0,), "*": (1.0,), "/": (1.0,), "pow": (1.0,)}
_SYMMETRIC = ("+", "*")
