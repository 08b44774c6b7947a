"""Populations: given rates, groups that change together, bursts and rhythms that keep the mean."""

from dataclasses import replace

import numpy as np
import pytest

from freshet.world.parameters import (
    ActivityBursts,
    ChangePace,
    LinkYield,
    PageGrouping,
    PopulationGroup,
    PopulationParameters,
    RestRhythm,
)
from freshet.world.population import draw_new_links, draw_population

EVEN = PopulationParameters((ChangePace(1.0, 0.2),))
MIXED = PopulationParameters((
    ChangePace(0.5, 0.0),
    ChangePace(0.3, 0.02, 1.0),
    ChangePace(0.2, 1.0, 0.5),
))


def together(changed: np.ndarray, groups: np.ndarray) -> float:
    """Return the mean correlation of neighbouring pages of one group."""
    same = groups[1:] == groups[:-1]
    pairs = (changed[1:] & changed[:-1])[same].mean()
    rate = changed.mean()
    return float((pairs - rate**2) / (rate - rate**2))


def test_the_same_seed_gives_the_same_population() -> None:
    first, second, other = (draw_population(MIXED, 500, 20, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.changed, second.changed)
    np.testing.assert_array_equal(first.rates, second.rates)
    assert not np.array_equal(first.changed, other.changed)


def test_a_population_has_a_row_per_page_and_a_column_per_cycle() -> None:
    people = draw_population(MIXED, 300, 7, seed=1)
    assert people.changed.shape == (300, 7)
    assert len(people) == len(people.hosts) == len(people.dice) == 300


def test_one_page_and_one_cycle_are_enough_and_none_is_too_few() -> None:
    assert draw_population(EVEN, 1, 1, seed=1).changed.shape == (1, 1)
    for pages, cycles in ((0, 5), (5, 0)):
        with pytest.raises(ValueError, match="at least one each"):
            draw_population(EVEN, pages, cycles, seed=1)


def test_paces_have_their_shares_and_rates() -> None:
    people = draw_population(MIXED, 20_000, 1, seed=3)
    assert np.mean(people.rates == 0) == pytest.approx(0.5, abs=0.02)
    assert np.median(people.rates[people.paces == 2]) == pytest.approx(1.0, rel=0.05)
    slow = people.rates[people.paces == 1]
    assert np.log(slow).std() == pytest.approx(1.0, abs=0.05)


def test_silent_pages_never_change_and_others_at_their_rate() -> None:
    people = draw_population(MIXED, 4_000, 200, seed=4)
    assert not people.changed[people.rates == 0].any()
    expected = -np.expm1(-people.rates)
    assert people.changed.mean(axis=1).mean() == pytest.approx(expected.mean(), rel=0.02)
    lively = people.paces == 2
    assert np.corrcoef(people.changed[lively].mean(axis=1), expected[lively])[0, 1] > 0.9


def test_pages_of_one_host_have_more_alike_rates_than_strangers() -> None:
    people = draw_population(replace(MIXED, paces=(ChangePace(1.0, 0.1, 1.0),)), 20_000, 1, seed=5)
    logs = np.log(people.rates)
    same = people.hosts[1:] == people.hosts[:-1]
    near = np.corrcoef(logs[1:][same], logs[:-1][same])[0, 1]
    far = np.corrcoef(logs[5_000:], logs[:-5_000])[0, 1]
    assert near > 0.4
    assert abs(far) < 0.05


def test_directories_lie_within_hosts_and_hosts_within_sites() -> None:
    people = draw_population(MIXED, 5_000, 1, seed=6)
    for inner, outer in ((people.directories, people.hosts), (people.hosts, people.sites)):
        owners = {(one, other) for one, other in zip(inner, outer, strict=True)}
        assert len(owners) == len(np.unique(inner)) > len(np.unique(outer))


def test_shared_draws_make_directories_change_together_and_keep_the_rate() -> None:
    apart = draw_population(EVEN, 4_000, 100, seed=7)
    close = draw_population(replace(EVEN, shared_chance=0.8), 4_000, 100, seed=7)
    assert abs(together(apart.changed, apart.directories)) < 0.01
    assert together(close.changed, close.directories) == pytest.approx(0.64, abs=0.05)
    assert close.changed.mean() == pytest.approx(apart.changed.mean(), rel=0.03)


def test_bursts_make_changes_follow_changes_and_keep_the_rate() -> None:
    rare = PopulationParameters((ChangePace(1.0, 0.02),))
    bursty = replace(rare, bursts=ActivityBursts(changes=0.8, time=0.1, days=10))
    calm, lively = (draw_population(one, 5_000, 200, seed=8).changed for one in (rare, bursty))
    after = [(one[:, 1:] & one[:, :-1]).sum() / one[:, :-1].sum() for one in (calm, lively)]
    assert after[0] == pytest.approx(0.02, abs=0.004)
    assert after[1] > 0.08
    assert lively.mean() == pytest.approx(calm.mean(), rel=0.08)


def test_hosts_that_rest_change_less_on_weekends_and_as_much_in_all() -> None:
    resting = replace(EVEN, rhythm=RestRhythm(hosts=1.0, weekend=0.2))
    changed = draw_population(resting, 4_000, 70, seed=9).changed
    weekend = np.arange(70) % 7 >= 5
    assert changed[:, weekend].mean() < 0.35 * changed[:, ~weekend].mean()
    assert changed.mean() == pytest.approx(-np.expm1(-0.2), rel=0.04)


def test_hours_are_cycles_too() -> None:
    hourly = replace(EVEN, cycle_days=1 / 24, rhythm=RestRhythm(hosts=1.0, night=0.05))
    changed = draw_population(hourly, 4_000, 24 * 14, seed=10).changed
    night = np.arange(24 * 14) % 24 < 5
    assert changed[:, night].mean() < 0.2 * changed[:, ~night].mean()
    assert changed.mean() == pytest.approx(0.2 / 24, rel=0.1)


def test_groups_with_a_higher_rank_change_more_often() -> None:
    domains = (
        PopulationGroup("low", 0.5, rank_shift=-0.5),
        PopulationGroup("high", 0.5, rank_shift=0.5),
    )
    people = draw_population(replace(MIXED, domains=domains), 20_000, 1, seed=11)
    low, high = (people.rates[people.domains == group] for group in (0, 1))
    assert np.mean(high > 0) > np.mean(low > 0) + 0.2
    assert all(len(np.unique(people.domains[people.sites == site])) == 1 for site in range(50))


def test_only_changes_bring_new_links() -> None:
    people = draw_population(MIXED, 5_000, 30, seed=12)
    links = draw_new_links(people, LinkYield(0.5, 2.0, 3.0, 0.5, 0.5), seed=1)
    assert not links[~people.changed].any()
    assert (links[people.changed] > 0).mean() == pytest.approx(0.5, abs=0.05)
    assert np.median(links[links > 0]) == pytest.approx(3.5, abs=1)


def test_ungrouped_pages_have_their_own_directories() -> None:
    alone = PageGrouping(1.0, 1.0, 1.0, by_site=0.0, by_host=0.0, by_directory=0.0)
    people = draw_population(replace(MIXED, grouping=alone), 1_000, 1, seed=13)
    assert len(np.unique(people.sites)) == len(np.unique(people.directories)) == 1_000
