"""Simplification of formulas by identities that hold for protected functions.

Only identities that are exact for every finite value are used: x + 0, x - 0, x * 1, x / 1 and
pow(x, 1) are x; x - x, 0 * x, 0 / x and x / 0 are 0; pow(x, 0) and pow(1, x) are 1; x + x is x * 2;
a subtree without variables is its value. x / x stays, because it is 0 if x is 0. The operands of
sums and products are sorted, constants last, so that equivalent formulas often have the same text.
"""

from freshet.formula.expression import SMALLEST_DIVISOR, Formula, FormulaToken, arity
from freshet.formula.kernels import apply_function
from freshet.formula.program import FUNCTION_CODES

Subtree = tuple[FormulaToken, ...]

_ZERO, _ONE, _TWO = (0.0,), (1.0,), (2.0,)
_NEUTRAL: dict[str, Subtree] = {"+": _ZERO, "-": _ZERO, "*": _ONE, "/": _ONE, "pow": _ONE}
_COMMUTATIVE = ("+", "*")
_OPPOSITE = {"+": "-", "-": "+"}


def simplify(formula: Formula) -> Formula:
    """Return a formula of the same value, without subtrees that have no effect.

    >>> from freshet.formula.expression import parse_formula
    >>> str(simplify(parse_formula("(t + 0) * X - (n - n) / 3 + 2 * 5", ("t", "X", "n"))))
    'X * t + 10'
    """
    stack: list[Subtree] = []
    for token in reversed(formula.tokens):
        operands = [stack.pop() for _ in range(arity(token))]
        stack.append(_simplify_call(token, operands))
    return Formula(stack.pop())


def _simplify_call(token: FormulaToken, operands: list[Subtree]) -> Subtree:
    """Return a simplified subtree from a token and its simplified operands."""
    if not operands:
        return (token,)
    function = str(token)
    constants = [float(operand[0]) for operand in operands if isinstance(operand[0], float)]
    if len(constants) == len(operands):
        return (float(apply_function(FUNCTION_CODES[function], constants[0], constants[-1])),)
    if len(operands) == 1:
        return (function, *operands[0])
    first, second = sorted(operands, key=_sort_key) if function in _COMMUTATIVE else operands
    result = _apply_identity(function, first, second)
    return _join(function, first, second) if result is None else result


def _apply_identity(function: str, first: Subtree, second: Subtree) -> Subtree | None:
    """Return the result of an identity, None if none applies."""
    if second == _NEUTRAL[function]:
        return first
    if (function == "-" and first == second) or (function == "/" and _is_zero_divisor(second)):
        return _ZERO
    if (function == "*" and second == _ZERO) or (function == "/" and first == _ZERO):
        return _ZERO
    if function == "pow" and (second == _ZERO or first == _ONE):
        return _ONE
    return ("*", *first, *_TWO) if function == "+" and first == second else None


def _join(function: str, first: Subtree, second: Subtree) -> Subtree:
    """Join two operands; adding a negative constant becomes subtracting a positive one."""
    if function in _OPPOSITE and isinstance(second[0], float) and second[0] < 0:
        return (_OPPOSITE[function], *first, -second[0])
    return (function, *first, *second)


def _is_zero_divisor(subtree: Subtree) -> bool:
    return isinstance(subtree[0], float) and abs(subtree[0]) < SMALLEST_DIVISOR


def _sort_key(subtree: Subtree) -> tuple[bool, list[str]]:
    return isinstance(subtree[0], float), [str(token) for token in subtree]
