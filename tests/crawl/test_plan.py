"""A plan is the crawl played ahead: within the budget, no host asked more often than it may be."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from freshet.archive.catalog.rows import HostState
from freshet.collection.collection import Collection
from freshet.core.errors import SettingsError
from freshet.crawl.budget_status import save_running_budget
from freshet.crawl.why import explain_pages
from tests.record.record_samples import NOW, START, html, make_collection, observe, record

DAYS_AGO = (NOW - START) / timedelta(days=1)


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as made:
        yield made


def record_visits(collection: Collection, *paths: str, host: str = "example.org") -> list[str]:
    """Add pages with two looks each, the last one a day ago; every second one changed."""
    urls = [f"https://{host}/{path}" for path in paths]
    looks = [
        observe(day, html(f"{url} {day * (index % 2)}"), url=url)
        for index, url in enumerate(urls)
        for day in (DAYS_AGO - 9, DAYS_AGO - 1)
    ]
    record(collection, looks)
    return urls


def planned(collection: Collection, **options: object) -> list[str]:
    return [choice.page.url for choice in collection.plan(**options).choices]


def test_a_plan_names_its_objective_policy_and_budget(collection: Collection) -> None:
    record_visits(collection, "a")
    plan = collection.plan(budget=48, objective="changes")
    assert (plan.made, plan.objective, plan.policy) == (NOW, "changes", "guarded-changes")
    assert plan.budget == 48


def test_every_page_comes_once_within_the_budget(collection: Collection) -> None:
    urls = record_visits(collection, "a", "b", "c", "d")
    assert sorted(planned(collection)) == urls
    assert len(planned(collection, budget=3)) == 3
    assert len(planned(collection, limit=2)) == 2


def test_a_page_that_has_only_failed_is_planned_with_what_its_last_visit_met(
    collection: Collection,
) -> None:
    record(collection, [observe(DAYS_AGO - 1, b"", url="https://example.org/down", status=500)])
    [choice] = collection.plan().choices
    assert choice.reason == "failed: server-error (status 500); tried again after its back-off"


def test_a_page_that_fails_after_looks_is_planned_with_its_failure(collection: Collection) -> None:
    url = "https://example.org/later-down"
    looks = [observe(DAYS_AGO - day, html(str(day)), url=url) for day in (9, 6, 3)]
    record(collection, [*looks, observe(DAYS_AGO - 1, b"", url=url, status=500)])
    [choice] = collection.plan().choices
    assert choice.reason == "failed: server-error (status 500); tried again after its back-off"
    collection.check_now([collection.page(url)])
    assert collection.plan().choices[0].reason == "asked for"


def test_visits_are_spread_over_the_day(collection: Collection) -> None:
    record_visits(collection, "a", "b", "c")
    times = [choice.expected for choice in collection.plan(budget=48).choices]
    assert times == [NOW, NOW + timedelta(minutes=30), NOW + timedelta(hours=1)]


def test_a_spent_budget_leaves_visits_to_the_next_day(collection: Collection) -> None:
    record_visits(collection, "a")
    collection.catalog.book_requests("2026-11-15", 31)
    [choice] = collection.plan(budget=31).choices
    assert choice.expected == NOW.replace(hour=0, minute=0) + timedelta(days=1)


def test_requested_pages_come_first_then_those_never_seen(collection: Collection) -> None:
    [old] = record_visits(collection, "old")
    new, wanted = "https://example.org/new", "https://other.example/wanted"
    collection.add(new)
    record(collection, [observe(DAYS_AGO - 0.1, html("x"), url=wanted)])
    collection.check_now([collection.page(wanted)])
    plan = collection.plan()
    assert sorted(choice.page.url for choice in plan.choices[:2]) == [new, wanted]
    assert {choice.expected for choice in plan.choices[:2]} == {NOW}
    reasons = {choice.page.url: choice.reason for choice in plan.choices}
    assert (reasons[wanted], reasons[new]) == ("asked for", "nothing seen yet")
    assert plan.choices[2].page.url == old


def test_requests_to_a_host_keep_its_delay(collection: Collection) -> None:
    record_visits(collection, "a", "b", "c")
    collection.catalog.set_host_states([HostState("example.org", delay=7_200.0)])
    times = [choice.expected for choice in collection.plan(budget=10_000).choices]
    assert times == [NOW + timedelta(hours=hours) for hours in (0, 2, 4)]


def test_a_closed_host_waits_while_others_are_visited(collection: Collection) -> None:
    record_visits(collection, "a")
    [other] = record_visits(collection, "b", host="other.example")
    opens = NOW + timedelta(hours=3)
    collection.catalog.set_host_states([HostState("example.org", failures=2, backoff_until=opens)])
    first, second = collection.plan().choices
    assert (first.page.url, second.expected) == (other, opens)


def test_a_host_that_stays_closed_is_not_in_the_plan(collection: Collection) -> None:
    record_visits(collection, "a")
    closed = HostState("example.org", backoff_until=NOW + timedelta(days=3))
    collection.catalog.set_host_states([closed])
    assert collection.plan().choices == ()


def test_paused_pages_are_not_in_the_plan_and_sleeping_ones_wait(
    collection: Collection,
) -> None:
    paused, asleep, awake = record_visits(collection, "a", "b", "c")
    collection.pause([collection.page(paused)])
    collection.change_settings(collection.page(asleep), [("active_hours", "10:00-11:00")])
    first, second = collection.plan().choices
    assert (first.page.url, first.expected) == (awake, NOW)
    assert (second.page.url, second.expected) == (asleep, NOW.replace(hour=10, minute=0))


def test_a_plan_goes_by_the_running_crawls_budget(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    [url] = record_visits(collection, "a")
    save_running_budget(collection, "7/day")
    assert collection.plan().budget == 500
    monkeypatch.setattr(sys, "argv", ["freshet", "run"])
    with collection.appending():
        assert collection.plan().budget == 7
        assert collection.why(collection.page(url)).budget == 7
        assert collection.plan(budget=9).budget == 9


def test_a_page_just_visited_is_left_alone_for_its_interval(collection: Collection) -> None:
    url = "https://example.org/a"
    record(collection, [observe(DAYS_AGO, html("x"), url=url)])
    [choice] = collection.plan(budget=1_000_000).choices
    assert choice.expected >= NOW + timedelta(seconds=60)


def test_an_empty_collection_has_an_empty_plan(collection: Collection) -> None:
    assert collection.plan().choices == ()


@pytest.mark.parametrize("options", [{"budget": "none"}, {"budget": 0}, {"objective": "speed"}])
def test_a_budget_or_objective_that_is_none_is_refused(
    collection: Collection, options: dict[str, object]
) -> None:
    with pytest.raises(SettingsError):
        collection.plan(**options)


def test_a_plan_takes_nothing_away_from_the_crawl(collection: Collection) -> None:
    record_visits(collection, "a")
    collection.plan()
    assert collection.catalog.leases() == []
    assert collection.catalog.spending("2026-11-15").requests == 0


def test_the_plan_and_why_give_a_page_the_same_time_whatever_the_limit(
    collection: Collection,
) -> None:
    urls = record_visits(collection, *map(str, range(60)))
    collection.add_many([f"https://other.example/{number}" for number in range(3)])
    short, long = (collection.plan(budget=48, limit=limit) for limit in (5, 500))
    times = {visit.page.url: visit.expected for visit in long.choices}
    assert {visit.page.url: visit.expected for visit in short.choices}.items() <= times.items()
    with (collection.path / "freshet.toml").open("a") as file:
        file.write('budget = "48/day"\n')
    planned = long.choices[-1].page.url
    unplanned = next(url for url in urls if url not in times)
    with Collection.open(collection.path, clock=collection.clock) as reopened:
        pages = [reopened.page(planned), reopened.page(unplanned)]
        last, later = (why.expected for why in explain_pages(reopened, pages))
    assert last == times[planned]
    assert later is None or later > NOW + timedelta(days=1)


@pytest.mark.parametrize("objective", ["freshness", "links"])
def test_a_page_whose_content_was_never_seen_has_no_value(
    collection: Collection, objective: str
) -> None:
    seen = record_visits(collection, "a", "b")
    record(collection, [observe(DAYS_AGO - 1, b"", url="https://example.org/down", status=500)])
    collection.add("https://example.org/new")
    choices = collection.plan(objective=objective).choices
    scores = {choice.page.url: choice.score for choice in choices}
    assert scores.pop("https://example.org/down") is None
    assert scores.pop("https://example.org/new") is None
    assert sorted(scores) == seen
    assert max(scores.values()) == 100
