"""Selection: which of the formulas that searches kept is the one to use."""

from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.formula.expression import Formula
from freshet.learning.evolve.model_selection import SELECTIONS, Judged, average, chosen, total
from freshet.schedule.model_file import Selection

SHARES = st.floats(0, 1)
STEADY = Judged(Formula(("t",)), 0.40, 0.40)
LUCKY = Judged(Formula(("X",)), 0.30, 0.42)
BRED = Judged(Formula(("n",)), 0.60, 0.35)


@given(SHARES, SHARES)
def test_the_deviation_is_that_of_the_two_performances(training: float, validation: float) -> None:
    judged = Judged(Formula(("t",)), training, validation)
    both = (training, validation)
    assert average(judged) == pytest.approx(fmean(both) - pstdev(both))
    assert total(judged) == pytest.approx(sum(both) - pstdev(both))


@pytest.mark.parametrize(
    ("selection", "expected"), [("best", LUCKY), ("avg", STEADY), ("sum", BRED)]
)
def test_each_selection_has_its_own_choice(selection: Selection, expected: Judged) -> None:
    assert chosen([STEADY, LUCKY, BRED], selection) == expected


@pytest.mark.parametrize("selection", SELECTIONS)
def test_of_equals_the_shorter_is_chosen_in_whatever_order(selection: Selection) -> None:
    long = Judged(Formula(("*", "t", "X")), 0.40, 0.40)
    assert chosen([long, STEADY], selection) == chosen([STEADY, long], selection) == STEADY
