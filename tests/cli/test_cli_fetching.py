"""The commands that fetch, run as a user would against servers on loopback."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from freshet.archive.warc.lock import ArchiveLock
from freshet.cli.compile_notice import NOTICE
from freshet.collection.collection import Collection
from tests.cli.cli_runs import Run
from tests.fetch.servers import Loopback, ScriptedPage, Site
from tests.waiting import PATIENCE, until
from tests.warm_process import run_module

HOSTILE = "News \x1b[31m\x1b]0;title\x07 today\u202e"
WORDS = "<p>the river rose in spring and the fields along it were green again</p>"
NEEDS_SCRIPT = "<html><body><script>go()</script></body></html>"
SITE = Site(
    {
        "/": ScriptedPage((
            f"<title>{HOSTILE}</title>{WORDS}<a href=/a>a</a>",
            f"<title>{HOSTILE}</title>{WORDS}<p>more words</p><a href=/a>a</a><a href=/b>b</a>",
        )),
        "/twice": ScriptedPage((
            f"<title>Twice</title>{WORDS}",
            f"<title>Twice</title>{WORDS}<p>a bridge was built</p>",
        )),
        "/still": ScriptedPage((f"<title>Still</title>{WORDS}",)),
        "/app": ScriptedPage((NEEDS_SCRIPT,)),
        "/slow": ScriptedPage((f"<title>Slow</title>{WORDS}",), delay=1.0),
        "/stuck": ScriptedPage((WORDS,), delay=50.0),
    },
    robots="User-agent: *\nDisallow: /closed\n",
)
SETTINGS = """
budget = "200000/day"
[network]
allow = {allow}
[politeness]
delay = 0.02
page_interval = 0.05
"""
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


@dataclass(frozen=True, slots=True)
class CrawledSite:
    """A collection, the address of the site that it may fetch, and a crawl that runs there."""

    path: Path
    url: str
    crawl: "subprocess.Popen[str] | None" = None

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "freshet", *words, "--collection", str(self.path)]

    def freshet(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end in a process of its own."""
        return run_module("freshet", *words, "--collection", str(self.path))

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Run a command that goes on."""
        return subprocess.Popen(
            self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def open(self) -> Collection:
        return Collection.open(self.path)


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback({"site": SITE}) as started:
        yield started


def make_site(path: Path, server: Loopback) -> CrawledSite:
    Collection.create(path, contact="you@example.org").close()
    file = path / "freshet.toml"
    file.write_text(file.read_text() + SETTINGS.format(allow=json.dumps(server.allow)))
    return CrawledSite(path, server.urls["site"])


def warnings(stderr: str) -> str:
    """Return what was printed on standard error, but for the notice of a first compilation."""
    return stderr.removeprefix(f"{NOTICE}\n")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


@pytest.fixture(scope="module")
def watched(server: Loopback, tmp_path_factory: pytest.TempPathFactory) -> tuple[CrawledSite, Any]:
    site = make_site(tmp_path_factory.mktemp("watch") / "c", server)
    with site.open() as opened:
        opened.add(f"{site.url}/still")
    urls = [f"{site.url}{path}" for path in ("/", "/app", "/closed")]
    result = site.freshet("watch", *urls, "--json")
    assert result.returncode == 1, result.stderr
    assert result.stdout.isascii()
    return site, json.loads(result.stdout)


@pytest.fixture(scope="module")
def crawl_run(
    server: Loopback, tmp_path_factory: pytest.TempPathFactory
) -> tuple[CrawledSite, Any]:
    site = make_site(tmp_path_factory.mktemp("run") / "c", server)
    with site.open() as opened:
        opened.add_many([f"{site.url}{path}" for path in ("/", "/still", "/app", "/closed")])
    log = str(site.path / "run.log")
    return site, site.freshet("run", "--visits", "12", "--log-file", log)


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def running(
    server: Loopback, tmp_path_factory: pytest.TempPathFactory, port: int
) -> Iterator[CrawledSite]:
    site = make_site(tmp_path_factory.mktemp("beside") / "c", server)
    file = site.path / "freshet.toml"
    file.write_text(file.read_text().replace("page_interval = 0.05", "page_interval = 3600"))
    with site.open() as opened:
        opened.add(f"{site.url}/still")
    process = site.start("run", "--metrics-port", str(port), "--metrics-address", "127.0.0.2")
    with site.open() as opened:
        until(lambda: opened.catalog.counts().visits)
    yield replace(site, crawl=process)
    process.terminate()
    process.communicate(timeout=PATIENCE)


class TestWatch:
    def test_the_result_is_printed(self, watched: tuple[CrawledSite, Any]) -> None:
        watch_result = watched[1][0]
        assert (watch_result["visit"]["outcome"], watch_result["words"], watch_result["links"]) == (
            "ok",
            14,
            1,
        )
        assert watch_result["title"].startswith("News")

    def test_a_first_forecast_and_the_next_check_are_printed(
        self, watched: tuple[CrawledSite, Any]
    ) -> None:
        watch_result = watched[1][0]
        chances = [horizon["changed"] for horizon in watch_result["forecast"]["horizons"]]
        assert 0 < chances[-1] < 1
        assert chances == sorted(chances)
        assert watch_result["why"]["expected"] > watch_result["visit"]["time"]

    def test_a_page_that_is_empty_without_scripts_says_so(
        self, watched: tuple[CrawledSite, Any]
    ) -> None:
        watch_result = watched[1][1]
        assert watch_result["visit"]["outcome"] == "empty"
        assert "needs a browser that runs scripts" in watch_result["why"]["obstacles"][0]

    def test_a_page_that_robots_closes_says_so(self, watched: tuple[CrawledSite, Any]) -> None:
        watch_result = watched[1][2]
        assert watch_result["visit"]["outcome"] == "robots"
        assert re.match(r"robots.txt of .* disallows it", watch_result["why"]["obstacles"][0])

    def test_only_the_pages_watched_are_fetched(self, watched: tuple[CrawledSite, Any]) -> None:
        site = watched[0]
        with site.open() as opened:
            assert opened.page(f"{site.url}/still").history() == []
            assert len(opened.page(f"{site.url}/").history()) == 1
            assert opened.catalog.leases() == []

    def test_watched_again_a_page_is_compared_with_the_look_before(
        self, server: Loopback, tmp_path: Path
    ) -> None:
        site = make_site(tmp_path / "c", server)
        urls = [f"{site.url}/{name}" for name in ("twice", "still", "closed")]
        first = site.freshet("watch", *urls).stdout
        assert "since" not in first
        assert first.count("forecast: not known yet") == 2
        assert first.count("disallows it") == 1
        assert re.search(r"  robots \(robots.txt of .* disallows it\)\n  next check 20", first)
        spent = site.freshet("watch", *urls[:2], "--budget", "1").stdout
        assert spent.count("not visited yet") == 2
        assert spent.count("requests spent today: 2; this call's budget: 1") == 2
        again = site.freshet("watch", *urls[:2], "--budget", "10").stdout
        assert re.search(
            r"  changed since \S+ \S+ UTC: 4 words added, 0 removed, Dice 0\.\d+; new: .*bridge",
            again,
        )
        assert re.search(r"  unchanged since \S+ \S+ UTC\n", again)


class TestRun:
    def test_it_tells_what_it_will_do_and_every_change_and_ends_with_a_summary(
        self, crawl_run: tuple[CrawledSite, Any]
    ) -> None:
        site, result = crawl_run
        assert (result.returncode, warnings(result.stderr)) == (0, "")
        first, second, *lines = result.stdout.splitlines()
        assert first == "Crawling 4 pages; objective freshness, policy guarded-freshness."
        assert second == "200,000 requests per day, 0 spent today. Ctrl-C stops the crawl."
        changes = [line for line in lines if "changed: " in line]
        assert changes
        change_line = re.compile(rf"\d\d:\d\d:\d\d UTC  {re.escape(site.url)}/  changed: \d+ words")
        assert all(change_line.match(line) for line in changes)
        assert f"{len(changes)} change" in next(line for line in lines if "Stopped after" in line)
        assert "1 request for robots.txt not included" in result.stdout

    def test_nothing_it_prints_steers_a_terminal(self, crawl_run: tuple[CrawledSite, Any]) -> None:
        assert not CONTROLS.search(crawl_run[1].stdout)

    def test_the_log_holds_every_visit_as_a_line(self, crawl_run: tuple[CrawledSite, Any]) -> None:
        site = crawl_run[0]
        events = [json.loads(line) for line in (site.path / "run.log").read_text().splitlines()]
        visits = [event for event in events if event["event"] == "visit"]
        with site.open() as opened:
            stored_urls = sorted(
                (page.url, str(row.visit.outcome))
                for page in opened.pages()
                for row in page.history()
            )
        assert sorted((event["page"], event["outcome"]) for event in visits) == stored_urls
        assert (events[0]["event"], events[-1]["event"]) == ("crawl begins", "crawl ended")

    def test_the_collection_is_sound_and_nothing_is_held(
        self, crawl_run: tuple[CrawledSite, Any]
    ) -> None:
        with crawl_run[0].open() as opened:
            assert opened.check().problems == []
            assert opened.catalog.leases() == []

    def test_the_spending_equals_the_requests(self, crawl_run: tuple[CrawledSite, Any]) -> None:
        with crawl_run[0].open() as opened:
            today = opened.status().today
            rows = [row for page in opened.pages() for row in page.history()]
        assert today.spent == sum(str(row.visit.outcome) != "robots" for row in rows)
        assert today.apart == 1


def figures(port: int) -> dict[str, float]:
    """Read the metrics of a running crawl."""
    with urllib.request.urlopen(f"http://127.0.0.2:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def test_a_refused_page_names_the_setting_and_is_fetched_once_that_is_opened(
    server: Loopback, tmp_path: Path
) -> None:
    site = make_site(tmp_path / "c", server)
    settings = site.path / "freshet.toml"
    opened_up = settings.read_text()
    settings.write_text(opened_up.replace(json.dumps(server.allow), "[]"))
    with site.open() as opened:
        opened.add(f"{site.url}/still")
    refused = site.freshet("run", "--visits", "1")
    assert re.search(r"/still  refused: .*network\.allow", refused.stdout)
    settings.write_text(opened_up)
    site.freshet("run", "--visits", "1")
    with site.open() as opened:
        history = opened.page(f"{site.url}/still").history()
    assert [str(row.visit.outcome) for row in history] == ["refused", "ok"]


class TestBesideARunningCrawl:
    """One crawl for good, and other commands beside it."""

    def test_a_second_run_is_refused_naming_the_first(self, run: Run, running: CrawledSite) -> None:
        result = run("run", "--collection", str(running.path))
        assert result.code == 6
        assert re.search(r"is being written by '.* run .*' \(process \d+, since", result.err)

    def test_status_names_the_crawl(self, run: Run, running: CrawledSite) -> None:
        output = run("status", "--collection", str(running.path)).out
        assert re.search(r"being written by '.* run .*'", output)

    def test_a_requested_page_is_visited_again(self, run: Run, running: CrawledSite) -> None:
        url = f"{running.url}/still"
        with running.open() as opened:
            before = len(opened.page(url).history())
            result = run("check-now", url, "--collection", str(running.path))
            assert "will visit them" in result.out
            until(lambda: len(opened.page(url).history()) > before)

    def test_watch_lets_the_crawl_fetch(self, run: Run, running: CrawledSite) -> None:
        result = run("watch", f"{running.url}/", "--collection", str(running.path))
        assert result.code == 0
        assert "ok: News" in result.out
        assert not CONTROLS.search(result.out)
        assert "forecast: not known yet; by pages like it, " in result.out
        assert "next check 20" in result.out

    def test_a_live_status_goes_on_until_it_is_interrupted(self, running: CrawledSite) -> None:
        ours, theirs = os.openpty()
        process = subprocess.Popen(running.command("status", "--live"), stdout=theirs)
        os.close(theirs)
        output = b""
        while output.count(b"today (") < 2:
            output += os.read(ours, 65_536)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        os.close(ours)

    def test_metrics_count_what_was_done(self, running: CrawledSite, port: int) -> None:
        until(lambda: 'freshet_visits_total{outcome="ok"}' in figures(port))
        watch_result = figures(port)
        with running.open() as opened:
            counts = opened.catalog.counts()
        assert watch_result['freshet_visits_total{outcome="ok"}'] >= 1
        assert watch_result["freshet_requests_budget"] == 200_000
        assert watch_result["freshet_requests_apart"] == 1
        assert watch_result["freshet_pages"] == counts.pages
        assert watch_result["freshet_archive_bytes"] > 0
        assert watch_result["freshet_stalled"] == 0
        assert watch_result["freshet_last_successful_visit_timestamp_seconds"] > 1.7e9
        assert watch_result["freshet_start_lateness_seconds_count"] >= counts.visits
        assert watch_result["freshet_batch_seconds_count"] >= 1
        assert {"freshet_queue_waiting", "freshet_queue_active"} <= watch_result.keys()

    def test_a_stop_records_what_is_under_way_and_ends_with_0(
        self, running: CrawledSite, server: Loopback
    ) -> None:
        url = f"{running.url}/slow"
        with running.open() as opened:
            opened.add(url)
            until(lambda: any(entry.path == "/slow" for entry in server.log.entries()))
            running.crawl.send_signal(signal.SIGTERM)
            out, err = running.crawl.communicate(timeout=PATIENCE)
            assert (running.crawl.returncode, warnings(err)) == (0, "")
            assert "Stopped after" in out
            assert [str(row.visit.outcome) for row in opened.page(url).history()] == ["ok"]
            assert opened.catalog.leases() == []
            assert ArchiveLock(opened.archive_folder).holder() == ""


def test_a_second_signal_does_not_wait_for_what_is_under_way(
    server: Loopback, tmp_path: Path
) -> None:
    site = make_site(tmp_path / "c", server)
    with site.open() as opened:
        opened.add(f"{site.url}/stuck")
    process = site.start("run")
    until(lambda: any(entry.path == "/stuck" for entry in server.log.entries()))
    process.send_signal(signal.SIGINT)
    until(lambda: process.poll() is not None or process.send_signal(signal.SIGINT))
    assert process.returncode == 130
    assert "acknowledged" in process.communicate()[1]
    with site.open() as opened:
        assert opened.check().problems == []
