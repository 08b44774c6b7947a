"""A small world, searched and tested once for all tests of this folder."""

import pytest
from experiments.gp4c.data import TraceSource, open_source
from experiments.gp4c.experiment import TraceResults, run_crawls, run_searches
from experiments.gp4c.searches import SearchSize

from freshet.core.progress import ignore_progress
from freshet.engine.local import LocalEngine

SMALL = TraceSource("world", pages=4_000, cycles=30)
SIZE = SearchSize(population=16, generations=2, seeds=1, folds=3)


@pytest.fixture(scope="session")
def results() -> TraceResults:
    engine = LocalEngine(1)
    formulas = run_searches(SMALL, SIZE, engine, None, ignore_progress)
    results = run_crawls(SMALL, formulas, engine, ignore_progress)
    trace = open_source(SMALL)
    return TraceResults(SMALL, SIZE, len(trace.pages), trace.digest, formulas, results)
