"""Host clocks: when each host may be asked again, and what makes it wait longer.

A host is asked at most once in its delay (the settings', or its Crawl-delay where that is longer).
429 and 503 close it for as long as Retry-After says, and failures that lie with the host close it
for twice as long each time, both up to a bound. What must outlive a restart is handed to the
catalog as HostStates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from math import inf, isfinite

import numpy as np

from freshet.archive.catalog.rows import HostState
from freshet.core.clock import from_epoch
from freshet.core.settings import PolitenessSettings
from freshet.core.tables import Caps, keys_of
from freshet.core.types import Outcome
from freshet.fetch.robots import RobotsRecord
from freshet.flow.hosts import cut, delay_of, epoch_of, longest_pause, rooms

FIRST_BACKOFF = 60.0
HOST_FAULTS = frozenset({
    Outcome.THROTTLED,
    Outcome.SERVER_ERROR,
    Outcome.TIMEOUT,
    Outcome.UNREACHABLE,
})
BUSY = frozenset({429, 503})


@dataclass(slots=True)
class HostClock:
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
class HostClocks:
    """The clocks of all hosts, bounded against absurd values and jumps of the clock."""

    politeness: PolitenessSettings
    _clocks: dict[str, HostClock] = field(default_factory=dict)
    _waiting: set[str] = field(default_factory=set)
    _dirty: set[str] = field(default_factory=set)
    _all_asked: float = -inf

    def load(self, states: Iterable[HostState]) -> None:
        """Take over what was kept of hosts."""
        for state in states:
            self._clocks[state.host] = HostClock(
                epoch_of(state.next_allowed), epoch_of(state.backoff_until), state.failures,
                state.delay, _robots(state.robots),
            )  # fmt: skip
            self._waiting.add(state.host)

    def dirty(self) -> list[HostState]:
        """Return the hosts whose state has changed since this was last asked."""
        changed, self._dirty = self._dirty, set()
        return [self._state(host) for host in sorted(changed)]

    def unwritten(self, states: Iterable[HostState]) -> None:
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
        clock.next_allowed, clock.closed_until = cut(
            clock.next_allowed, clock.closed_until, now, delay=delay, longest=self._longest
        )
        return max(rested, clock.open_from)

    def closed_until(self, host: str) -> float:
        """Return the time at which a host was or will be free again."""
        clock = self._clocks.get(host)
        return clock.open_from if clock else 0.0

    def start_all(self, then: float) -> None:
        """Note that any host may have been asked, at a time at the latest."""
        self._all_asked = then

    def start(self, host: str, now: float) -> None:
        """Note that a host is being asked."""
        self._clock(host).next_allowed = now + self.delay(host)

    def delay(self, host: str) -> float:
        """Return the seconds between two requests to a host."""
        clock = self._clocks.get(host)
        return delay_of(self.politeness, clock.delay if clock else None)

    def hear(self, host: str, outcome: Outcome, wait: float | None, now: float) -> bool:
        """Take in how a request ended; say whether the host is closed by it.

        ``wait`` is what the answer asked for by Retry-After, in seconds: the least that it gets, as
        the pauses grow all the same where it keeps failing.
        """
        if outcome not in HOST_FAULTS:
            if self._clocks.get(host, HostClock()).failures:
                self._clock(host).failures = 0
            return False
        clock = self._clock(host)
        clock.failures = min(clock.failures + 1, 60)
        first = FIRST_BACKOFF if wait is None else self.delay(host)
        pause = max(first * 2.0 ** (clock.failures - 1), wait or 0.0)
        clock.closed_until = now + min(pause, self._longest)
        return True

    def caps(self, now: float, until: float, queued: Mapping[str, int], most: int) -> Caps:
        """Return how many visits each host has room for by a time, what waits for it taken off.

        None has room for more than ``most``, so that one that hangs leaves room for the others.
        """
        self._waiting = {host for host in self._waiting if self._matters(host, now)}
        names = list(self._waiting | queued.keys())
        room = [min(most, self._room(host, now, until)) - queued.get(host, 0) for host in names]
        return Caps(
            keys_of(names),
            np.maximum(np.array(room, np.int64), 0),
            min(most, rooms(until - now, self.politeness.delay)),
        )

    def robots(self, host: str) -> RobotsRecord | None:
        """Return what is remembered of a host's robots.txt."""
        clock = self._clocks.get(host)
        return clock.robots if clock else None

    def keep_robots(self, host: str, record: RobotsRecord) -> None:
        """Remember a host's robots.txt."""
        self._clock(host).robots = record

    def set_delay(self, host: str, seconds: float | None) -> None:
        """Take over a host's Crawl-delay."""
        clock = self._clock(host)
        clock.delay = None if seconds is None else min(seconds, self.politeness.longest_delay)

    @property
    def _longest(self) -> float:
        return longest_pause(self.politeness)

    def _matters(self, host: str, now: float) -> bool:
        clock = self._clocks[host]
        return clock.delay is not None or self.open_from(host, now) > now

    def _room(self, host: str, now: float, until: float) -> int:
        return rooms(until - self.open_from(host, now), self.delay(host))

    def _clock(self, host: str) -> HostClock:
        self._dirty.add(host)
        self._waiting.add(host)
        return self._clocks.setdefault(host, HostClock())

    def _state(self, host: str) -> HostState:
        clock = self._clocks[host]
        return HostState(
            host, from_epoch(clock.next_allowed), clock.delay, clock.failures,
            from_epoch(clock.closed_until), asdict(clock.robots) if clock.robots else {},
        )  # fmt: skip


def retry_after(text: str, now: datetime) -> float | None:
    """Read a Retry-After header as seconds from now; None where it says nothing usable.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> retry_after("120", noon), retry_after("Thu, 01 Jan 2026 12:01:00 GMT", noon)
    (120.0, 60.0)
    >>> retry_after("soon", noon) is None, retry_after("-5", noon) is None
    (True, True)
    """
    text = text.strip()
    if text.isdecimal():
        seconds = float(text[:12])
        return seconds if isfinite(seconds) else None
    try:
        until = parsedate_to_datetime(text)
        seconds = (until - now) / timedelta(seconds=1) if until.tzinfo else -1.0
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None


def _robots(kept: Mapping[str, object]) -> RobotsRecord | None:
    return RobotsRecord(**kept) if kept else None  # type: ignore[arg-type]
