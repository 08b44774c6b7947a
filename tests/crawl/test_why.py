"""`why` lists obstacles first, then the figures."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from freshet.archive.catalog.rows import HostState
from freshet.archive.warc.lock import ArchiveLock
from freshet.collection.collection import Collection
from freshet.core.errors import UsageError
from freshet.core.types import Outcome
from freshet.crawl.why import ScheduleExplanation
from tests.record.record_samples import NOW, START, URL, html, make_collection, observe, record

DAYS_AGO = (NOW - START) / timedelta(days=1)


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as made:
        yield made


def looks(collection: Collection, *texts: str) -> None:
    """Record a look a day, the last one a day ago."""
    days = range(-len(texts), 0)
    record(collection, [observe(DAYS_AGO + d, html(t)) for d, t in zip(days, texts, strict=True)])


def why(collection: Collection) -> ScheduleExplanation:
    return collection.why(collection.page(URL, removed=True))


def test_a_rate_comes_with_its_bounds_and_what_it_rests_on(collection: Collection) -> None:
    looks(collection, "a", "b", "b", "c")
    explanation = why(collection)
    policy_explanation = explanation.explanation
    assert (policy_explanation.looks, policy_explanation.changes) == (3, 2)
    assert 0 < policy_explanation.rate_low < policy_explanation.rate < policy_explanation.rate_high
    assert 0 < policy_explanation.chance < 1
    assert policy_explanation.age_days == pytest.approx(1)
    assert explanation.obstacles == ()
    assert explanation.expected == NOW


def test_every_line_is_said(collection: Collection) -> None:
    looks(collection, "a", "b")
    lines = dict(why(collection).lines())
    assert lines["page"] == URL
    assert lines["based on"] == "changes: 1 in 1 compared looks; at its host: 1 looks"
    assert lines["plan"] == "for freshness by guarded-freshness"
    assert lines["last seen"] == "1 day ago"
    assert lines["last visit"] == "2026-11-14 08:30:00 UTC: ok, status 200"
    assert {"next check", "changed by now", "changes", "value", "budget", "host"} <= lines.keys()


def test_a_page_worth_less_than_others_waits_for_budget_that_is_left(
    collection: Collection,
) -> None:
    looks(collection, "a", "b", "c")
    explanation = why(collection)
    late = replace(
        explanation, expected=None, explanation=replace(explanation.explanation, due=None)
    )
    assert late.next_check.startswith("when there is budget left")
    assert replace(late, obstacles=("it is paused",)).next_check.startswith("not within a day")


def test_a_visit_before_the_full_value_is_made_because_the_plan_has_room(
    collection: Collection,
) -> None:
    looks(collection, "a", "b", "c")
    report = why(collection)
    explanation = replace(report.explanation, value=0.1, multiplier=1.0, due=None)
    early = replace(report, expected=NOW, explanation=explanation)
    text = "10 of 100; the plan has room for a visit before it is 100"
    assert dict(early.lines())["value"] == text
    due = replace(early, explanation=replace(explanation, due=NOW.timestamp() + 3_600))
    assert dict(due.lines())["value"] == text
    on_time = replace(early, explanation=replace(explanation, due=NOW.timestamp()))
    assert dict(on_time.lines())["value"].startswith("10 of 100; at 100 a visit is worth")
    late = dict(replace(early, expected=None).lines())["value"]
    assert late.startswith("10 of 100; at 100 a visit is worth")


def test_a_page_never_seen_comes_first_of_all(collection: Collection) -> None:
    collection.add(URL)
    explanation = why(collection)
    assert explanation.expected == NOW
    assert "never seen" in dict(explanation.lines())["value"]


def test_a_paused_page_says_so_first(collection: Collection) -> None:
    looks(collection, "a")
    collection.pause([collection.page(URL)])
    explanation = why(collection)
    assert explanation.obstacles[0].startswith("it is paused")
    assert explanation.expected is None
    assert list(explanation.lines())[1][0] == "not now"


def test_a_removed_page_says_so_first(collection: Collection) -> None:
    looks(collection, "a")
    collection.remove([collection.page(URL)])
    assert why(collection).obstacles[0].startswith("it was removed")


def test_an_imported_history_is_not_visited(collection: Collection) -> None:
    record(collection, [observe(1, html("a"), source="old")])
    page = collection.page(URL, source="old")
    assert "imported from old" in collection.why(page).obstacles[0]
    assert [name for name, _ in collection.why(page).lines()] == [
        *("page", "not now", "next check", "last visit")
    ]
    assert collection.why(page).next_check == "never; only live pages are visited"
    with pytest.raises(UsageError, match="only live pages have forecasts"):
        page.forecast()
    with pytest.raises(UsageError, match="imported from old"):
        collection.check_now([page])


@pytest.mark.parametrize(
    ("outcome", "reason", "said"),
    [
        (Outcome.ROBOTS, "robots.txt of a disallows it", "robots.txt of a disallows it"),
        (Outcome.EMPTY, "needs a browser that runs scripts", "needs a browser that runs scripts"),
        (Outcome.TIMEOUT, "no answer", "timeout (no answer)"),
        (Outcome.REFUSED, "network.allow does not open it", "network.allow does not open it"),
    ],
)
def test_what_the_last_visit_met_is_said_first(
    collection: Collection, outcome: Outcome, reason: str, said: str
) -> None:
    record(collection, [observe(DAYS_AGO - 2, outcome=outcome, why=reason)])
    assert said in why(collection).obstacles[0]


def test_a_refused_page_waits_for_the_start_of_a_crawl_or_for_its_back_off(
    collection: Collection,
) -> None:
    record(collection, [observe(DAYS_AGO - 0.01, outcome=Outcome.REFUSED, why="not allowed")])
    lines = dict(why(collection).lines())
    assert lines["next check"] == "when 'freshet run' starts"
    assert "value" not in lines
    [visit] = collection.plan().choices
    assert visit.reason == "failed: refused (not allowed); tried again when 'freshet run' starts"
    with ArchiveLock(collection.archive_folder, command="freshet run"):
        explanation = why(collection)
        [visit] = collection.plan().choices
    assert explanation.expected > NOW
    assert visit.expected > NOW
    assert visit.reason == "failed: refused (not allowed); tried again after its back-off"


def test_a_page_that_never_changed_is_said_to_be_without_a_change(collection: Collection) -> None:
    looks(collection, "a", "a", "a")
    assert dict(why(collection).lines())["changes"] == "no change seen in 2 compared looks"


def test_a_page_whose_visits_have_all_failed_has_no_forecast_and_says_why(
    collection: Collection,
) -> None:
    failures = [
        observe(DAYS_AGO - 3, outcome=Outcome.TIMEOUT),
        observe(DAYS_AGO - 2, b"", status=500),
    ]
    record(collection, failures)
    lines = dict(why(collection).lines())
    assert lines["changes"] == "not known: all 2 visits failed"
    assert lines["value"] == "highest: its content was never seen"
    assert "changed by now" not in lines


def test_a_failing_page_is_left_alone_for_a_while(collection: Collection) -> None:
    record(collection, [observe(DAYS_AGO, outcome=Outcome.TIMEOUT)])
    assert any("no visit before" in text for text in why(collection).obstacles)


def test_a_page_outside_its_hours_says_so(collection: Collection) -> None:
    looks(collection, "a")
    collection.change_settings(collection.page(URL), [("active_hours", "20:00-21:00")])
    explanation = why(collection)
    assert explanation.obstacles == ("it is outside its active hours, 20:00-21:00",)
    assert explanation.expected == NOW.replace(hour=20, minute=0)


def test_a_closed_host_and_its_robots_are_listed(collection: Collection) -> None:
    looks(collection, "a")
    robots = {"fetched": NOW.timestamp(), "status": 404, "rules": "", "expires": 0.0}
    until = NOW + timedelta(hours=1)
    state = HostState("example.org", delay=30.0, failures=3, backoff_until=until, robots=robots)
    collection.catalog.set_host_states([state])
    explanation = why(collection)
    assert explanation.obstacles == (
        "its host is closed until 2026-11-15 09:30:00 UTC, after 3 failures",
    )
    assert explanation.expected == until
    assert (explanation.host.delay, explanation.host.closed_until) == (30.0, until)
    assert explanation.host.robots.startswith("no robots.txt (status 404")


def test_a_robots_file_that_cannot_be_had_closes_its_host(collection: Collection) -> None:
    looks(collection, "a")
    robots = {"fetched": NOW.timestamp(), "status": 503, "failing_since": 0.0, "why": "status 503"}
    collection.catalog.set_host_states([HostState("example.org", robots=robots)])
    assert "is unavailable (status 503" in why(collection).host.robots


def test_the_robots_file_of_a_plain_page_is_that_of_its_scheme(
    collection: Collection,
) -> None:
    plain = URL.replace("https:", "http:")
    collection.add(plain)
    robots = {"fetched": NOW.timestamp(), "status": 404, "rules": "", "expires": 0.0}
    collection.catalog.set_host_states([HostState("example.org:80", robots=robots)])
    assert "status 404" in collection.why(collection.page(plain)).host.robots
    collection.catalog.set_host_states([
        HostState("example.org:80"),
        HostState("example.org", robots=robots),
    ])
    assert "not requested yet" in collection.why(collection.page(plain)).host.robots


def test_a_spent_budget_is_an_obstacle(collection: Collection) -> None:
    looks(collection, "a")
    collection.catalog.book_requests("2026-11-15", 500)
    explanation = why(collection)
    assert "budget is spent" in explanation.obstacles[0]
    assert explanation.expected == NOW.replace(hour=0, minute=0) + timedelta(days=1)


def test_a_forecast_grows_with_the_horizon(collection: Collection) -> None:
    looks(collection, "a", "b", "b", "c")
    explanation = collection.page(URL).forecast()
    chances = [horizon.changed for horizon in explanation.horizons]
    assert chances == sorted(chances)
    assert 0 < chances[0] < chances[-1] <= 1
    assert [horizon.days for horizon in explanation.horizons] == [0, 1 / 24, 0.25, 1, 7, 30]
    assert explanation.last_look == NOW - timedelta(days=1)
    assert (explanation.looks, explanation.changes) == (3, 2)


def test_a_page_that_changes_often_is_expected_to_change_sooner(
    collection: Collection,
) -> None:
    still = "https://other.example/still"
    looks(collection, *"abcdefgh")
    record(collection, [observe(DAYS_AGO + day, html("x"), url=still) for day in range(-8, 0)])
    busy, calm = collection.page(URL).forecast(), collection.page(still).forecast()
    assert busy.rate > calm.rate
    assert all(a.changed > b.changed for a, b in zip(busy.horizons, calm.horizons, strict=True))


def test_a_page_never_seen_has_a_forecast_from_now_on(collection: Collection) -> None:
    explanation = collection.add(URL).forecast()
    chances = [horizon.changed for horizon in explanation.horizons]
    assert explanation.last_look is None
    assert chances[0] == pytest.approx(0)
    assert 0 < chances[3] < chances[5] < 1


def test_a_paused_page_keeps_its_forecast(collection: Collection) -> None:
    looks(collection, "a", "b")
    before = collection.page(URL).forecast()
    collection.pause([collection.page(URL)])
    assert collection.page(URL).forecast().horizons == before.horizons
