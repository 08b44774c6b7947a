"""What the benchmarks of searches share: the size of a fold, lots, and formulas made at random."""

from random import Random

from freshet.backtest.cycle_crawl import cycle_time
from freshet.core.types import HashArray
from freshet.formula.expression import Formula
from freshet.formula.variables import PAPER_VARIABLES
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree
from freshet.schedule.top_k import tie_break_keys

PAGES, CYCLES, SHARE, SEED = 167_000, 57, 0.05, 1
DEEPEST, DEEPEST_FULL = 10, 6
LANGUAGE = PrimitiveSet(PAPER_VARIABLES)


def random_formulas(count: int) -> list[Formula]:
    """Return formulas of depths up to ten, half of them grown full to six levels."""
    rng = Random(SEED)
    made: list[Formula] = []
    while len(made) < count:
        full = len(made) % 2 == 0
        depth = rng.randint(2, DEEPEST_FULL if full else DEEPEST)
        formula = Formula(tuple(random_tree(rng, LANGUAGE, depth, is_full=full)))
        made += [formula] if formula.variables else []
    return made


def lots(cycles: int) -> HashArray:
    """Return what each cycle's lots are drawn with."""
    return tie_break_keys(SEED, (cycle_time(cycle).timestamp() for cycle in range(cycles)))
