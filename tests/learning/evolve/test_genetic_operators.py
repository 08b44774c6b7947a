"""The operators of genetic programming make valid formulas."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from freshet.formula.expression import Formula, parse_formula
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

PRIMITIVES = PrimitiveSet(PAPER_VARIABLES)


def random_formula(seed: int, depth: int = 6) -> Formula:
    return Formula(tuple(random_tree(Random(seed), PRIMITIVES, depth, is_full=seed % 2 == 0)))


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
