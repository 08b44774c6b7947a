"""Pages whose last visit showed no content are listed with the outcome and the reason."""

from datetime import timedelta
from pathlib import Path

import pytest

from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.clock import SystemClock
from freshet.core.types import Outcome
from tests.cli.cli_runs import NEWS, Run

PAGES = [f"https://down.example/{'long-path-' * 12}{number}" for number in range(7)]


@pytest.fixture
def failing(collection: Path) -> Path:
    """The small web's collection with seven more pages, which do not answer."""
    now = SystemClock().now()
    with Collection.open(collection) as opened:
        opened.add_many(PAGES)
        with opened.recording() as recorder:
            recorder.record([
                Observation(
                    url, "", now - timedelta(minutes=number), f"{number:016}".encode(), None,
                    outcome=Outcome.TIMEOUT, why="no answer in 60 s",
                )
                for number, url in enumerate(PAGES)
            ])  # fmt: skip
    return collection


def test_failing_pages_are_listed_with_outcome_and_reason_the_latest_first(
    run: Run, failing: Path
) -> None:
    heads, *lines = run("list", "--failing").out.splitlines()
    assert heads.split() == ["page", "outcome", "why", "last", "visit", "visits"]
    assert [line.split()[0] for line in lines] == PAGES
    assert all("timeout" in line and "no answer in 60 s" in line for line in lines)
    rows = run("list", "--failing", "--limit", "2", "--json").json
    assert [(row["page"]["url"], row["outcome"]) for row in rows] == [
        (url, "timeout") for url in PAGES[:2]
    ]


def test_paused_pages_and_pages_that_came_back_do_not_fail(run: Run, failing: Path) -> None:
    run("pause", *PAGES[1:])
    assert [row["page"]["url"] for row in run("list", "--failing", "--json").json] == PAGES[:1]


def test_where_nothing_fails_it_is_said(run: Run, collection: Path) -> None:
    assert "The last visit of every page succeeded" in run("list", "--failing").out
    assert run("list", "--failing", "--changed").code == 2


def test_status_names_a_few_failing_pages_and_where_the_others_are(run: Run, failing: Path) -> None:
    output = run("status").out
    assert "pages whose last visit failed: 7 timeout" in output
    assert f"  {PAGES[0]}  timeout: no answer in 60 s\n" in output
    assert PAGES[5] not in output
    assert "  2 more: freshet list --failing\n" in output


def test_a_pipe_gets_all_columns_and_whole_urls_one_row_a_line(run: Run, failing: Path) -> None:
    heads, *lines = run("list").out.splitlines()
    for name in ("page", "visits", "changes", "last look", "last change"):
        assert name in heads
    assert [line.split()[0] for line in lines][-7:] == PAGES
    assert len(lines) == 13


def test_a_history_can_be_narrowed_to_its_changes(run: Run, collection: Path) -> None:
    everything = run("history", NEWS, "--json").json
    changed = [row for row in everything if row["change"] and row["change"]["changed"]]
    assert 0 < len(changed) < len(everything)
    assert run("history", NEWS, "--changed", "--json").json == changed
    assert run("history", NEWS, "--changed", "--limit", "2", "--json").json == changed[-2:]
    assert "found a change yet" in run("history", "https://club.example/rules", "--changed").out


def test_a_stored_page_is_written_as_it_came(run: Run, collection: Path) -> None:
    page = run("show", NEWS, "--html", "--version", "1").out
    assert page.startswith('<!doctype html><html lang="en"><head><title>The Valley Herald</title>')
    assert page.endswith("</html>")
    assert run("show", NEWS, "--html", "--json").code == 2


def test_a_stored_page_does_not_reach_a_terminal(
    run: Run, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    result = run("show", NEWS, "--html")
    assert (result.code, result.out) == (2, "")
    assert "--html > page.html" in result.err
