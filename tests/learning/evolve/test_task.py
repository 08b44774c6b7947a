"""Estimates that mean the chance of a change are expanded to formulas of rates."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.formula.expression import Formula
from freshet.formula.variables import PAPER_VARIABLES, WEIGHTED_ESTIMATES
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree
from freshet.learning.evolve.task import expand_chances

PAGES = 30


@given(st.integers(0, 10**6))
def test_an_expanded_formula_has_the_values_of_the_chances(seed: int) -> None:
    formula = Formula(
        tuple(
            random_tree(
                Random(seed), PrimitiveSet(PAPER_VARIABLES, functions=("+", "*")), 4, is_full=True
            )
        )
    )
    rng = np.random.default_rng(seed)
    variable_values = {name: rng.choice([0.0, 0.25, 1.0, 3.0], PAGES) for name in PAPER_VARIABLES}
    chances = {
        name: -np.expm1(-variable_values[name] * variable_values["t"])
        for name in WEIGHTED_ESTIMATES
    }
    expected = formula.evaluate({**variable_values, **chances}, PAGES)
    assert expand_chances(formula).evaluate(variable_values, PAGES) == pytest.approx(
        expected, rel=1e-9, abs=1e-9
    )
