"""The handler against real servers on loopback: what it keeps, and where it stops."""

import asyncio
import zlib
from collections.abc import Iterator

import pytest

from tests.fetch.fetcher import Result, fetch_all
from tests.fetch.servers import Behaviour, Exchange, Loopback

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
HEAD = (
    b"HTTP/1.1 200 Fine\r\nserver:  odd \r\nX-Twice: 1\r\nX-TWICE: 2\r\nContent-Length: 4\r\n\r\n"
)


def sends(*pieces: bytes, then: str = "close") -> Behaviour:
    """Return a host that sends pieces one by one, and then closes, resets or hangs."""

    async def behave(exchange: Exchange) -> None:
        for piece in pieces:
            await exchange.send(piece)
            await asyncio.sleep(0)
        if then == "reset":
            await asyncio.sleep(0.1)
            exchange.reset()
        if then == "hang":
            await exchange.hang()

    return behave


def repeats(start: bytes, piece: bytes) -> Behaviour:
    """Return a host that never stops sending."""

    async def behave(exchange: Exchange) -> None:
        await exchange.send(start)
        while True:
            await exchange.send(piece)

    return behave


async def drips(exchange: Exchange) -> None:
    await exchange.send(OK + b"\r\n")
    while True:
        await exchange.send(b"x")
        await asyncio.sleep(0.05)


HOSTS: dict[str, Behaviour] = {
    "exact": sends(HEAD, b"body"),
    "interim": sends(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", HEAD, b"body"),
    "bare": sends(b"HTTP/1.0 200 OK\nServer: old\n\n", b"until the end"),
    "chunked": sends(CHUNKED + b"4\r\nbody\r\n0\r\n\r\n"),
    "coded": sends(OK + b"Content-Encoding: deflate\r\n\r\n", zlib.compress(b"rain")),
    "no answer": sends(then="hang"),
    "hangs up": sends(),
    "half a head": sends(OK + b"Server: x"),
    "drips": drips,
    "endless": repeats(OK + b"\r\n", b"x" * 10_000),
    "too long": sends(OK + b"Content-Length: 100001\r\n\r\n", then="hang"),
    "many headers": repeats(OK, b"a: b\r\n" * 100),
    "one header": repeats(OK + b"a: ", b"b" * 1_000),
    "interim for ever": repeats(b"", b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"),
    "cut short": sends(OK + b"Content-Length: 100\r\n\r\nhalf"),
    "bad chunk": sends(CHUNKED + b"zz\r\nbody\r\n"),
    "no last chunk": sends(CHUNKED + b"4\r\nbody\r\n"),
    "reset": sends(OK + b"\r\nhalf", then="reset"),
    "two lengths": sends(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    "bad length": sends(OK + b"Content-Length: -4\r\n\r\nbody"),
    "no HTTP": sends(b"<html>nine\r\n\r\n"),
    "not TLS": sends(b"HTTP/1.1 400 Bad\r\n\r\n"),
    "more than said": sends(HEAD, b"body" + HEAD + b"evil", then="hang"),
}  # fmt: skip


@pytest.fixture(scope="module")
def results() -> Iterator[dict[str, Result]]:
    """Return what a single crawl of all hosts brought."""
    with Loopback(HOSTS) as server:
        urls = {name: f"{url}/a?b=c" for name, url in server.urls.items()}
        urls["not TLS"] = urls["not TLS"].replace("http:", "https:")
        urls["nobody there"] = "http://127.0.0.1:1/"
        urls["no name"] = "http://nowhere.invalid/"
        allow = (*server.allow, "127.0.0.1/32:1")
        yield fetch_all(urls, allow=allow, names={"known.example": "127.0.0.1"})


def test_the_head_is_kept_byte_for_byte(results: dict[str, Result]) -> None:
    assert (results["exact"].head, results["exact"].body) == (HEAD.decode(), "body")
    assert results["bare"].head == "HTTP/1.0 200 OK\nServer: old\n\n"


def test_an_interim_answer_is_not_the_answer(results: dict[str, Result]) -> None:
    assert (results["interim"].head, results["interim"].body) == (HEAD.decode(), "body")


def test_what_was_sent_is_kept(results: dict[str, Result]) -> None:
    first, *lines = results["exact"].sent.split("\r\n")
    assert first == "GET /a?b=c HTTP/1.1"
    assert lines[-2:] == ["", ""]
    assert any(line.startswith("Host: 127.0.0.1:") for line in lines)


def test_the_peer_is_known(results: dict[str, Result]) -> None:
    assert results["exact"].peer == "127.0.0.1"


def test_bodies_come_without_transfer_coding_and_with_content_coding(
    results: dict[str, Result],
) -> None:
    assert results["chunked"].body == "body"
    assert results["coded"].body.encode("latin-1") == zlib.compress(b"rain")
    assert results["bare"].body == "until the end"


def test_bytes_after_the_end_belong_to_no_answer(results: dict[str, Result]) -> None:
    assert results["more than said"].body == "body"


@pytest.mark.parametrize(
    ("host", "outcome", "why"),
    [
        ("no answer", "timeout", "limits.seconds"),
        ("drips", "timeout", "limits.seconds"),
        ("hangs up", "unreachable", "hung up without an answer"),
        ("nobody there", "unreachable", "refused"),
        ("no name", "unreachable", "has no address"),
        ("not TLS", "unreachable", "TLS"),
        ("endless", "too-large", "limits.response_bytes"),
        ("too long", "too-large", "limits.response_bytes"),
        ("many headers", "too-large", "limits.header_bytes (20,000 bytes)"),
        ("one header", "too-large", "limits.header_bytes"),
        ("interim for ever", "too-large", "limits.header_bytes"),
        ("cut short", "unreadable", "cut short"),
        ("bad chunk", "unreadable", "cut short"),
        ("no last chunk", "unreadable", "cut short"),
        ("reset", "unreadable", "cut short"),
        ("half a head", "unreadable", "not HTTP"),
        ("two lengths", "unreadable", "not HTTP"),
        ("bad length", "unreadable", "not HTTP"),
        ("no HTTP", "unreadable", "not HTTP"),
    ],
)
def test_an_answer_that_is_not_whole_is_an_outcome(
    results: dict[str, Result], host: str, outcome: str, why: str
) -> None:
    assert results[host].outcome == outcome
    assert why in results[host].why


async def asks_once_a_connection(exchange: Exchange) -> None:
    if exchange.entry.number == 0:
        await exchange.answer("first")


ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1}


def test_a_request_is_never_sent_twice() -> None:
    with Loopback({"a": asks_once_a_connection}) as server:
        urls = dict.fromkeys(("first", "second"), server.urls["a"] + "/")
        results = fetch_all(urls, allow=server.allow, settings=ONE_BY_ONE)
        entries = server.log.entries()
    assert (results["first"].body, results["second"].outcome) == ("first", "unreachable")
    assert len({entry.peer for entry in entries}) == 1
    assert len(entries) == 2


@pytest.mark.parametrize("host", ["more than said", "old"])
def test_a_connection_that_may_bring_something_else_is_not_used_again(host: str) -> None:
    old = b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n"
    hosts = {"more than said": HOSTS["more than said"], "old": sends(old, b"body", then="hang")}
    with Loopback(hosts) as server:
        urls = dict.fromkeys(("first", "second"), server.urls[host] + "/")
        results = fetch_all(urls, allow=server.allow, settings=ONE_BY_ONE)
        entries = server.log.entries()
    assert [result.body for result in results.values()] == ["body", "body"]
    assert len({entry.peer for entry in entries}) == 2
