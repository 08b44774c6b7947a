"""Formulas made at random, bred from others, and altered: the operators of genetic programming.

Santos et al. 2015, section 4, after Koza 1992. A formula stays within the greatest depth; where a
child would not, another cut is tried, and after some tries the parent stands in for it.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from random import Random

from freshet.formula.expression import FUNCTIONS, Formula, Token, arity, part_end

CONSTANTS = (0.001, 0.01, 0.1, 0.5, 1.0, 10.0, 100.0, 1000.0)
DEEPEST, DEEPEST_PARENT = 10, 9
FIRST_DEPTHS = (2, 3, 4, 5, 6)
TRIES = 10


@dataclass(frozen=True, slots=True)
class Language:
    """Out of what formulas are made: names of what is known, constants and functions."""

    names: tuple[str, ...]
    constants: tuple[float, ...] = CONSTANTS
    functions: tuple[str, ...] = tuple(FUNCTIONS)

    @property
    def leaves(self) -> tuple[Token, ...]:
        """Return what has no parts."""
        return (*self.names, *self.constants)


def first_population(rng: Random, language: Language, size: int) -> list[Formula]:
    """Make formulas of every depth, half of them full to it and half grown at random.

    As with Koza none comes twice, and each knows something of the page, for others rank nothing;
    where too few of such formulas are found, what was drawn last is taken.
    """
    made: list[Formula] = []
    known: set[Formula] = set()
    for number in range(size):
        depth, is_full = FIRST_DEPTHS[number // 2 % len(FIRST_DEPTHS)], number % 2 == 0
        made.append(_new(rng, language, depth, known, is_full=is_full))
        known.add(made[-1])
    return made


def _new(
    rng: Random, language: Language, depth: int, made: Set[Formula], *, is_full: bool
) -> Formula:
    for _ in range(TRIES):
        formula = Formula(tuple(grown(rng, language, depth, is_full=is_full)))
        if formula.names and formula not in made:
            break
    return formula


def grown(rng: Random, language: Language, depth: int, *, is_full: bool) -> list[Token]:
    """Return the tokens of a random formula of at most a depth, or of just that one.

    It begins with a function, where it may have more than one level.
    """
    tokens: list[Token] = []
    missing = [depth]
    while missing:
        room = missing.pop()
        token = _drawn(rng, language, room, is_full=is_full or not tokens)
        tokens.append(token)
        missing += [room - 1] * arity(token)
    return tokens


def _drawn(rng: Random, language: Language, room: int, *, is_full: bool) -> Token:
    if room <= 1:
        return rng.choice(language.leaves)
    if is_full:
        return rng.choice(language.functions)
    return rng.choice((*language.functions, *language.leaves))


def crossed(rng: Random, one: Formula, other: Formula) -> Formula:
    """Put a random part of one formula into the place of a random part of another."""
    for _ in range(TRIES):
        start = rng.randrange(len(one))
        given = rng.randrange(len(other))
        part = other.tokens[given : part_end(other.tokens, given)]
        child = _with_part(one, start, part)
        if child.depth <= DEEPEST:
            return child
    return one


def replaced(rng: Random, formula: Formula, language: Language) -> Formula:
    """Put a new random formula into the place of a random part."""
    for _ in range(TRIES):
        start = rng.randrange(len(formula))
        part = grown(rng, language, rng.choice((1, *FIRST_DEPTHS)), is_full=False)
        child = _with_part(formula, start, part)
        if child.depth <= DEEPEST:
            return child
    return formula


def swapped(rng: Random, formula: Formula) -> Formula:
    """Exchange two random parts of a formula, neither of which holds the other."""
    tokens = formula.tokens
    for _ in range(TRIES):
        first, second = sorted((rng.randrange(len(tokens)), rng.randrange(len(tokens))))
        first_end, second_end = part_end(tokens, first), part_end(tokens, second)
        if first_end > second:
            continue
        child = Formula(
            tokens[:first]
            + tokens[second:second_end]
            + tokens[first_end:second]
            + tokens[first:first_end]
            + tokens[second_end:]
        )
        if child.depth <= DEEPEST:
            return child
    return formula


def _with_part(formula: Formula, start: int, part: Sequence[Token]) -> Formula:
    tokens = formula.tokens
    return Formula((*tokens[:start], *part, *tokens[part_end(tokens, start) :]))
