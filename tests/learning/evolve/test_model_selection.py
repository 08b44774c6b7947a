"""Selection of one formula among the best of all searches."""

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
EQUAL = ValidatedFormula(Formula(("t",)), 0.40, 0.40)
BEST_VALIDATION = ValidatedFormula(Formula(("X",)), 0.30, 0.42)
BEST_SUM = ValidatedFormula(Formula(("n",)), 0.60, 0.35)


@given(SHARES, SHARES)
def test_the_deviation_is_that_of_both_fitnesses(training: float, validation: float) -> None:
    validated = ValidatedFormula(Formula(("t",)), training, validation)
    both = (training, validation)
    assert mean_less_deviation(validated) == pytest.approx(fmean(both) - pstdev(both))
    assert sum_less_deviation(validated) == pytest.approx(sum(both) - pstdev(both))


@pytest.mark.parametrize(
    ("selection", "expected"), [("best", BEST_VALIDATION), ("avg", EQUAL), ("sum", BEST_SUM)]
)
def test_each_method_selects_another_formula(
    selection: SelectionMethod, expected: ValidatedFormula
) -> None:
    assert select_formula([EQUAL, BEST_VALIDATION, BEST_SUM], selection) == expected


@pytest.mark.parametrize("selection", SELECTION_METHODS)
def test_of_equals_the_shorter_is_chosen_in_any_order(selection: SelectionMethod) -> None:
    long = ValidatedFormula(Formula(("*", "t", "X")), 0.40, 0.40)
    assert (
        select_formula([long, EQUAL], selection)
        == select_formula([EQUAL, long], selection)
        == EQUAL
    )
