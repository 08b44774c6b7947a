"""The queue in which requests wait for their time and for their host's turn."""

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

# A clock that is set while a timer runs is noticed within this time.
MAX_TIMER_SECONDS = 30.0
MAX_LATENESS_VALUES = 10_000

StartRequest = Callable[[Request], bool]


@dataclass(slots=True)
class HostQueue:
    """The requests that wait for one host, and the number of active ones.

    Coroutines wait for ``awaited_turns``, which come first. ``waiting`` requests are released only
    while ``holds`` is 0.
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
    """The number of waiting and active requests, and the lateness of recent starts.

    Lateness is in seconds of real time since both the request and its host were due.
    """

    waiting: int
    active: int
    lateness: tuple[float, ...]


class RequestQueue:
    """Releases each host's requests one by one, when its schedule and their times allow.

    ``start`` sends a released request and returns whether it was sent.
    """

    def __init__(
        self, hosts: HostSchedule, clock: Clock, per_host: int, start: StartRequest
    ) -> None:
        self._schedule = hosts
        self._clock = clock
        self._per_host = per_host
        self._start = start
        self._host_queues: dict[str, HostQueue] = {}
        self._is_stopped = False
        self._lateness: deque[float] = deque(maxlen=MAX_LATENESS_VALUES)

    def add(self, request: Request, host: str, start: datetime | None = None) -> None:
        """Queue a request until its time has come and its host is free."""
        now = to_epoch(self._clock.now())
        host_queue = self._host_queues.setdefault(host, HostQueue(free_from=now))
        host_queue.waiting.append((to_epoch(start) if start else now, request))
        self._release_due(host)

    def enqueue(self, request: Request) -> bool:
        """Queue a request for its host; return whether the host is free within its own delay."""
        context = context_of(request)
        if not context.hops:
            self._schedule.add_page(context.host)
        self.add(request, context.host)
        return not self._schedule.is_resting(context.host, to_epoch(self._clock.now()))

    async def wait_turn(self, host: str) -> None:
        """Wait for a host's next turn, before the waiting requests; ``finish`` ends the turn."""
        host_queue = self._host_queues.setdefault(
            host, HostQueue(free_from=to_epoch(self._clock.now()))
        )
        turn = asyncio.get_running_loop().create_future()
        host_queue.awaited_turns.append(turn)
        self._release_due(host)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._release_due(host)
            else:
                self.finish(host)
            raise

    @contextmanager
    def hold(self, host: str) -> Iterator[None]:
        """Release no waiting request of a host meanwhile; awaited turns are still given."""
        host_queue = self._host_queues.setdefault(
            host, HostQueue(free_from=to_epoch(self._clock.now()))
        )
        host_queue.holds += 1
        try:
            yield
        finally:
            host_queue.holds -= 1
            self._release_due(host)

    def finish(self, host: str) -> None:
        """Note that an active request to a host has ended."""
        host_queue = self._host_queues.get(host)
        if host_queue is None:
            return
        host_queue.active -= 1
        host_queue.free_from = to_epoch(self._clock.now())
        self._release_due(host)

    def withdraw(self, host: str) -> list[Request]:
        """Remove and return the requests that wait for a host."""
        host_queue = self._host_queues.get(host)
        if host_queue is None:
            return []
        requests = [request for _, request in host_queue.waiting]
        host_queue.waiting.clear()
        return requests

    def stop(self) -> list[Request]:
        """Release no more requests; remove and return all that wait."""
        self._is_stopped = True
        for host_queue in self._host_queues.values():
            if host_queue.timer is not None:
                host_queue.timer.cancel()
        return [request for host in list(self._host_queues) for request in self.withdraw(host)]

    def load_by_host(self) -> dict[str, int]:
        """Return the number of waiting and active requests of each host."""
        return {
            host: _count_waiting(host_queue) + host_queue.active
            for host, host_queue in self._host_queues.items()
        }

    def take_status(self) -> QueueStatus:
        """Return the status of the queue; lateness covers the time since the last call."""
        lateness = tuple(self._lateness)
        self._lateness.clear()
        host_queues = self._host_queues.values()
        waiting = sum(map(_count_waiting, host_queues))
        return QueueStatus(waiting, sum(host_queue.active for host_queue in host_queues), lateness)

    def _release_due(self, host: str) -> None:
        """Release what may be sent to a host now; else set a timer."""
        host_queue = self._host_queues.get(host)
        if host_queue is None or host_queue.is_starting:
            return
        if host_queue.timer is not None:
            host_queue.timer.cancel()
            host_queue.timer = None
        host_queue.is_starting = True
        try:
            self._release_all(host, host_queue)
        finally:
            host_queue.is_starting = False
        if not (host_queue.active or host_queue.holds or _count_waiting(host_queue)):
            del self._host_queues[host]

    def _release_all(self, host: str, host_queue: HostQueue) -> None:
        while host_queue.active < self._per_host and not self._is_stopped:
            now = to_epoch(self._clock.now())
            due = self._next_due(host_queue, now)
            if due is None:
                return
            host_queue.free_from = max(host_queue.free_from, self._schedule.closed_until(host))
            start_time = max(due, self._schedule.open_from(host, now))
            if start_time > now:
                self._set_timer(host, host_queue, start_time)
                return
            host_queue.active += 1
            self._lateness.append(
                max(0.0, now - max(due, host_queue.free_from)) / self._clock.speed
            )
            if self._start_next(host_queue):
                self._schedule.start_delay(host, now)

    def _next_due(self, host_queue: HostQueue, now: float) -> float | None:
        """Return when the next request is due; a due time far ahead comes from a clock set back."""
        while host_queue.awaited_turns and host_queue.awaited_turns[0].done():
            host_queue.awaited_turns.popleft()
        if host_queue.awaited_turns:
            return now
        if host_queue.holds or not host_queue.waiting:
            return None
        due = host_queue.waiting[0][0]
        return due if due <= now + MAX_TIMER_SECONDS * self._clock.speed else now

    def _start_next(self, host_queue: HostQueue) -> bool:
        """Start the next turn or request; return whether a request is sent."""
        if host_queue.awaited_turns:
            host_queue.awaited_turns.popleft().set_result(None)
            return True
        return self._start(host_queue.waiting.popleft()[1])

    def _set_timer(self, host: str, host_queue: HostQueue, start_time: float) -> None:
        delay = min(MAX_TIMER_SECONDS, self._clock.seconds_until(from_epoch(start_time)))
        host_queue.timer = asyncio.get_running_loop().call_later(delay, self._release_due, host)


def _count_waiting(host_queue: HostQueue) -> int:
    return len(host_queue.waiting) + sum(not turn.done() for turn in host_queue.awaited_turns)
