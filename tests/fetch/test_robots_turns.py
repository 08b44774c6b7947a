"""Every request waits for its host's turn, also those for robots.txt and where they redirect."""

import asyncio
from pathlib import Path

from freshet.flow.opened import OpenedCollection
from tests.fetch.crawls import crawl, make_collection, outcomes
from tests.fetch.hostile import laws
from tests.fetch.servers import Behaviour, Exchange, Loopback

DELAY, ANSWER_SECONDS = 0.2, 0.15
POLITE = {"delay": DELAY, "page_interval": 0.0}
PAGE = "<title>calm</title><p>The river is calm today, and the ferry goes every hour.</p>"


def sends_robots_to(location: str) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        if exchange.entry.path == "/robots.txt":
            await exchange.answer("", 301, location=location)
        else:
            await exchange.answer(PAGE)

    return behave


async def slow(exchange: Exchange) -> None:
    """Answer after a while, so that a delay which counts from a request's start shows."""
    await asyncio.sleep(ANSWER_SECONDS)
    await exchange.answer("" if "robots" in exchange.entry.path else PAGE)


def test_redirects_of_robots_txt_take_the_turns_of_the_host_they_lead_to(tmp_path: Path) -> None:
    with Loopback({"target": slow}) as target:
        rules = f"{target.urls['target']}/rules-robots.txt"
        with Loopback({f"h{number}": sends_robots_to(rules) for number in range(6)}) as server:
            wanted = [f"{url}/" for url in (*server.urls.values(), *target.urls.values())]
            folder = make_collection(tmp_path / "c", wanted, (*server.allow, *target.allow), POLITE)
            run = crawl(folder, visits=7)
        entries = target.log.entries()
    assert run.returncode == 0, run.stderr
    assert outcomes(folder) == {url: ["ok"] for url in wanted}
    assert [entry.path for entry in entries].count("/rules-robots.txt") == 6
    assert laws.most_at_once(entries) == 1
    assert laws.too_close(entries, ANSWER_SECONDS + DELAY) == []


def test_the_delay_of_a_host_counts_from_the_end_of_a_request(tmp_path: Path) -> None:
    with Loopback({"a": slow}) as server:
        wanted = [f"{server.urls['a']}/{number}" for number in range(4)]
        folder = make_collection(tmp_path / "c", wanted, server.allow, POLITE)
        run = crawl(folder, visits=4)
        entries = server.log.entries()
    assert run.returncode == 0, run.stderr
    assert len(entries) == 5
    assert laws.too_close(entries, ANSWER_SECONDS + DELAY) == []


def test_hosts_that_send_robots_txt_to_each_other_do_not_wait_in_a_circle(tmp_path: Path) -> None:
    async def behave(exchange: Exchange) -> None:
        other = server.urls["b" if exchange.entry.host == "a" else "a"]
        await sends_robots_to(f"{other}/robots.txt")(exchange)

    with Loopback({"a": behave, "b": behave}) as server:
        wanted = [f"{server.urls[host]}/{number}" for host in "ab" for number in range(3)]
        folder = make_collection(
            tmp_path / "c", wanted, server.allow, POLITE | {"delay": 0.02},
            network={"concurrency": 1},
        )  # fmt: skip
        run = crawl(folder, visits=6)
        entries = server.log.entries()
    assert run.returncode == 0, run.stderr
    assert outcomes(folder) == {url: ["ok"] for url in wanted}
    assert laws.most_at_once(entries) == 1


def test_a_robots_txt_that_asks_for_a_pause_gets_it_also_after_a_restart(tmp_path: Path) -> None:
    async def busy(exchange: Exchange) -> None:
        status = 429 if exchange.entry.host == "throttles" else 503
        await exchange.answer("later", status, retry_after="7200")

    with Loopback({"throttles": busy, "unavailable": busy}) as server:
        wanted = [f"{url}/{number}" for url in server.urls.values() for number in range(3)]
        folder = make_collection(tmp_path / "c", wanted, server.allow)
        for limits in ({"visits": 2}, {"seconds": 1.0}):
            run = crawl(folder, **limits, budget="100000000/day")  # type: ignore[arg-type]
            assert run.returncode == 0, run.stderr
        asked = [(entry.host, entry.path) for entry in server.log.entries()]
    assert sorted(asked) == [("throttles", "/robots.txt"), ("unavailable", "/robots.txt")]
    with OpenedCollection.open(folder) as collection:
        now = collection.clock.now()
        states = [state for state in collection.catalog.hosts() if state.failures]
    waits = [(state.backoff_until - now).total_seconds() for state in states if state.backoff_until]
    assert len(waits) == 2
    assert all(7_100 < wait <= 7_200 for wait in waits)
