"""Serve the simulated web over HTTP on loopback: one port per host, in a thread of its own."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from threading import Event, Thread
from typing import Self

from freshet.core.errors import UsageError
from freshet.demo.hosts import HostResponse

ADDRESS = "127.0.0.1"
MAX_HEAD_BYTES = 1 << 16
REQUEST_LINE_WORDS = 3

RequestHandler = Callable[[int, str, str, Mapping[str, str]], HostResponse]


def open_sockets(count: int, first_port: int = 0) -> list[socket.socket]:
    """Return sockets that listen on loopback, at consecutive ports or at any free ones."""
    sockets: list[socket.socket] = []
    try:
        for number in range(count):
            port = first_port + number if first_port else 0
            sockets.append(socket.create_server((ADDRESS, port)))
    except (OSError, OverflowError) as error:
        for listening in sockets:
            listening.close()
        raise UsageError(
            f"ports {first_port} to {first_port + count - 1} are not free: {error}; "
            "choose others, or leave --port out"
        ) from error
    return sockets


def port_of(listening: socket.socket) -> int:
    """Return the port of a listening socket."""
    return int(listening.getsockname()[1])


def origin_of(listening: socket.socket) -> str:
    """Return the origin of the host at a socket."""
    return f"http://{ADDRESS}:{port_of(listening)}"


class LoopbackServer:
    """Serves hosts at listening sockets, and closes them at the end.

    ``answer`` gets the host's number, the method, the path and the headers in lower case.
    """

    def __init__(self, sockets: Sequence[socket.socket], answer: RequestHandler) -> None:
        self._sockets = sockets
        self._answer = answer
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="simulated web", daemon=True)
        self._is_up = Event()
        self._is_over = asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._is_up.wait()
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._is_over.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        servers = [
            await asyncio.start_server(
                partial(self._converse, host), sock=listening, limit=MAX_HEAD_BYTES
            )
            for host, listening in enumerate(self._sockets)
        ]
        self._is_up.set()
        await self._is_over.wait()
        for server in servers:
            server.close()

    async def _converse(
        self, host: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Respond to the requests of one connection until it or the server ends."""
        with suppress(
            ConnectionError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
            asyncio.CancelledError,
        ):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(handle_request(self._answer, host, head))
                await writer.drain()
        writer.close()


def handle_request(respond: RequestHandler, host: int, head: bytes) -> bytes:
    """Return the response to the head of a request, as bytes."""
    request_line, *header_lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = request_line.split(" ")
    if len(words) != REQUEST_LINE_WORDS:
        return encode_response(HostResponse(HTTPStatus.BAD_REQUEST))
    pairs = (line.partition(":") for line in header_lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return encode_response(respond(host, words[0], words[1], headers))


def encode_response(response: HostResponse) -> bytes:
    """Encode a response as HTTP/1.1.

    >>> encode_response(HostResponse(200, (("ETag", '"1"'),), b"hello"))
    b'HTTP/1.1 200 OK\\r\\nETag: "1"\\r\\nContent-Length: 5\\r\\n\\r\\nhello'
    """
    lines = [f"HTTP/1.1 {int(response.status)} {HTTPStatus(response.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    if response.status != HTTPStatus.NOT_MODIFIED:
        lines.append(f"Content-Length: {len(response.body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + response.body
