"""What a kind of misbehaviour is: one coroutine, what must come of it, and what bounds it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType

from freshet.core.types import Outcome
from tests.fetch.servers import ROBOTS, TLS, Behaviour, Exchange, response

SECONDS = "limits.seconds"
BYTES = "limits.response_bytes"
HEAD = "limits.header_bytes"
DECODED = "limits.decoded_bytes"
LOOKED_AT = "bounds of the view"
LEARNT_FROM = "bounds of learning"
HOPS = "limits.redirects"
GUARD = "network.allow"
AUDITS = "network.audit_every"
BACKOFF = "politeness.longest_backoff"
DELAY = "politeness.longest_delay"
RULES = "500 KiB of rules"
NOTHING = "one answer"

CALM = "<title>Calm</title><p>The river is calm today, and the ferry goes every hour.</p>"


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """A way for a server to misbehave, at its pages or at its robots.txt.

    Every visit to it must end in one of ``outcomes``; ``bound`` names the setting, or the rule,
    that ends it; a visit costs at most ``hops`` requests.
    """

    name: str
    does: str
    act: Behaviour
    outcomes: tuple[Outcome, ...]
    bound: str
    at_robots: bool = False
    path: str = "/"
    scheme: str = "http"
    hops: int = 1

    def url(self, base: str) -> str:
        """Return the page of this kind on a host."""
        return base.replace("http", self.scheme, 1) + self.path

    async def __call__(self, exchange: Exchange) -> None:
        """Misbehave where this kind does so, and be calm elsewhere."""
        asks_robots = exchange.entry.path == ROBOTS
        if exchange.entry.method == TLS or asks_robots == self.at_robots:
            await self.act(exchange)
        elif asks_robots:
            await exchange.answer("", 404)
        else:
            await exchange.answer(CALM)


def misbehaves(
    *outcomes: Outcome, bound: str = NOTHING, **where: object
) -> Callable[[Behaviour], Misbehaviour]:
    """Declare a misbehaviour: its name is the coroutine's, what it does is the docstring."""

    def declare(act: Behaviour) -> Misbehaviour:
        name = act.__name__.replace("_", " ")
        kind = Misbehaviour(name, act.__doc__ or "", act, outcomes, bound)
        return replace(kind, **where)  # type: ignore[arg-type]

    return declare


def kinds_in(module: ModuleType) -> Iterator[Misbehaviour]:
    """Yield the misbehaviours that a module declares, alone or in tuples."""
    for value in vars(module).values():
        family = value if isinstance(value, tuple) else (value,)
        yield from (kind for kind in family if isinstance(kind, Misbehaviour))


def head(*lines: str) -> bytes:
    """Return the head of a 200 response with these header lines.

    >>> head("A: b")
    b'HTTP/1.1 200 OK\\r\\nA: b\\r\\n\\r\\n'
    """
    return "\r\n".join(["HTTP/1.1 200 OK", *lines, "", ""]).encode("latin-1")


def plain(body: bytes | str, *lines: str) -> bytes:
    """Return a 200 response of HTML with header lines as they stand, right or wrong."""
    content = body.encode() if isinstance(body, str) else body
    return head("Content-Type: text/html", *lines) + content


def moved(to: str, body: bytes | str = "", **headers: str) -> bytes:
    """Return a redirect."""
    return response(body, 302, location=to, **headers)
