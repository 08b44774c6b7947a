"""Host clocks: when each host may be asked again, and what makes it wait longer.

A host is asked at most once in its delay (the settings', or its Crawl-delay where that is longer).
429 and 503 close it for as long as Retry-After says, and failures that lie with the host close it
for twice as long each time, both up to a bound. A single other status from 500 on closes nothing,
as it may be the fault of one page; the second in a row does. What must outlive a restart is handed
to the catalog as HostStates.

Memory is bounded against servers that redirect to ever new hosts: a host without pages is
forgotten soon after it may be asked again, and rules are kept up to a size in all, those used last.
Rules that were dropped are asked for again when they are needed.
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
# Of hosts without pages these many are remembered while their robots.txt holds, and where they are
# to be left alone these many; rules that are long are not worth it.
MAX_HOSTS_WITHOUT_PAGES = 256
MAX_CLOSED_HOSTS_WITHOUT_PAGES = 10_000
SHORT_RULES_CHARS = 16_384
IDLE_SECONDS = 60.0
SWEEP_SECONDS = 5.0


@dataclass(slots=True)
class HostTiming:
    """What is known of one host: times are epoch seconds."""

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
    """The clocks of all hosts, bounded against absurd values and jumps of the clock."""

    politeness: PolitenessSettings
    _clocks: dict[str, HostTiming] = field(default_factory=dict)
    _waiting: set[str] = field(default_factory=set)
    _dirty: set[str] = field(default_factory=set)
    _all_asked: float = -inf
    _with_pages: set[str] = field(default_factory=set)
    _without_pages: dict[str, None] = field(default_factory=dict)
    _rules: RulesEviction = field(default_factory=lambda: RulesEviction(MAX_RULES_CHARS))
    _rules_without_pages: RulesEviction = field(
        default_factory=lambda: RulesEviction(MAX_RULES_CHARS_WITHOUT_PAGES)
    )
    _swept: float = -inf

    def load(
        self, states: Iterable[HostState], without_pages: frozenset[str] = frozenset()
    ) -> None:
        """Take over what was kept of hosts, and which of them have no pages."""
        for state in states:
            host = state.host
            if host not in without_pages:
                self._with_pages.add(host)
            self._clocks[host] = HostTiming(
                epoch_or_zero(state.next_allowed), epoch_or_zero(state.backoff_until), state.failures,
                state.delay,
            )  # fmt: skip
            self._waiting.add(host)
            if host in without_pages:
                self._without_pages[host] = None
            if record := _robots(state.robots):
                self._set_robots(host, record)

    def add_page(self, host: str) -> None:
        """Note that a host has pages, so that it is not forgotten."""
        if host in self._with_pages:
            return
        self._with_pages.add(host)
        for name in (host, host + HTTP_PORT_SUFFIX):
            self._without_pages.pop(name, None)
            self._rules_without_pages.drop(name)
            if record := self.robots(name):
                self._set_robots(name, record)

    def take_unsaved(self) -> list[HostState]:
        """Return the hosts whose state has changed since this was last asked."""
        changed, self._dirty = self._dirty, set()
        return [self._state(host) for host in sorted(changed)]

    def mark_unsaved(self, states: Iterable[HostState]) -> None:
        """Note that what was changed could not be kept, so that it is told of again."""
        self._dirty.update(state.host for state in states)

    def open_from(self, host: str, now: float) -> float:
        """Return the time from which a host may be asked; a clock set back does not lock it."""
        clock = self._clocks.get(host)
        self._all_asked = min(self._all_asked, now)
        delay = self.delay(host)
        rested = max(now, self._all_asked + delay)
        if clock is None:
            return rested
        clock.next_allowed, clock.closed_until = bounded_times(
            clock.next_allowed, clock.closed_until, now, delay=delay, max_backoff=self._longest
        )
        return max(rested, clock.open_from)

    def is_closed(self, host: str, now: float) -> bool:
        """Whether a host is to be left alone for longer than any delay."""
        return self.open_from(host, now) - now > self.politeness.longest_delay

    def is_resting(self, host: str, now: float) -> bool:
        """Whether a host is to be left alone for longer than its own delay."""
        return self.open_from(host, now) - now > self.delay(host)

    def closed_until(self, host: str) -> float:
        """Return the time at which a host was or will be free again."""
        clock = self._clocks.get(host)
        return clock.open_from if clock else 0.0

    def failures_and_closing(self, host: str) -> tuple[int, float]:
        """Return how many failures in a row a host had, and until when they close it."""
        clock = self._clocks.get(host) or HostTiming()
        return clock.failures, clock.closed_until

    def delay_all(self, then: float) -> None:
        """Note that any host may have been asked, at a time at the latest."""
        self._all_asked = then

    def start_delay(self, host: str, now: float) -> None:
        """Note that a host is being asked."""
        self._clock(host).next_allowed = now + self.delay(host)

    def delay(self, host: str) -> float:
        """Return the seconds between two requests to a host."""
        clock = self._clocks.get(host)
        return delay_of(self.politeness, clock.delay if clock else None)

    def note_outcome(
        self, host: str, outcome: Outcome, retry_after: float | None, now: float
    ) -> bool:
        """Take in how a request ended; say whether the host is closed by it.

        ``retry_after`` is what the answer asked for by Retry-After, in seconds: the least that it gets, as
        the pauses grow all the same where it keeps failing.
        """
        if outcome not in HOST_FAILURES:
            if self._clocks.get(host, HostTiming()).failures:
                self._clock(host).failures = 0
            return False
        clock = self._clock(host)
        clock.failures = min(clock.failures + 1, 60)
        if outcome is Outcome.SERVER_ERROR and retry_after is None and clock.failures == 1:
            return False
        first = FIRST_BACKOFF if retry_after is None else self.delay(host)
        pause = max(first * 2.0 ** (clock.failures - 1), retry_after or 0.0)
        clock.closed_until = now + min(pause, self._longest)
        return True

    def reopen(self, names: Iterable[str]) -> None:
        """Clear the back-off of hosts, and what failed of their robots.txt; delays hold on."""
        for host in names:
            clock = self._clocks.get(host)
            if clock is None:
                continue
            self._dirty.add(host)
            clock.closed_until, clock.failures = 0.0, 0
            if clock.robots and clock.robots.failing_since is not None:
                clock.robots = None

    def host_caps(
        self, now: float, until: float, queued: Mapping[str, int], max_per_host: int
    ) -> HostCaps:
        """Return how many visits each host has room for by a time, what waits for it taken off.

        None has room for more than ``max_per_host``, so that one that hangs leaves room for the others.
        """
        if abs(now - self._swept) >= SWEEP_SECONDS:
            self._swept = now
            self.forget_unused(now, queued)
        self._waiting = {host for host in self._waiting if self._matters(host, now)}
        names = list(self._waiting | queued.keys())
        room = [
            min(max_per_host, self._room(host, now, until)) - queued.get(host, 0) for host in names
        ]
        return HostCaps(
            hash_names(names),
            np.maximum(np.array(room, np.int64), 0),
            min(max_per_host, turns_within(until - now, self.politeness.delay)),
        )

    def robots(self, host: str) -> RobotsRecord | None:
        """Return what is remembered of a host's robots.txt."""
        clock = self._clocks.get(host)
        self._rules_of(host).touch(host)
        return clock.robots if clock else None

    def set_robots(self, host: str, record: RobotsRecord) -> None:
        """Remember a host's robots.txt."""
        self._clock(host)
        self._set_robots(host, record)

    def set_delay(self, host: str, seconds: float | None) -> None:
        """Take over a host's Crawl-delay."""
        clock = self._clock(host)
        clock.delay = None if seconds is None else min(seconds, self.politeness.longest_delay)

    def _set_robots(self, host: str, record: RobotsRecord) -> None:
        """Keep a record; where all rules together are too long, the least used ones go."""
        self._clocks[host].robots = record
        for other in self._rules_of(host).add(host, len(record.rules)):
            self._clocks[other].robots = None
            self._dirty.add(other)

    def _rules_of(self, host: str) -> RulesEviction:
        return self._rules if self._has_pages(host) else self._rules_without_pages

    def _has_pages(self, host: str) -> bool:
        return host in self._with_pages or host.removesuffix(HTTP_PORT_SUFFIX) in self._with_pages

    def forget_unused(self, now: float, queued: Mapping[str, int]) -> None:
        """Forget hosts without pages that may be asked again, and of the others all but so many."""
        used, closed = [], []
        for host in list(self._without_pages):
            clock = self._clocks[host]
            if host in queued or host.removesuffix(HTTP_PORT_SUFFIX) in queued:
                continue
            if self.open_from(host, now) > now:
                closed.append(host)
            elif clock.open_from + IDLE_SECONDS > now or _is_worth_keeping(clock.robots, now):
                used.append(host)
            else:
                self._forget(host)
        closed.sort(key=self.closed_until, reverse=True)
        for host in (*used[:-MAX_HOSTS_WITHOUT_PAGES], *closed[MAX_CLOSED_HOSTS_WITHOUT_PAGES:]):
            self._forget(host)

    def _forget(self, host: str) -> None:
        del self._clocks[host]
        self._without_pages.pop(host, None)
        self._rules_of(host).drop(host)
        self._waiting.discard(host)
        self._dirty.add(host)

    @property
    def _longest(self) -> float:
        return max_backoff_seconds(self.politeness)

    def _matters(self, host: str, now: float) -> bool:
        clock = self._clocks[host]
        return clock.delay is not None or self.open_from(host, now) > now

    def _room(self, host: str, now: float, until: float) -> int:
        return turns_within(until - self.open_from(host, now), self.delay(host))

    def _clock(self, host: str) -> HostTiming:
        self._dirty.add(host)
        self._waiting.add(host)
        if not self._has_pages(host):
            self._without_pages.pop(host, None)
            self._without_pages[host] = None
        return self._clocks.setdefault(host, HostTiming())

    def _state(self, host: str) -> HostState:
        clock = self._clocks.get(host)
        if clock is None:
            return HostState(host)
        return HostState(
            host, from_epoch(clock.next_allowed), clock.delay, clock.failures,
            from_epoch(clock.closed_until), asdict(clock.robots) if clock.robots else {},
        )  # fmt: skip


def parse_retry_after(text: str, now: datetime) -> float | None:
    """Read a Retry-After header as seconds from now; None where it says nothing usable.

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
        # A time that tells no zone cannot be compared: a TypeError.
        seconds = (parsedate_to_datetime(text) - now) / timedelta(seconds=1)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None


def _is_worth_keeping(robots: RobotsRecord | None, now: float) -> bool:
    """Whether a host is remembered for its robots.txt though no page lies on it.

    Pages that redirect there would have it asked for at every visit.
    """
    return robots is not None and robots.is_valid(now) and len(robots.rules) <= SHORT_RULES_CHARS


def _robots(kept: Mapping[str, object]) -> RobotsRecord | None:
    return RobotsRecord(**kept) if kept else None  # type: ignore[arg-type]
