"""Which of the formulas that searches kept is the one to use.

Santos et al. 2015, section 4.2.3, after de Almeida et al. 2007: every kept formula of every seed is
tried on the training and on the validation pages. ``best`` takes what did best on the validation
pages; ``avg`` the highest mean of the two less their standard deviation; ``sum`` the highest sum
less it. The standard deviation of two numbers is half their distance, so that the mean less it is
the lower of the two.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from freshet.formula.expression import Formula
from freshet.schedule.model_file import SelectionMethod


@dataclass(frozen=True, slots=True)
class ValidatedFormula:
    """A formula and how well it did on the pages it was bred on, and on others."""

    formula: Formula
    training: float
    validation: float


def mean_less_deviation(judged: ValidatedFormula) -> float:
    """Return the mean of both performances less their standard deviation.

    >>> mean_less_deviation(ValidatedFormula(Formula(("t",)), 0.5, 0.25))
    0.25
    """
    return (judged.training + judged.validation) / 2 - deviation(judged)


def sum_less_deviation(judged: ValidatedFormula) -> float:
    """Return the sum of both performances less their standard deviation.

    >>> sum_less_deviation(ValidatedFormula(Formula(("t",)), 0.5, 0.25))
    0.625
    """
    return judged.training + judged.validation - deviation(judged)


def deviation(judged: ValidatedFormula) -> float:
    """Return the standard deviation of both performances."""
    return abs(judged.training - judged.validation) / 2


SELECTION_METHODS: Mapping[SelectionMethod, Callable[[ValidatedFormula], float]] = {
    "best": lambda judged: judged.validation,
    "avg": mean_less_deviation,
    "sum": sum_less_deviation,
}


def select_formula(
    judged: Iterable[ValidatedFormula], selection: SelectionMethod
) -> ValidatedFormula:
    """Return the formula that a selection takes; of equals the better bred, then the shorter.

    >>> formulas = [ValidatedFormula(Formula(("t",)), 0.9, 0.2), ValidatedFormula(Formula(("X",)), 0.4, 0.3)]
    >>> [str(select_formula(formulas, name).formula) for name in SELECTION_METHODS]
    ['X', 'X', 't']
    """
    rate = SELECTION_METHODS[selection]
    return min(
        judged,
        key=lambda each: (-rate(each), -each.training, len(each.formula), str(each.formula)),
    )
