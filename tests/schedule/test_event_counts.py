"""Forecasts that are shown count a shared event once."""

import numpy as np
import pytest

from freshet.core.clock import from_epoch
from freshet.core.tables import DAY_SECONDS
from tests.schedule.bayes_samples import bayes_policy, pages, visits


def test_forecasts_count_an_event_of_all_pages_once() -> None:
    policy = bayes_policy("changes")
    policy.add(pages(range(20), host_pages=20))
    for day in range(45):
        for number in range(4):
            ids = np.arange(number, 20, 4)
            changed = (day - 1) // 3 != day // 3
            policy.learn(visits(ids, day + number / 4, changed and day > 0))
        policy.refit(from_epoch(DAY_SECONDS * (day + 1)))
    now = 45 * DAY_SECONDS
    [rate] = policy._model.counted_event_rates(np.array([0]), now)
    assert 1 / 4 < rate < 1 / 2.5
    assert policy.explain(0, from_epoch(now)).event_rate == rate
    survival = policy.forecast(np.array([0]), from_epoch(now), np.array([0.0, 3.0])).survival[0]
    assert -np.log(survival[1] / survival[0]) == pytest.approx(3 * rate, rel=0.1)
