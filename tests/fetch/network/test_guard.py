"""The guard: no request reaches an address that it may not, however it is spelled or reached."""

import asyncio
from collections.abc import Iterator, Sequence
from contextvars import Context
from typing import Any

import pytest
from scrapy.settings import Settings
from twisted.internet.address import IPv4Address, IPv6Address

from freshet.core.errors import SettingsError
from freshet.fetch.network.addresses import AllowedRanges
from freshet.fetch.network.download_handler import HANDLERS, require_guard
from freshet.fetch.network.guard import (
    ALLOW,
    CACHE_SECONDS,
    MAX_CACHED_NAMES,
    AddressGuard,
    installed_guard,
    use_allowed_ranges,
)
from tests.fetch.fetcher import Result, fetch_all
from tests.fetch.servers import Exchange, Loopback

NAMES = {
    "public.example": "8.8.8.8",
    "inside.example": "10.0.0.7",
    "rebound.example": "127.0.0.1",
    "metadata.example": "169.254.169.254",
}


class Lookup:
    """A resolver that tells other addresses each time, and keeps the names that it is asked for."""

    def __init__(self, *turns: Sequence[str]) -> None:
        self.turns = list(turns)
        self.names: list[str] = []

    @property
    def asked(self) -> int:
        return len(self.names)

    def resolveHostName(self, receiver: Any, hostName: str, *_: Any) -> None:
        self.names.append(hostName)
        for address in self.turns[min(self.asked, len(self.turns)) - 1]:
            kind = IPv6Address if ":" in address else IPv4Address
            receiver.addressResolved(kind("TCP", address, 0))
        receiver.resolutionComplete()


class Receiver:
    """Keeps the addresses that it is given, and whether that was all."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int]] = []
        self.is_complete = False

    def resolutionBegan(self, resolution: Any) -> None:
        self.name = resolution.name

    def addressResolved(self, address: Any) -> None:
        self.found.append((address.host, address.port))

    def resolutionComplete(self) -> None:
        self.is_complete = True


def resolve(guard: AddressGuard, port: int = 80, types: Any = None, name: str = "a.example") -> Any:
    receiver = Receiver()
    guard.resolveHostName(receiver, name, port, types)
    assert (receiver.name, receiver.is_complete) == (name, True)
    return receiver.found


def guard_with(lookup: Lookup, *allow: str) -> AddressGuard:
    return AddressGuard(None, AllowedRanges.parse(allow), lookup)  # type: ignore[arg-type]


def test_only_allowed_addresses_are_returned() -> None:
    guard = guard_with(Lookup(["8.8.8.8", "10.0.0.1", "::1", "2606:4700:4700::1111"]))
    assert resolve(guard) == [("8.8.8.8", 80), ("2606:4700:4700::1111", 80)]
    assert resolve(guard, types=[IPv4Address]) == [("8.8.8.8", 80)]
    assert guard.why_refused("a.example", 80) is None


def test_an_opened_port_opens_no_other() -> None:
    guard = guard_with(Lookup(["127.0.0.1"]), "127.0.0.1/32:8000")
    assert resolve(guard, port=8000) == [("127.0.0.1", 8000)]
    assert resolve(guard, port=8001) == []
    assert "network.allow" in (guard.why_refused("A.example", 8001) or "")


def test_a_name_is_not_looked_up_twice_at_a_time_and_checked_each_time() -> None:
    lookup = Lookup(["8.8.8.8"], ["127.0.0.1"])
    guard = guard_with(lookup)
    assert resolve(guard) == resolve(guard) == [("8.8.8.8", 80)]
    assert lookup.names == ["a.example"]


def test_a_name_that_moves_inside_is_refused_once_it_is_looked_up_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("freshet.fetch.network.guard.monotonic_seconds", lambda: now)
    guard = guard_with(Lookup(["8.8.8.8"], ["127.0.0.1"]))
    assert resolve(guard) == [("8.8.8.8", 80)]
    now += CACHE_SECONDS
    assert resolve(guard) == []
    assert "loopback" in (guard.why_refused("a.example", 80) or "")


def test_the_guard_does_not_remember_names_without_end() -> None:
    lookup = Lookup(["8.8.8.8"])
    guard = guard_with(lookup)
    for number in range(MAX_CACHED_NAMES + 1):
        resolve(guard, name=f"{number}.example")
    resolve(guard, name="0.example")
    resolve(guard, name=f"{MAX_CACHED_NAMES}.example")
    assert lookup.asked == MAX_CACHED_NAMES + 2


def test_what_is_no_name_is_not_looked_up() -> None:
    lookup = Lookup(["8.8.8.8"])
    guard = guard_with(lookup)
    assert resolve(guard, name="a..example") == []
    assert lookup.asked == 0
    assert guard.why_refused("a..example", 80) is None


def why_barred(guard: AddressGuard, name: str = "a.example", port: int = 80) -> str | None:
    return asyncio.run(guard.why_proxied_refused(name, port))


def test_a_name_with_any_refused_address_is_barred_from_proxies() -> None:
    guard = guard_with(Lookup(["8.8.8.8", "10.0.0.1"]), "10.0.0.1/32:8000")
    assert (why_barred(guard) or "").startswith("a.example: 10.0.0.1 is special (private)")
    assert why_barred(guard, port=8000) is None
    assert why_barred(guard_with(Lookup(["8.8.8.8"]))) is None
    assert why_barred(guard_with(Lookup([]))) is None


def test_a_name_requested_through_a_proxy_is_looked_up_at_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("freshet.fetch.network.guard.monotonic_seconds", lambda: now)
    lookup = Lookup(["8.8.8.8"], ["127.0.0.1"])
    guard = guard_with(lookup)
    assert why_barred(guard) is None
    assert why_barred(guard, "A.Example") is None
    assert lookup.names == ["a.example"]
    now += CACHE_SECONDS
    assert "loopback" in (why_barred(guard) or "")


def test_a_name_that_no_server_answers_for_is_left_to_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent(Lookup):
        """Answers only when it is told to."""

        def resolveHostName(self, receiver: Any, hostName: str, *_: Any) -> None:
            self.receiver = receiver

    monkeypatch.setattr("freshet.fetch.network.guard.LOOKUP_SECONDS", 0.0)
    lookup = Silent()
    assert why_barred(guard_with(lookup)) is None
    lookup.receiver.addressResolved(IPv4Address("TCP", "10.0.0.1", 0))
    lookup.receiver.resolutionComplete()


class Reactor:
    """What of a reactor the guard needs."""

    def __init__(self, *turns: Sequence[str]) -> None:
        self.nameResolver: Any = Lookup(*turns)

    def installNameResolver(self, resolver: Any) -> None:
        self.nameResolver = resolver


def test_a_crawl_connects_through_a_guard_with_the_ranges_of_its_settings() -> None:
    class Crawler:
        settings = Settings({ALLOW: ["10.0.0.0/8:8000"]})

    reactor: Any = Reactor(["8.8.8.8", "10.0.0.1", "127.0.0.1"])
    AddressGuard.from_crawler(Crawler(), reactor).install_on_reactor()  # type: ignore[arg-type]
    guard = installed_guard(reactor)
    assert resolve(guard, port=80) == [("8.8.8.8", 80)]
    assert resolve(guard, port=8000) == [("8.8.8.8", 8000), ("10.0.0.1", 8000)]


def test_crawlers_of_one_process_have_their_own_ranges() -> None:
    guard = guard_with(Lookup(["10.0.0.1"]), "127.0.0.0/8")

    async def crawl(*allow: str) -> Any:
        use_allowed_ranges(AllowedRanges.parse(allow))
        await asyncio.sleep(0)
        return resolve(guard)

    async def crawl_both() -> list[Any]:
        return await asyncio.gather(crawl("10.0.0.0/8"), crawl())

    assert asyncio.run(crawl_both()) == [[("10.0.0.1", 80)], []]
    assert guard.allowed == AllowedRanges.parse(["127.0.0.0/8"])


def test_a_lookup_in_a_thread_keeps_the_ranges_of_its_crawler() -> None:
    class Slow(Lookup):
        """Answers in another context, as a thread does."""

        def resolveHostName(self, receiver: Any, hostName: str, *rest: Any) -> None:
            Context().run(super().resolveHostName, receiver, hostName, *rest)

    guard = guard_with(Slow(["10.0.0.1"]))

    def resolve_for_crawler() -> Any:
        use_allowed_ranges(AllowedRanges.parse(["10.0.0.0/8"]))
        return resolve(guard)

    assert Context().run(resolve_for_crawler) == [("10.0.0.1", 80)]


def test_a_reactor_without_the_guard_is_an_error() -> None:
    with pytest.raises(SettingsError, match="TWISTED_DNS_RESOLVER: Lookup lets requests reach"):
        installed_guard(Reactor())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scheme", "path"),
    [
        ("http", "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"),
        ("ftp", "scrapy.core.downloader.handlers.ftp.FTPDownloadHandler"),
    ],
)
def test_a_project_that_bypasses_the_guard_is_refused(scheme: str, path: str) -> None:
    class Crawler:
        settings = Settings({"DOWNLOAD_HANDLERS": HANDLERS | {scheme: path}})

    with pytest.raises(SettingsError, match="unguarded"):
        require_guard(Crawler())  # type: ignore[arg-type]
    Crawler.settings = Settings({"DOWNLOAD_HANDLERS": HANDLERS})
    require_guard(Crawler())  # type: ignore[arg-type]


async def says_yes(exchange: Exchange) -> None:
    await exchange.answer("reached")


async def says_no(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 403 No\r\n\r\n")


async def says_too_much(exchange: Exchange) -> None:
    while True:
        await exchange.send(b"HTTP/1.1 200 Yes " * 100)


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    """Serve a host that may be asked, two proxies, and one that may not."""
    hosts = {"open": says_yes, "closed": says_yes, "proxy": says_no, "endless": says_too_much}
    with Loopback(hosts) as server:
        yield server


@pytest.fixture(scope="module")
def results(server: Loopback) -> dict[str, Result]:
    """Return what a single crawl brought."""
    port, ports = server.ports["closed"], server.ports
    through = {name: {"proxy": url} for name, url in server.urls.items()}
    requests = {
        "open": f"http://127.0.0.1:{ports['open']}/",
        "open by name": f"http://rebound.example:{ports['open']}/",
        "literal": f"http://127.0.0.1:{port}/",
        "number": f"http://2130706433:{port}/",
        "name": f"http://rebound.example:{port}/",
        "private": "http://inside.example/",
        "metadata": "http://metadata.example/",
        "local name": "http://printer/",
        "file": "file:///etc/passwd",
        "data": "data:text/plain,x",
        "ftp": "ftp://public.example/x",
        "through a closed proxy": {"url": "http://public.example/", "meta": through["closed"]},
        "tunnel through a closed proxy": {
            "url": "https://public.example/",
            "meta": through["closed"],
        },
        "tunnel through a closed name": {
            "url": "https://public.example/",
            "meta": {"proxy": f"http://rebound.example:{port}"},
        },
        "through an open proxy": {"url": "http://public.example/", "meta": through["open"]},
        "inside through an open proxy": {"url": "http://10.0.0.1/", "meta": through["open"]},
        "tunnel through an open proxy": {
            "url": "https://public.example/",
            "meta": through["proxy"],
        },
        "tunnel without end": {"url": "https://public.example/", "meta": through["endless"]},
    }
    allow = [f"127.0.0.1/32:{ports[name]}" for name in ("open", "proxy", "endless")]
    return fetch_all(requests, allow=allow, names=NAMES)


@pytest.mark.parametrize("name", ["open", "open by name", "through an open proxy"])
def test_what_the_settings_open_is_reached(results: dict[str, Result], name: str) -> None:
    assert (results[name].outcome, results[name].body) == ("", "reached")


@pytest.mark.parametrize(
    "name",
    [
        "literal",
        "number",
        "name",
        "private",
        "metadata",
        "local name",
        "through a closed proxy",
        "tunnel through a closed proxy",
        "tunnel through a closed name",
        "inside through an open proxy",
    ],
)
def test_everything_else_is_refused_and_the_setting_named(
    results: dict[str, Result], name: str
) -> None:
    assert results[name].outcome == "refused"
    assert "network.allow" in results[name].why


@pytest.mark.parametrize("name", ["file", "data", "ftp"])
def test_other_schemes_are_not_fetched(results: dict[str, Result], name: str) -> None:
    assert results[name].outcome == "refused"


def test_no_server_heard_of_what_was_refused(server: Loopback, results: dict[str, Result]) -> None:
    assert results
    assert server.log.entries("closed") == []


def test_a_proxy_that_opens_no_tunnel_fails_as_a_proxy(
    server: Loopback, results: dict[str, Result]
) -> None:
    assert results["tunnel through an open proxy"].outcome == "proxy-error"
    assert [entry.method for entry in server.log.entries("proxy")] == ["CONNECT"]
    assert results["tunnel without end"].outcome == "proxy-error"
    assert "no end" in results["tunnel without end"].why
