"""robots.txt is requested once, stored, and obeyed by the access rules of RFC 9309."""

import asyncio
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import cast

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadTimeoutError
from scrapy.http import Response

from freshet.core.clock import FixedClock
from freshet.core.settings import PolitenessSettings, Settings
from freshet.core.types import Outcome
from freshet.fetch.network.failures import (
    AddressRefusedError,
    RobotsDisallowedError,
    classify_error,
)
from freshet.fetch.politeness.host_schedule import HostSchedule
from freshet.fetch.politeness.proxy_schedules import ProxySchedules
from freshet.fetch.politeness.robots_record import MAX_DECODED_BYTES, RobotsRecord
from freshet.fetch.request_context import context_of
from freshet.fetch.robots_middleware import RobotsMiddleware
from freshet.fetch.runtime import CrawlRuntime
from tests.fetch.fetcher import fetch_all
from tests.fetch.servers import Exchange, Loopback

START = datetime(2026, 1, 1, tzinfo=UTC)
FILE = "https://a.example/robots.txt"
PAGE = "https://a.example/page"
CLOSED = "User-agent: *\nDisallow: /page"

Answer = Response | Exception


@dataclass
class World:
    """A host's answers by URL, and a crawl that asks for them."""

    answers: Mapping[str, Answer]
    delay: float = 0.0
    asked: list[Request] = field(default_factory=list)
    left: list[Request] = field(default_factory=list)
    handed_over: list[tuple[str, str]] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    counted: int = 0

    def __post_init__(self) -> None:
        self.clock = FixedClock(START)
        self.hosts = HostSchedule(PolitenessSettings(delay=self.delay, longest_delay=300.0))
        self.proxied = ProxySchedules(self.hosts.politeness)
        self.settings = Settings(politeness=self.hosts.politeness)
        # The world stands in for the runtime of a crawl and for the parts that it owns.
        self.host_schedule, self.proxy_schedules = self.hosts, self.proxied
        self.environment = self.requests = self.writer = self
        self.robots = RobotsMiddleware(cast("CrawlRuntime", self))

    def pass_turn(self, page: Request, robots: Request) -> None:
        self.handed_over.append((page.url, robots.url))

    def end_turn(self, request: Request, *, was_sent: bool) -> None:
        assert not was_sent
        self.left.append(request)

    @contextmanager
    def awaiting_robots(self, host: str) -> Iterator[None]:
        self.held.append(host)
        yield
        self.held.remove(host)

    async def download(self, request: Request) -> Response:
        self.asked.append(request)
        assert self.held
        await asyncio.sleep(0)
        answer = self.answers[request.url]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def book_unbudgeted(self, requests: int) -> None:
        self.counted += requests

    def let_pass(self, url: str = PAGE, **meta: object) -> Request | None:
        """Ask for a page; return what the middleware does."""
        return asyncio.run(self.robots.process_request(Request(url, meta=meta)))

    def outcome(self, url: str = PAGE) -> tuple[Outcome, str] | None:
        """Return the outcome that robots.txt gives a page, None where it lets it pass."""
        try:
            self.let_pass(url)
        except RobotsDisallowedError as error:
            return classify_error(error)
        return None

    def later(self, **span: float) -> None:
        self.clock.at += timedelta(**span)


def answer(body: bytes | str = b"", status: int = 200, url: str = FILE, **headers: str) -> Response:
    content = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(url, status, named, content)


def test_rules_are_followed() -> None:
    world = World({FILE: answer(CLOSED)})
    assert world.outcome() == (Outcome.ROBOTS, "robots.txt of a.example disallows it")
    assert world.outcome("https://a.example/other") is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 304])
def test_a_file_that_is_not_there_closes_nothing(status: int) -> None:
    assert World({FILE: answer(CLOSED, status)}).outcome() is None


@pytest.mark.parametrize("status", [429, 500, 503, 599, 999])
def test_a_server_in_trouble_closes_everything(status: int) -> None:
    world = World({FILE: answer("", status)})
    assert world.outcome() == (
        Outcome.ROBOTS,
        f"robots.txt of a.example is unavailable: status {status}",
    )


@pytest.mark.parametrize("error", [DownloadTimeoutError(), CannotResolveHostError()])
def test_a_host_that_does_not_answer_is_unreachable(error: Exception) -> None:
    outcome, why = World({FILE: error}).outcome() or (None, "")
    assert outcome is Outcome.UNREACHABLE
    assert "is unavailable" in why


def test_a_host_with_a_refused_address_is_refused_and_nothing_stored() -> None:
    world = World({FILE: AddressRefusedError("10.0.0.1 is special; network.allow …")})
    with pytest.raises(AddressRefusedError, match=r"network\.allow"):
        world.let_pass()
    assert world.hosts.robots("a.example") is None


def test_a_closed_host_is_retried_at_growing_intervals_and_opens_in_the_end() -> None:
    world = World({FILE: answer("", 503)})
    times = []
    while world.outcome() is not None:
        record = world.hosts.robots("a.example")
        assert record is not None
        times.append(record.expires - record.fetched)
        world.later(seconds=record.expires - record.fetched)
    assert times[:4] == [300.0, 300.0, 600.0, 1200.0]
    assert max(times) == 24 * 3600.0
    assert world.clock.at - START >= timedelta(days=30)
    assert world.clock.at - START < timedelta(days=31)


def test_a_closed_host_opens_as_soon_as_it_answers() -> None:
    world = World({FILE: answer("", 503)})
    assert world.outcome()
    world.answers = {FILE: answer("")}
    assert world.outcome()
    world.later(seconds=300)
    assert world.outcome() is None


def test_what_was_found_holds_for_a_day() -> None:
    world = World({FILE: answer("")})
    for hours in (0, 23, 0.9):
        world.later(hours=hours)
        assert world.outcome() is None
    assert len(world.asked) == 1
    world.answers = {FILE: answer(CLOSED)}
    world.later(hours=0.2)
    assert world.outcome()
    assert len(world.asked) == world.counted == 2


def test_a_clock_that_is_set_back_makes_it_ask_again() -> None:
    world = World({FILE: answer("")})
    world.let_pass()
    world.later(days=-1)
    world.let_pass()
    assert len(world.asked) == 2


def test_pages_that_come_together_ask_once() -> None:
    world = World({FILE: answer(CLOSED)})

    async def together() -> list[object]:
        pages = [Request(f"https://a.example/{number}") for number in range(9)]
        passing = (world.robots.process_request(page) for page in [*pages, Request(PAGE)])
        return await asyncio.gather(*passing, return_exceptions=True)

    *passed, closed = asyncio.run(together())
    assert [again.url for again in passed] == [f"https://a.example/{n}" for n in range(9)]
    assert isinstance(closed, RobotsDisallowedError)
    assert len(world.asked) == 1


def test_http_and_https_have_a_file_each() -> None:
    plain = "http://a.example/robots.txt"
    world = World({FILE: answer(CLOSED), plain: answer("", url=plain)})
    assert world.outcome()
    assert world.outcome("http://a.example/page") is None
    assert world.outcome()
    assert len(world.asked) == 2


def hop(number: int) -> str:
    return f"https://b{number}.example/robots.txt"


def chain(length: int) -> dict[str, Answer]:
    """Return a robots.txt that is sent on so many times before it closes everything."""
    urls = [FILE, *map(hop, range(length))]
    answers: dict[str, Answer] = {
        url: answer("", 301, url, Location=following) for url, following in pairwise(urls)
    }
    return answers | {urls[-1]: answer("User-agent: *\nDisallow: /", url=urls[-1])}


def test_five_redirects_are_followed_for_the_requested_host() -> None:
    world = World(chain(5))
    assert world.outcome()
    assert world.counted == 6
    assert world.hosts.robots("a.example") is not None
    assert world.hosts.robots("b1.example") is None


def test_a_sixth_redirect_means_that_there_is_no_file() -> None:
    world = World(chain(6))
    assert world.outcome() is None
    assert world.counted == 6


def test_a_redirect_to_a_refused_address_closes_the_host() -> None:
    world = World({
        FILE: answer("", 302, Location="http://10.0.0.1/"),
        "http://10.0.0.1/": AddressRefusedError("10.0.0.1 is special"),
    })
    assert "its redirect failed: 10.0.0.1 is special" in (world.outcome() or ("", ""))[1]


def test_a_crawl_delay_is_taken_over_and_cut() -> None:
    world = World({FILE: answer("User-agent: *\nCrawl-delay: 1000000000")})
    world.let_pass()
    assert world.hosts.delay("a.example") == 300.0
    world.answers = {FILE: answer("", 404)}
    world.later(days=1)
    world.let_pass()
    assert world.hosts.delay("a.example") == 0.0


def test_a_crawl_delay_holds_for_the_first_page_already() -> None:
    world = World({FILE: answer("User-agent: *\nCrawl-delay: 20")}, delay=1.0)
    world.let_pass()
    now = world.clock.at.timestamp()
    assert world.hosts.open_from("a.example", now) == now + 20.0


def test_a_page_hands_its_turn_over_and_waits_again() -> None:
    world = World({FILE: answer("")})
    again = world.let_pass()
    assert again is not None
    assert (again.url, again.dont_filter) == (PAGE, False)
    assert context_of(again).waited_for_robots
    assert world.handed_over == [(PAGE, FILE)]
    assert world.let_pass() is None


def test_a_page_that_waits_for_anothers_answer_leaves_its_turn() -> None:
    world = World({FILE: answer("")})

    async def together() -> None:
        pages = [Request(f"https://a.example/{number}") for number in range(3)]
        await asyncio.gather(*map(world.robots.process_request, pages))

    asyncio.run(together())
    assert world.handed_over == [("https://a.example/0", FILE)]
    assert {request.url for request in world.left} >= {f"https://a.example/{n}" for n in (1, 2)}


def test_pages_with_different_proxies_ask_apart() -> None:
    world = World({FILE: answer("")})

    async def together() -> None:
        proxies = ({}, {"proxy": "http://p.example:1"})
        pages = [Request(PAGE, meta=proxy) for proxy in proxies]
        await asyncio.gather(*map(world.robots.process_request, pages))

    asyncio.run(together())
    assert [asked.meta.get("proxy") for asked in world.asked] == [None, "http://p.example:1"]


def test_what_a_proxy_says_over_plain_http_holds_for_its_own_pages_alone() -> None:
    page, file = "http://a.example/page", "http://a.example/robots.txt"
    first, second = {"proxy": "http://one.example:1"}, {"proxy": "http://two.example:1"}
    world = World({file: answer("", 403, file)})
    for _ in range(2):
        world.let_pass(page, **first)
    assert len(world.asked) == 1
    world.answers = {file: answer("", 503, file)}
    with pytest.raises(RobotsDisallowedError, match="is unavailable"):
        world.let_pass(page, **second)
    assert world.let_pass(page, **first) is None
    world.answers = {file: answer(CLOSED, url=file)}
    for proxy in ({}, first, second):
        with pytest.raises(RobotsDisallowedError, match="disallows it"):
            world.let_pass(page, **proxy)
    assert [asked.meta.get("proxy") for asked in world.asked] == [
        first["proxy"], second["proxy"], None,
    ]  # fmt: skip


def test_a_tunnel_through_a_proxy_brings_the_hosts_own_rules() -> None:
    world = World({FILE: answer(CLOSED)})
    for proxy in ({"proxy": "http://one.example:1"}, {}):
        with pytest.raises(RobotsDisallowedError, match="disallows it"):
            world.let_pass(**proxy)
    assert len(world.asked) == 1


def test_codings_are_undone_and_bombs_are_not() -> None:
    packed = answer(zlib.compress(CLOSED.encode()), content_encoding="deflate")
    assert World({FILE: packed}).outcome() == (
        Outcome.ROBOTS,
        "robots.txt of a.example disallows it",
    )
    bomb = answer(zlib.compress(b"\n" * (MAX_DECODED_BYTES + 1)), content_encoding="deflate")
    outcome, why = World({FILE: bomb}).outcome() or (None, "")
    assert (outcome, "decodes to more than" in why) == (Outcome.ROBOTS, True)


def test_what_asks_for_it_is_marked_and_left_alone() -> None:
    world = World({FILE: answer(CLOSED)})
    world.let_pass("https://a.example/x", proxy="http://proxy.example:3128")
    [asked] = world.asked
    assert asked.meta["proxy"] == "http://proxy.example:3128"
    assert asked.meta["dont_redirect"]
    assert asyncio.run(world.robots.process_request(asked)) is None
    assert world.let_pass(dont_obey_robotstxt=True) is None


def test_a_record_can_be_kept_and_brought_back() -> None:
    world = World({FILE: answer(CLOSED)})
    assert world.outcome()
    [state] = [state for state in world.hosts.take_unsaved() if state.robots]
    kept = RobotsRecord(**state.robots)
    assert kept == world.hosts.robots("a.example")


def repeats(start: bytes, piece: bytes) -> Callable[[Exchange], object]:
    async def behave(exchange: Exchange) -> None:
        if exchange.entry.path != "/robots.txt":
            await exchange.answer("page")
            return
        await exchange.send(start)
        while True:
            await exchange.send(piece)

    return behave


async def quiet(exchange: Exchange) -> None:
    await exchange.hang()


def test_a_real_crawl_reads_no_more_of_a_robots_txt_than_it_parses() -> None:
    rule = (
        b"HTTP/1.1 200 OK\r\n%sContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /closed\n"
    )
    hosts = {
        "endless": repeats(rule % b"", b"# more\n" * 5_000),
        "huge": repeats(rule % b"Content-Length: 500000000\r\n", b"# more\n" * 5_000),
        "quiet": quiet,
    }
    with Loopback(hosts) as server:
        urls = {
            f"{host} {path}": f"{url}/{path}"
            for host, url in server.urls.items()
            for path in ("open", "closed")
        }
        results = fetch_all(urls, allow=server.allow, robots=True)
        asked = [(entry.host, entry.path) for entry in server.log.entries()]
        sent = max(entry.sent for entry in server.log.entries())
    for host in ("endless", "huge"):
        assert results[f"{host} open"].body == "page"
        assert results[f"{host} closed"].outcome == "robots"
        assert asked.count((host, "/robots.txt")) == 1
    assert results["quiet open"].outcome == "unreachable"
    assert asked.count(("quiet", "/open")) == 0
    assert sent < 10_000_000
