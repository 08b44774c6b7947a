"""On the real pages, a rule reproduces its stored figures."""

import os
from pathlib import Path

import pytest
from experiments.wild.data import open_source, trace_sources
from experiments.wild.expected_figures import read_figures
from experiments.wild.experiment import CrawlTask, ExperimentSize, run_tasks

DATA = Path(os.environ["FRESHET_DATA"])
STORED = read_figures()


def test_the_data_is_that_of_the_published_run() -> None:
    source = trace_sources(DATA)[0]
    digests = {trace.name: trace.digest for trace in STORED.traces}
    assert open_source(source).digest == digests[source.name]


@pytest.mark.parametrize("start", ["warm", "cold"])
def test_round_robin_reproduces_its_figures(start: str) -> None:
    stored = next(
        row
        for row in STORED.rows
        if (row.trace, row.start, row.budget, row.policy) == ("raw", start, 0.05, "age")
    )
    (result,) = run_tasks(DATA, [CrawlTask("raw", "age", 0.05, start)], ExperimentSize(processes=1))
    assert result.changerate == pytest.approx(stored.changerate, abs=1e-4)
    assert result.freshness == pytest.approx(stored.freshness, abs=1e-4)
