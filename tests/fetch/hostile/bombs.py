"""Servers whose bodies unpack to a quarter of a gigabyte, or do not unpack at all."""

import gzip
import zlib
from functools import cache

import brotli  # type: ignore[import-untyped]
from backports import zstd

from freshet.core.types import Outcome
from tests.fetch.hostile.kinds import (
    BYTES,
    CALM,
    DECODED,
    RULES,
    Misbehaviour,
    misbehaves,
    moved,
)
from tests.fetch.servers import Exchange, response

UNPACKED = 1 << 28
STEP = 1 << 22
CODINGS = ("gzip", "deflate", "br", "zstd")


@cache
def bomb(coding: str) -> bytes:
    """Return a small body that unpacks to a quarter of a gigabyte of spaces."""
    block, times = b" " * STEP, UNPACKED // STEP
    if coding == "gzip":
        return gzip.compress(block, mtime=0) * times
    if coding == "zstd":
        return zstd.compress(block) * times
    if coding == "deflate":
        stream = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        piece = stream.compress(block) + stream.flush(zlib.Z_FULL_FLUSH)
        return piece * times + stream.flush()
    stream = brotli.Compressor(quality=1)
    return b"".join(stream.process(block) for _ in range(times)) + stream.finish()


def in_page(coding: str) -> Misbehaviour:
    """Return a host whose page is a bomb."""

    @misbehaves(Outcome.TOO_LARGE, bound=DECODED)
    async def bomb_in_page(exchange: Exchange) -> None:
        await exchange.answer(bomb(coding), content_encoding=coding)

    return named(bomb_in_page, f"{coding} bomb in a page")


def in_redirect(coding: str) -> Misbehaviour:
    """Return a host whose redirect carries a bomb on its way to a calm page."""

    @misbehaves(Outcome.OK, bound=DECODED, hops=2)
    async def bomb_in_redirect(exchange: Exchange) -> None:
        if exchange.entry.path == "/calm":
            await exchange.answer(CALM)
        else:
            await exchange.send(moved("/calm", bomb(coding), content_encoding=coding))

    return named(bomb_in_redirect, f"{coding} bomb in a redirect")


def in_robots(coding: str) -> Misbehaviour:
    """Return a host whose robots.txt is a bomb: it cannot be had, so all is closed."""

    @misbehaves(Outcome.ROBOTS, bound=RULES, at_robots=True)
    async def bomb_in_robots(exchange: Exchange) -> None:
        await exchange.answer(bomb(coding), content_type="text/plain", content_encoding=coding)

    return named(bomb_in_robots, f"{coding} bomb in robots.txt")


def named(kind: Misbehaviour, name: str) -> Misbehaviour:
    """Return a kind under a name of its own, told by its size."""
    does = f"Sends {UNPACKED >> 20} MB of spaces, packed: {name}."
    return Misbehaviour(
        name, does, kind.act, kind.outcomes, kind.bound, kind.at_robots, hops=kind.hops
    )


IN_PAGES = tuple(in_page(coding) for coding in CODINGS)
IN_REDIRECTS = tuple(in_redirect(coding) for coding in CODINGS)
IN_ROBOTS = tuple(in_robots(coding) for coding in CODINGS)


@misbehaves(Outcome.TOO_LARGE, bound=DECODED)
async def bomb_in_a_bomb(exchange: Exchange) -> None:
    """Packs a gzip bomb with gzip again."""
    await exchange.answer(gzip.compress(bomb("gzip")), content_encoding="gzip, gzip")


@misbehaves(Outcome.UNREADABLE)
async def too_many_codings(exchange: Exchange) -> None:
    """Packs a page twelve times."""
    body = CALM.encode()
    for _ in range(12):
        body = gzip.compress(body)
    await exchange.answer(body, content_encoding=", ".join(["gzip"] * 12))


@misbehaves(Outcome.TOO_LARGE, bound=BYTES)
async def endless_gzip(exchange: Exchange) -> None:
    """Sends packed noise without a length and without end."""
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
    member = gzip.compress(bytes(range(256)) * 256, 1)
    while True:
        await exchange.send(member)


@misbehaves(Outcome.OK)
async def gzip_is_cut_short(exchange: Exchange) -> None:
    """Declares and sends half of a packed page; what unpacks is looked at, as in a browser."""
    packed = gzip.compress((CALM * 100).encode(), mtime=0)
    await exchange.answer(packed[: len(packed) - 20], content_encoding="gzip")


@misbehaves(Outcome.UNREADABLE)
async def says_gzip_and_is_not(exchange: Exchange) -> None:
    """Declares gzip and sends plain HTML."""
    await exchange.answer(CALM, content_encoding="gzip")


@misbehaves(Outcome.UNREADABLE)
async def unknown_coding(exchange: Exchange) -> None:
    """Declares a content coding that nobody knows."""
    await exchange.answer(CALM, content_encoding="rot13")


@misbehaves(Outcome.OK)
async def coding_is_not_said(exchange: Exchange) -> None:
    """Sends gzip without declaring it; it is kept as the binary that it is."""
    await exchange.send(response(gzip.compress(CALM.encode(), mtime=0)))
