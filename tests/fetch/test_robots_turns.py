"""Every request waits for its host's turn, also those for robots.txt and where they redirect."""

import asyncio
from pathlib import Path

from freshet.collection.collection import Collection
from tests.fetch.crawls import crawl, make_collection, outcomes
from tests.fetch.hostile import laws
from tests.fetch.servers import Behaviour, Exchange, Loopback
from tests.warm_process import run_module

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
    assert laws.max_concurrent_requests(entries) == 1
    assert laws.too_short_gaps(entries, ANSWER_SECONDS + DELAY) == []


def test_the_delay_of_a_host_counts_from_the_end_of_a_request(tmp_path: Path) -> None:
    with Loopback({"a": slow}) as server:
        wanted = [f"{server.urls['a']}/{number}" for number in range(4)]
        folder = make_collection(tmp_path / "c", wanted, server.allow, POLITE)
        run = crawl(folder, visits=4)
        entries = server.log.entries()
    assert run.returncode == 0, run.stderr
    assert len(entries) == 5
    assert laws.too_short_gaps(entries, ANSWER_SECONDS + DELAY) == []


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
    assert laws.max_concurrent_requests(entries) == 1


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
    with Collection.open(folder) as collection:
        now = collection.clock.now()
        states = [state for state in collection.catalog.host_states() if state.failures]
    waits = [(state.backoff_until - now).total_seconds() for state in states if state.backoff_until]
    assert len(waits) == 2
    assert all(7_100 < wait <= 7_200 for wait in waits)


def test_a_robots_txt_that_redirects_to_a_host_left_alone_cannot_be_had(tmp_path: Path) -> None:
    async def busy(exchange: Exchange) -> None:
        await exchange.answer("later", 503, retry_after="7200")

    with Loopback({"busy": busy}) as target:
        rules = f"{target.urls['busy']}/rules"
        with Loopback({f"h{number}": sends_robots_to(rules) for number in range(3)}) as server:
            wanted = [f"{url}/" for url in server.urls.values()]
            folder = make_collection(tmp_path / "c", wanted, (*server.allow, *target.allow))
            run = crawl(folder, visits=3)
        asked = target.log.entries()
    assert run.returncode == 0, run.stderr
    assert len(asked) == 1
    with Collection.open(folder) as collection:
        whys = [row.visit.why for page in collection.pages() for row in page.history()]
    assert sum("status 503" in why for why in whys) == 1
    assert sum("is closed for now" in why for why in whys) == 2


def test_a_crawl_that_ends_does_not_wait_for_turns(tmp_path: Path) -> None:
    with Loopback({"target": slow}) as target:
        rules = f"{target.urls['target']}/rules-robots.txt"
        with Loopback({f"h{number}": sends_robots_to(rules) for number in range(2)}) as server:
            wanted = [f"{url}/" for url in server.urls.values()]
            folder = make_collection(
                tmp_path / "c", wanted, (*server.allow, *target.allow), POLITE | {"delay": 58.0}
            )
            run = crawl(folder, seconds=1.5)
    assert run.returncode == 0, run.stderr
    assert outcomes(folder) == {url: [] for url in wanted}
    with Collection.open(folder) as collection:
        assert collection.catalog.leases() == []
        failed = [s.host for s in collection.catalog.host_states() if s.robots.get("failing_since")]
    assert failed == []


SPIDER = """
import asyncio
import scrapy

class Direct(scrapy.Spider):
    name = "direct"
    start_urls = [START]

    async def parse(self, response):
        download = self.crawler.engine.download_async
        files = [scrapy.Request(response.urljoin(f"/file/{n}")) for n in range(3)]
        await asyncio.gather(*map(download, files))
"""


def test_what_a_spider_downloads_at_once_takes_its_hosts_turns(tmp_path: Path) -> None:
    with Loopback({"a": slow}) as server:
        start = f"{server.urls['a']}/"
        folder = make_collection(tmp_path / "c", [], server.allow, POLITE)
        (tmp_path / "direct.py").write_text(SPIDER.replace("START", repr(start)))
        addon = 'ADDONS={"freshet.fetch.addon.Freshet": 500}'
        options = ("-s", addon, "-s", f"FRESHET_COLLECTION={folder}")
        run = run_module("scrapy", "runspider", "direct.py", *options, folder=tmp_path)
        entries = server.log.entries()
    assert run.returncode == 0, run.stderr
    assert {f"/file/{n}" for n in range(3)} <= {entry.path for entry in entries}
    assert laws.max_concurrent_requests(entries) == 1
    assert laws.too_short_gaps(entries, ANSWER_SECONDS + DELAY) == []
