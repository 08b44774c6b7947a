"""The day's budget: what is spent, what is left, and what cannot be spent, with the reason."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from freshet.archive.catalog.rows import HostState, Lease
from freshet.collection.collection import Collection
from freshet.core.bursts import BurstKind, BurstProgress, PendingSample
from freshet.core.types import Outcome
from freshet.crawl.budget_status import (
    DayBudgetStatus,
    day_budget_status,
    save_crawl_start,
    save_running_budget,
)
from tests.record.record_samples import NOW, START, URL, html, make_collection, observe, record

DAYS_AGO = (NOW - START) / timedelta(days=1)
TODAY = "2026-11-15"


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as made:
        yield made


def today(collection: Collection, budget: str = "") -> DayBudgetStatus:
    return day_budget_status(collection, collection.catalog.last_outcome_counts(), budget=budget)


def test_spent_and_remaining_requests_are_shown_and_robots_separately(
    collection: Collection,
) -> None:
    collection.add(URL)
    collection.catalog.book_requests(TODAY, 400, 3)
    assert today(collection) == DayBudgetStatus(TODAY, 500, 400, 100, 3, 0, share=50)


def test_requests_used_by_bursts_and_their_share_are_shown(collection: Collection) -> None:
    page = collection.add(URL)
    lease = Lease(0, "crawl", NOW, NOW + timedelta(hours=1))
    course = BurstProgress(BurstKind.FAST, NOW.timestamp())
    collection.catalog.start_samples(lease, [PendingSample(page.id, course, 0.0)], day=TODAY)
    status = today(collection, "200/day")
    assert (status.spent, status.samples, status.share, status.in_rounds) == (1, 1, 20, 1)


def test_a_share_counts_pages_that_can_be_visited(collection: Collection) -> None:
    collection.add_many([f"{URL}/{number}" for number in range(40)])
    collection.pause([collection.page(f"{URL}/0")])
    assert today(collection, "10%").budget == 3


def test_too_few_pages_put_a_budget_out_of_reach(collection: Collection) -> None:
    collection.add(URL)
    status = today(collection, "100000")
    often = 1 + (24 - 8.5) * 60
    assert status.unreachable == 100_000 - often
    assert status.reasons == ("pages: 1, each visited at most every 60 s",)


def test_a_host_with_a_long_delay_is_named(collection: Collection) -> None:
    collection.add_many([f"{URL}/{number}" for number in range(40)])
    collection.catalog.set_host_states([HostState("example.org", delay=3_600.0)])
    status = today(collection)
    assert status.unreachable == 500 - 16
    assert status.reasons == ("host example.org can be asked 16 times more today",)


def test_a_host_closed_all_day_leaves_nothing_to_spend(collection: Collection) -> None:
    collection.add(URL)
    until = NOW + timedelta(days=2)
    collection.catalog.set_host_states([HostState("example.org", failures=5, backoff_until=until)])
    assert today(collection).unreachable == 500
    [closed] = collection.status().closed_hosts
    assert (closed.host, closed.closed_until, closed.failures) == ("example.org", until, 5)


def test_many_capped_hosts_are_named_by_the_worst_and_a_count(collection: Collection) -> None:
    for number in range(5):
        collection.add(f"https://h{number}.example/")
        collection.catalog.set_host_states([
            HostState(f"h{number}.example", delay=3_600.0 * 2**number)
        ])
    *named, rest = today(collection).reasons
    assert [text.split()[1] for text in named] == ["h4.example", "h3.example", "h2.example"]
    assert rest == "2 further hosts are limited in the same way"


def test_failing_pages_are_counted_and_bear_little(collection: Collection) -> None:
    record(collection, [observe(DAYS_AGO - 1, outcome=Outcome.TIMEOUT)])
    record(collection, [observe(DAYS_AGO - 1, html("x"), url=f"{URL}/b")])
    status = today(collection, "100000")
    assert "failing pages, which are backed off: 1" in status.reasons
    assert collection.status().failing == {"timeout": 1}


def test_the_hours_before_a_crawl_are_not_made_up_and_status_says_so(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection.add_many([f"{URL}/{number}" for number in range(40)])
    status = today(collection, "480/day")
    assert status.unreachable == 480 - (15.5 * 20 + 1 + 40)
    assert status.reasons == (
        "a crawl that begins now spends the budget evenly, 20 requests an hour: "
        "it does not make up for the hours before",
    )
    monkeypatch.setattr(sys, "argv", ["freshet", "run"])
    with collection.appending():
        save_crawl_start(collection.catalog, NOW - timedelta(hours=1))
        [reason] = today(collection, "480/day").reasons
        assert reason.startswith("the crawl began at 07:30 UTC and spends the budget evenly")
        save_crawl_start(collection.catalog, NOW - timedelta(days=1))
        assert today(collection, "480/day").reasons == ()


def test_a_day_that_is_spent_has_nothing_out_of_reach(collection: Collection) -> None:
    collection.catalog.book_requests(TODAY, 501)
    status = today(collection)
    assert (status.left, status.unreachable) == (0, 0)


def test_the_status_goes_by_the_running_crawls_budget(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection.add(URL)
    save_running_budget(collection, "7/day")
    assert collection.status().today.budget == 500
    with collection.appending():
        assert collection.status().today.budget == 500
    monkeypatch.setattr(sys, "argv", ["freshet", "run"])
    with collection.appending():
        assert collection.status().today.budget == 7
