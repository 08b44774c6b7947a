"""Policies after a restart: restored from their state, or built again from their visits."""

import numpy as np
import pytest

from freshet.core.tables import DAY_SECONDS, VisitTable
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.objectives import ObjectiveName
from tests.schedule.bayes_samples import bayes_policy, choose, pages, visits

COUNT, DAYS, PER_BATCH, BATCHES = 240, 30, 6, 4
EVENT_DAYS = {0: 9.3, 2: 21.6, 4: 29.2}
each_objective = pytest.mark.parametrize("objective", ["changes", "freshness"])


class EventfulWeb:
    """Pages of six hosts with rates of their own; some hosts change as a whole on one day."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(8)
        self._rates = np.random.default_rng(9).permutation(np.geomspace(0.003, 2.0, COUNT))
        self._last_look = np.full(COUNT, np.nan)

    def look(self, ids: np.ndarray, day: float) -> np.ndarray:
        """Return which pages have changed since they were last looked at."""
        before = self._last_look[ids]
        chances = -np.expm1(-self._rates[ids] * np.nan_to_num(day - before))
        events = np.array([EVENT_DAYS.get(page // 40, np.inf) for page in ids.tolist()])
        self._last_look[ids] = day
        return (self._rng.random(len(ids)) < chances) | ((before < events) & (events <= day))


def crawled(objective: ObjectiveName) -> tuple[BayesPolicy, VisitTable]:
    """Return a policy after a month of its own choices, and all its visits by page and time."""
    policy, web = bayes_policy(objective), EventfulWeb()
    policy.add(pages(range(COUNT), host_pages=40))
    ids, days, changed = [], [], []
    for step in range(DAYS * BATCHES):
        day = step / BATCHES
        chosen = choose(policy, day, PER_BATCH)
        results = web.look(chosen, day)
        policy.learn(visits(chosen, day, results))
        ids += chosen.tolist()
        days += [day] * len(chosen)
        changed += results.tolist()
    order = np.lexsort((days, ids))
    return policy, visits(np.array(ids)[order], np.array(days)[order], np.array(changed)[order])


@each_objective
@pytest.mark.parametrize("moment", [30.0, 30.01])
def test_a_restored_policy_chooses_exactly_as_before(
    objective: ObjectiveName, moment: float
) -> None:
    first, _ = crawled(objective)
    choose(first, 30.0, 3)
    second = bayes_policy(objective)
    second.restore(first.state())
    for step in range(3):
        day = moment + step / 50
        chosen = choose(first, day, PER_BATCH)
        assert choose(second, day, PER_BATCH).tolist() == chosen.tolist()
        for policy in (first, second):
            policy.learn(visits(chosen, day, chosen % 3 == 0))


@each_objective
def test_what_pages_showed_themselves_is_learnt_again_from_their_visits(
    objective: ObjectiveName,
) -> None:
    """The prior and the shared events depend on the steps of their fits, so they are copied."""
    before, table = crawled(objective)
    after, now = bayes_policy(objective), DAYS * DAY_SECONDS
    after.add(pages(range(COUNT), host_pages=40))
    after.learn(table)
    for policy in (before, after):
        policy._refit_if_due(now)
    likelihoods = [np.exp(policy.page_states.column("likelihood")) for policy in (before, after)]
    assert np.abs(np.subtract(*likelihoods)).mean() < 0.03
    after._model.restore(before._model.state())
    rows = np.arange(COUNT)
    scores = [policy._model.page_scores(rows, now) for policy in (before, after)]
    best = [np.argsort(-score.values)[: PER_BATCH * BATCHES] for score in scores]
    values = [scores[0].values[rows].sum() for rows in best]
    assert values[1] > 0.95 * values[0]
    assert np.abs(scores[0].chances - scores[1].chances).mean() < 0.02
