"""Readings are kept, and renewed without making anybody wait long."""

from concurrent.futures import Executor, Future
from typing import Any

import pytest

from freshet.serve import cached_reading
from freshet.serve.cached_reading import CachedReading


class LaterExecutor(Executor):
    """Runs what was submitted when it is told to."""

    def __init__(self) -> None:
        self.tasks: list[tuple[Any, Future[Any]]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.tasks.append((fn, future))
        return future

    def run(self) -> None:
        for task, future in self.tasks:
            future.set_result(task())
        self.tasks.clear()


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the readings see; a test moves them."""
    seconds = [0.0]
    monkeypatch.setattr(cached_reading, "monotonic_seconds", lambda: seconds[0])
    return seconds


def make_reading(time: list[float], cost: float) -> tuple[CachedReading[int], LaterExecutor]:
    numbers, executor = iter(range(1, 100)), LaterExecutor()

    def read() -> int:
        time[0] += cost
        return next(numbers)

    return CachedReading(read, executor), executor


def test_a_fast_reading_is_repeated_when_it_is_old(time: list[float]) -> None:
    reading, executor = make_reading(time, 0.01)
    assert [reading.get(), reading.get()] == [1, 1]
    time[0] += 1.1
    assert reading.get() == 2
    assert executor.tasks == []


def test_a_slow_reading_is_repeated_in_the_background(time: list[float]) -> None:
    reading, executor = make_reading(time, 2.0)
    assert reading.get() == 1
    time[0] += 30
    assert reading.get() == 1
    time[0] += 15
    assert [reading.get(), reading.get()] == [1, 1]
    assert len(executor.tasks) == 1
    executor.run()
    assert reading.get() == 2


def test_after_a_write_people_wait_for_its_effect(time: list[float]) -> None:
    reading, executor = make_reading(time, 2.0)
    reading.get()
    reading.expire()
    assert reading.get() == 2
    very_slow, executor = make_reading(time, 60.0)
    very_slow.get()
    very_slow.expire()
    assert very_slow.get() == 1
    executor.run()
    assert very_slow.get() == 2
