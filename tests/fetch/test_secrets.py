"""Secrets of pages in a real crawl: over which connections they go, and what is kept of them."""

import asyncio
import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from tests.fetch.authority import Authority
from tests.fetch.crawls import ONCE, crawl, make_collection, outcomes
from tests.fetch.relay import pump
from tests.fetch.servers import ADDRESS, Exchange, Loopback, ScriptedPage, Site

WORDS = "the river rose in spring and the fields along it were green again that year"
PATHS = ("/cookie", "/key", "/allowed", "/language", "/safe", "/unverified")
SITE = Site({path: ScriptedPage((f"<p>{WORDS} {path}</p>",)) for path in PATHS})


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.make(tmp_path_factory.mktemp("tls"))


def test_secrets_go_out_over_verified_connections_alone_unless_the_page_allows_more(
    tmp_path: Path, authority: Authority
) -> None:
    tls = {"safe": authority.serve("127.0.0.1"), "bad": authority.serve(self_signed=True)}
    settings = {
        "/cookie": ("plain", [("cookies.session", "hush-1")]),
        "/key": ("plain", [("headers.X-Api-Key", "hush-2")]),
        "/allowed": ("plain", [("cookies.session", "hush-3"), ("insecure_secrets", True)]),
        "/language": ("plain", [("headers.Accept-Language", "fr")]),
        "/safe": ("safe", [("headers.Authorization", "Bearer hush-4")]),
        "/unverified": ("bad", [("headers.Authorization", "hush-5"), ("verify_tls", False)]),
    }
    with Loopback({"plain": SITE, "safe": SITE, "bad": SITE}, tls=tls) as server:
        urls = {path: server.urls[host] + path for path, (host, _) in settings.items()}
        folder = make_collection(tmp_path / "c", urls.values(), server.allow, ONCE)
        with Collection.open(folder) as collection:
            for path, (_, changes) in settings.items():
                collection.change_settings(collection.page(urls[path]), changes)
        done = crawl(folder, visits=6, environment=authority.environment)
        entries = {entry.path: entry for entry in server.log.entries()}
    assert done.returncode == 0, done.stderr
    found = outcomes(folder)
    assert {path: found[url] for path, url in urls.items()} == {
        "/cookie": ["refused"],
        "/key": ["refused"],
        "/allowed": ["ok"],
        "/language": ["ok"],
        "/safe": ["ok"],
        "/unverified": ["refused"],
    }
    assert sorted(entries.keys() - {"/robots.txt"}) == ["/allowed", "/language", "/safe"]
    assert entries["/allowed"].header("cookie") == "session=hush-3"
    assert entries["/safe"].header("authorization") == "Bearer hush-4"
    with Collection.open(folder) as collection:
        whys = [collection.page(urls[path]).history()[0].visit.why for path in settings]
    assert "X-Api-Key would go out over a plain http connection" in whys[1]
    assert "insecure_secrets = true" in whys[1]
    assert "Authorization would go out over an unverified connection" in whys[5]
    kept = b"".join(
        gzip.decompress(file.read_bytes()) for file in (folder / "archive").glob("*.warc.gz")
    )
    assert b"hush" not in kept
    assert b"Cookie: [blanked]" in kept
    assert b"Authorization: [blanked]" in kept
    assert b"Accept-Language: fr" in kept


@contextmanager
def one_port(tls: int, plain: int) -> Iterator[int]:
    """Serve both protocols on one port, so that only the scheme of a URL tells them apart."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(1)
        inner, outer = await asyncio.open_connection(ADDRESS, tls if first == b"\x16" else plain)
        outer.write(first)
        await asyncio.gather(pump(reader, outer), pump(inner, writer))

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    serving = asyncio.start_server(connected, ADDRESS, 0)
    server = asyncio.run_coroutine_threadsafe(serving, loop).result(timeout=10)
    yield int(server.sockets[0].getsockname()[1])

    async def end() -> None:
        server.close()
        talks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)

    asyncio.run_coroutine_threadsafe(end(), loop).result(timeout=10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_cookies_and_headers_do_not_survive_a_redirect_from_https_to_http(
    tmp_path: Path, authority: Authority
) -> None:
    async def down(exchange: Exchange) -> None:
        if exchange.entry.path == "/robots.txt":
            await exchange.answer("", 404)
        else:
            await exchange.answer("", 302, location=f"http://{place[0]}/plain")

    place: list[str] = []
    plain = Site({"/plain": ScriptedPage((f"<p>{WORDS}</p>",))})
    tls = {"tls": authority.serve("127.0.0.1")}
    with (
        Loopback({"tls": down, "plain": plain}, tls=tls) as server,
        one_port(server.ports["tls"], server.ports["plain"]) as port,
    ):
        place.append(f"{ADDRESS}:{port}")
        url = f"https://{place[0]}/"
        folder = make_collection(tmp_path / "c", [url], [f"{ADDRESS}/32:{port}"])
        with Collection.open(folder) as collection:
            changes = [
                ("cookies.session", "s"),
                ("headers.Authorization", "a"),
                ("headers.X-Own", "x"),
                ("insecure_secrets", True),
            ]
            collection.change_settings(collection.page(url), changes)
        crawl(folder, visits=1, environment=authority.environment)
        first = [entry for entry in server.log.entries("tls") if entry.path == "/"]
        second = [entry for entry in server.log.entries("plain") if entry.path == "/plain"]
    assert outcomes(folder) == {url: ["ok"]}
    names = ("cookie", "authorization", "x-own")
    assert [first[0].header(name) for name in names] == ["session=s", "a", "x"]
    assert [second[0].header(name) for name in names] == [None, None, None]
