"""The loopback servers answer as their scripts say, and their log tells what was asked."""

import socket
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.fetch.servers import Exchange, Loopback, ScriptedPage, Site, read_log, separate

SITE = Site(
    {"/": ScriptedPage(("one", "two"), every=2), "/late": ScriptedPage(("x",), etag=False)},
    robots="User-agent: *\nDisallow: /secret",
)


def ask(url: str, path: str, **headers: str) -> tuple[int, str, str]:
    """Return the status, the body and the ETag that a host answers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection = HTTPConnection(url.removeprefix("http://"), timeout=5)
    try:
        connection.request("GET", path, headers=named)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers.get("etag", "")
    finally:
        connection.close()


def test_a_page_shows_its_versions_in_turn() -> None:
    with Loopback({"a": SITE}) as server:
        bodies = [ask(server.urls["a"], "/")[1] for _ in range(5)]
    assert bodies == ["one", "one", "two", "two", "one"]


def test_a_version_that_is_known_is_not_sent_again() -> None:
    with Loopback({"a": SITE}) as server:
        _, _, etag = ask(server.urls["a"], "/")
        known = ask(server.urls["a"], "/", if_none_match=etag)
        moved_on = ask(server.urls["a"], "/", if_none_match=etag)
    assert known[:2] == (304, "")
    assert moved_on[:2] == (200, "two")


def test_what_the_script_does_not_name_is_not_found() -> None:
    with Loopback({"a": SITE, "b": Site({})}) as server:
        assert ask(server.urls["a"], "/robots.txt")[1] == SITE.robots
        assert ask(server.urls["b"], "/robots.txt")[0] == 404
        assert ask(server.urls["a"], "/nothing")[0] == 404


def test_the_log_holds_host_path_and_time_of_requests() -> None:
    with Loopback({"a": SITE, "b": SITE}) as server:
        ask(server.urls["a"], "/", x_mark="1")
        ask(server.urls["b"], "/late")
        ask(server.urls["a"], "/")
        first, _, last = server.log.entries()
        assert [entry.path for entry in server.log.entries("a")] == ["/", "/"]
    assert (first.host, first.method, first.header("X-Mark")) == ("a", "GET", "1")
    assert (first.number, last.number) == (0, 1)
    assert first.peer[0] == "127.0.0.1"
    assert first.began < last.began


def test_a_connection_serves_one_request_after_another() -> None:
    with Loopback({"a": SITE}) as server:
        connection = HTTPConnection("127.0.0.1", server.ports["a"], timeout=5)
        for _ in range(3):
            connection.request("GET", "/")
            connection.getresponse().read()
        connection.close()
        assert len({entry.peer for entry in server.log.entries()}) == 1


def test_a_reset_reaches_the_client() -> None:
    async def reset(exchange: Exchange) -> None:
        exchange.reset()

    with Loopback({"a": reset}) as server, pytest.raises(ConnectionResetError):
        ask(server.urls["a"], "/")


def test_the_server_ends_while_clients_wait() -> None:
    async def hang(exchange: Exchange) -> None:
        await exchange.hang()

    with Loopback({"a": hang}) as server:
        client = socket.create_connection(("127.0.0.1", server.ports["a"]))
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        while not server.log.entries():
            pass
    with client:
        assert server.log.entries()[0].ended is not None


def test_a_separate_process_serves_the_same_and_keeps_its_log_in_a_file(tmp_path: Path) -> None:
    with separate({"a": SITE}, tmp_path) as server:
        assert ask(server.urls["a"], "/")[1] == "one"
        assert [entry.path for entry in server.entries()] == ["/"]
        assert server.allow == (server.urls["a"].replace("http://127.0.0.1", "127.0.0.1/32"),)
    [entry] = read_log(server.file)
    assert entry.ended is not None
    assert entry.sent > len("one")
