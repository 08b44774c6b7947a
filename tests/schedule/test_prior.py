"""The prior of the collection, from other sites and other hosts."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from freshet.core.types import FloatArray
from freshet.schedule import prior as module
from freshet.schedule.cadence import CELL_COUNT, CYCLE_CADENCE, POISSON_CELLS
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.page_states import PageStates
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.prior import FEW_PAGES_STEPS, HierarchicalPrior, sample_rows
from tests.schedule.bayes_samples import pages, visits

POSTERIOR = RatePosterior(CYCLE_CADENCE.rates, outlier_chance=1e-2, daily_retention=0.95)
NOW = 86_400.0
SiteOf = Callable[[int], int]


def by_twenty(page: int) -> int:
    return page // 20


def by_threes(page: int) -> int:
    """Put the pages of a host into three sites."""
    return page % 3


def states_of(ids: list[int], site_of: SiteOf = by_twenty) -> PageStates:
    """Return pages of hosts of four and sites of twenty; every second host has changed."""
    states = PageStates(policy_columns={"likelihood": ColumnSpec(np.float32, width=CELL_COUNT)})
    table = pages(ids, since_day=-1.0)
    sites = np.array([site_of(page) for page in table.ids.tolist()], np.uint64)
    states.add(replace(table, sites=sites))
    changed = [id // 4 % 2 == 0 for id in ids]
    for day in (0.0, 1.0):
        looks = states.add_visits(visits(ids, day, changed))
        POSTERIOR.add_looks(states.column("likelihood"), looks, np.zeros(len(looks)))
    return states


def prior_of(prior: HierarchicalPrior, states: PageStates, page: int) -> FloatArray:
    table, prior_rows = prior.rows_for(states, states.find_rows(np.array([page])))
    return table[prior_rows[0]]


def initial_distribution() -> FloatArray:
    """Return the mass of a lognormal distribution in each cell, 30 % of its density regular."""
    rates, masses = POSTERIOR.rates.tolist(), []
    for cells, share in ((rates[:POISSON_CELLS], 0.7), (rates[POISSON_CELLS:], 0.3)):
        width = math.log(cells[1] / cells[0])
        masses += [
            share * width * math.exp(-0.5 * (math.log(rate / 0.03) / 2) ** 2) for rate in cells
        ]
    return np.array(masses) / sum(masses)


def plain_steps(
    states: PageStates, steps: int, site_of: SiteOf = by_twenty
) -> dict[int, FloatArray]:
    """Return each page's prior by loops over pages; the initial one counts as four pages."""
    initial = initial_distribution()
    ids = sorted(states.ids.tolist())
    rows = states.find_rows(np.array(ids))
    log_likelihoods = states.column("likelihood")[rows].astype(np.float64)
    likelihoods = dict(zip(ids, np.exp(log_likelihoods), strict=True))
    prior, collection = dict.fromkeys(ids, initial), initial
    for _ in range(steps):
        posteriors, flat_posteriors = {}, []
        for page in ids:
            weights, flat_weights = prior[page] * likelihoods[page], collection * likelihoods[page]
            posteriors[page] = weights / weights.sum()
            flat_posteriors.append(flat_weights / flat_weights.sum())
        collection = (sum(flat_posteriors) + 4 * initial) / (len(ids) + 4)
        by_site = {}
        for site in {site_of(page) for page in ids}:
            own = [posteriors[page] for page in ids if site_of(page) == site]
            by_site[site] = (sum(own) + 20 * collection) / (len(own) + 20)
        for page in ids:
            host = [neighbour for neighbour in ids if neighbour // 4 == page // 4]
            site_mean = sum(by_site[site_of(neighbour)] for neighbour in host) / len(host)
            own = [posteriors[neighbour] for neighbour in host]
            prior[page] = (sum(own) + 4 * site_mean) / (len(own) + 4)
    return prior


def test_the_first_prior_is_lognormal_about_one_change_in_a_month() -> None:
    states = states_of([1])
    initial = prior_of(HierarchicalPrior(CYCLE_CADENCE.rates), states, 1)
    assert initial == pytest.approx(initial_distribution())
    random_rates = CYCLE_CADENCE.rates[:POISSON_CELLS]
    assert random_rates[initial[:POISSON_CELLS].argmax()] == pytest.approx(0.03, rel=0.3)


def test_every_level_is_learnt_as_by_plain_loops() -> None:
    states = states_of(list(range(50)))
    prior = HierarchicalPrior(CYCLE_CADENCE.rates)
    prior.fit(states, POSTERIOR, NOW, steps=2, seed=0)
    plain = plain_steps(states, FEW_PAGES_STEPS)
    for page in range(50):
        assert prior_of(prior, states, page) == pytest.approx(plain[page], rel=1e-6)


def test_a_host_of_several_sites_weighs_each_by_its_pages_there() -> None:
    states = states_of(list(range(50)), by_threes)
    prior = HierarchicalPrior(CYCLE_CADENCE.rates)
    prior.fit(states, POSTERIOR, NOW, steps=3, seed=0)
    plain = plain_steps(states, FEW_PAGES_STEPS, by_threes)
    for page in range(50):
        assert prior_of(prior, states, page) == pytest.approx(plain[page], rel=1e-6)


def test_a_page_of_a_new_host_takes_its_sites_prior_and_one_of_a_new_site_the_collections() -> None:
    states = states_of([0, 1, 2, 3, 44, 45])
    prior = HierarchicalPrior(CYCLE_CADENCE.rates)
    prior.fit(states, POSTERIOR, NOW, steps=2, seed=0)
    states.add(pages([8, 200]))
    assert np.array_equal(prior_of(prior, states, 200), prior.table[0])
    assert np.array_equal(prior_of(prior, states, 8), prior.table[1])


def test_a_host_whose_pages_change_has_a_prior_of_faster_rates() -> None:
    states = states_of(list(range(16)))
    prior = HierarchicalPrior(CYCLE_CADENCE.rates)
    prior.fit(states, POSTERIOR, NOW, steps=2, seed=0)
    changing, unchanging = (prior_of(prior, states, page) @ CYCLE_CADENCE.rates for page in (0, 4))
    assert changing > 2 * unchanging


def test_the_order_in_which_pages_arrived_has_no_effect() -> None:
    ids = list(range(60))
    shuffled = np.random.default_rng(2).permutation(ids).tolist()
    states_in_order, other_states = states_of(ids), states_of(shuffled)
    priors = [HierarchicalPrior(CYCLE_CADENCE.rates) for _ in range(2)]
    for prior, states in zip(priors, (states_in_order, other_states), strict=True):
        prior.fit(states, POSTERIOR, NOW, steps=2, seed=0)
    for page in ids:
        prior_in_order, other_prior = (
            prior_of(priors[0], states_in_order, page),
            prior_of(priors[1], other_states, page),
        )
        assert prior_in_order.tolist() == other_prior.tolist()


def test_many_pages_are_sampled_by_a_hash_that_stays_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_SAMPLE_PAGES", 20)
    states = states_of(list(range(60)))
    before = set(states.ids[sample_rows(states, 20, seed=1)].tolist())
    assert len(before) == 20
    assert before != set(states.ids[sample_rows(states, 20, seed=2)].tolist())
    states.add(pages(range(60, 66)))
    after = set(states.ids[sample_rows(states, 20, seed=1)].tolist())
    assert len(after & before) >= 14
    prior = HierarchicalPrior(CYCLE_CADENCE.rates)
    prior.fit(states, POSTERIOR, NOW, steps=1, seed=1)
    assert len(prior.table) <= 1 + 4 + 20


def test_a_collection_without_pages_keeps_its_first_prior() -> None:
    prior = HierarchicalPrior(CYCLE_CADENCE.rates)
    before = prior.table.copy()
    states = PageStates(policy_columns={"likelihood": ColumnSpec(np.float32, width=CELL_COUNT)})
    prior.fit(states, POSTERIOR, NOW, steps=2, seed=0)
    assert np.array_equal(prior.table, before)


def test_the_fit_of_few_pages_does_not_depend_on_earlier_fits() -> None:
    states = states_of(list(range(5)))
    once, often = (HierarchicalPrior(CYCLE_CADENCE.rates) for _ in range(2))
    once.fit(states, POSTERIOR, NOW, steps=2, seed=0)
    for _ in range(9):
        often.fit(states, POSTERIOR, NOW, steps=2, seed=0)
    unchanged_in_a_day = np.exp(-CYCLE_CADENCE.rates)
    chances = [prior_of(prior, states, 4) @ unchanged_in_a_day for prior in (once, often)]
    assert chances[1] == pytest.approx(chances[0], abs=0.005)
