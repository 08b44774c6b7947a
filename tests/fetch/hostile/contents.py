"""Servers whose pages are not what they seem, or hard to read."""

from freshet.core.types import Outcome
from tests.fetch.hostile.kinds import CALM, LOOKED_AT, misbehaves, plain
from tests.fetch.servers import Exchange

MANY = 100_000
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31m\r\x00\x9b5A\u202e"


@misbehaves(Outcome.SOFT_404)
async def soft_404(exchange: Exchange) -> None:
    """Answers 200 with a page that says it is not there."""
    await exchange.answer("<title>Page not found</title><h1>Page not found</h1>")


@misbehaves(Outcome.ERROR_PAGE)
async def error_page(exchange: Exchange) -> None:
    """Answers 200 with a page that reports an error of the server."""
    await exchange.answer("<title>500 Internal Server Error</title><h1>Internal Server Error</h1>")


@misbehaves(Outcome.CAPTCHA)
async def captcha(exchange: Exchange) -> None:
    """Answers 200 with a question that only a human can answer."""
    await exchange.answer("<title>Just a moment...</title><h1>Verify you are human</h1>")


@misbehaves(Outcome.CAPTCHA)
async def captcha_with_503(exchange: Exchange) -> None:
    """Answers 503 with a challenge."""
    await exchange.answer("<script>window._cf_chl_opt={}</script>", 503)


@misbehaves(Outcome.EMPTY)
async def empty_page(exchange: Exchange) -> None:
    """Answers 200 without a body."""
    await exchange.answer("")


@misbehaves(Outcome.EMPTY)
async def only_for_scripts(exchange: Exchange) -> None:
    """Sends a page that shows nothing unless its script runs."""
    await exchange.answer("<title>App</title><div id=root></div><script src=/app.js></script>")


@misbehaves(Outcome.OK)
async def charset_is_a_lie(exchange: Exchange) -> None:
    """Says UTF-8 and sends UTF-16."""
    await exchange.answer(CALM.encode("utf-16"), content_type="text/html; charset=utf-8")


@misbehaves(Outcome.OK)
async def charset_is_unknown(exchange: Exchange) -> None:
    """Says a charset that nobody knows, and sends bytes of several."""
    body = CALM.encode() + b"\xff\xfe\xc3\x28\x80\xed\xa0\x80"
    await exchange.answer(body, content_type="text/html; charset=klingon-8")


@misbehaves(Outcome.OK)
async def binary_as_html(exchange: Exchange) -> None:
    """Sends bytes of every value as HTML."""
    await exchange.answer(b"\x7fELF" + bytes(range(256)) * 1000, content_type="text/html")


@misbehaves(Outcome.OK)
async def html_as_an_image(exchange: Exchange) -> None:
    """Sends HTML as a picture."""
    await exchange.answer(CALM, content_type="image/png")


@misbehaves(Outcome.OK)
async def media_type_is_garbage(exchange: Exchange) -> None:
    """Sends a media type of escapes and slashes."""
    await exchange.answer(CALM, content_type="///;;;\x1b[31m=;charset==")


@misbehaves(Outcome.EMPTY, bound=LOOKED_AT)
async def nested_tags(exchange: Exchange) -> None:
    """Nests 100,000 tags."""
    await exchange.answer("<div>" * MANY + CALM)


@misbehaves(Outcome.OK, bound=LOOKED_AT)
async def many_attributes(exchange: Exchange) -> None:
    """Puts 100,000 attributes on one tag."""
    attributes = " ".join(f"a{number}" for number in range(MANY))
    await exchange.answer(f"{CALM}<p {attributes}>far away</p>")


@misbehaves(Outcome.OK, bound=LOOKED_AT)
async def many_links(exchange: Exchange) -> None:
    """Links to 20,000 pages."""
    await exchange.answer(CALM + "".join(f"<a href=/{number}>x</a>" for number in range(20_000)))


@misbehaves(Outcome.OK)
async def escapes_in_the_title(exchange: Exchange) -> None:
    """Puts terminal escapes and control characters into its title and text."""
    await exchange.answer(f"<title>{ESCAPES}</title>{CALM}<p>{ESCAPES}</p>")


@misbehaves(Outcome.OK)
async def escapes_in_the_headers(exchange: Exchange) -> None:
    """Puts terminal escapes and control characters into its headers."""
    await exchange.send(
        plain(CALM, "X-Note: \x1b]0;owned\x07\x1b[2J\x00", f"Content-Length: {len(CALM)}")
    )


@misbehaves(Outcome.OK)
async def cookie_flood(exchange: Exchange) -> None:
    """Sets 500 cookies with every page."""
    cookies = (f"Set-Cookie: c{number}={'x' * 40}" for number in range(500))
    await exchange.send(plain(CALM, *cookies, f"Content-Length: {len(CALM)}"))


@misbehaves(Outcome.OK)
async def links_to_bad_places(exchange: Exchange) -> None:
    """Links to files, private addresses, scripts and URLs that are none."""
    places = ("file:///etc/passwd", "http://169.254.169.254/", "javascript:x()", "http://[::1")
    await exchange.answer(CALM + "".join(f"<a href='{place}'>x</a>" for place in places))


@misbehaves(Outcome.OK)
async def refreshes_for_ever(exchange: Exchange) -> None:
    """Asks the browser to load the page again at once."""
    await exchange.answer(f"<meta http-equiv=refresh content='0; url=/?again'>{CALM}")
