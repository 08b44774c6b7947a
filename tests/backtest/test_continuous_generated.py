"""A simulated web as a trace and as a ground truth."""

import numpy as np

from freshet.backtest.continuous.generated import generate_web_trace
from freshet.backtest.continuous.ground_truth import GroundTruth, ground_truth_of_trace
from freshet.backtest.trace import Trace


def trace_and_truth(pages: int, days: int, *, seed: int = 1) -> tuple[Trace, GroundTruth]:
    trace = generate_web_trace(pages, days, seed=seed)
    return trace, ground_truth_of_trace(trace)


def test_the_trace_has_the_days_of_the_change_times() -> None:
    trace, truth = trace_and_truth(70, 12)
    for page in range(70):
        times = truth.times[truth.starts[page] : truth.starts[page + 1]]
        days = {min(11, int(time // 86_400)) for time in times}
        assert days == {cycle for cycle in range(12) if trace.changed(cycle)[page]}


def test_some_pages_change_many_times_a_day_and_some_never() -> None:
    _, truth = trace_and_truth(60, 10)
    counts = np.diff(truth.starts)
    assert counts.max() > 100
    assert counts.min() == 0


def test_more_pages_are_other_hosts_and_the_same_seed_is_the_same_web() -> None:
    few, _ = trace_and_truth(60, 5)
    trace, truth = trace_and_truth(130, 5)
    _, same = trace_and_truth(130, 5)
    _, other = trace_and_truth(130, 5, seed=2)
    assert len(np.unique(trace.pages.hosts)) > len(np.unique(few.pages.hosts))
    assert (truth.times == same.times).all()
    assert len(truth.times) != len(other.times) or (truth.times != other.times).any()


def test_nothing_is_known_of_a_page_before_its_first_look() -> None:
    _, truth = trace_and_truth(10, 3)
    assert np.isnan(truth.pages.known_since).all()
    assert not truth.is_noisy.any()
