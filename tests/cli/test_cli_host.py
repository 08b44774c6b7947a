"""``freshet host`` shows what closed a host, and opens it again, also beside a running crawl."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from freshet.archive.catalog.rows import HostState
from freshet.collection.collection import Collection
from freshet.core.clock import SystemClock
from freshet.core.local_time import format_to_second
from freshet.record.collection_store import CollectionStore
from tests.cli.cli_runs import NEWS, Run
from tests.fetch.crawls import make_collection, outcomes
from tests.fetch.servers import Exchange, Loopback
from tests.waiting import until

HOST = "news.example"
NOW = SystemClock().now()
FAILED = {
    "fetched": NOW.timestamp(), "status": 503, "rules": "", "expires": NOW.timestamp() + 300,
    "failing_since": NOW.timestamp(), "why": "status 503",
}  # fmt: skip
READ = FAILED | {"status": 200, "rules": "User-agent: *", "failing_since": None, "why": ""}


def set_host(folder: Path, *states: HostState) -> None:
    with CollectionStore.open(folder) as opened:
        opened.catalog.set_host_states(states)


def closed_host(robots: dict[str, Any]) -> HostState:
    return HostState(HOST, NOW, 5.0, 3, NOW + timedelta(hours=2), robots)


def test_a_closed_host_is_shown_with_what_closed_it(run: Run, collection: Path) -> None:
    set_host(collection, closed_host(FAILED), HostState(f"{HOST}:80", robots=READ))
    output = run("host", f"{NEWS}any/page", "--json").json
    assert (output["host"], output["failures"], output["delay"]) == (HOST, 3, 5.0)
    assert output["closed_until"] == (NOW + timedelta(hours=2)).isoformat()
    assert [(file["scheme"], file["status"], file["why"]) for file in output["robots"]] == [
        ("https", 503, "status 503"), ("http", 200, ""),
    ]  # fmt: skip
    text = run("host", HOST).out
    assert "5 s between two requests (its Crawl-delay)" in text
    assert "unavailable since" in text
    assert "at any time" not in text
    assert f"not before {format_to_second(NOW + timedelta(hours=2))}" in text
    assert output["pages"] == 1


def test_a_host_that_is_reopened_has_no_back_off_and_no_failed_robots_txt(
    run: Run, collection: Path
) -> None:
    set_host(collection, closed_host(FAILED), HostState(f"{HOST}:80", robots=READ))
    output = run("host", HOST, "--reopen", "--json").json
    assert (output["crawl"], output["host"]["closed_until"], output["host"]["failures"]) == (
        "",
        None,
        0,
    )
    assert [file["scheme"] for file in output["host"]["robots"]] == ["http"]
    assert output["host"]["delay"] == 5.0
    assert (
        "Reopened news.example; the next crawl can request it." in run("host", HOST, "--reopen").out
    )


def test_a_host_that_nobody_knows_is_not_found(run: Run, collection: Path) -> None:
    assert run("host", "nowhere.example").code == 3
    assert "is not a host" in run("host", "a b").err


def test_a_host_is_forgotten_with_its_last_page(run: Run, collection: Path) -> None:
    set_host(collection, closed_host(FAILED), HostState(f"{HOST}:80", robots=READ))
    with Collection.open(collection) as opened:
        urls = [page.url for page in opened.pages() if page.host == HOST]
    assert run("remove", *urls, "--purge", "--yes").code == 0
    assert run("host", HOST).code == 3


@contextmanager
def running_crawl(folder: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-m", "freshet", "run"], cwd=folder) as crawl:
        try:
            yield
        finally:
            crawl.send_signal(signal.SIGINT)


def test_a_running_crawl_asks_a_host_again_when_it_is_reopened(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_busy = True

    async def busy(exchange: Exchange) -> None:
        if is_busy:
            await exchange.answer("later", 503, retry_after="7200")
        else:
            await exchange.answer("<p>The river is calm, and the ferry goes every hour.</p>")

    with Loopback({"a": busy}) as server:
        first, second = (f"{server.urls['a']}/{number}" for number in range(2))
        folder = make_collection(tmp_path / "c", [first], server.allow)
        monkeypatch.chdir(folder)
        with running_crawl(folder):
            until(lambda: outcomes(folder)[first])
            output = until(lambda: run("host", first, "--json").json)
            assert (output["failures"], output["robots"][0]["status"]) == (1, 503)
            assert output["closed_until"] is not None
            is_busy = False
            assert run("add", second).code == 0
            assert " run'" in run("host", first, "--reopen", "--json").json["crawl"]
            until(lambda: outcomes(folder)[second] == ["ok"])
        assert [entry.path for entry in server.log.entries()] == [
            "/robots.txt",
            "/robots.txt",
            "/1",
        ]
