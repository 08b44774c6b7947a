"""Requests wait here for their time and for their host, and leave within milliseconds of both."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from scrapy import Request

from freshet.core.clock import Clock, from_epoch, to_epoch
from freshet.fetch.politeness.host_schedule import HostSchedule
from freshet.fetch.request_context import context_of

# A clock that is set while a timer runs is noticed within so many seconds.
MAX_TIMER_SECONDS = 30.0
MAX_LATENESS_VALUES = 10_000

StartRequest = Callable[[Request], bool]


@dataclass(slots=True)
class HostQueue:
    """The requests that wait for one host, and how many are with it.

    ``awaited_turns`` are waited for by coroutines and go first; ``load_by_host`` requests go only while nobody
    holds them back (``holds``).
    """

    waiting: deque[tuple[float, Request]] = field(default_factory=deque)
    awaited_turns: deque[asyncio.Future[None]] = field(default_factory=deque)
    active: int = 0
    holds: int = 0
    free_from: float = 0.0
    is_starting: bool = False
    timer: asyncio.TimerHandle | None = None


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """How many requests wait and are under way, and how late those since last time started.

    Lateness is in seconds of real time, from when both a request's time and its host's had come.
    """

    waiting: int
    active: int
    lateness: tuple[float, ...]


class RequestQueue:
    """Lets each host's requests go one by one, no sooner than its clock and their times allow."""

    start: StartRequest

    def __init__(self, hosts: HostSchedule, clock: Clock, per_host: int) -> None:
        self._hosts = hosts
        self._clock = clock
        self._per_host = per_host
        self._lines: dict[str, HostQueue] = {}
        self._is_stopped = False
        self._lateness: deque[float] = deque(maxlen=MAX_LATENESS_VALUES)

    def add(self, request: Request, host: str, start: datetime | None = None) -> None:
        """Let a request go when its time has come and its host is free."""
        now = to_epoch(self._clock.now())
        line = self._lines.setdefault(host, HostQueue(free_from=now))
        line.waiting.append((to_epoch(start) if start else now, request))
        self._turn(host)

    def enqueue(self, request: Request) -> bool:
        """Queue a request for its host; return whether the host is free within its own delay."""
        context = context_of(request)
        if not context.hops:
            self._hosts.add_page(context.host)
        self.add(request, context.host)
        return not self._hosts.is_resting(context.host, to_epoch(self._clock.now()))

    async def wait_turn(self, host: str) -> None:
        """Wait for a host's next turn, ahead of the requests that wait; ``finish`` ends it."""
        line = self._lines.setdefault(host, HostQueue(free_from=to_epoch(self._clock.now())))
        turn = asyncio.get_running_loop().create_future()
        line.awaited_turns.append(turn)
        self._turn(host)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._turn(host)
            else:
                self.finish(host)
            raise

    @contextmanager
    def hold(self, host: str) -> Iterator[None]:
        """Let no waiting request of a host go for as long as this lasts; turns are still given."""
        line = self._lines.setdefault(host, HostQueue(free_from=to_epoch(self._clock.now())))
        line.holds += 1
        try:
            yield
        finally:
            line.holds -= 1
            self._turn(host)

    def finish(self, host: str) -> None:
        """Note that a request to a host has ended."""
        line = self._lines.get(host)
        if line is None:
            return
        line.active -= 1
        line.free_from = to_epoch(self._clock.now())
        self._turn(host)

    def withdraw(self, host: str) -> list[Request]:
        """Return the requests that wait for a host, and let them wait no longer."""
        line = self._lines.get(host)
        if line is None:
            return []
        left = [request for _, request in line.waiting]
        line.waiting.clear()
        return left

    def stop(self) -> list[Request]:
        """Let nothing go any more, and return all that waits."""
        self._is_stopped = True
        for line in self._lines.values():
            if line.timer is not None:
                line.timer.cancel()
        return [request for host in list(self._lines) for request in self.withdraw(host)]

    def load_by_host(self) -> dict[str, int]:
        """Return how many requests wait for each host or are with it."""
        return {host: _count(line) + line.active for host, line in self._lines.items()}

    def take_status(self) -> QueueStatus:
        """Return how things stand, and how late requests started since this was last asked."""
        late = tuple(self._lateness)
        self._lateness.clear()
        lines = self._lines.values()
        waiting = sum(map(_count, lines))
        return QueueStatus(waiting, sum(line.active for line in lines), late)

    def _turn(self, host: str) -> None:
        """Start what may start now at a host; else be back when it may."""
        line = self._lines.get(host)
        if line is None or line.is_starting:
            return
        if line.timer is not None:
            line.timer.cancel()
            line.timer = None
        line.is_starting = True
        try:
            self._let_go(host, line)
        finally:
            line.is_starting = False
        if not (line.active or line.holds or _count(line)):
            del self._lines[host]

    def _let_go(self, host: str, line: HostQueue) -> None:
        while line.active < self._per_host and not self._is_stopped:
            now = to_epoch(self._clock.now())
            due = self._next_due(line, now)
            if due is None:
                return
            line.free_from = max(line.free_from, self._hosts.closed_until(host))
            at = max(due, self._hosts.open_from(host, now))
            if at > now:
                self._be_back(host, line, at)
                return
            line.active += 1
            self._lateness.append(max(0.0, now - max(due, line.free_from)) / self._clock.speed)
            if self._start_next(line):
                self._hosts.start_delay(host, now)

    def _next_due(self, line: HostQueue, now: float) -> float | None:
        """Return when the next in line is due; only a clock that was set back leaves it far."""
        while line.awaited_turns and line.awaited_turns[0].done():
            line.awaited_turns.popleft()
        if line.awaited_turns:
            return now
        if line.holds or not line.waiting:
            return None
        due = line.waiting[0][0]
        return due if due <= now + MAX_TIMER_SECONDS * self._clock.speed else now

    def _start_next(self, line: HostQueue) -> bool:
        """Start the next in line; return whether it makes a request."""
        if line.awaited_turns:
            line.awaited_turns.popleft().set_result(None)
            return True
        return self.start(line.waiting.popleft()[1])

    def _be_back(self, host: str, line: HostQueue, at: float) -> None:
        delay = min(MAX_TIMER_SECONDS, self._clock.seconds_until(from_epoch(at)))
        line.timer = asyncio.get_running_loop().call_later(delay, self._turn, host)


def _count(line: HostQueue) -> int:
    return len(line.waiting) + sum(not turn.done() for turn in line.awaited_turns)
