"""The operators of genetic programming: random formulas, crossover and mutation.

Santos et al. 2015, section 4, after Koza 1992. A formula has a maximum depth. If a child would be
deeper, another cut is tried; after some attempts the parent is taken instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from freshet.formula.expression import FUNCTIONS, Formula, FormulaToken, arity, subtree_end

CONSTANTS = (0.001, 0.01, 0.1, 0.5, 1.0, 10.0, 100.0, 1000.0)
MAX_DEPTH, MAX_PARENT_DEPTH = 10, 9
INITIAL_DEPTHS = (2, 3, 4, 5, 6)
MAX_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class PrimitiveSet:
    """The variables, constants and functions that formulas are made of."""

    variables: tuple[str, ...]
    constants: tuple[float, ...] = CONSTANTS
    functions: tuple[str, ...] = tuple(FUNCTIONS)

    @property
    def terminals(self) -> tuple[FormulaToken, ...]:
        """Return the variables and constants."""
        return (*self.variables, *self.constants)


def initial_population(rng: Random, primitives: PrimitiveSet, size: int) -> list[Formula]:
    """Return random formulas of all initial depths, half of them full trees (ramped half-and-half).

    As in Koza's method no formula occurs twice, and each has a variable, because others give all
    pages the same score. If too few such formulas are found, the last one drawn is taken.
    """
    population: list[Formula] = []
    earlier: set[Formula] = set()
    for number in range(size):
        depth, is_full = INITIAL_DEPTHS[number // 2 % len(INITIAL_DEPTHS)], number % 2 == 0
        for _ in range(MAX_ATTEMPTS):
            formula = Formula(tuple(random_tree(rng, primitives, depth, is_full=is_full)))
            if formula.variables and formula not in earlier:
                break
        population.append(formula)
        earlier.add(formula)
    return population


def random_tree(
    rng: Random, primitives: PrimitiveSet, depth: int, *, is_full: bool
) -> list[FormulaToken]:
    """Return the tokens of a random formula of at most a depth, or of exactly it if ``is_full``.

    The root is a function if the depth is above 1.
    """
    tokens: list[FormulaToken] = []
    open_depths = [depth]
    while open_depths:
        max_depth = open_depths.pop()
        token = _random_token(rng, primitives, max_depth, is_full=is_full or not tokens)
        tokens.append(token)
        open_depths += [max_depth - 1] * arity(token)
    return tokens


def _random_token(
    rng: Random, primitives: PrimitiveSet, max_depth: int, *, is_full: bool
) -> FormulaToken:
    if max_depth <= 1:
        return rng.choice(primitives.terminals)
    if is_full:
        return rng.choice(primitives.functions)
    return rng.choice((*primitives.functions, *primitives.terminals))


def cross_over(rng: Random, receiver: Formula, donor: Formula) -> Formula:
    """Return the receiver with a random subtree replaced by a random subtree of the donor."""
    for _ in range(MAX_ATTEMPTS):
        start = rng.randrange(len(receiver))
        donor_start = rng.randrange(len(donor))
        subtree = donor.tokens[donor_start : subtree_end(donor.tokens, donor_start)]
        child = _with_subtree(receiver, start, subtree)
        if child.depth <= MAX_DEPTH:
            return child
    return receiver


def replace_subtree(rng: Random, formula: Formula, primitives: PrimitiveSet) -> Formula:
    """Return the formula with a random subtree replaced by a new random one."""
    for _ in range(MAX_ATTEMPTS):
        start = rng.randrange(len(formula))
        subtree = random_tree(rng, primitives, rng.choice((1, *INITIAL_DEPTHS)), is_full=False)
        child = _with_subtree(formula, start, subtree)
        if child.depth <= MAX_DEPTH:
            return child
    return formula


def swap_subtrees(rng: Random, formula: Formula) -> Formula:
    """Return the formula with two random disjoint subtrees exchanged."""
    tokens = formula.tokens
    for _ in range(MAX_ATTEMPTS):
        first, second = sorted((rng.randrange(len(tokens)), rng.randrange(len(tokens))))
        first_end, second_end = subtree_end(tokens, first), subtree_end(tokens, second)
        if first_end > second:
            continue
        child = Formula(
            tokens[:first]
            + tokens[second:second_end]
            + tokens[first_end:second]
            + tokens[first:first_end]
            + tokens[second_end:]
        )
        if child.depth <= MAX_DEPTH:
            return child
    return formula


def _with_subtree(formula: Formula, start: int, subtree: Sequence[FormulaToken]) -> Formula:
    """Return the formula with the subtree at ``start`` replaced."""
    tokens = formula.tokens
    return Formula((*tokens[:start], *subtree, *tokens[subtree_end(tokens, start) :]))
