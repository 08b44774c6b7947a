"""A day's budget as it is booked: its pace, what is made up, and what counts apart."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from freshet.archive.catalog.catalog import Catalog
from freshet.collection.collection import Collection
from freshet.core.budget import Budget, next_midnight
from freshet.crawl.day_budget import DayBudget
from tests.crawl.crawl_samples import DAY, NOON

MIDNIGHT = NOON - timedelta(hours=12)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        yield collection.catalog


def budget_of(catalog: Catalog, *, catch_up: bool = False) -> DayBudget:
    return DayBudget(catalog, Budget.parse("48/day"), lambda: 0, catch_up=catch_up)


def test_an_unused_part_of_the_budget_is_made_up_only_if_set(
    catalog: Catalog,
) -> None:
    budget_of(catalog).book(20, NOON)
    late, plain = budget_of(catalog, catch_up=True), budget_of(catalog)
    assert late.allowed_until(NOON, NOON) == 25 - 20
    assert late.spending_since == MIDNIGHT
    assert plain.allowed_until(NOON, NOON) == 1
    assert plain.spending_since == NOON


def test_a_day_that_has_just_begun_has_nothing_to_make_up(catalog: Catalog) -> None:
    assert budget_of(catalog, catch_up=True).allowed_until(MIDNIGHT, MIDNIGHT) == 1


def test_a_request_that_was_booked_uses_up_its_turn(catalog: Catalog) -> None:
    budget = budget_of(catalog)
    assert budget.allowed_until(NOON, NOON) == 1
    assert budget.book(1, NOON) == 1
    assert budget.allowed_until(NOON, NOON) == 0
    assert budget.allowed_until(NOON + timedelta(minutes=31), NOON) == 1
    assert budget.allowed_until(next_midnight(NOON) + timedelta(days=1), NOON) <= 24


def test_requests_made_beside_the_pace_use_up_no_turn(catalog: Catalog) -> None:
    budget = budget_of(catalog)
    budget.book(4, NOON)
    budget.skip_in_pace(4, NOON)
    assert budget.allowed_until(NOON, NOON) == 1


def test_samples_are_counted_among_the_requests(catalog: Catalog) -> None:
    budget = budget_of(catalog)
    budget.add(3, NOON, samples=2)
    budget.add(1, NOON)
    spending = catalog.spending(DAY)
    assert (spending.requests, spending.burst_requests, budget.spent) == (4, 2, 4)
