"""The kernels on a real GPU; these tests are collected only where FRESHET_GPU is set.

Formulas of + - * / alone have the same bits everywhere, so that every result must be the same.
"""

from random import Random

import numpy as np
import pytest

from freshet.backtest.devices import open_device
from freshet.backtest.gpu.crawl import FormulaBatchCrawl
from freshet.backtest.gpu.device import ArrayDevice
from freshet.formula.expression import Formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock
from freshet.learning.evolve.genetic_operators import PrimitiveSet, random_tree
from tests.backtest.traces import by_chance, in_groups

EXACT = PrimitiveSet(
    tuple(name for name in PAPER_VARIABLES if name != "CG"), functions=("+", "-", "*", "/")
)


@pytest.fixture(scope="module")
def gpu() -> ArrayDevice:
    return open_device("cuda")


@pytest.mark.parametrize("measure", ["ndcg", "changerate"])
@pytest.mark.parametrize("clock", ["visit", "cycle"])
@pytest.mark.parametrize("pages", [1, 31, 4096, 9001])
def test_a_gpu_finds_what_the_processor_finds(
    gpu: ArrayDevice, pages: int, clock: WeightClock, measure: str
) -> None:
    rng = Random(pages)
    trace = in_groups(by_chance(pages, 16, seed=pages))
    formulas = [
        Formula(tuple(random_tree(rng, EXACT, 1 + place % 6, is_full=place % 2 == 0)))
        for place in range(12)
    ]
    keys = np.array([rng.getrandbits(64) for _ in range(trace.cycles)], np.uint64)
    for k in (1, pages // 20 + 1, pages):
        for floor in (-np.inf, 0.3):
            one, other = (
                FormulaBatchCrawl(trace, k, keys, clock=clock, device=device).run(
                    formulas, floor=floor, measure=measure
                )
                for device in (gpu, open_device("cpu"))
            )
            for mine, expected in zip(one, other, strict=True):
                assert mine.changes_found.tolist() == expected.changes_found.tolist()
                assert mine.stale_before.tolist() == expected.stale_before.tolist()
                assert (mine.fitness, mine.is_stopped) == (expected.fitness, expected.is_stopped)
