"""The threshold below which pages wait: scoring in blocks, and hosts whose events have moved."""

import numpy as np
import pytest

from freshet.core.tables import DAY_SECONDS
from freshet.schedule import columns, value_threshold
from freshet.schedule.objectives import ObjectiveName
from tests.schedule.bayes_samples import bayes_policy, choose, pages, visits

COUNT = 300
each_objective = pytest.mark.parametrize("objective", ["changes", "freshness"])


def choices(objective: ObjectiveName) -> list[list[int]]:
    """Return what a policy chooses in some days, in which the pages of one host change at once."""
    policy, rng, chosen = bayes_policy(objective), np.random.default_rng(5), []
    policy.add(pages(range(COUNT), host_pages=100))
    for step in range(30):
        day = step / 4
        chosen.append(choose(policy, day, 20).tolist())
        ids = np.array(chosen[-1])
        changed = (rng.random(len(ids)) < 0.2) | ((ids < 100) & (step == 20))
        policy.learn(visits(ids, day, changed))
    return chosen


@each_objective
def test_blocks_scored_in_threads_give_the_same_choices(
    objective: ObjectiveName, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = choices(objective)
    monkeypatch.setattr(value_threshold, "MAX_ROWS_SCORED_AT_ONCE", 64)
    monkeypatch.setattr(columns, "BLOCK_ROWS", 32)
    assert choices(objective) == at_once


@each_objective
def test_a_large_host_that_has_moved_is_valued_after_a_restart_too(
    objective: ObjectiveName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(value_threshold, "MIN_BOUNDED_PAGES", 50)
    monkeypatch.setattr(value_threshold, "MIN_RESERVE", 4)
    policy = bayes_policy(objective)
    policy.add(pages(range(COUNT), host_pages=100))
    for day in (1.0, 2.0, 3.0):
        policy.learn(visits(range(COUNT), day, np.arange(COUNT) % 7 == 0))
        choose(policy, day, 5)
    policy.learn(visits(range(40), 3.01, True))
    policy._refit_if_due(3.01 * DAY_SECONDS)
    assert policy.state()["moved_hosts"].tolist() == [0]
    restored = bayes_policy(objective)
    restored.restore(policy.state())
    assert choose(restored, 3.02, 9).tolist() == choose(policy, 3.02, 9).tolist()
