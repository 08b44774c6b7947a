"""Formulas: parsing, formatting and finite values."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.errors import UsageError
from freshet.formula.expression import MAX_NESTING, Formula, parse_formula
from freshet.formula.variables import PAPER_VARIABLES
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree

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
