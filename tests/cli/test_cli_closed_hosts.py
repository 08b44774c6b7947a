"""Hosts that close: one bad page closes none, and a closed host is reported, not waited for."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.archive.catalog.rows import HostState
from freshet.archive.warc.lock import ArchiveLock
from freshet.collection.collection import Collection
from freshet.core.clock import from_epoch
from freshet.fetch.watch import watch
from tests.cli.test_cli_fetching import SETTINGS, CrawledSite
from tests.fetch.servers import Exchange, Loopback

# A host is closed for two minutes at its second failure; a command is given up after one.
LONGER_THAN_A_COMMAND_MAY_TAKE = "90"
WORDS = "<p>the river rose in spring and the fields along it were green again</p>"
CLOSED = r"closed until \d\d:\d\d \w+ after 2 failures \(status 500\)"


async def half_broken(exchange: Exchange) -> None:
    """Answers 500 at pages that begin with /down, 404 at /robots.txt, and well elsewhere."""
    path = exchange.entry.path
    status = 404 if path == "/robots.txt" else 500 if path.startswith("/down") else 200
    await exchange.answer(WORDS, status)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[CrawledSite]:
    with Loopback({"site": half_broken}) as server:
        path = tmp_path / "c"
        Collection.create(path, contact="you@example.org").close()
        file = path / "freshet.toml"
        file.write_text(file.read_text() + SETTINGS.format(allow=json.dumps(server.allow)))
        yield CrawledSite(path, server.urls["site"])


def test_a_page_that_answers_500_does_not_keep_its_neighbour_from_being_seen(
    site: CrawledSite,
) -> None:
    result = site.freshet("watch", f"{site.url}/down", f"{site.url}/item")
    assert "closed" not in result.stdout + result.stderr
    lines = result.stdout.splitlines()
    assert lines[1] == "  server-error (status 500)"
    assert re.fullmatch(r"  next check 20.*", lines[2])
    assert lines[4].startswith("  ok: ")
    planned = site.freshet("plan").stdout
    assert "failed: server-error (status 500); tried again after its back-off" in planned
    assert "nothing seen yet" not in planned


def test_watch_tells_that_a_host_closes_and_does_not_wait_beyond(site: CrawledSite) -> None:
    pages = [f"{site.url}/{name}" for name in ("down", "down-too", "down-three")]
    result = site.freshet("watch", *pages, "--wait", LONGER_THAN_A_COMMAND_MAY_TAKE)
    assert re.search(f"^{site.url[7:]} {CLOSED}$", result.stderr, re.M)
    assert "  not visited because its host is closed; the visit stays requested\n" in result.stdout
    assert re.search(r"  its host is closed until .*, after 2 failures\n", result.stdout)


def test_watch_does_not_wait_for_a_host_that_is_closed_already(site: CrawledSite) -> None:
    with site.open() as opened:
        opened.add(f"{site.url}/item")
        host = HostState(site.url[7:], failures=1, backoff_until=from_epoch(4e9))
        opened.catalog.set_host_states([host])
    result = site.freshet("watch", f"{site.url}/item", "--wait", LONGER_THAN_A_COMMAND_MAY_TAKE)
    assert re.search(r"  its host is closed until .*, after 1 failure\n", result.stdout)


def test_watch_beside_a_crawl_does_not_wait_for_a_host_that_is_closed(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c", contact="you@example.org") as opened:
        opened.add("https://a.example/")
        host = HostState("a.example", failures=1, backoff_until=from_epoch(4e9))
        opened.catalog.set_host_states([host])
        with ArchiveLock(opened.archive_folder, command="freshet run"):
            [document] = watch(opened.path, ["https://a.example/"], seconds=60.0)
    assert document.visit is None
    assert document.why.host.closed_until is not None


def test_watch_says_once_why_a_page_was_refused(site: CrawledSite) -> None:
    result = site.freshet("watch", "http://127.0.0.1:9/")
    assert result.stdout.count("is special") == 1
    lines = result.stdout.splitlines()
    assert lines[1].startswith("  refused (127.0.0.1 is special (loopback); network.allow = ")
    assert lines[2].startswith("  'freshet run' retries it when it starts; next check ")


def test_run_tells_that_a_host_closes(site: CrawledSite) -> None:
    with site.open() as opened:
        opened.add_many([f"{site.url}/down", f"{site.url}/down-too"])
    log = site.path / "run.log"
    result = site.freshet("run", "--visits", "2", "--for", "30s", "--log-file", str(log))
    assert re.search(rf"^\d\d:\d\d:\d\d \w+  {site.url[7:]} {CLOSED}$", result.stdout, re.M)
    events = [json.loads(line) for line in log.read_text().splitlines()]
    [closing] = [event for event in events if event["event"] == "host closed"]
    assert (closing["failures"], closing["why"]) == (2, "status 500")
