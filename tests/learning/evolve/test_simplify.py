"""Simplified formulas: the same values to the bit, and one text for equal formulas."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.formula.expression import Formula, parse_formula
from freshet.formula.program import compile_formula
from freshet.formula.variables import PAPER_VARIABLES
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree
from freshet.learning.evolve.simplify import simplify

# Zero and one are among the constants, so that identities have something to work on.
PRIMITIVES = PrimitiveSet(("t", "X", "CG"), (0.0, 1.0, -1.0, 0.5, 1e-13))
VALUES = (0.0, -0.0, 0.25, 1.0, -1.0, 3.0, 57.0, -2.5, 1e30, 1e-300)
PAGES = 60


def random_formula(seed: int, depth: int) -> Formula:
    return Formula(tuple(random_tree(Random(seed), PRIMITIVES, depth, is_full=seed % 2 == 0)))


def variable_values(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.choice(VALUES, PAGES) for name in PRIMITIVES.variables}


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 7))
def test_values_are_equal_to_the_last_bit(seed: int, depth: int) -> None:
    formula = random_formula(seed, depth)
    before, after = (
        compile_formula(variant).evaluate(variable_values(seed), PAGES)
        for variant in (formula, simplify(formula))
    )
    assert before.tobytes() == after.tobytes()


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 7))
def test_a_simplified_formula_is_final_and_never_longer(seed: int, depth: int) -> None:
    shorter = simplify(random_formula(seed, depth))
    assert len(shorter) <= len(random_formula(seed, depth))
    assert str(simplify(shorter)) == str(shorter)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 6))
def test_the_order_of_operands_of_sums_and_products_has_no_effect(seed: int, depth: int) -> None:
    formula = random_formula(seed, depth)
    assert str(simplify(exchange_operands(formula))) == str(simplify(formula))


def exchange_operands(formula: Formula) -> Formula:
    """Return a formula with the operands of every sum and product exchanged."""
    stack: list[tuple[str | float, ...]] = []
    for token in reversed(formula.tokens):
        if token in ("+", "*"):
            first, second = stack.pop(), stack.pop()
            stack.append((token, *second, *first))
        elif token in ("-", "/", "pow"):
            first, second = stack.pop(), stack.pop()
            stack.append((token, *first, *second))
        elif token in ("log", "exp"):
            stack.append((token, *stack.pop()))
        else:
            stack.append((token,))
    return Formula(stack.pop())


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("t + X", "X + t"),
        ("2 * t", "t * 2"),
        ("(t + X) - (X + t)", "0"),
        ("t * X + X * t", "X * t * 2"),
        ("t - -3", "t + 3"),
        ("-3 + t", "t - 3"),
        ("t / (1 - 1)", "0"),
        ("t / 0.0000000000001", "0"),
        ("pow(1, t)", "1"),
        ("pow(t, X - X)", "1"),
        ("0 * t + X", "X"),
        ("t / t", "t / t"),
        ("pow(t + 0, X)", "pow(t, X)"),
        ("pow(0 * t, X)", "pow(0, X)"),
        ("pow(t, X + 0)", "pow(t, X)"),
    ],
)
def test_a_formula_has_one_short_text(text: str, short: str) -> None:
    assert str(simplify(parse_formula(text, PAPER_VARIABLES))) == short


def test_no_zero_has_a_sign() -> None:
    variables = {"t": np.array([-0.0]), "X": np.array([-1.0])}
    for text in ("pow(t, X)", "pow(-0, X)", "pow(0, X)", "pow(0 * -1, X)", "pow(-0, -1) + 0 * X"):
        formula = parse_formula(text, PAPER_VARIABLES)
        for variant in (formula, simplify(formula)):
            assert (
                compile_formula(variant).evaluate(variables, 1)
                == variant.evaluate(variables, 1)
                == 1e30
            )
