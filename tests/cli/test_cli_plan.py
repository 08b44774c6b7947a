"""The commands that tell what the crawl would do and why, without fetching anything."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from freshet.archive.catalog.rows import HostState
from freshet.cli import output
from freshet.core.budget import utc_day
from freshet.core.clock import SystemClock
from freshet.crawl.budget_status import add_lost_requests
from freshet.record.collection_store import CollectionStore
from tests.cli.cli_runs import NEWS, Run


def test_a_plan_prints_its_objective_and_budget_and_its_visits(run: Run, collection: Path) -> None:
    output = run("plan", "--budget", "20/hour").out
    assert output.startswith(
        "objective freshness   policy guarded-freshness   480 requests per day\n"
    )
    assert NEWS in output
    assert "last seen" in output


def test_a_plan_as_json_has_a_page_a_time_a_value_and_a_reason(run: Run, collection: Path) -> None:
    plan = run("plan", "--budget", "1000", "--objective", "changes", "--limit", "3", "--json").json
    assert (plan["objective"], plan["policy"], plan["budget"]) == (
        "changes",
        "guarded-changes",
        1000,
    )
    assert len(plan["choices"]) == 3
    for choice in plan["choices"]:
        assert choice.keys() == {
            "page",
            "expected",
            "value",
            "reason",
            "score",
            "exploratory",
        }
        assert choice["value"] > 0
    assert max(choice["score"] for choice in plan["choices"]) == 100


def test_an_empty_plan_says_where_to_look(run: Run, empty: Path) -> None:
    assert "There are no live pages; 'freshet add URL'" in run("plan").out
    run("add", NEWS)
    run("pause", NEWS)
    assert "'freshet why URL' explains why" in run("plan").out


@pytest.mark.parametrize("words", [["--budget", "0"], ["--budget", "x"], ["--objective", "speed"]])
def test_a_plan_for_nothing_is_refused(run: Run, empty: Path, words: list[str]) -> None:
    result = run("plan", *words)
    assert (result.code, result.out) == (2, "")


def test_why_tells_rate_value_multiplier_and_host(run: Run, collection: Path) -> None:
    output = run("why", NEWS).out
    for word in ("next check", "changes", "90 %", "value", "of 100", "based on", "host"):
        assert word in output
    document = run("why", NEWS, "--json").json
    assert document["explanation"]["rate_low"] < document["explanation"]["rate_high"]
    assert document["obstacles"] == []
    assert 0 <= document["readiness"] <= 100


def test_why_of_a_removed_page_says_so(run: Run, collection: Path) -> None:
    run("remove", NEWS)
    assert "it was removed" in run("why", NEWS).out


def test_why_of_an_unknown_page_is_not_found(run: Run, collection: Path) -> None:
    assert run("why", "https://nowhere.example/").code == 3


def test_a_forecast_tells_the_probability_by_horizon(run: Run, collection: Path) -> None:
    output = run("forecast", NEWS).out
    assert output.startswith(f"{NEWS}   last look ")
    assert "in 6 hours" in output
    horizons = run("forecast", NEWS, "--json").json["horizons"]
    chances = [horizon["changed"] for horizon in horizons]
    assert chances == sorted(chances)


def test_check_now_puts_a_page_first(run: Run, collection: Path) -> None:
    result = run("check-now", NEWS)
    assert result.out == "Requested 1 page; no crawl is running: start 'freshet run'.\n"
    first = run("plan", "--limit", "1", "--json").json["choices"][0]
    assert (first["page"]["url"], first["reason"]) == (NEWS, "asked for")


def test_check_now_takes_a_tag(run: Run, collection: Path) -> None:
    run("tag", "front", NEWS)
    assert run("check-now", "--tag", "front", "--json").json == {"pages": 1, "crawl": ""}


def test_check_now_needs_to_know_which_pages(run: Run, collection: Path) -> None:
    assert run("check-now").code == 2
    assert run("check-now", "https://nowhere.example/").code == 3


def test_status_tells_the_days_budget(run: Run, collection: Path) -> None:
    output = run("status").out
    assert "0 of 500 requests spent, 500 left; 0 more for robots.txt" in output
    assert "no crawl is running" in output
    assert run("status", "--json").json["today"]["left"] == 500


def test_status_names_what_cannot_be_spent_and_closed_hosts(run: Run, collection: Path) -> None:
    with CollectionStore.open(collection) as opened:
        now = SystemClock().now()
        far = now.replace(year=now.year + 1)
        hosts = {page.host for page in opened.pages()}
        opened.catalog.set_host_states([HostState(host, backoff_until=far) for host in hosts])
    output = run("status").out
    assert "500 of those left cannot be used today:" in output
    assert "can be asked 0 times more today" in output
    assert f"closed hosts: {len(hosts)}" in output


def test_status_names_requests_lost_with_a_killed_crawl(run: Run, collection: Path) -> None:
    assert "lost" not in run("status").out
    with CollectionStore.open(collection) as opened:
        add_lost_requests(opened.catalog, utc_day(SystemClock().now()), 3)
    assert "3 of them were lost when a crawl was killed" in run("status").out


def test_a_live_status_needs_a_terminal(run: Run, collection: Path) -> None:
    assert "--live needs a terminal" in run("status", "--live").err
    assert run("status", "--live", "--json").code == 2


def test_run_refuses_a_budget_time_or_port_that_is_none(run: Run, empty: Path) -> None:
    assert "is not a duration; write 90s" in run("run", "--for", "soon").err
    assert run("run", "--for", "0s").code == 2
    assert "allows nothing" in run("run", "--budget", "0").err
    assert run("run", "--metrics-port", "70000").code == 2


@pytest.mark.parametrize("name", ["run", "watch"])
def test_a_second_writer_is_refused_with_the_holder_of_the_archive(
    run: Run, collection: Path, name: str
) -> None:
    words = ["watch", "https://new.example/"] if name == "watch" else ["run"]
    with CollectionStore.open(collection) as opened, opened.appending():
        result = run(*words)
    assert result.code == 6
    assert "is being written by" in result.err
    assert run("show", "https://new.example/").code == 3


def test_watch_takes_only_urls(run: Run, empty: Path) -> None:
    assert run("watch", "not a url").code == 4
    assert run("list", "--json").json == []


def test_without_a_collection_it_says_how_to_make_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("watch", "https://example.org/")
    assert result.code == 3
    assert "make one with 'freshet init" in result.err


def test_a_live_view_shows_each_picture_in_place_of_the_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pictures = iter(("first", "second", "third"))
    monkeypatch.setattr(output, "console", Console(force_terminal=True, file=StringIO()))
    monkeypatch.setattr(output, "sleep", _interrupting(after=3))
    output.refresh_until_interrupted(lambda: output.print_text(next(pictures)))
    assert capsys.readouterr().out.split() == ["third"]


def _interrupting(after: int) -> Callable[[float], None]:
    """Return a sleep that takes no time, and is interrupted the so-manieth time."""
    remaining = iter(range(after - 1, -1, -1))

    def sleep(seconds: float) -> None:
        if not next(remaining):
            raise KeyboardInterrupt

    return sleep
