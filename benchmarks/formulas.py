"""What the benchmarks of searches share: the size of a fold, lots, and formulas made at random."""

from random import Random

from freshet.backtest.cycle_crawl import moment
from freshet.core.types import Ids
from freshet.formula.expression import Formula
from freshet.formula.variables import ALL
from freshet.learning.evolve.genetic_operators import Language, grown
from freshet.schedule.top_k import lot_keys

PAGES, CYCLES, SHARE, SEED = 167_000, 57, 0.05, 1
DEEPEST, DEEPEST_FULL = 10, 6
LANGUAGE = Language(ALL)


def random_formulas(count: int) -> list[Formula]:
    """Return formulas of depths up to ten, half of them grown full to six levels."""
    rng = Random(SEED)
    made: list[Formula] = []
    while len(made) < count:
        full = len(made) % 2 == 0
        depth = rng.randint(2, DEEPEST_FULL if full else DEEPEST)
        formula = Formula(tuple(grown(rng, LANGUAGE, depth, is_full=full)))
        made += [formula] if formula.names else []
    return made


def lots(cycles: int) -> Ids:
    """Return what each cycle's lots are drawn with."""
    return lot_keys(SEED, (moment(cycle).timestamp() for cycle in range(cycles)))
