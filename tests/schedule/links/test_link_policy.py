"""The policy of the objective ``links``, and the rankings that it is compared with."""

from itertools import pairwise

import numpy as np
import pytest

from freshet.core.tables import HostCaps
from freshet.schedule.links.link_policy import ROUND_ROBIN
from freshet.schedule.policies import LINK_RULE_POLICIES, make_policy
from tests.schedule.links.link_samples import DAY, START, link_policy, look, pages

HORIZONS = np.array([0.0, 1.0, 7.0, 30.0])


def test_pages_with_more_new_links_come_first() -> None:
    policy = link_policy([1, 2, 3])
    for day in range(5):
        policy.learn(look([0, 1, 2], day, [0, 5, 1]))
    choices = policy.choose(START + 6 * DAY, 3, HostCaps())
    assert choices.pages.tolist() == [1, 2, 0]
    assert "new links expected" in next(iter(choices)).reason


def test_a_page_without_new_links_is_visited_after_a_long_time() -> None:
    policy = link_policy([1, 2])
    for day in range(5):
        policy.learn(look([0, 1], day, [0, 5]))
    policy.learn(look([1], 60, [5]))
    assert policy.choose(START + 60.1 * DAY, 1, HostCaps()).pages.tolist() == [0]


def test_one_visit_in_a_hundred_goes_to_the_page_that_waited_for_longest() -> None:
    policy = link_policy(list(range(200)))
    everything = list(range(200))
    for day in range(3):
        policy.learn(look(everything, day, [5 * (page < 150) for page in everything]))
    policy.learn(look(everything[:199], 4, [0] * 199))
    choices = policy.choose(START + 5 * DAY, 100, HostCaps())
    assert choices.choosers is not None
    assert choices.choosers.count(ROUND_ROBIN) == 1
    assert 199 in choices.pages
    assert len(set(choices.pages.tolist())) == 100


def test_the_round_robin_keeps_within_host_limits() -> None:
    policy = link_policy([7] * 300)
    policy.learn(look(list(range(300)), 0, [-1] * 300))
    caps = HostCaps(np.array([7], np.uint64), np.array([150]))
    assert len(policy.choose(START + DAY, 200, caps)) == 150


def test_more_new_links_are_expected_later() -> None:
    policy = link_policy([1, 2])
    for day in range(5):
        policy.learn(look([0, 1], day, [2, 0]))
    expected = policy.expected_links(np.array([0, 1]), START + 4 * DAY, HORIZONS)
    assert expected.shape == (2, 4)
    assert all(early <= late for early, late in pairwise(expected[0].tolist()))
    assert expected[0, 1] > expected[1, 1]
    assert expected[:, 0].tolist() == [0.0, 0.0]
    forecast = policy.forecast(np.array([0, 1]), START + 4 * DAY, HORIZONS)
    assert forecast.new_links is not None
    assert forecast.new_links.tolist() == expected.tolist()
    assert forecast.survival[0, 1] < forecast.survival[1, 1] < forecast.survival[1, 0] == 1.0


def test_frequent_looks_find_more_of_the_links_of_a_short_list() -> None:
    policy = link_policy([1] * 2)
    for day in range(20):
        policy.learn(look([0, 1], day, [9, 9]))
    now = START + 19 * DAY
    ids = np.array([0, 0, 1])
    times = np.array([(now + days * DAY).timestamp() for days in (1, 7, 7)])
    first, second, only = policy.links_at_looks(ids, times, now)
    assert [first, only] == policy.expected_links(ids[1:], now, np.array([1.0, 7.0]))[0].tolist()
    assert only < first + second
    with_room = policy.links_at_looks(ids, times, now, np.full(3, 1_000.0))
    assert with_room[0] + with_room[1] == pytest.approx(with_room[2], rel=0.02)


def test_the_explanation_has_expected_links_and_rates() -> None:
    policy = link_policy([1])
    for day in range(5):
        policy.learn(look([0], day, [2]))
    explanation = policy.explain(0, START + 6 * DAY)
    assert 1.0 < (explanation.link_rate or 0) < 2.0
    assert explanation.new_links == pytest.approx(2 * (explanation.link_rate or 0), rel=0.3)


@pytest.mark.parametrize(("name", "best"), [("nnl-pr", 0), ("nnl-av", 1), ("lcr", 2), ("ccr", 3)])
def test_each_ranking_has_its_figure(name: str, best: int) -> None:
    policy = make_policy(name)
    policy.add(pages([1, 2, 3, 4]))
    links = [[0, 9, 1, 0], [0, 9, 1, 0], [5, 0, 1, 0]]
    for day, counts in enumerate([[0] * 4, *links]):
        visits = look([0, 1, 2, 3], day, counts)
        visits.changed[:] = [False, False, False, day > 0]
        policy.learn(visits)
    assert policy.choose(START + 9 * DAY, 1, HostCaps()).pages.tolist() == [best]
    assert set(LINK_RULE_POLICIES) == {"nnl-pr", "nnl-av", "lcr", "ccr"}
