"""Hosts that close: one bad page closes nothing, and what closes is told and not waited for."""

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
from tests.cli.test_cli_fetching import SETTINGS, Place
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
def place(tmp_path: Path) -> Iterator[Place]:
    with Loopback({"site": half_broken}) as server:
        path = tmp_path / "c"
        Collection.create(path, contact="you@example.org").close()
        file = path / "freshet.toml"
        file.write_text(file.read_text() + SETTINGS.format(allow=json.dumps(server.allow)))
        yield Place(path, server.urls["site"])


def test_a_page_that_answers_500_does_not_keep_its_neighbour_from_being_seen(place: Place) -> None:
    ended = place.freshet("watch", f"{place.url}/down", f"{place.url}/item")
    assert "closed" not in ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[1] == "  server-error (status 500)"
    assert re.fullmatch(r"  next check 20.*", lines[2])
    assert lines[4].startswith("  ok: ")
    planned = place.freshet("plan").stdout
    assert "failed: server-error (status 500); tried again after its back-off" in planned
    assert "nothing seen yet" not in planned


def test_watch_tells_that_a_host_closes_and_does_not_wait_beyond(place: Place) -> None:
    pages = [f"{place.url}/{name}" for name in ("down", "down-too", "down-three")]
    ended = place.freshet("watch", *pages, "--wait", LONGER_THAN_A_COMMAND_MAY_TAKE)
    assert re.search(f"^{place.url[7:]} {CLOSED}$", ended.stderr, re.M)
    assert "  not visited because its host is closed; the visit stays requested\n" in ended.stdout
    assert re.search(r"  its host is closed until .*, after 2 failures\n", ended.stdout)


def test_watch_does_not_wait_for_a_host_that_is_closed_already(place: Place) -> None:
    with place.open() as opened:
        opened.add(f"{place.url}/item")
        host = HostState(place.url[7:], failures=1, backoff_until=from_epoch(4e9))
        opened.catalog.set_host_states([host])
    ended = place.freshet("watch", f"{place.url}/item", "--wait", LONGER_THAN_A_COMMAND_MAY_TAKE)
    assert re.search(r"  its host is closed until .*, after 1 failure\n", ended.stdout)


def test_watch_beside_a_crawl_does_not_wait_for_a_host_that_is_closed(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c", contact="you@example.org") as opened:
        opened.add("https://a.example/")
        host = HostState("a.example", failures=1, backoff_until=from_epoch(4e9))
        opened.catalog.set_host_states([host])
        with ArchiveLock(opened.archive_folder, command="freshet run"):
            [found] = watch(opened.path, ["https://a.example/"], seconds=60.0)
    assert found.visit is None
    assert found.why.host.closed_until is not None


def test_watch_says_once_why_a_page_was_refused(place: Place) -> None:
    ended = place.freshet("watch", "http://127.0.0.1:9/")
    assert ended.stdout.count("is special") == 1
    lines = ended.stdout.splitlines()
    assert lines[1].startswith("  refused (127.0.0.1 is special (loopback); network.allow = ")
    assert lines[2].startswith("  'freshet run' tries it anew when it starts; next check ")


def test_run_tells_that_a_host_closes(place: Place) -> None:
    with place.open() as opened:
        opened.add_many([f"{place.url}/down", f"{place.url}/down-too"])
    log = place.path / "run.log"
    ended = place.freshet("run", "--visits", "2", "--for", "30s", "--log-file", str(log))
    assert re.search(rf"^\d\d:\d\d:\d\d \w+  {place.url[7:]} {CLOSED}$", ended.stdout, re.M)
    events = [json.loads(line) for line in log.read_text().splitlines()]
    [closing] = [event for event in events if event["event"] == "host closed"]
    assert (closing["failures"], closing["why"]) == (2, "status 500")
