"""Servers that say nothing, too little, or without end."""

import asyncio

from freshet.core.types import Outcome
from tests.fetch.hostile.kinds import BYTES, HEAD, SECONDS, head, misbehaves, plain
from tests.fetch.servers import Exchange

BLOCK = b"All work and no play makes a dull page. " * 1600


async def drip(exchange: Exchange, data: bytes) -> None:
    """Send one byte a second."""
    for place in range(len(data)):
        await exchange.send(data[place : place + 1])
        await asyncio.sleep(1)


@misbehaves(Outcome.TIMEOUT, bound=SECONDS)
async def never_answers(exchange: Exchange) -> None:
    """Takes the request and says nothing."""
    await exchange.hang()


@misbehaves(Outcome.UNREACHABLE)
async def closes_at_once(exchange: Exchange) -> None:
    """Takes the request and closes the connection."""


@misbehaves(Outcome.UNREACHABLE)
async def resets_at_once(exchange: Exchange) -> None:
    """Takes the request and resets the connection."""
    exchange.reset()


@misbehaves(Outcome.UNREADABLE)
async def closes_inside_the_head(exchange: Exchange) -> None:
    """Closes the connection in the middle of a header line."""
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Ty")


@misbehaves(Outcome.TIMEOUT, bound=SECONDS)
async def drips_its_head(exchange: Exchange) -> None:
    """Sends one byte of the status line and the headers a second."""
    await drip(exchange, plain("slow", "Content-Length: 4"))


@misbehaves(Outcome.TIMEOUT, bound=SECONDS)
async def drips_its_body(exchange: Exchange) -> None:
    """Sends the head at once, then one byte of the body a second."""
    await exchange.send(plain("", f"Content-Length: {len(BLOCK)}"))
    await drip(exchange, BLOCK)


@misbehaves(Outcome.TOO_LARGE, bound=BYTES)
async def endless_body(exchange: Exchange) -> None:
    """Sends a body without a length and without end."""
    await exchange.send(plain(""))
    while True:
        await exchange.send(BLOCK)


@misbehaves(Outcome.TOO_LARGE, bound=BYTES)
async def endless_chunks(exchange: Exchange) -> None:
    """Sends well-formed chunks without end."""
    await exchange.send(plain("", "Transfer-Encoding: chunked"))
    while True:
        await exchange.send(b"%x\r\n%b\r\n" % (len(BLOCK), BLOCK))


@misbehaves(Outcome.TOO_LARGE, Outcome.TIMEOUT, bound=SECONDS)
async def endless_tiny_chunks(exchange: Exchange) -> None:
    """Sends chunks of one byte without end."""
    await exchange.send(plain("", "Transfer-Encoding: chunked"))
    while True:
        await exchange.send(b"1\r\nx\r\n" * 5000)


@misbehaves(Outcome.TOO_LARGE, bound=HEAD)
async def endless_headers(exchange: Exchange) -> None:
    """Sends small header lines without end."""
    await exchange.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await exchange.send(b"X-Line: and another one\r\n" * 100)


@misbehaves(Outcome.TOO_LARGE, bound=HEAD)
async def header_flood(exchange: Exchange) -> None:
    """Sends 100,000 small headers and then a page."""
    lines = (f"X-{number}: {number}" for number in range(100_000))
    await exchange.send(plain("flood", *lines, "Content-Length: 5"))


@misbehaves(Outcome.TOO_LARGE, bound=HEAD)
async def one_huge_header(exchange: Exchange) -> None:
    """Sends one header of 8 MB."""
    await exchange.send(plain("huge", f"X-Huge: {'x' * 8_000_000}", "Content-Length: 4"))


@misbehaves(Outcome.TOO_LARGE, bound=HEAD)
async def endless_status_line(exchange: Exchange) -> None:
    """Sends a status line whose reason never ends."""
    await exchange.send(b"HTTP/1.1 200 ")
    while True:
        await exchange.send(BLOCK)


@misbehaves(Outcome.TOO_LARGE, bound=HEAD)
async def informs_for_ever(exchange: Exchange) -> None:
    """Sends 100 Continue and 103 Early Hints without end."""
    while True:
        await exchange.send(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" * 100)


@misbehaves(Outcome.UNREADABLE, bound="64 KiB of trailers")
async def endless_trailers(exchange: Exchange) -> None:
    """Ends its chunks, then sends trailer lines without end."""
    await exchange.send(head("Transfer-Encoding: chunked") + b"4\r\ntail\r\n0\r\n")
    while True:
        await exchange.send(b"X-Trailer: and another one\r\n" * 100)


@misbehaves(Outcome.TOO_LARGE, bound=BYTES)
async def promises_an_exabyte(exchange: Exchange) -> None:
    """Declares a body of an exabyte and starts to send it."""
    await exchange.send(plain("", f"Content-Length: {10**18}"))
    while True:
        await exchange.send(BLOCK)
