"""A small world, searched and tested once for all tests of this folder."""

import pytest
from experiments.gp4c.data import Source, opened
from experiments.gp4c.experiment import Found, crawled, searched
from experiments.gp4c.searches import Size

from freshet.core.progress import silent
from freshet.engine.local import LocalEngine

SMALL = Source("world", pages=4_000, cycles=30)
SIZE = Size(population=16, generations=2, seeds=1, folds=3)


@pytest.fixture(scope="session")
def found() -> Found:
    engine = LocalEngine(1)
    formulas = searched(SMALL, SIZE, engine, None, silent)
    results = crawled(SMALL, formulas, engine, silent)
    trace = opened(SMALL)
    return Found(SMALL, SIZE, len(trace.pages), trace.digest, formulas, results)
