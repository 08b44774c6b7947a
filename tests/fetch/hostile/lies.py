"""Servers that lie about whether, and when, their pages changed, or about when to come back."""

from freshet.core.types import Outcome
from tests.fetch.hostile.kinds import AUDITS, BACKOFF, CALM, misbehaves
from tests.fetch.servers import Exchange

SEEN = (Outcome.OK, Outcome.NOT_MODIFIED)


def news(exchange: Exchange) -> str:
    """Return a page whose text differs at every request."""
    return f"{CALM}<p>Ferry number {exchange.entry.number} has left.</p>"


def is_conditional(exchange: Exchange) -> bool:
    """Say whether the client asks only for what it does not have."""
    names = ("if-none-match", "if-modified-since")
    return any(exchange.entry.header(name) is not None for name in names)


@misbehaves(*SEEN, bound=AUDITS)
async def not_modified_for_ever(exchange: Exchange) -> None:
    """Changes all the time, and answers 304 whenever it may."""
    if is_conditional(exchange):
        await exchange.answer("", 304, etag='"always"')
    else:
        await exchange.answer(news(exchange), etag='"always"')


@misbehaves(Outcome.UNREADABLE)
async def not_modified_unasked(exchange: Exchange) -> None:
    """Answers 304 to a visitor who knows nothing of the page."""
    await exchange.answer("", 304)


@misbehaves(Outcome.OK)
async def rotates_its_etag(exchange: Exchange) -> None:
    """Gives the same page a new ETag at every request."""
    await exchange.answer(CALM, etag=f'"{exchange.entry.number}"')


@misbehaves(Outcome.OK)
async def never_changes_its_etag(exchange: Exchange) -> None:
    """Gives every new page the same ETag."""
    await exchange.answer(news(exchange), etag='"same"')


@misbehaves(*SEEN)
async def comes_from_the_future(exchange: Exchange) -> None:
    """Was last modified, it says, in the year 2999."""
    await exchange.answer(news(exchange), last_modified="Fri, 01 Jan 2999 00:00:00 GMT")


@misbehaves(Outcome.OK)
async def etag_is_garbage(exchange: Exchange) -> None:
    """Sends an ETag of escapes and eight kilobytes, and a date that is none."""
    await exchange.answer(CALM, etag="\x1b[2J" + "x" * 8192, last_modified="yesterday \xff")


@misbehaves(Outcome.THROTTLED, bound=BACKOFF)
async def throttles_for_ten_years(exchange: Exchange) -> None:
    """Answers 429 and asks to come back in ten years."""
    await exchange.answer("later", 429, retry_after="315360000")


@misbehaves(Outcome.THROTTLED, bound=BACKOFF)
async def throttles_for_ages(exchange: Exchange) -> None:
    """Answers 429 with a Retry-After of a thousand digits."""
    await exchange.answer("later", 429, retry_after="9" * 1000)


@misbehaves(Outcome.THROTTLED, bound=BACKOFF)
async def throttles_until_yesterday(exchange: Exchange) -> None:
    """Answers 429 and asks to come back at a date long past."""
    await exchange.answer("later", 429, retry_after="Sat, 01 Jan 2000 00:00:00 GMT")


@misbehaves(Outcome.THROTTLED, bound=BACKOFF)
async def throttles_for_minus_a_minute(exchange: Exchange) -> None:
    """Answers 429 with a negative Retry-After."""
    await exchange.answer("later", 429, retry_after="-60")


@misbehaves(Outcome.THROTTLED, bound=BACKOFF)
async def throttles_with_garbage(exchange: Exchange) -> None:
    """Answers 429 with a Retry-After that is neither number nor date."""
    await exchange.answer("later", 429, retry_after="soon\x1b[31m, 1e999 NaN")


@misbehaves(Outcome.SERVER_ERROR, bound=BACKOFF)
async def unavailable_for_an_hour(exchange: Exchange) -> None:
    """Answers 503 and asks to come back in an hour."""
    await exchange.answer("later", 503, retry_after="3600")


@misbehaves(Outcome.SERVER_ERROR, bound=BACKOFF)
async def fails_for_ever(exchange: Exchange) -> None:
    """Answers 500 every time."""
    await exchange.answer("broken", 500)
