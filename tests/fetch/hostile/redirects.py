"""Servers that send visitors round in circles, or where they must not go."""

from freshet.core.types import Outcome
from tests.fetch.hostile.kinds import CALM, GUARD, HEAD, HOPS, misbehaves, moved
from tests.fetch.servers import Exchange, response

MOST_HOPS = 5
CIRCULAR = {"bound": HOPS, "hops": MOST_HOPS + 1}


@misbehaves(Outcome.REDIRECT, **CIRCULAR)
async def redirects_to_itself(exchange: Exchange) -> None:
    """Sends every visitor to where they are."""
    await exchange.send(moved(exchange.entry.path))


@misbehaves(Outcome.REDIRECT, **CIRCULAR)
async def redirects_in_a_loop(exchange: Exchange) -> None:
    """Sends visitors from one page to another and back."""
    await exchange.send(moved("/there" if exchange.entry.path == "/" else "/"))


@misbehaves(Outcome.REDIRECT, **CIRCULAR)
async def redirects_without_end(exchange: Exchange) -> None:
    """Sends visitors from page to page, each of them new."""
    number = int(exchange.entry.path[1:] or 0)
    await exchange.send(moved(f"/{number + 1}"))


@misbehaves(Outcome.REDIRECT, **CIRCULAR)
async def redirects_with_a_growing_query(exchange: Exchange) -> None:
    """Sends visitors to the same page with an ever longer query."""
    await exchange.send(
        moved(exchange.entry.path + ("&again" if "?" in exchange.entry.path else "?"))
    )


@misbehaves(Outcome.REDIRECT)
async def redirects_to_a_file(exchange: Exchange) -> None:
    """Sends visitors to a file of their own machine."""
    await exchange.send(moved("file:///etc/passwd"))


@misbehaves(Outcome.REDIRECT)
async def redirects_to_data(exchange: Exchange) -> None:
    """Sends visitors to a page inside a data: URL."""
    await exchange.send(moved("data:text/html,<p>not from here</p>"))


@misbehaves(Outcome.REFUSED, bound=GUARD)
async def redirects_to_a_private_address(exchange: Exchange) -> None:
    """Sends visitors into a private network."""
    await exchange.send(moved("http://10.11.12.13/admin"))


@misbehaves(Outcome.REFUSED, bound=GUARD)
async def redirects_to_metadata(exchange: Exchange) -> None:
    """Sends visitors to a cloud's metadata service, its address written as a number."""
    await exchange.send(moved("http://2852039166/latest/meta-data/"))


@misbehaves(Outcome.REFUSED, bound=GUARD)
async def redirects_to_another_port(exchange: Exchange) -> None:
    """Sends visitors to a port of their own machine that nobody opened."""
    await exchange.send(moved("http://127.0.0.1:1/"))


@misbehaves(Outcome.REFUSED, bound=GUARD)
async def redirects_to_mapped_loopback(exchange: Exchange) -> None:
    """Sends visitors to their own machine, in an IPv6 spelling."""
    await exchange.send(moved("http://[::ffff:127.0.0.1]:1/"))


@misbehaves(Outcome.REDIRECT)
async def redirects_to_nonsense(exchange: Exchange) -> None:
    """Sends visitors to a URL that is none."""
    await exchange.send(moved("http://[:::::::/%zz"))


@misbehaves(Outcome.REDIRECT)
async def redirects_nowhere(exchange: Exchange) -> None:
    """Answers 301 without saying where to."""
    await exchange.answer("", 301)


@misbehaves(Outcome.TOO_LARGE, bound=HEAD)
async def redirects_to_a_huge_url(exchange: Exchange) -> None:
    """Sends visitors to a URL of a megabyte."""
    await exchange.send(moved("/" + "x" * 1_000_000))


@misbehaves(Outcome.OK, hops=2)
async def redirects_with_control_characters(exchange: Exchange) -> None:
    """Puts tabs and escapes into the URL of a redirect."""
    if exchange.entry.path == "/":
        await exchange.send(response("", 302, location="/ca\x1b[31mlm\t?"))
    else:
        await exchange.answer(CALM)
