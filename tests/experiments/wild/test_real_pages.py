"""On the real pages, a rule reproduces its stored figures, and the default keeps its floors."""

import os
from pathlib import Path

import pytest
from experiments.wild.data import open_source, trace_sources
from experiments.wild.evaluation import WildRow
from experiments.wild.expected_figures import read_figures
from experiments.wild.experiment import CrawlTask, ExperimentSize, run_tasks

DATA = Path(os.environ["FRESHET_DATA"])
STORED = read_figures()
# A single run differs from the stored mean of three seeds by about half of this.
MARGIN = 0.02


def test_the_data_is_that_of_the_published_run() -> None:
    source = trace_sources(DATA)[0]
    digests = {trace.name: trace.digest for trace in STORED.traces}
    assert open_source(source).digest == digests[source.name]


@pytest.mark.parametrize("start", ["warm", "cold"])
def test_round_robin_reproduces_its_figures(start: str) -> None:
    stored = stored_row("age", start)
    (result,) = run_tasks(DATA, [CrawlTask("raw", "age", 0.05, start)], ExperimentSize(processes=1))
    assert result.changerate == pytest.approx(stored.changerate, abs=1e-4)
    assert result.freshness == pytest.approx(stored.freshness, abs=1e-4)


@pytest.mark.parametrize(
    ("policy", "measure", "start"),
    [
        ("bayes-changes", "changerate", "warm"),
        ("bayes-freshness", "freshness", "warm"),
        ("guarded-changes", "changerate", "cold"),
        ("guarded-freshness", "freshness", "cold"),
    ],
)
def test_the_default_does_not_fall_below_its_floors(policy: str, measure: str, start: str) -> None:
    stored, size = stored_row(policy, start), ExperimentSize(seeds=1, processes=1)
    (result,) = run_tasks(DATA, [CrawlTask("raw", policy, 0.05, start)], size)
    assert getattr(result, measure) >= getattr(stored, measure) - MARGIN


def stored_row(policy: str, start: str) -> WildRow:
    """Return the stored figures of a policy with 5 % of the pages a day."""
    return next(
        row
        for row in STORED.rows
        if (row.trace, row.start, row.budget, row.policy) == ("raw", start, 0.05, policy)
    )
