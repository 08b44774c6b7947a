"""The race in continuous time, scored on the truth."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from freshet.core.clock import to_epoch
from freshet.core.tables import Caps, Choices, PageTable, VisitTable
from freshet.core.types import Floats
from freshet.schedule.policies import NAMES, make
from freshet.simulate.race import Racer, Truth, truth

START = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def pages(count: int, importance: list[float] | None = None) -> PageTable:
    """Return live pages with ids that are no places."""
    keys = np.arange(count, dtype=np.uint64) // 5
    weights = np.array(importance) if importance else np.ones(count)
    ids = 100 + np.arange(count, dtype=np.int64)
    return PageTable(ids, keys, keys, keys, weights, np.full(count, np.nan))


def on_days(*days: float) -> Floats:
    return to_epoch(START) + 86_400 * np.array(days)


class InTurn:
    """Visits pages one after another, and keeps what it learnt."""

    name = "in-turn"

    def __init__(self) -> None:
        self.learnt: list[tuple[int, bool, bool]] = []

    def add(self, pages: PageTable) -> None:
        self.ids = pages.ids

    def learn(self, visits: VisitTable) -> None:
        columns = (visits.pages, visits.measured, visits.changed)
        self.learnt += zip(*(column.tolist() for column in columns), strict=True)

    def choose(self, now: datetime, k: int, caps: Caps) -> Choices:
        turn = len(self.learnt) + np.arange(k)
        chosen = self.ids[turn % len(self.ids)]
        return Choices(chosen, np.ones(k), np.ones(k), np.ones(k))


def living(seed: int, count: int = 40, days: float = 20) -> Truth:
    """Return pages of very different rates, about one change in three days."""
    rng = np.random.default_rng(seed)
    rates = np.minimum(50, np.exp(rng.normal(np.log(0.3), 2.5, count)))
    times = [np.sort(rng.uniform(0, days, rng.poisson(rate * days))) for rate in rates]
    return truth(pages(count), [on_days(*each) for each in times])


def test_a_copy_is_fresh_from_its_look_to_the_next_change() -> None:
    racer = Racer(InTurn(), truth(pages(1), [on_days(1.25, 1.5)]), 0.5, START)
    assert racer.advance(START).fresh_now == 1.0
    half = racer.advance(START + 1.5 * DAY)
    assert (half.visits, half.fresh_now) == (1, 0.0)
    assert half.freshness == pytest.approx(1.25 / 1.5)
    whole = racer.advance(START + 4 * DAY)
    assert (whole.visits, whole.changes_found, whole.fresh_now) == (3, 1, 1.0)
    assert whole.freshness == pytest.approx((1.25 + 2) / 4)


def test_how_often_a_race_is_looked_at_alters_nothing() -> None:
    at_once, often = (Racer(make("age", live=True), living(1), 30, START) for _ in range(2))
    for hour in range(24 * 5):
        often.advance(START + hour * timedelta(hours=1))
    one, other = at_once.advance(START + 5 * DAY), often.advance(START + 5 * DAY)
    assert (one.visits, one.changes_found) == (other.visits, other.changes_found)
    assert one.visits == 151
    assert one.freshness == pytest.approx(other.freshness)


def test_the_first_look_is_only_the_reference() -> None:
    policy = InTurn()
    Racer(policy, truth(pages(1), [on_days(-1, 0.5)]), 1, START).advance(START + DAY)
    assert policy.learnt == [(100, False, False), (100, True, True)]


def test_pages_that_seem_to_change_at_every_look_count_only_when_they_do() -> None:
    policy = InTurn()
    noisy = truth(pages(1), [on_days(1.5)], noisy=np.array([True]))
    standing = Racer(policy, noisy, 1, START).advance(START + 3 * DAY)
    assert [changed for _, _, changed in policy.learnt] == [False, True, True, True]
    assert standing.changes_found == 1


def test_freshness_goes_by_importance() -> None:
    racer = Racer(InTurn(), truth(pages(2, [3.0, 1.0]), [on_days(), on_days()]), 1, START)
    assert racer.advance(START).fresh_now == 0.75


def test_several_visits_at_once_spend_the_same_budget() -> None:
    one = Racer(make("age", live=True), living(2), 40, START)
    four = Racer(make("age", live=True), living(2), 40, START, at_once=4)
    assert one.advance(START + 9.99 * DAY).visits == four.advance(START + 9.99 * DAY).visits


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_can_race(name: str) -> None:
    racer = Racer(make(name, live=True), living(3, count=10), 20, START)
    standing = racer.advance(START + 10 * DAY)
    assert (standing.policy, standing.visits) == (name, 201)
    assert 0 < standing.changes_found <= 201
    assert 0 < standing.freshness < 1


def test_the_default_policy_keeps_more_fresh_than_round_robin_and_nutch() -> None:
    fresh = {
        name: Racer(make(name, live=True), living(4), 60, START).advance(START + 15 * DAY).freshness
        for name in ("bayes-freshness", "age", "nutch")
    }
    assert fresh["bayes-freshness"] > max(fresh["age"], fresh["nutch"])
