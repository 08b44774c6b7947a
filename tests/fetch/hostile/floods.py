"""Servers whose large pages are other pages at every request, to make whoever reads them work."""

from collections.abc import Callable
from itertools import count

from freshet.core.types import Outcome
from tests.fetch.hostile.kinds import LEARNT_FROM, LOOKED_AT, Misbehaviour, misbehaves
from tests.fetch.servers import Exchange

# `make hostile` has pages of 8 MB, too.
SIZE = 300_000
NUMBER = b"@@@@@"

_requests = count(10_000)


def filled(piece: Callable[[int], bytes], size: int, head: bytes = b"", tail: bytes = b"") -> bytes:
    """Return pieces, each with its number in it, up to a size."""
    length = len(piece(10_000_000))
    pieces = (piece(10_000_000 + place) for place in range((size - len(head + tail)) // length))
    return head + b"".join(pieces) + tail


def flood(name: str, does: str, media_type: str, body: bytes, *, bound: str) -> Misbehaviour:
    """Return a kind whose pages differ wherever their body has the mark for a number."""

    async def act(exchange: Exchange) -> None:
        page = body.replace(NUMBER, b"%05d" % (next(_requests) % 100_000))
        await exchange.answer(page, content_type=media_type)

    act.__name__, act.__doc__ = name.replace(" ", "_"), does
    return misbehaves(Outcome.OK, bound=bound)(act)


def floods(size: int) -> tuple[Misbehaviour, ...]:
    """Return the kinds of this family, their pages of a size."""
    items = filled(
        lambda n: b"<item><title>@@@@@ %d</title><link>/@@@@@/%d</link></item>" % (n, n),
        size, b"<rss><channel><title>News</title>", b"</channel></rss>",
    )  # fmt: skip
    urls = filled(lambda n: b"<url><loc>/@@@@@/%d</loc></url>" % n, size, b"<urlset>", b"</urlset>")
    values = filled(lambda n: b'{"id": %d, "seen": @@@@@},' % n, size - 2, b"[", b"0]")
    return (
        flood(
            "every line is new",
            "Sends a text of very short lines, all of them other ones each time.",
            "text/plain", filled(lambda n: b"@@@@@ %d\n" % n, size), bound=LEARNT_FROM,
        ),
        flood(
            "every paragraph is new",
            "Sends very many short paragraphs, all of them other ones each time.",
            "text/html", filled(lambda n: b"<p>@@@@@ %d</p>" % n, size), bound=LEARNT_FROM,
        ),
        flood(
            "every word is new",
            "Sends one line of words that nobody has seen before.",
            "text/html", filled(lambda n: b"w@@@@@x%d " % n, size, b"<p>"), bound=LEARNT_FROM,
        ),
        flood(
            "every link is new",
            "Links to very many pages, all of them other ones each time.",
            "text/html", filled(lambda n: b"<a href=/@@@@@/%d>x</a>" % n, size), bound=LOOKED_AT,
        ),
        flood(
            "huge feed", "Sends a feed of very many entries, all of them new.",
            "application/rss+xml", items, bound=LOOKED_AT,
        ),
        flood(
            "huge sitemap", "Sends a sitemap of very many pages, all of them new.",
            "application/xml", urls, bound=LOOKED_AT,
        ),
        flood(
            "huge json", "Sends a JSON document of very many values, half of them new.",
            "application/json", values, bound=LOOKED_AT,
        ),
    )  # fmt: skip


FLOODS = floods(SIZE)
