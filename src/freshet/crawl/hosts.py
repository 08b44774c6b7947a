"""Hosts as plans and people see them: when each may be asked again, and why not sooner."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from freshet.archive.catalog.rows import HTTP_PORT_SUFFIX, HostState
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.local_time import format_to_minute
from freshet.core.settings import PolitenessSettings
from freshet.core.tables import (
    DAY_SECONDS,
    NO_VISIT_LIMIT,
    HostCaps,
    PageIdArray,
    hash_name,
    hash_names,
)

OK = 200


@dataclass(frozen=True, slots=True)
class HostView:
    """How a host is treated now; ``closed_until`` is None where it is open.

    ``delay`` is the seconds between two requests, ``failures`` how many in a row closed the host.
    """

    host: str
    delay: float
    next_allowed: datetime | None = None
    closed_until: datetime | None = None
    failures: int = 0
    robots: str = ""


def host_view(state: HostState, politeness: PolitenessSettings, now: datetime) -> HostView:
    """Return how a host is treated, by what is remembered of it."""
    closed = state.backoff_until
    return HostView(
        state.host,
        delay_of(politeness, state.delay),
        state.next_allowed,
        closed if closed is not None and closed > now else None,
        state.failures,
        _robots(state.robots),
    )


def closed_hosts(
    states: Iterable[HostState], politeness: PolitenessSettings, now: datetime
) -> list[HostView]:
    """Return the hosts that are not asked for now, the one that opens last first."""
    views = (host_view(state, politeness, now) for state in states)
    closed = [(view.closed_until, view) for view in views if view.closed_until is not None]
    return [view for _, view in sorted(closed, key=lambda pair: pair[0], reverse=True)]


def _robots(kept: Mapping[str, Any]) -> str:
    """Say what came of asking for a host's robots.txt."""
    if not kept:
        return "robots.txt not asked for yet"
    read = format_to_minute(from_epoch(float(kept["fetched"])))
    if kept.get("failing_since") is not None:
        why = kept.get("why") or "no answer"
        return f"robots.txt cannot be had ({why}, {read}), so nothing is fetched for now"
    if kept.get("status") == OK:
        return f"robots.txt read {read}"
    return f"no robots.txt (status {kept.get('status')}, {read}), so all may be fetched"


class HostTurns:
    """The hosts' time to come from now on, filled turn by turn; times are epoch seconds."""

    def __init__(
        self, states: Iterable[HostState], politeness: PolitenessSettings, now: float
    ) -> None:
        self._usual = politeness.delay
        self._free: dict[str, float] = {}
        self._delays: dict[str, float] = {}
        longest = max_backoff_seconds(politeness)
        for state in states:
            delay = delay_of(politeness, state.delay)
            kept = epoch_or_zero(state.next_allowed), epoch_or_zero(state.backoff_until)
            self._free[state.host] = max(
                bounded_times(*kept, now, delay=delay, max_backoff=longest)
            )
            self._delays[state.host] = delay

    def take_turn(self, host: str, at: float) -> float:
        """Take a host's next turn, not before a time, and return when it is."""
        turn = max(at, self._free.get(host, at))
        self._free[host] = turn + self._delays.get(host, self._usual)
        return turn

    def count_turns(self, host: str, at: float, until: float) -> int:
        """Return how many turns a host has between two times."""
        start = max(at, self._free.get(host, at))
        return turns_within(until - start, self._delays.get(host, self._usual))

    def host_caps(self, at: float, until: float, barred: PageIdArray) -> HostCaps:
        """Return every host's room between two times."""
        known = [host for host, free in self._free.items() if free > at or host in self._delays]
        return HostCaps(
            hash_names(known),
            np.array([self.count_turns(host, at, until) for host in known], np.int64),
            turns_within(until - at, self._usual),
            barred,
        )

    def next_opening(self, after: float) -> float | None:
        """Return when the next host comes free after a time, None where all are free."""
        return min((free for free in self._free.values() if free > after), default=None)


def pages_within_caps(
    pages: Mapping[int, str], k: int, caps: HostCaps
) -> tuple[list[int], HostCaps]:
    """Return the first k pages, given with their hosts, that have room, and the room they leave."""
    room = dict(zip(caps.hosts.tolist(), caps.limits.tolist(), strict=True))
    chosen: list[int] = []
    for page, host in pages.items():
        left = room.get(key := hash_name(host), caps.default_limit)
        if left > 0 and len(chosen) < k:
            room[key] = left - 1
            chosen.append(page)
    hosts = np.array(list(room), np.uint64)
    return chosen, replace(caps, hosts=hosts, limits=np.array(list(room.values()), np.int64))


def delay_of(politeness: PolitenessSettings, own: float | None) -> float:
    """Return the seconds between two requests to a host, given its own Crawl-delay."""
    return max(politeness.delay, own or 0.0)


def max_backoff_seconds(politeness: PolitenessSettings) -> float:
    """Return the seconds for which a host is closed at most."""
    return politeness.longest_backoff * DAY_SECONDS


def bounded_times(
    next_allowed: float, closed_until: float, now: float, *, delay: float, max_backoff: float
) -> tuple[float, float]:
    """Return a host's times, no later than they can be: a clock set back does not lock it.

    >>> bounded_times(1000.0, 0.0, 100.0, delay=2.0, max_backoff=60.0)
    (102.0, 0.0)
    """
    return min(next_allowed, now + delay), min(closed_until, now + max_backoff)


def turns_within(span: float, delay: float) -> int:
    """Return how many turns of a host begin within a span.

    >>> turns_within(60.0, 25.0), turns_within(0.0, 25.0), turns_within(-1.0, 25.0)
    (3, 1, 0)
    """
    if span < 0:
        return 0
    return min(NO_VISIT_LIMIT, 1 + int(span / delay)) if delay > 0 else NO_VISIT_LIMIT


def host_names(host: str) -> tuple[str, ...]:
    """Return the names under which a host is remembered: the second has its plain robots.txt.

    >>> host_names("example.org"), host_names("example.org:8080")
    (('example.org', 'example.org:80'), ('example.org:8080',))
    """
    has_port = host.rpartition(":")[2].isdecimal()
    return (host,) if has_port else (host, host + HTTP_PORT_SUFFIX)


def epoch_or_zero(moment: datetime | None) -> float:
    """Return a remembered time in epoch seconds, long ago where there is none."""
    return 0.0 if moment is None else to_epoch(moment)
