"""Optimal visit rates: the budget is spent, caps hold, and no small change is better."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import FloatArray
from freshet.schedule.allocation import VisitDemand, allocate_visits, allocation_value

OBJECTIVES: tuple[Literal["binary", "harmonic"], ...] = ("binary", "harmonic")

objectives = st.sampled_from(OBJECTIVES)
seeds = st.integers(0, 10_000)


def demand(seed: int, pages: int = 30, hosts: int = 4) -> VisitDemand:
    """Return pages with rates that differ a thousandfold."""
    rng = np.random.default_rng(seed)
    return VisitDemand(
        rates=np.exp(rng.normal(-2, 2, pages)),
        importance=rng.uniform(0.5, 3, pages),
        hosts=rng.integers(0, hosts, pages).astype(np.int32),
    )


def uncapped(hosts: int = 4) -> FloatArray:
    return np.full(hosts, np.inf)


@given(seeds, objectives, st.floats(0.01, 1000))
def test_the_whole_budget_is_spent_where_no_host_is_capped(
    seed: int, objective: Literal["binary", "harmonic"], budget: float
) -> None:
    visits = allocate_visits(demand(seed), budget, uncapped(), objective=objective)
    assert visits.min() >= 0
    assert visits.sum() == pytest.approx(budget)
    assert visits.sum() <= budget * (1 + 1e-9)


@given(seeds, objectives, st.floats(1, 50), st.lists(st.floats(0, 10), min_size=4, max_size=4))
def test_no_host_is_above_its_cap_and_the_rest_of_the_budget_is_spent(
    seed: int, objective: Literal["binary", "harmonic"], budget: float, caps: list[float]
) -> None:
    pages, limits = demand(seed), np.array(caps)
    visits = allocate_visits(pages, budget, limits, objective=objective)
    spent = np.bincount(pages.hosts, visits, 4)
    assert np.all(spent <= limits * (1 + 1e-9) + 1e-9)
    total_limit = limits[np.unique(pages.hosts)].sum()
    assert visits.sum() == pytest.approx(min(budget, total_limit), rel=1e-6, abs=1e-9)


@given(seeds, objectives, st.floats(1, 50), st.booleans())
def test_moving_a_visit_from_one_page_to_another_gains_nothing(
    seed: int, objective: Literal["binary", "harmonic"], budget: float, capped: bool
) -> None:
    pages = demand(seed)
    caps = np.full(4, budget / 3) if capped else uncapped()
    visits = allocate_visits(pages, budget, caps, objective=objective)
    best = allocation_value(pages, visits, objective=objective)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        donor, receiver = rng.integers(0, len(visits), 2)
        if capped and pages.hosts[donor] != pages.hosts[receiver]:
            continue
        changed_visits = visits.copy()
        amount = 0.05 * visits[donor]
        changed_visits[donor] -= amount
        changed_visits[receiver] += amount
        assert allocation_value(pages, changed_visits, objective=objective) <= best + 1e-9


def test_a_page_that_never_changes_gets_no_visit() -> None:
    pages = VisitDemand(np.array([0.0, 1.0]), np.ones(2), np.zeros(2, np.int32))
    for objective in OBJECTIVES:
        assert allocate_visits(
            pages, 3.0, uncapped(1), objective=objective
        ).tolist() == pytest.approx([
            0.0,
            3.0,
        ])


def test_binary_skips_a_page_that_changes_too_fast_and_harmonic_does_not() -> None:
    pages = VisitDemand(np.array([1000.0, 0.5, 0.5]), np.ones(3), np.zeros(3, np.int32))
    binary, harmonic = (
        allocate_visits(pages, 1.0, uncapped(1), objective=objective) for objective in OBJECTIVES
    )
    assert binary.tolist() == pytest.approx([0.0, 0.5, 0.5])
    assert harmonic[0] > 0.2


def test_equal_pages_share_equally() -> None:
    pages = VisitDemand(np.full(5, 0.3), np.ones(5), np.zeros(5, np.int32))
    for objective in OBJECTIVES:
        assert allocate_visits(pages, 2.0, uncapped(1), objective=objective) == pytest.approx(0.4)


def test_the_budget_above_a_hosts_cap_goes_to_the_others() -> None:
    pages = VisitDemand(np.full(4, 0.3), np.ones(4), np.array([0, 0, 1, 1], np.int32))
    visits = allocate_visits(pages, 2.0, np.array([0.2, np.inf]))
    assert visits.tolist() == pytest.approx([0.1, 0.1, 0.9, 0.9])


def test_no_budget_means_no_visits() -> None:
    for objective in OBJECTIVES:
        assert allocate_visits(demand(1), 0.0, uncapped(), objective=objective).sum() < 1e-9
