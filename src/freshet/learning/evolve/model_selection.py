"""Selection of one formula among the best formulas of all searches.

Santos et al. 2015, section 4.2.3, after de Almeida et al. 2007: the best formulas of every seed are
evaluated on the training and on the validation pages. ``best`` selects by the fitness on the
validation pages, ``avg`` by the mean of the two less their standard deviation, ``sum`` by their sum
less it. The standard deviation of two numbers is half their distance, so the mean less it is the
lower of the two.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from freshet.formula.expression import Formula
from freshet.schedule.model_file import SelectionMethod


@dataclass(frozen=True, slots=True)
class ValidatedFormula:
    """A formula and its fitness on the training pages and on the validation pages."""

    formula: Formula
    training: float
    validation: float


def mean_less_deviation(validated: ValidatedFormula) -> float:
    """Return the mean of both fitnesses less their standard deviation.

    >>> mean_less_deviation(ValidatedFormula(Formula(("t",)), 0.5, 0.25))
    0.25
    """
    return (validated.training + validated.validation) / 2 - deviation(validated)


def sum_less_deviation(validated: ValidatedFormula) -> float:
    """Return the sum of both fitnesses less their standard deviation.

    >>> sum_less_deviation(ValidatedFormula(Formula(("t",)), 0.5, 0.25))
    0.625
    """
    return validated.training + validated.validation - deviation(validated)


def deviation(validated: ValidatedFormula) -> float:
    """Return the standard deviation of both fitnesses."""
    return abs(validated.training - validated.validation) / 2


SELECTION_METHODS: Mapping[SelectionMethod, Callable[[ValidatedFormula], float]] = {
    "best": lambda validated: validated.validation,
    "avg": mean_less_deviation,
    "sum": sum_less_deviation,
}


def select_formula(
    formulas: Iterable[ValidatedFormula], method: SelectionMethod
) -> ValidatedFormula:
    """Return the formula that a method selects; ties go by fitness in training, then by length.

    >>> first = ValidatedFormula(Formula(("t",)), 0.9, 0.2)
    >>> second = ValidatedFormula(Formula(("X",)), 0.4, 0.3)
    >>> [str(select_formula([first, second], name).formula) for name in SELECTION_METHODS]
    ['X', 'X', 't']
    """
    score = SELECTION_METHODS[method]

    def rank(validated: ValidatedFormula) -> tuple[float, float, int, str]:
        formula = validated.formula
        return -score(validated), -validated.training, len(formula), str(formula)

    return min(formulas, key=rank)
