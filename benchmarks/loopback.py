"""A server on loopback that answers every path with a page of its own, as fast as it can.

Run as a program it prints its port, and at the end of its input the time of its first page request.
"""

import asyncio
import sys
from functools import cache

from freshet.core.clock import monotonic_seconds

SIZE = 20_000
VARIANTS = 64
ROBOTS = b"User-agent: *\nDisallow:\n"


def page(path: str) -> bytes:
    """Return a page of twenty thousand bytes, with a title and a first line of its own."""
    name = path.strip("/") or "home"
    start = f'<!doctype html><title>Page {name}</title><h1>Page {name}</h1><a href="/{name}/1">'
    return (start.encode() + page_body(sum(name.encode()) % VARIANTS))[:SIZE]


@cache
def page_body(variant: int) -> bytes:
    """Return the rest of a page: blocks as sites have them, a third of their bytes text."""
    number, blocks = variant, []
    while sum(map(len, blocks)) < SIZE:
        number = (number * 1_103_515_245 + 12_345) % 2**31
        words = " ".join(f"w{(number >> shift) % 5000}" for shift in range(0, 30, 2))
        link = f'<a class="card__link" href="/{variant}/{number % 997}">item {number % 997}</a>'
        blocks.append(
            f'<div class="card card--{number % 7}" id="b{number % 9973}">'
            f'<h3 class="card__title">{"" if number % 4 else link}</h3>'
            f'<p class="card__text text--small">{words}</p></div>'
        )
    return "".join(blocks).encode()


class LoopbackServer:
    """Answers requests one after the other on each connection."""

    def __init__(self) -> None:
        self.first_request = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                writer.write(self.answer(head.split(b" ", 2)[1].decode()))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def answer(self, path: str) -> bytes:
        """Return the response to a request for a path."""
        if path == "/robots.txt":
            return _http(ROBOTS, b"text/plain")
        self.first_request = self.first_request or monotonic_seconds()
        return _http(page(path), b"text/html; charset=utf-8")


def _http(body: bytes, media_type: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
    return head % (media_type, len(body)) + body


async def run() -> None:
    """Serve until the input ends."""
    pages = LoopbackServer()
    server = await asyncio.start_server(pages.serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    sys.stdout.write(f"{pages.first_request}\n")
    server.close()


if __name__ == "__main__":
    asyncio.run(run())
