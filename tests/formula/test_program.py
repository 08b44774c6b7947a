"""Compiled programs and running sums equal plain computations."""

from math import log
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.formula.expression import Formula, parse_formula
from freshet.formula.program import compile_formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock, variable_set
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree

EXACT = PrimitiveSet(PAPER_VARIABLES, functions=("+", "-", "*", "/"))
PAGES = 700
NUMBERS = [0.0, -0.0, 1e-13, 0.25, 1.0, -3.0, 57.0, 1e29, -1e30]


def variable_values(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.choice(NUMBERS, PAGES) for name in PAPER_VARIABLES}


@given(st.integers(0, 10**6))
def test_a_program_has_the_values_of_its_formula(seed: int) -> None:
    formula = Formula(tuple(random_tree(Random(seed), EXACT, 7, is_full=seed % 2 == 0)))
    columns = variable_values(seed)
    values = compile_formula(formula).evaluate(columns, PAGES)
    np.testing.assert_array_equal(values, formula.evaluate(columns, PAGES))


@pytest.mark.parametrize("text", ["log(X)", "exp(X)", "pow(X, t)", "log(t) * exp(X)", "pow(t, X)"])
def test_functions_differ_from_numpy_by_no_more_than_rounding(text: str) -> None:
    formula, columns = parse_formula(text, PAPER_VARIABLES), variable_values(1)
    values = compile_formula(formula).evaluate(columns, PAGES)
    np.testing.assert_allclose(values, formula.evaluate(columns, PAGES), rtol=1e-14)


@given(st.integers(0, 10**6))
def test_every_value_of_a_program_is_finite(seed: int) -> None:
    formula = Formula(
        tuple(random_tree(Random(seed), PrimitiveSet(PAPER_VARIABLES), 9, is_full=False))
    )
    values = compile_formula(formula).evaluate(variable_values(seed), PAGES)
    assert np.all(np.abs(values) <= 1e30)


def test_a_repeated_subexpression_is_computed_once() -> None:
    formula = parse_formula("log(t * X) + exp(log(t * X)) * (t * X)", PAPER_VARIABLES)
    assert len(compile_formula(formula).steps) == 7


Visit = tuple[int, bool]
histories = st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=12)


def by_hand(name: str, visits: list[Visit], age: int, clock: WeightClock) -> float:
    """Return an estimate as the paper defines it: a weighted sum over the visits."""
    changes = [changed for _, changed in visits]
    if name == "CG":
        return -log((len(changes) - sum(changes) + 0.5) / (len(changes) + 0.5))
    if clock == "cycle":
        changes = [
            cycle_change
            for gap, changed in visits
            for cycle_change in [False] * (gap - 1) + [changed]
        ]
        changes += [False] * (age - 1)
    if not changes:
        return 0.0
    count = len(changes)
    weights = {
        "NAD": [1.0] * count,
        "SAD": [0.0] * (count - 1) + [1.0],
        "AAD": list(range(1, count + 1)),
        "GAD": [2.0**position for position in range(count)],
    }[name]
    weighted_changes = sum(
        weight for weight, changed in zip(weights, changes, strict=True) if changed
    )
    return weighted_changes / sum(weights)


@settings(max_examples=200)
@given(
    histories,
    st.integers(1, 6),
    st.sampled_from(["visit", "cycle"]),
    st.sampled_from(["CG", "NAD", "SAD", "AAD", "GAD"]),
)
def test_running_sums_give_the_estimates_of_the_whole_history(
    visits: list[Visit], age: int, clock: WeightClock, name: str
) -> None:
    variables = variable_set([name], clock)
    rows = variables.new_rows(1)
    for gap, changed in visits:
        rows = variables.rows_after_looks(rows, np.array([float(gap)]), np.array([changed]))
    value = variables.values(rows, np.array([float(age)]))[name][0]
    idle = age if visits else 1
    assert value == pytest.approx(by_hand(name, visits, idle, clock), abs=1e-12)
