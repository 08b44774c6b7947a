"""The state of hosts for plans and reports: when each may be asked again, and why."""

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

HTTP_OK = 200


@dataclass(frozen=True, slots=True)
class HostSummary:
    """How a host is treated now; ``closed_until`` is None if it is open.

    ``delay`` is the seconds between two requests, ``failures`` the number of failures in a row.
    """

    host: str
    delay: float
    next_allowed: datetime | None = None
    closed_until: datetime | None = None
    failures: int = 0
    robots: str = ""


def summarise_host(state: HostState, politeness: PolitenessSettings, now: datetime) -> HostSummary:
    """Return how a host is treated, given its saved state."""
    closed = state.backoff_until
    return HostSummary(
        state.host,
        delay_of(politeness, state.delay),
        state.next_allowed,
        closed if closed is not None and closed > now else None,
        state.failures,
        _describe_robots(state.robots),
    )


def closed_hosts(
    states: Iterable[HostState], politeness: PolitenessSettings, now: datetime
) -> list[HostSummary]:
    """Return the closed hosts, the one that opens last first."""
    hosts = (summarise_host(state, politeness, now) for state in states)
    closed = [(host.closed_until, host) for host in hosts if host.closed_until is not None]
    return [host for _, host in sorted(closed, key=lambda pair: pair[0], reverse=True)]


def _describe_robots(record: Mapping[str, Any]) -> str:
    """Describe the last fetch of a host's robots.txt."""
    if not record:
        return "robots.txt not requested yet"
    fetched = format_to_minute(from_epoch(float(record["fetched"])))
    if record.get("failing_since") is not None:
        why = record.get("why") or "no answer"
        return f"robots.txt is unavailable ({why}, {fetched}); nothing is fetched until it is read"
    if record.get("status") == HTTP_OK:
        return f"robots.txt read {fetched}"
    return f"no robots.txt (status {record.get('status')}, {fetched}), so all may be fetched"


class HostTurns:
    """The future turns of hosts in a simulated crawl; times are epoch seconds."""

    def __init__(
        self, states: Iterable[HostState], politeness: PolitenessSettings, now: float
    ) -> None:
        self._default_delay = politeness.delay
        self._free_from: dict[str, float] = {}
        self._delays: dict[str, float] = {}
        max_backoff = max_backoff_seconds(politeness)
        for state in states:
            delay = delay_of(politeness, state.delay)
            saved_times = epoch_or_zero(state.next_allowed), epoch_or_zero(state.backoff_until)
            self._free_from[state.host] = max(
                bounded_times(*saved_times, now, delay=delay, max_backoff=max_backoff)
            )
            self._delays[state.host] = delay

    def take_turn(self, host: str, at: float) -> float:
        """Take a host's next turn after a time, and return its time."""
        turn = max(at, self._free_from.get(host, at))
        self._free_from[host] = turn + self._delays.get(host, self._default_delay)
        return turn

    def count_turns(self, host: str, at: float, until: float) -> int:
        """Return how many turns a host has between two times."""
        start = max(at, self._free_from.get(host, at))
        return turns_within(until - start, self._delays.get(host, self._default_delay))

    def host_caps(self, at: float, until: float, barred: PageIdArray) -> HostCaps:
        """Return the number of visits that each host can take between two times."""
        hosts = [
            host for host, free in self._free_from.items() if free > at or host in self._delays
        ]
        return HostCaps(
            hash_names(hosts),
            np.array([self.count_turns(host, at, until) for host in hosts], np.int64),
            turns_within(until - at, self._default_delay),
            barred,
        )

    def next_opening(self, after: float) -> float | None:
        """Return the first time after a given one at which a host is free, None if all are free."""
        return min((free for free in self._free_from.values() if free > after), default=None)


def pages_within_caps(
    pages: Mapping[int, str], k: int, caps: HostCaps
) -> tuple[list[int], HostCaps]:
    """Return the first k pages whose hosts have room, and the caps that remain.

    ``pages`` maps page ids to hosts.
    """
    limits = dict(zip(caps.hosts.tolist(), caps.limits.tolist(), strict=True))
    chosen: list[int] = []
    for page, host in pages.items():
        limit = limits.get(key := hash_name(host), caps.default_limit)
        if limit > 0 and len(chosen) < k:
            limits[key] = limit - 1
            chosen.append(page)
    hosts = np.array(list(limits), np.uint64)
    return chosen, replace(caps, hosts=hosts, limits=np.array(list(limits.values()), np.int64))


def delay_of(politeness: PolitenessSettings, crawl_delay: float | None) -> float:
    """Return the seconds between two requests to a host with a Crawl-delay."""
    return max(politeness.delay, crawl_delay or 0.0)


def max_backoff_seconds(politeness: PolitenessSettings) -> float:
    """Return the longest time in seconds for which a host is closed."""
    return politeness.longest_backoff * DAY_SECONDS


def bounded_times(
    next_allowed: float, closed_until: float, now: float, *, delay: float, max_backoff: float
) -> tuple[float, float]:
    """Return a host's times, limited to possible values, so that a clock set back does not lock it.

    >>> bounded_times(1000.0, 0.0, 100.0, delay=2.0, max_backoff=60.0)
    (102.0, 0.0)
    """
    return min(next_allowed, now + delay), min(closed_until, now + max_backoff)


def turns_within(span: float, delay: float) -> int:
    """Return how many turns of a host start within a number of seconds.

    >>> turns_within(60.0, 25.0), turns_within(0.0, 25.0), turns_within(-1.0, 25.0)
    (3, 1, 0)
    """
    if span < 0:
        return 0
    turns = span / delay if delay > 0 else NO_VISIT_LIMIT
    return NO_VISIT_LIMIT if turns >= NO_VISIT_LIMIT else 1 + int(turns)


def host_names(host: str) -> tuple[str, ...]:
    """Return the keys of a host's saved states; the second holds its robots.txt of plain http.

    >>> host_names("example.org"), host_names("example.org:8080")
    (('example.org', 'example.org:80'), ('example.org:8080',))
    """
    has_port = host.rpartition(":")[2].isdecimal()
    return (host,) if has_port else (host, host + HTTP_PORT_SUFFIX)


def epoch_or_zero(moment: datetime | None) -> float:
    """Return a time in epoch seconds, 0 if there is none."""
    return 0.0 if moment is None else to_epoch(moment)
