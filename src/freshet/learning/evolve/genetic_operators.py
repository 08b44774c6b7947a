"""Formulas made at random, bred from others, and altered: the operators of genetic programming.

Santos et al. 2015, section 4, after Koza 1992. A formula stays within the greatest depth; where a
child would not, another cut is tried, and after some tries the parent stands in for it.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from random import Random

from freshet.formula.expression import FUNCTIONS, Formula, FormulaToken, arity, subtree_end

CONSTANTS = (0.001, 0.01, 0.1, 0.5, 1.0, 10.0, 100.0, 1000.0)
MAX_DEPTH, MAX_PARENT_DEPTH = 10, 9
INITIAL_DEPTHS = (2, 3, 4, 5, 6)
MAX_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class PrimitiveSet:
    """Out of what formulas are made: names of what is known, constants and functions."""

    variables: tuple[str, ...]
    constants: tuple[float, ...] = CONSTANTS
    functions: tuple[str, ...] = tuple(FUNCTIONS)

    @property
    def terminals(self) -> tuple[FormulaToken, ...]:
        """Return what has no parts."""
        return (*self.variables, *self.constants)


def initial_population(rng: Random, language: PrimitiveSet, size: int) -> list[Formula]:
    """Make formulas of every depth, half of them full to it and half grown at random.

    As with Koza none comes twice, and each knows something of the page, for others rank nothing;
    where too few of such formulas are found, what was drawn last is taken.
    """
    made: list[Formula] = []
    known: set[Formula] = set()
    for number in range(size):
        depth, is_full = INITIAL_DEPTHS[number // 2 % len(INITIAL_DEPTHS)], number % 2 == 0
        made.append(_new(rng, language, depth, known, is_full=is_full))
        known.add(made[-1])
    return made


def _new(
    rng: Random, language: PrimitiveSet, depth: int, made: Set[Formula], *, is_full: bool
) -> Formula:
    for _ in range(MAX_ATTEMPTS):
        formula = Formula(tuple(random_tree(rng, language, depth, is_full=is_full)))
        if formula.variables and formula not in made:
            break
    return formula


def random_tree(
    rng: Random, language: PrimitiveSet, depth: int, *, is_full: bool
) -> list[FormulaToken]:
    """Return the tokens of a random formula of at most a depth, or of just that one.

    It begins with a function, where it may have more than one level.
    """
    tokens: list[FormulaToken] = []
    missing = [depth]
    while missing:
        room = missing.pop()
        token = _drawn(rng, language, room, is_full=is_full or not tokens)
        tokens.append(token)
        missing += [room - 1] * arity(token)
    return tokens


def _drawn(rng: Random, language: PrimitiveSet, room: int, *, is_full: bool) -> FormulaToken:
    if room <= 1:
        return rng.choice(language.terminals)
    if is_full:
        return rng.choice(language.functions)
    return rng.choice((*language.functions, *language.terminals))


def cross_over(rng: Random, one: Formula, other: Formula) -> Formula:
    """Put a random part of one formula into the place of a random part of another."""
    for _ in range(MAX_ATTEMPTS):
        start = rng.randrange(len(one))
        given = rng.randrange(len(other))
        part = other.tokens[given : subtree_end(other.tokens, given)]
        child = _with_part(one, start, part)
        if child.depth <= MAX_DEPTH:
            return child
    return one


def replace_subtree(rng: Random, formula: Formula, language: PrimitiveSet) -> Formula:
    """Put a new random formula into the place of a random part."""
    for _ in range(MAX_ATTEMPTS):
        start = rng.randrange(len(formula))
        part = random_tree(rng, language, rng.choice((1, *INITIAL_DEPTHS)), is_full=False)
        child = _with_part(formula, start, part)
        if child.depth <= MAX_DEPTH:
            return child
    return formula


def swap_subtrees(rng: Random, formula: Formula) -> Formula:
    """Exchange two random parts of a formula, neither of which holds the other."""
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


def _with_part(formula: Formula, start: int, part: Sequence[FormulaToken]) -> Formula:
    tokens = formula.tokens
    return Formula((*tokens[:start], *part, *tokens[subtree_end(tokens, start) :]))
