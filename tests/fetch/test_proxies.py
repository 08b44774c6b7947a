"""Proxies: the requests they get, the meaning of their failures, and refused addresses."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from tests.fetch.crawls import ONCE, crawl, make_collection, outcomes
from tests.fetch.fetcher import Result, fetch_all
from tests.fetch.servers import Exchange, Loopback, ScriptedPage, Site

WORDS = "the river rose in spring and the fields along it were green again that year"
PASSWORD = "Basic bWU6c2VjcmV0"  # me:secret


async def proxy(exchange: Exchange) -> None:
    """Answer for the hosts behind a proxy, to those who know its password."""
    path = exchange.entry.path
    if exchange.entry.header("proxy-authorization") != PASSWORD:
        await exchange.answer("who are you?", 407, proxy_authenticate="Basic")
    elif path.endswith("/robots.txt"):
        await exchange.answer("User-agent: *\nDisallow: /shut", content_type="text/plain")
    elif path == "http://one.example/":
        await exchange.answer("", 302, location="http://two.example/there")
    else:
        await exchange.answer(f"<p>{WORDS}</p>")


def test_a_page_keeps_its_proxy_and_a_proxys_failure_is_not_the_hosts(tmp_path: Path) -> None:
    direct = Site({"/": ScriptedPage((f"<p>{WORDS}</p>",))})
    with Loopback({"proxy": proxy, "direct": direct}) as server:
        good = server.urls["proxy"].replace("http://", "http://me:secret@")
        bad = server.urls["proxy"].replace("http://", "http://me:wrong@")
        proxies = {
            "http://one.example/": good,
            "http://one.example/wrong": bad,
            "http://one.example/shut": good,
            "http://one.example/dead": "http://127.0.0.1:9",
            server.urls["direct"] + "/": "",
        }
        allow = [*server.allow, "127.0.0.1/32:9"]
        folder = make_collection(tmp_path / "c", proxies, allow, ONCE)
        with Collection.open(folder) as collection:
            for url, way in proxies.items():
                collection.change_settings(collection.page(url), [("proxy", way or None)])
        environment = {"http_proxy": "http://127.0.0.1:9", "no_proxy": ""}
        done = crawl(folder, visits=5, environment=environment)
        asked = server.log.entries("proxy")
        reached = server.log.entries("direct")
    assert done.returncode == 0, done.stderr
    assert outcomes(folder) == {
        "http://one.example/": ["ok"],
        "http://one.example/wrong": ["proxy-error"],
        "http://one.example/shut": ["robots"],
        "http://one.example/dead": ["proxy-error"],
        server.urls["direct"] + "/": ["ok"],
    }
    known = [entry.path for entry in asked if entry.header("proxy-authorization") == PASSWORD]
    assert known.count("http://one.example/robots.txt") == 1
    assert {"http://two.example/robots.txt", "http://two.example/there"} <= set(known)
    assert all(entry.header("proxy-authorization") is None for entry in reached)
    with Collection.open(folder) as collection:
        host = collection.catalog.host_state("one.example")
        wrong = collection.page("http://one.example/wrong").history()[0].visit
    assert host is not None
    assert host.failures == 0
    assert "secret" not in done.stderr
    assert wrong.why.endswith("it wants a user name and password, or others than page.proxy gives")


async def busy_proxy(exchange: Exchange) -> None:
    """Answer by itself: no robots.txt, and that all hosts are to be left alone for an hour."""
    if exchange.entry.path.endswith("/robots.txt"):
        await exchange.answer("", 403)
    else:
        await exchange.answer("", 503, retry_after="3600")


def test_what_a_proxy_answers_by_itself_holds_for_its_own_pages_alone(tmp_path: Path) -> None:
    pages = {path: ScriptedPage((f"<p>{WORDS}</p>",)) for path in ("/", "/shut", "/a", "/b")}
    site = Site(pages, robots="User-agent: *\nDisallow: /shut")
    with Loopback({"proxy": busy_proxy, "site": site}) as server:
        proxied = [f"{server.urls['site']}{path}" for path in ("/a", "/b")]
        direct = [f"{server.urls['site']}{path}" for path in ("/", "/shut")]
        folder = make_collection(tmp_path / "c", proxied, server.allow, ONCE)
        with Collection.open(folder) as collection:
            for url in proxied:
                page = collection.page(url)
                collection.change_settings(page, [("proxy", server.urls["proxy"])])
        first = crawl(folder, visits=2)
        with Collection.open(folder) as collection:
            collection.add_many(direct)
            assert collection.host(server.urls["site"]).closed_until is None
        second = crawl(folder, visits=2)
        asked = [entry.path for entry in server.log.entries("proxy")]
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    found = outcomes(folder)
    assert sorted(found[url][0] for url in proxied) == ["server-error", "throttled"]
    assert [found[url] for url in direct] == [["ok"], ["robots"]]
    assert len(asked) == 2


async def answer_connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 407 Who\r\n\r\n")
    await writer.drain()
    writer.close()


@pytest.fixture(scope="module")
def results() -> Iterator[dict[str, Result]]:
    """Return what requests through proxies brought that are refused or fail."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    serving = asyncio.start_server(answer_connect, "127.0.0.1", 0)
    server = asyncio.run_coroutine_threadsafe(serving, loop).result(timeout=10)
    port = server.sockets[0].getsockname()[1]
    way = {"proxy": f"http://127.0.0.1:{port}"}
    urls = {
        "tunnel": "https://far.example/",
        "plain": "http://far.example/",
        "literal": "http://10.0.0.1/",
        "mapped": "https://[::ffff:10.0.0.1]/",
        "name": "http://inner.example/",
    }
    requests = {name: {"url": url, "meta": way} for name, url in urls.items()} | {
        "dead": {"url": "https://far.example/", "meta": {"proxy": "http://127.0.0.1:9"}},
        "no name": {"url": "http://far.example/", "meta": {"proxy": "http://gate.example"}},
        "inside": {"url": "http://far.example/", "meta": {"proxy": "http://127.0.0.1:3999"}},
        "named inside": {"url": "http://far.example/", "meta": {"proxy": "http://inner.example"}},
        "local": {"url": "http://far.example/", "meta": {"proxy": "http://gate:3128"}},
        "twice": {"url": "https://far.example/", "meta": {"proxy": "https://127.0.0.1:9"}},
    }
    allow = [f"127.0.0.1/32:{port}", "127.0.0.1/32:9"]
    yield fetch_all(requests, allow=allow, names={"inner.example": "10.0.0.1"})

    async def end() -> None:
        server.close()

    asyncio.run_coroutine_threadsafe(end(), loop).result(timeout=10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("tunnel", "it answered 407 to CONNECT: it wants a user name and password"),
        ("plain", "answered 407: it wants a user name and password"),
        ("dead", "the proxy 127.0.0.1:9 failed: the connection was refused"),
        ("no name", "the proxy gate.example:80 failed: the host's name has no address"),
    ],
)
def test_a_proxy_that_fails_is_named(results: dict[str, Result], way: str, why: str) -> None:
    assert results[way].outcome == "proxy-error"
    assert why in results[way].why


@pytest.mark.parametrize("way", ["literal", "mapped", "name"])
def test_special_addresses_are_refused_behind_a_proxy_too(
    results: dict[str, Result], way: str
) -> None:
    assert results[way].outcome == "refused"
    assert "10.0.0.1 is special" in results[way].why


@pytest.mark.parametrize(
    ("way", "why"),
    [
        (
            "inside",
            "the proxy 127.0.0.1:3999 is at a special address (loopback); "
            'network.allow = ["127.0.0.1/32:3999"] would open it',
        ),
        (
            "named inside",
            "the proxy inner.example:80 is at a special address (private); "
            'network.allow = ["10.0.0.1/32:80"] would open it',
        ),
        ("local", "the proxy gate:3128 is a local name; network.allow opens what it resolves to"),
    ],
)
def test_a_proxy_with_a_refused_address_is_named_as_the_proxy(
    results: dict[str, Result], way: str, why: str
) -> None:
    assert results[way].outcome == "refused"
    assert results[way].why == why


def test_an_https_proxy_for_https_pages_is_refused_in_words(results: dict[str, Result]) -> None:
    assert results["twice"].outcome == "refused"
    assert "through an https:// proxy" in results["twice"].why
