"""Formulas in which the weighted estimates mean the chance of a change instead of its rate.

Santos et al. 2015, section 5.1: as rules of their own NAD, SAD, AAD and GAD rank pages by that
chance. A search may use that meaning; its results are expanded, so that in every other formula the
variables are rates.
"""

from freshet.formula.expression import Formula, FormulaToken
from freshet.formula.variables import WEIGHTED_ESTIMATES


def expand_chances(formula: Formula) -> Formula:
    """Return a formula with 1 - exp(-rate * t) in place of every weighted estimate.

    >>> str(expand_chances(Formula(("*", "X", "NAD"))))
    'X * (1 - exp(0 - NAD * t))'
    """
    tokens: list[FormulaToken] = []
    for token in formula.tokens:
        tokens += (
            ("-", 1.0, "exp", "-", 0.0, "*", token, "t")
            if token in WEIGHTED_ESTIMATES
            else (token,)
        )
    return Formula(tuple(tokens))
