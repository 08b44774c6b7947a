"""Selection: which of the formulas that searches kept is the one to use."""

from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.formula.expression import Formula
from freshet.learning.evolve.model_selection import (
    SELECTION_METHODS,
    ValidatedFormula,
    mean_less_deviation,
    select_formula,
    sum_less_deviation,
)
from freshet.schedule.model_file import SelectionMethod

SHARES = st.floats(0, 1)
STEADY = ValidatedFormula(Formula(("t",)), 0.40, 0.40)
LUCKY = ValidatedFormula(Formula(("X",)), 0.30, 0.42)
BRED = ValidatedFormula(Formula(("n",)), 0.60, 0.35)


@given(SHARES, SHARES)
def test_the_deviation_is_that_of_the_two_performances(training: float, validation: float) -> None:
    judged = ValidatedFormula(Formula(("t",)), training, validation)
    both = (training, validation)
    assert mean_less_deviation(judged) == pytest.approx(fmean(both) - pstdev(both))
    assert sum_less_deviation(judged) == pytest.approx(sum(both) - pstdev(both))


@pytest.mark.parametrize(
    ("selection", "expected"), [("best", LUCKY), ("avg", STEADY), ("sum", BRED)]
)
def test_each_selection_has_its_own_choice(
    selection: SelectionMethod, expected: ValidatedFormula
) -> None:
    assert select_formula([STEADY, LUCKY, BRED], selection) == expected


@pytest.mark.parametrize("selection", SELECTION_METHODS)
def test_of_equals_the_shorter_is_chosen_in_whatever_order(selection: SelectionMethod) -> None:
    long = ValidatedFormula(Formula(("*", "t", "X")), 0.40, 0.40)
    assert (
        select_formula([long, STEADY], selection)
        == select_formula([STEADY, long], selection)
        == STEADY
    )
