"""The rates of new links: shrinkage, capacity and rotating links."""

import numpy as np
import pytest
from numpy.typing import NDArray

from freshet.core.clock import to_epoch
from freshet.schedule.links.link_rates import (
    MAX_PRIOR_DAYS,
    MIN_PRIOR_DAYS,
    credibility_days,
    expected_links,
)
from freshet.schedule.links.prior_comparison import PRIOR_WEIGHTS, PriorComparison
from tests.schedule.links.link_samples import DAY, START, link_policy, look

MINUTE = 1 / 1_440


def rates_of(policy, page_ids):  # type: ignore[no-untyped-def]
    """Return the fitted rates of pages."""
    policy.rates.fit()
    return policy.rates.rates(np.array(page_ids))


def test_a_page_with_new_links_has_a_higher_rate_than_one_without() -> None:
    policy = link_policy([1, 2])
    for day in range(6):
        policy.learn(look([0, 1], day, [3, 0]))
    busy, quiet = rates_of(policy, [0, 1])
    assert 1.0 < busy <= 4.0
    assert 0.0 < quiet < 0.5


def test_a_page_without_looks_has_the_rate_of_its_host() -> None:
    policy = link_policy([1, 1, 2, 2])
    for day in range(6):
        policy.learn(look([0, 2], day, [4, 0]))
    rates = rates_of(policy, [0, 1, 2, 3])
    assert rates[0] > rates[1] > rates[3] >= rates[2]


def test_a_first_look_and_an_unknown_number_teach_nothing() -> None:
    policy = link_policy([1])
    policy.learn(look([0], 0, [50]))
    policy.learn(look([0], 1, [-1]))
    assert policy.page_states.column("link_days")[0] == 0


def test_a_full_list_has_lost_links() -> None:
    found = expected_links(np.array([100.0]), np.array([30.0]), np.array([0.1, 10.0]))
    assert found[0] == pytest.approx(8.5, abs=0.1)
    assert found[1] == pytest.approx(30.0)


def test_links_that_a_look_minutes_later_replaces_are_noise() -> None:
    farm, feed = link_policy([1]), link_policy([1])
    for minute in (0, 5, 10, 15):
        farm.learn(look([0], 1 + minute * MINUTE, [40]))
        feed.learn(look([0], 1 + minute * MINUTE, [1]))
    for day in (2, 3):
        farm.learn(look([0], day, [40]))
        feed.learn(look([0], day, [40]))
    assert rates_of(farm, [0])[0] < 0.1
    assert rates_of(feed, [0])[0] > 10
    soon = np.array([1.0])
    later = START + 3 * DAY
    assert farm.expected_links(np.array([0]), later, soon)[0, 0] < 0.1


def test_the_prior_counts_less_if_pages_differ_more() -> None:
    days, looks = np.full(20, 10.0), np.full(20, 10.0)
    same = np.full(20, 10.0)
    different = np.where(np.arange(20) % 2, 40.0, 0.0)
    # Counts of 0 and 2 in turn in one case; of 4 or 0 at every look in the other.
    assert credibility_days(same, days, np.full(20, 20.0), looks) == MAX_PRIOR_DAYS
    assert credibility_days(different, days, different**2 / 10, looks) == MIN_PRIOR_DAYS


def test_a_state_restores_the_rates() -> None:
    policy, other = link_policy([1, 2]), link_policy([])
    for day in range(4):
        policy.learn(look([0, 1], day, [3, 0]))
    policy.rates.fit()
    other.restore(policy.state())
    rows = np.array([0, 1])
    assert other.rates.rates(rows).tolist() == policy.rates.rates(rows).tolist()


def test_a_list_that_still_has_the_links_found_within_minutes_is_no_noise() -> None:
    policy = link_policy([1])
    for minute in (0, 5, 10, 15):
        policy.learn(look([0], 1 + minute * MINUTE, [6]))
    policy.rates.fit()
    rotating, growing = (policy.rates.rates(np.array([0]), np.array([links])) for links in (6, 30))
    assert growing[0] > 20 * rotating[0]


def test_a_page_that_never_had_a_link_expects_hardly_any() -> None:
    policy = link_policy([1, 1])
    for minute in range(9):
        policy.learn(look([0, 1], 1 + minute * MINUTE, [3, 0]))
    policy.rates.fit()
    rates = policy.rates.rates(np.array([0, 1]), np.array([5.0, 0.0]))
    assert rates[1] <= 0.05
    assert policy.rates.rates(np.array([1]), np.array([5.0]))[0] > 1.0


def test_minutes_of_looks_count_against_the_prior_of_few_pages() -> None:
    policy = link_policy([1, 1])
    for minute in range(9):
        policy.learn(look([0, 1], 1 + minute * MINUTE, [3, 0]))
    busy, quiet = rates_of(policy, [0, 1])
    assert busy > 10 * quiet


def test_the_rate_of_the_host_fades_with_looks_without_new_links() -> None:
    policy = link_policy([1] * 12)
    for number in range(57):
        policy.learn(look(range(11), 1 + number / 2 * MINUTE, [2] + [0] * 10))
    busy, quiet, unseen = rates_of(policy, [0, 1, 11])
    assert busy > 2_000
    assert unseen > 1
    assert quiet < unseen / 100


def test_the_known_number_of_links_counts_for_choices_as_for_forecasts() -> None:
    policy = link_policy([1, 1])
    for minute in range(9):
        policy.learn(look([0, 1], 1 + minute * MINUTE, [6, 0]))
    rows, links = np.array([0, 1]), np.array([60.0, 0.0])
    policy.rates.fit()
    given = policy.rates.rates(rows, links)
    assert policy.rates.rates(rows).tolist() != given.tolist()
    policy.learn_page_links(np.array([0, 1, 7]), np.array([60.0, 0.0, 3.0]))
    assert policy.rates.rates(rows).tolist() == given.tolist()
    now = START + 1.5 * DAY
    expected = policy.expected_links(rows, now, np.array([0.0]))[:, 0]
    assert [policy.explain(row, now).new_links for row in rows] == expected.tolist()
    assert policy.score(rows, to_epoch(now))[0] > 1_000 * policy.score(rows, to_epoch(now))[1]


def test_looks_within_a_minute_count_for_their_true_time() -> None:
    policy = link_policy([1])
    for number in range(101):
        policy.learn(look([0], 1 + number / 6 * MINUTE, [number % 10 == 0]))
    assert 30 < rates_of(policy, [0])[0] / 24 < 45


def learnt_prior_days(counts: NDArray[np.int64]) -> float:
    """Return the weight of the prior after looks every day; a row of counts per day."""
    policy = link_policy([1] * counts.shape[1])
    for day, row in enumerate(counts):
        policy.learn(look(range(counts.shape[1]), day, row.tolist()))
        policy.rates.fit()
    return policy.rates.prior_days


def test_the_prior_weighs_what_would_have_forecast_the_looks_best() -> None:
    rng = np.random.default_rng(3)
    lasting = rng.poisson(np.where(np.arange(60) % 6, 0.01, 30.0), (30, 60))
    bursts = np.where(rng.random((30, 60)) < 0.02, 30, 0)
    assert learnt_prior_days(lasting) <= 1.0
    assert learnt_prior_days(bursts) >= 30.0


def test_a_few_heavy_bursts_of_lasting_pages_do_not_hide_that_pages_differ() -> None:
    rng = np.random.default_rng(4)
    sizes = np.ceil(np.exp(rng.normal(1.0, 1.5, (30, 60)))).astype(np.int64)
    counts = np.where(np.arange(60) % 6, 0, sizes)
    assert learnt_prior_days(counts) <= 1.0


def test_few_looks_leave_the_prior_to_the_variances() -> None:
    comparison = PriorComparison()
    expected = np.repeat(PRIOR_WEIGHTS[:, None], 999, axis=1)
    comparison.add(expected, np.full(999, 3.0))
    assert comparison.best_weight is None
    comparison.add(expected[:, :1], np.array([3.0]))
    assert comparison.best_weight == 3.0
    other = PriorComparison()
    other.restore(comparison.state())
    assert other.best_weight == 3.0
