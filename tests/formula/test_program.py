"""The compiled ranking is what the plain reading of a formula and of the estimators says."""

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


def told(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.choice(NUMBERS, PAGES) for name in PAPER_VARIABLES}


@given(st.integers(0, 10**6))
def test_a_program_computes_what_the_formula_says(seed: int) -> None:
    formula = Formula(tuple(random_tree(Random(seed), EXACT, 7, is_full=seed % 2 == 0)))
    known = told(seed)
    found = compile_formula(formula).evaluate(known, PAGES)
    np.testing.assert_array_equal(found, formula.evaluate(known, PAGES))


@pytest.mark.parametrize("text", ["log(X)", "exp(X)", "pow(X, t)", "log(t) * exp(X)", "pow(t, X)"])
def test_functions_differ_from_numpy_by_no_more_than_rounding(text: str) -> None:
    formula, known = parse_formula(text, PAPER_VARIABLES), told(1)
    found = compile_formula(formula).evaluate(known, PAGES)
    np.testing.assert_allclose(found, formula.evaluate(known, PAGES), rtol=1e-14)


@given(st.integers(0, 10**6))
def test_every_value_of_a_program_is_finite(seed: int) -> None:
    formula = Formula(
        tuple(random_tree(Random(seed), PrimitiveSet(PAPER_VARIABLES), 9, is_full=False))
    )
    values = compile_formula(formula).evaluate(told(seed), PAGES)
    assert np.all(np.abs(values) <= 1e30)


def test_parts_that_occur_twice_are_computed_once() -> None:
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
        changes = [one for gap, changed in visits for one in [False] * (gap - 1) + [changed]]
        changes += [False] * (age - 1)
    if not changes:
        return 0.0
    count = len(changes)
    weights = {
        "NAD": [1.0] * count,
        "SAD": [0.0] * (count - 1) + [1.0],
        "AAD": list(range(1, count + 1)),
        "GAD": [2.0**place for place in range(count)],
    }[name]
    seen = sum(weight for weight, changed in zip(weights, changes, strict=True) if changed)
    return seen / sum(weights)


@settings(max_examples=200)
@given(
    histories,
    st.integers(1, 6),
    st.sampled_from(["visit", "cycle"]),
    st.sampled_from(["CG", "NAD", "SAD", "AAD", "GAD"]),
)
def test_running_sums_give_what_the_whole_history_gives(
    visits: list[Visit], age: int, clock: WeightClock, name: str
) -> None:
    known = variable_set([name], clock)
    rows = known.new_rows(1)
    for gap, changed in visits:
        rows = known.rows_after_looks(rows, np.array([float(gap)]), np.array([changed]))
    found = known.values(rows, np.array([float(age)]))[name][0]
    idle = age if visits else 1
    assert found == pytest.approx(by_hand(name, visits, idle, clock), abs=1e-12)
