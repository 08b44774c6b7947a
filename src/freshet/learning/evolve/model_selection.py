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
from freshet.schedule.model_file import Selection


@dataclass(frozen=True, slots=True)
class Judged:
    """A formula and how well it did on the pages it was bred on, and on others."""

    formula: Formula
    training: float
    validation: float


def average(judged: Judged) -> float:
    """Return the mean of both performances less their standard deviation.

    >>> average(Judged(Formula(("t",)), 0.5, 0.25))
    0.25
    """
    return (judged.training + judged.validation) / 2 - deviation(judged)


def total(judged: Judged) -> float:
    """Return the sum of both performances less their standard deviation.

    >>> total(Judged(Formula(("t",)), 0.5, 0.25))
    0.625
    """
    return judged.training + judged.validation - deviation(judged)


def deviation(judged: Judged) -> float:
    """Return the standard deviation of both performances."""
    return abs(judged.training - judged.validation) / 2


SELECTIONS: Mapping[Selection, Callable[[Judged], float]] = {
    "best": lambda judged: judged.validation,
    "avg": average,
    "sum": total,
}


def chosen(judged: Iterable[Judged], selection: Selection) -> Judged:
    """Return the formula that a selection takes; of equals the better bred, then the shorter.

    >>> formulas = [Judged(Formula(("t",)), 0.9, 0.2), Judged(Formula(("X",)), 0.4, 0.3)]
    >>> [str(chosen(formulas, name).formula) for name in SELECTIONS]
    ['X', 'X', 't']
    """
    rate = SELECTIONS[selection]
    return min(
        judged,
        key=lambda each: (-rate(each), -each.training, len(each.formula), str(each.formula)),
    )
