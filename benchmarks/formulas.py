"""Shared by the benchmarks of searches: the size of a fold, tie breaks and random formulas."""

from random import Random

from freshet.backtest.cycle_crawl import cycle_time
from freshet.core.types import HashArray
from freshet.formula.expression import Formula
from freshet.formula.variables import PAPER_VARIABLES
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree
from freshet.schedule.top_k import tie_break_keys

PAGES, CYCLES, SHARE, SEED = 167_000, 57, 0.05, 1
MAX_DEPTH, MAX_FULL_DEPTH = 10, 6
PRIMITIVES = PrimitiveSet(PAPER_VARIABLES)


def random_formulas(count: int) -> list[Formula]:
    """Return formulas of depths up to ten; half of them are full trees of up to six levels."""
    rng = Random(SEED)
    formulas: list[Formula] = []
    while len(formulas) < count:
        is_full = len(formulas) % 2 == 0
        depth = rng.randint(2, MAX_FULL_DEPTH if is_full else MAX_DEPTH)
        formula = Formula(tuple(random_tree(rng, PRIMITIVES, depth, is_full=is_full)))
        formulas += [formula] if formula.variables else []
    return formulas


def cycle_tie_break_keys(cycles: int) -> HashArray:
    """Return the tie break key of each cycle."""
    return tie_break_keys(SEED, (cycle_time(cycle).timestamp() for cycle in range(cycles)))
