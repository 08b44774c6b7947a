"""Formulas: reading, writing, breeding and simplifying them."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.errors import UsageError
from freshet.formula.expression import MAX_NESTING, Formula, parse_formula
from freshet.formula.program import compile_formula
from freshet.formula.variables import PAPER_VARIABLES
from freshet.learning.evolve.genetic_operators import (
    MAX_DEPTH,
    PrimitiveSet,
    cross_over,
    initial_population,
    random_tree,
    replace_subtree,
    swap_subtrees,
)
from freshet.learning.evolve.simplify import simplify

PRIMITIVES = PrimitiveSet(PAPER_VARIABLES)
PAGES = 40


def random_formula(seed: int, depth: int = 6) -> Formula:
    return Formula(tuple(random_tree(Random(seed), PRIMITIVES, depth, is_full=seed % 2 == 0)))


def variable_values(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.choice([0.0, 0.25, 1.0, 3.0, 57.0], PAGES) for name in PAPER_VARIABLES}


@given(st.integers(0, 10**6))
def test_a_formula_reads_back_from_its_text(seed: int) -> None:
    formula = random_formula(seed)
    assert parse_formula(str(formula), PAPER_VARIABLES) == formula


@given(st.integers(0, 10**6))
def test_every_value_is_finite(seed: int) -> None:
    values = random_formula(seed, 9).evaluate(variable_values(seed), PAGES)
    assert np.all(np.isfinite(values))
    assert np.all(np.abs(values) <= 1e30)


@given(st.integers(0, 10**6))
def test_a_simplified_formula_has_the_same_values(seed: int) -> None:
    formula = random_formula(seed, 7)
    shorter = simplify(formula)
    assert len(shorter) <= len(formula)
    values = variable_values(seed)
    before, after = (
        compile_formula(variant).evaluate(values, PAGES) for variant in (formula, shorter)
    )
    np.testing.assert_array_equal(before, after)


@given(st.integers(0, 10**6))
def test_children_are_valid_and_not_too_deep(seed: int) -> None:
    rng, first, second = Random(seed), random_formula(seed, 9), random_formula(seed + 1, 9)
    for child in (
        cross_over(rng, first, second),
        replace_subtree(rng, first, PRIMITIVES),
        swap_subtrees(rng, first),
    ):
        assert child.depth <= MAX_DEPTH
        assert parse_formula(str(child), PAPER_VARIABLES) == child


def test_the_initial_population_has_every_depth_and_depends_on_the_seed_alone() -> None:
    formulas = initial_population(Random(4), PRIMITIVES, 50)
    assert formulas == initial_population(Random(4), PRIMITIVES, 50)
    assert {formula.depth for formula in formulas[::2]} == {2, 3, 4, 5, 6}
    assert len({formula.depth for formula in formulas[1::2]}) > 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t * Y", "'Y' is unknown"),
        ("t * (X + 1", "')' is missing"),
        ("t X", "'X' is one too many"),
        ("", "something is missing"),
        ("__import__('os')", "cannot read"),
        ("open(t)", "'open' is unknown"),
        ("t +", "something is missing"),
        ("pow(t)", "',' is missing"),
        ("log(t, X)", "')' is missing"),
        ("* t", "does not belong here"),
        ("t.real", "cannot read"),
        ("(" * 500 + "t" + ")" * 500, "deep"),
        ("-" * 5000 + "t", "deep"),
        ("t" * 30_000, "shorten it"),
    ],
)
def test_an_invalid_formula_is_refused_with_its_position(text: str, message: str) -> None:
    with pytest.raises(UsageError, match="formula") as refused:
        parse_formula(text, PAPER_VARIABLES)
    assert message in str(refused.value)


def test_brackets_may_be_deep_but_not_endless() -> None:
    text = "(" * (MAX_NESTING - 1) + "t" + ")" * (MAX_NESTING - 1)
    assert parse_formula(text, PAPER_VARIABLES) == Formula(("t",))


def test_digits_of_other_scripts_are_no_numbers() -> None:
    with pytest.raises(UsageError, match="cannot read"):
        parse_formula("t * \u0663", PAPER_VARIABLES)
