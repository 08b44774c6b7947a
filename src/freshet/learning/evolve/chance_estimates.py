"""Formulas in which the weighted estimates stand for the chance of a change, not for its rate.

Santos et al. 2015, section 5.1: as rules of their own NAD, SAD, AAD and GAD rank by that chance. A
search may breed with it; what it finds is written out, so that in every formula a name is a rate.
"""

from freshet.formula.expression import Formula, Token
from freshet.formula.variables import WEIGHTED


def written_out(formula: Formula) -> Formula:
    """Return a formula with 1 - exp(-rate * t) in the place of every weighted estimate.

    >>> str(written_out(Formula(("*", "X", "NAD"))))
    'X * (1 - exp(0 - NAD * t))'
    """
    tokens: list[Token] = []
    for token in formula.tokens:
        tokens += ("-", 1.0, "exp", "-", 0.0, "*", token, "t") if token in WEIGHTED else (token,)
    return Formula(tuple(tokens))
