"""The host schedule: when each host may be asked again.

A host is asked at most once in its delay (that of the settings, or a longer Crawl-delay). 429 and
503 close it for the time of Retry-After. Other failures of the host close it, each time for twice
as long, up to a bound. A single other status from 500 on closes nothing, because it may be the
fault of one page; the second in a row does. The catalog saves the schedule as HostStates.

Memory is bounded against servers that redirect to ever new hosts: a host without pages is
forgotten soon after it may be asked again, and robots.txt rules are kept up to a total size, the
most recently used ones. Dropped rules are fetched again when they are needed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from math import inf

import numpy as np

from freshet.archive.catalog.rows import HTTP_PORT_SUFFIX, HostState
from freshet.core.clock import from_epoch
from freshet.core.settings import PolitenessSettings
from freshet.core.tables import HostCaps, hash_names
from freshet.core.types import Outcome
from freshet.crawl.hosts import (
    bounded_times,
    delay_of,
    epoch_or_zero,
    max_backoff_seconds,
    turns_within,
)
from freshet.fetch.politeness.robots_record import RobotsRecord
from freshet.fetch.politeness.rules_eviction import RulesEviction

FIRST_BACKOFF = 60.0
HOST_FAILURES = frozenset({
    Outcome.THROTTLED,
    Outcome.SERVER_ERROR,
    Outcome.TIMEOUT,
    Outcome.UNREACHABLE,
})
BUSY_STATUSES = frozenset({429, 503})
# Characters of rules in memory: of all hosts, and of those without pages.
MAX_RULES_CHARS = 64_000_000
MAX_RULES_CHARS_WITHOUT_PAGES = 4_000_000
# The number of hosts without pages that are kept for a valid, short robots.txt, and the number that
# are kept because they are closed.
MAX_HOSTS_WITHOUT_PAGES = 256
MAX_CLOSED_HOSTS_WITHOUT_PAGES = 10_000
SHORT_RULES_CHARS = 16_384
IDLE_SECONDS = 60.0
SWEEP_SECONDS = 5.0


@dataclass(slots=True)
class HostTiming:
    """The schedule of one host; times are epoch seconds."""

    next_allowed: float = 0.0
    closed_until: float = 0.0
    failures: int = 0
    delay: float | None = None
    robots: RobotsRecord | None = None

    @property
    def open_from(self) -> float:
        """Return the time from which the host may be asked."""
        return max(self.next_allowed, self.closed_until)


@dataclass(slots=True)
class HostSchedule:
    """The schedules of all hosts, bounded against absurd values and jumps of the timing."""

    politeness: PolitenessSettings
    _timings: dict[str, HostTiming] = field(default_factory=dict)
    _delayed_hosts: set[str] = field(default_factory=set)
    _unsaved: set[str] = field(default_factory=set)
    _all_asked_at: float = -inf
    _with_pages: set[str] = field(default_factory=set)
    _without_pages: dict[str, None] = field(default_factory=dict)
    _eviction: RulesEviction = field(default_factory=lambda: RulesEviction(MAX_RULES_CHARS))
    _eviction_without_pages: RulesEviction = field(
        default_factory=lambda: RulesEviction(MAX_RULES_CHARS_WITHOUT_PAGES)
    )
    _last_sweep: float = -inf

    def load(
        self, states: Iterable[HostState], without_pages: frozenset[str] = frozenset()
    ) -> None:
        """Load saved host states; ``without_pages`` are hosts that have no pages."""
        for state in states:
            host = state.host
            if host not in without_pages:
                self._with_pages.add(host)
            self._timings[host] = HostTiming(
                epoch_or_zero(state.next_allowed), epoch_or_zero(state.backoff_until),
                state.failures, state.delay,
            )  # fmt: skip
            self._delayed_hosts.add(host)
            if host in without_pages:
                self._without_pages[host] = None
            if record := _robots_record(state.robots):
                self._set_robots(host, record)

    def add_page(self, host: str) -> None:
        """Mark a host as having pages, so that it is not forgotten."""
        if host in self._with_pages:
            return
        self._with_pages.add(host)
        for name in (host, host + HTTP_PORT_SUFFIX):
            self._without_pages.pop(name, None)
            self._eviction_without_pages.drop(name)
            if record := self.robots(name):
                self._set_robots(name, record)

    def take_unsaved(self) -> list[HostState]:
        """Return the states that have changed since the last call."""
        changed, self._unsaved = self._unsaved, set()
        return [self._state(host) for host in sorted(changed)]

    def mark_unsaved(self, states: Iterable[HostState]) -> None:
        """Mark states as unsaved again because saving them failed."""
        self._unsaved.update(state.host for state in states)

    def open_from(self, host: str, now: float) -> float:
        """Return the time from which a host may be asked, also after a clock was set back."""
        timing = self._timings.get(host)
        self._all_asked_at = min(self._all_asked_at, now)
        delay = self.delay(host)
        rested = max(now, self._all_asked_at + delay)
        if timing is None:
            return rested
        timing.next_allowed, timing.closed_until = bounded_times(
            timing.next_allowed,
            timing.closed_until,
            now,
            delay=delay,
            max_backoff=self._max_backoff,
        )
        return max(rested, timing.open_from)

    def is_closed(self, host: str, now: float) -> bool:
        """Whether a host is closed for longer than the longest delay."""
        return self.open_from(host, now) - now > self.politeness.longest_delay

    def is_resting(self, host: str, now: float) -> bool:
        """Whether a host is closed for longer than its own delay."""
        return self.open_from(host, now) - now > self.delay(host)

    def closed_until(self, host: str) -> float:
        """Return the time from which a host is free, which may be in the past."""
        timing = self._timings.get(host)
        return timing.open_from if timing else 0.0

    def failures_and_closing(self, host: str) -> tuple[int, float]:
        """Return a host's number of failures in a row, and until when they close it."""
        timing = self._timings.get(host) or HostTiming()
        return timing.failures, timing.closed_until

    def delay_all(self, then: float) -> None:
        """Start the delay of all hosts at a time: a killed crawl may have asked any of them."""
        self._all_asked_at = then

    def start_delay(self, host: str, now: float) -> None:
        """Start a host's delay: it is being asked."""
        self._timing(host).next_allowed = now + self.delay(host)

    def delay(self, host: str) -> float:
        """Return the seconds between two requests to a host."""
        timing = self._timings.get(host)
        return delay_of(self.politeness, timing.delay if timing else None)

    def note_outcome(
        self, host: str, outcome: Outcome, retry_after: float | None, now: float
    ) -> bool:
        """Note how a request ended; return whether it closes the host.

        ``retry_after`` is the Retry-After of the answer in seconds: the shortest pause. The pauses
        grow while the host keeps failing.
        """
        if outcome not in HOST_FAILURES:
            if self._timings.get(host, HostTiming()).failures:
                self._timing(host).failures = 0
            return False
        timing = self._timing(host)
        timing.failures = min(timing.failures + 1, 60)
        if outcome is Outcome.SERVER_ERROR and retry_after is None and timing.failures == 1:
            return False
        first = FIRST_BACKOFF if retry_after is None else self.delay(host)
        pause = max(first * 2.0 ** (timing.failures - 1), retry_after or 0.0)
        timing.closed_until = now + min(pause, self._max_backoff)
        return True

    def reopen(self, names: Iterable[str]) -> None:
        """Clear the back-off of hosts and a failed robots.txt; delays remain."""
        for host in names:
            timing = self._timings.get(host)
            if timing is None:
                continue
            self._unsaved.add(host)
            timing.closed_until, timing.failures = 0.0, 0
            if timing.robots and timing.robots.failing_since is not None:
                timing.robots = None

    def host_caps(
        self, now: float, until: float, queued: Mapping[str, int], max_per_host: int
    ) -> HostCaps:
        """Return how many visits each host can take by a time, less those that are queued.

        No host gets more than ``max_per_host``, so that a slow one leaves room for the others.
        """
        if abs(now - self._last_sweep) >= SWEEP_SECONDS:
            self._last_sweep = now
            self.forget_unused(now, queued)
        self._delayed_hosts = {host for host in self._delayed_hosts if self._is_delayed(host, now)}
        names = list(self._delayed_hosts | queued.keys())
        room = [
            min(max_per_host, self._room(host, now, until)) - queued.get(host, 0) for host in names
        ]
        return HostCaps(
            hash_names(names),
            np.maximum(np.array(room, np.int64), 0),
            min(max_per_host, turns_within(until - now, self.politeness.delay)),
        )

    def robots(self, host: str) -> RobotsRecord | None:
        """Return the record of a host's robots.txt."""
        timing = self._timings.get(host)
        self._eviction_of(host).touch(host)
        return timing.robots if timing else None

    def set_robots(self, host: str, record: RobotsRecord) -> None:
        """Keep the record of a host's robots.txt."""
        self._timing(host)
        self._set_robots(host, record)

    def set_delay(self, host: str, seconds: float | None) -> None:
        """Set a host's Crawl-delay."""
        timing = self._timing(host)
        timing.delay = None if seconds is None else min(seconds, self.politeness.longest_delay)

    def _set_robots(self, host: str, record: RobotsRecord) -> None:
        """Keep a record; if all rules together are too long, drop the least recently used."""
        self._timings[host].robots = record
        for evicted_host in self._eviction_of(host).add(host, len(record.rules)):
            self._timings[evicted_host].robots = None
            self._unsaved.add(evicted_host)

    def _eviction_of(self, host: str) -> RulesEviction:
        return self._eviction if self._has_pages(host) else self._eviction_without_pages

    def _has_pages(self, host: str) -> bool:
        return host in self._with_pages or host.removesuffix(HTTP_PORT_SUFFIX) in self._with_pages

    def forget_unused(self, now: float, queued: Mapping[str, int]) -> None:
        """Forget hosts without pages that are idle, and excess ones of the others."""
        used_hosts, closed_hosts = [], []
        for host in list(self._without_pages):
            timing = self._timings[host]
            if host in queued or host.removesuffix(HTTP_PORT_SUFFIX) in queued:
                continue
            if self.open_from(host, now) > now:
                closed_hosts.append(host)
            elif timing.open_from + IDLE_SECONDS > now or _is_worth_keeping(timing.robots, now):
                used_hosts.append(host)
            else:
                self._forget(host)
        closed_hosts.sort(key=self.closed_until, reverse=True)
        excess_used = used_hosts[:-MAX_HOSTS_WITHOUT_PAGES]
        for host in (*excess_used, *closed_hosts[MAX_CLOSED_HOSTS_WITHOUT_PAGES:]):
            self._forget(host)

    def _forget(self, host: str) -> None:
        del self._timings[host]
        self._without_pages.pop(host, None)
        self._eviction_of(host).drop(host)
        self._delayed_hosts.discard(host)
        self._unsaved.add(host)

    @property
    def _max_backoff(self) -> float:
        return max_backoff_seconds(self.politeness)

    def _is_delayed(self, host: str, now: float) -> bool:
        timing = self._timings[host]
        return timing.delay is not None or self.open_from(host, now) > now

    def _room(self, host: str, now: float, until: float) -> int:
        return turns_within(until - self.open_from(host, now), self.delay(host))

    def _timing(self, host: str) -> HostTiming:
        self._unsaved.add(host)
        self._delayed_hosts.add(host)
        if not self._has_pages(host):
            self._without_pages.pop(host, None)
            self._without_pages[host] = None
        return self._timings.setdefault(host, HostTiming())

    def _state(self, host: str) -> HostState:
        timing = self._timings.get(host)
        if timing is None:
            return HostState(host)
        return HostState(
            host, from_epoch(timing.next_allowed), timing.delay, timing.failures,
            from_epoch(timing.closed_until), asdict(timing.robots) if timing.robots else {},
        )  # fmt: skip


def parse_retry_after(text: str, now: datetime) -> float | None:
    """Parse a Retry-After header as seconds from now; None if it is not usable.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> parse_retry_after("120", noon), parse_retry_after("Thu, 01 Jan 2026 12:01:00 GMT", noon)
    (120.0, 60.0)
    >>> parse_retry_after("soon", noon) is None, parse_retry_after("-5", noon) is None
    (True, True)
    """
    text = text.strip()
    if text.isdecimal():
        return float(text[:12])
    try:
        # A time without a zone cannot be compared: a TypeError.
        seconds = (parsedate_to_datetime(text) - now) / timedelta(seconds=1)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None


def _is_worth_keeping(robots: RobotsRecord | None, now: float) -> bool:
    """Whether a host without pages is kept for its robots.txt.

    Otherwise pages that redirect there would fetch the file at every visit.
    """
    return robots is not None and robots.is_valid(now) and len(robots.rules) <= SHORT_RULES_CHARS


def _robots_record(saved: Mapping[str, object]) -> RobotsRecord | None:
    return RobotsRecord(**saved) if saved else None  # type: ignore[arg-type]
