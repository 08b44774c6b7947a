"""The simulated web over HTTP."""

import socket
from collections.abc import Mapping
from http.client import HTTPConnection

import pytest

from freshet.core.errors import UsageError
from freshet.demo.hosts import HostResponse
from freshet.demo.server import ADDRESS, LoopbackServer, open_sockets, origin_of, port_of


def echo(host: int, method: str, path: str, headers: Mapping[str, str]) -> HostResponse:
    text = f"{host} {method} {path} {headers.get('if-none-match', '')}"
    return HostResponse(
        304 if "if-none-match" in headers else 200, (("X-Seen", text),), text.encode()
    )


def test_every_host_answers_at_its_own_port_and_keeps_the_connection() -> None:
    sockets = open_sockets(2)
    with LoopbackServer(sockets, echo):
        for host, listening in enumerate(sockets):
            assert origin_of(listening) == f"http://{ADDRESS}:{port_of(listening)}"
            connection = HTTPConnection(ADDRESS, port_of(listening), timeout=10)
            for path in ("/a", "/b?c=d"):
                connection.request("GET", path)
                assert connection.getresponse().read().decode() == f"{host} GET {path} "
            connection.close()


def test_an_answer_of_304_has_no_body() -> None:
    sockets = open_sockets(1)
    with LoopbackServer(sockets, lambda *request: HostResponse(304, (("ETag", '"1"'),))):
        connection = HTTPConnection(ADDRESS, port_of(sockets[0]), timeout=10)
        for _ in range(2):
            connection.request("GET", "/", headers={"If-None-Match": '"1"'})
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (304, b"")
        connection.close()


def test_invalid_http_is_rejected() -> None:
    sockets = open_sockets(1)
    with (
        LoopbackServer(sockets, echo),
        socket.create_connection((ADDRESS, port_of(sockets[0])), timeout=10) as line,
    ):
        line.sendall(b"hello\r\n\r\n")
        assert line.recv(1000).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_a_closed_server_does_not_respond() -> None:
    sockets = open_sockets(1)
    port = port_of(sockets[0])
    with (
        LoopbackServer(sockets, echo),
        socket.create_connection((ADDRESS, port), timeout=10) as open_line,
    ):
        open_line.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert open_line.recv(1000)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((ADDRESS, port), timeout=10)


def test_ports_can_be_chosen_and_must_be_free() -> None:
    with socket.create_server((ADDRESS, 0)) as busy_socket:
        port = port_of(busy_socket)
        with pytest.raises(UsageError, match="are not free"):
            open_sockets(2, port)
    with open_sockets(1, port)[0] as again:
        assert port_of(again) == port
