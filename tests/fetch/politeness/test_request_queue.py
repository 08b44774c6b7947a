"""Requests leave when their time has come and their host is free, and no sooner."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from scrapy import Request

from freshet.core.clock import ScaledClock
from freshet.core.settings import PolitenessSettings
from freshet.fetch.politeness.host_schedule import HostSchedule
from freshet.fetch.politeness.request_queue import RequestQueue

START = datetime(2026, 3, 1, tzinfo=UTC)
A, B = "a.example", "b.example"


class Track:
    """A request queue that notes what it releases, on a clock a thousand times as fast as ours."""

    def __init__(self, delay: float = 10.0, per_host: int = 1) -> None:
        self.clock = ScaledClock(START, 1000.0)
        self.hosts = HostSchedule(PolitenessSettings(delay=delay, per_host=per_host))
        self.gone: list[tuple[str, float]] = []
        self.queue = RequestQueue(self.hosts, self.clock, per_host, self._note)

    def _note(self, request: Request) -> bool:
        self.gone.append((request.url, (self.clock.now() - START).total_seconds()))
        return True

    def ask(self, *urls: str, start: datetime | None = None) -> None:
        for url in urls:
            self.queue.add(Request(url), url.split("/")[2], start)

    async def until(self, count: int) -> None:
        for _ in range(2_000):
            if len(self.gone) >= count:
                return
            await asyncio.sleep(0.002)
        raise AssertionError(f"only {self.gone} went")


def running(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]


def test_requests_to_one_host_keep_its_delay() -> None:
    async def run() -> None:
        track = Track()
        track.ask(f"http://{A}/1", f"http://{A}/2", f"http://{A}/3")
        for count in (1, 2, 3):
            await track.until(count)
            track.queue.finish(A)
        times = [at for _, at in track.gone]
        assert all(later - sooner >= 10.0 for sooner, later in pairwise(times))

    running(run)


def test_a_host_in_use_lets_others_go_first() -> None:
    async def run() -> None:
        track = Track()
        track.ask(f"http://{A}/1", f"http://{A}/2", f"http://{B}/1")
        await track.until(2)
        assert [url for url, _ in track.gone] == [f"http://{A}/1", f"http://{B}/1"]
        assert track.queue.load_by_host() == {A: 2, B: 1}

    running(run)


def test_a_request_does_not_go_before_its_time() -> None:
    async def run() -> None:
        track = Track(delay=0.0)
        track.ask(f"http://{A}/", start=START + timedelta(seconds=40))
        await track.until(1)
        assert track.gone[0][1] >= 40.0

    running(run)


def test_what_waits_for_a_host_can_be_withdrawn() -> None:
    async def run() -> None:
        track = Track()
        track.ask(f"http://{A}/1", f"http://{A}/2")
        assert [request.url for request in track.queue.withdraw(A)] == [f"http://{A}/2"]
        track.queue.finish(A)
        assert track.queue.load_by_host() == {}

    running(run)


def test_nothing_goes_after_the_stop() -> None:
    async def run() -> None:
        track = Track()
        track.ask(f"http://{A}/1", f"http://{A}/2")
        assert [request.url for request in track.queue.stop()] == [f"http://{A}/2"]
        track.queue.finish(A)
        track.ask(f"http://{A}/3")
        await asyncio.sleep(0.03)
        assert len(track.gone) == 1

    running(run)


def test_many_requests_that_are_called_off_at_once_do_not_pile_up() -> None:
    async def run() -> None:
        called_off: list[str] = []

        def call_off(request: Request) -> bool:
            if request.url.endswith("/first"):
                return True
            called_off.append(request.url)
            queue.finish(A)
            return False

        clock = ScaledClock(START, 1.0)
        queue = RequestQueue(HostSchedule(PolitenessSettings(delay=0.0)), clock, 1, call_off)
        for name in ("first", *range(2_000)):
            queue.add(Request(f"http://{A}/{name}"), A, START)
        assert called_off == []
        queue.finish(A)
        assert len(called_off) == 2_000
        assert queue.load_by_host() == {}

    running(run)


def test_a_turn_that_is_waited_for_comes_before_the_requests_that_wait() -> None:
    async def run() -> None:
        track = Track()
        track.ask(f"http://{A}/1", f"http://{A}/2")
        turn = asyncio.create_task(track.queue.wait_turn(A))
        await asyncio.sleep(0.03)
        assert not turn.done()
        assert track.queue.load_by_host() == {A: 3}
        track.queue.finish(A)
        await turn
        assert [url for url, _ in track.gone] == [f"http://{A}/1"]
        track.queue.finish(A)
        await track.until(2)

    running(run)


def test_a_host_that_is_held_gives_turns_and_lets_no_request_go() -> None:
    async def run() -> None:
        track = Track(delay=0.0)
        with track.queue.hold(A):
            track.ask(f"http://{A}/1")
            await track.queue.wait_turn(A)
            track.queue.finish(A)
            assert track.gone == []
        await track.until(1)

    running(run)


def test_a_turn_that_is_called_off_is_given_to_the_next() -> None:
    async def run() -> None:
        track = Track(delay=0.0)
        await track.queue.wait_turn(A)
        off, on = (asyncio.create_task(track.queue.wait_turn(A)) for _ in range(2))
        await asyncio.sleep(0)
        track.queue.finish(A)
        off.cancel()
        await asyncio.sleep(0)
        await on
        track.queue.finish(A)
        assert track.queue.load_by_host() == {}

    running(run)
