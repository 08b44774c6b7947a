"""Servers whose robots.txt misbehaves; a page of theirs is calm."""

from freshet.core.types import Outcome
from tests.fetch.hostile.kinds import BACKOFF, DELAY, RULES, SECONDS, misbehaves, moved
from tests.fetch.hostile.silence import drip
from tests.fetch.servers import Exchange

TEXT = {"content_type": "text/plain"}
OPEN = b"User-agent: *\nDisallow: /secret\n"


@misbehaves(Outcome.UNREACHABLE, bound=SECONDS, at_robots=True)
async def robots_never_answers(exchange: Exchange) -> None:
    """Takes the request for robots.txt and says nothing."""
    await exchange.hang()


@misbehaves(Outcome.UNREACHABLE, bound=SECONDS, at_robots=True)
async def robots_drips(exchange: Exchange) -> None:
    """Sends robots.txt at one byte a second."""
    await drip(exchange, b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + OPEN)


@misbehaves(Outcome.UNREACHABLE, at_robots=True)
async def robots_closes(exchange: Exchange) -> None:
    """Takes the request for robots.txt and closes the connection."""


@misbehaves(Outcome.ROBOTS, at_robots=True)
async def robots_fails_for_ever(exchange: Exchange) -> None:
    """Answers 500 to every request for robots.txt."""
    await exchange.answer("broken", 500)


@misbehaves(Outcome.ROBOTS, bound=BACKOFF, at_robots=True)
async def robots_throttles_for_ever(exchange: Exchange) -> None:
    """Answers 429 to every request for robots.txt."""
    await exchange.answer("later", 429, retry_after="315360000")


@misbehaves(Outcome.OK, bound=RULES, at_robots=True)
async def robots_without_end(exchange: Exchange) -> None:
    """Sends rules without end; the first of them forbid nothing that is asked for."""
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + OPEN)
    while True:
        await exchange.send(b"Allow: /and/another/rule\n" * 1000)


@misbehaves(Outcome.OK, bound=RULES, at_robots=True)
async def robots_of_500_mb(exchange: Exchange) -> None:
    """Declares and sends 500 MB of rules, each of them new for as long as they are read."""
    rules = b"".join(b"Disallow: /secret/%d\n" % number for number in range(25_000))
    times = 500_000_000 // len(rules)
    length = len(OPEN) + times * len(rules)
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length + OPEN)
    for _ in range(times):
        await exchange.send(rules)


@misbehaves(Outcome.OK, bound=RULES, at_robots=True)
async def robots_of_one_line(exchange: Exchange) -> None:
    """Sends a robots.txt of one line of a megabyte, full of wildcards."""
    await exchange.answer(OPEN + b"Disallow: " + b"/*a" * 350_000 + b"$\n", **TEXT)


@misbehaves(Outcome.OK, bound=RULES, at_robots=True, path="/" + "a" * 100 + "b")
async def robots_with_slow_patterns(exchange: Exchange) -> None:
    """Sends patterns that are slow to match."""
    await exchange.answer(OPEN + b"Disallow: /" + b"*a" * 200 + b"$\n", **TEXT)


@misbehaves(Outcome.OK, at_robots=True)
async def robots_redirects_in_a_loop(exchange: Exchange) -> None:
    """Sends those who ask for robots.txt to robots.txt."""
    await exchange.send(moved("/robots.txt"))


@misbehaves(Outcome.UNREACHABLE, at_robots=True)
async def robots_redirects_to_a_private_address(exchange: Exchange) -> None:
    """Sends those who ask for robots.txt into a private network."""
    await exchange.send(moved("http://10.11.12.13/robots.txt"))


@misbehaves(Outcome.OK, at_robots=True)
async def robots_is_a_page(exchange: Exchange) -> None:
    """Answers a page of HTML instead of rules."""
    await exchange.answer("<!doctype html><title>Home</title><p>Disallow: nothing" * 1000)


@misbehaves(Outcome.OK, at_robots=True)
async def robots_is_binary(exchange: Exchange) -> None:
    """Answers bytes of every value instead of rules."""
    await exchange.answer(bytes(range(256)) * 1000, **TEXT)


@misbehaves(Outcome.OK, bound=DELAY, at_robots=True)
async def crawl_delay_of_decades(exchange: Exchange) -> None:
    """Asks for a billion seconds between two requests."""
    await exchange.answer(b"User-agent: *\nCrawl-delay: 1e9\nDisallow:\n", **TEXT)


@misbehaves(Outcome.OK, bound=DELAY, at_robots=True)
async def crawl_delay_is_garbage(exchange: Exchange) -> None:
    """Asks for delays of nan, minus one and a word."""
    delays = b"".join(b"Crawl-delay: %b\n" % word for word in (b"nan", b"-1", b"soon", b"inf"))
    await exchange.answer(b"User-agent: *\n" + delays + b"Disallow:\n", **TEXT)


@misbehaves(Outcome.ROBOTS, at_robots=True)
async def forbids_everything(exchange: Exchange) -> None:
    """Forbids every page."""
    await exchange.answer(b"User-agent: *\nDisallow: /\n", **TEXT)
