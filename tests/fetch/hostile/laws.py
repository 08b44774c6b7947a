"""Conditions of any crawl, checked in the logs of the servers; each returns its violations."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from tests.fetch.hostile.kinds import Misbehaviour
from tests.fetch.hostile.run import CrawlRun
from tests.fetch.servers import ROBOTS, TLS, Entry

# What may lie in buffers between a server and a client that reads no more.
ON_THE_WAY = 8_000_000


def wrong_outcomes(run: CrawlRun, kinds: Iterable[Misbehaviour]) -> dict[str, list[str]]:
    """Return the kinds with a visit that ended otherwise than it must, or without any visit."""
    wrong = {}
    for kind in kinds:
        visits = run.visits[kind.name]
        others = {
            f"{told.outcome}: {told.why}" for told in visits if told.outcome not in kind.outcomes
        }
        if others or not visits:
            wrong[kind.name] = sorted(others) or ["not visited"]
    return wrong


def too_long_connections(entries: Iterable[Entry], seconds: float) -> list[Entry]:
    """Return the requests that were waited for longer than a limit."""
    return [entry for entry in entries if (entry.ended or 0) - entry.began > seconds]


def too_large_answers(entries: Iterable[Entry], limit: int) -> list[Entry]:
    """Return the requests whose answers were taken in far beyond a limit."""
    return [entry for entry in entries if entry.sent > limit + ON_THE_WAY]


def excess_requests(run: CrawlRun, kinds: Iterable[Misbehaviour]) -> list[str]:
    """Return the kinds whose pages had more requests than their visits, and one cut off, cost."""
    return [
        kind.name
        for kind in kinds
        if len(pages_of(run.requests(kind.name))) > kind.hops * (len(run.visits[kind.name]) + 1)
    ]


def too_short_gaps(entries: Sequence[Entry], delay: float) -> list[tuple[Entry, Entry]]:
    """Return requests to one host that surely came sooner after another than its delay."""
    return [
        (first, second)
        for of_host in by_host(entries)
        for first, second in pairwise(of_host)
        if second.began - first.earliest < delay
    ]


def max_concurrent_requests(entries: Sequence[Entry]) -> int:
    """Return how many requests one host had to answer at a time, at most."""
    return max(
        sum(other.began < entry.began < (other.ended or entry.began) for other in of_host) + 1
        for of_host in by_host(entries)
        for entry in of_host
    )


def by_host(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return the requests of each host; a handshake is no request."""
    hosts = {entry.host for entry in entries}
    asked = [entry for entry in entries if entry.method != TLS]
    return [[entry for entry in asked if entry.host == host] for host in sorted(hosts)]


def pages_of(entries: Iterable[Entry]) -> list[Entry]:
    """Return the requests that were for pages."""
    return [entry for entry in entries if entry.path != ROBOTS]


def request_share(wild: CrawlRun, calm: CrawlRun, host: str, seconds: float) -> float:
    """Return how many page requests a host had in a span of a crawl, against a calm crawl."""
    return _first_requests(wild, host, seconds) / _first_requests(calm, host, seconds)


def _first_requests(run: CrawlRun, host: str, seconds: float) -> int:
    times = [entry.began for entry in pages_of(run.requests(host))]
    return sum(time < times[0] + seconds - 1 for time in times)


def longest_gap(entries: Sequence[Entry]) -> float:
    """Return the longest time that a host was not asked for anything."""
    return max(second.began - first.began for first, second in pairwise(entries))


def control_characters(text: str) -> str:
    """Return the control characters of a text that do more than end a line."""
    return "".join(sorted({char for char in text if not char.isprintable()} - {"\n"}))
