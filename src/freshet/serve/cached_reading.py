"""Readings of a whole collection, kept for a while because they take long."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from math import isfinite
from threading import Lock
from typing import Generic, TypeVar

from freshet.core.clock import monotonic_seconds

T = TypeVar("T")

MIN_AGE_SECONDS = 1.0
# A reading is repeated after so many times the time that it takes.
REST_FACTOR = 20.0
# A reading that takes longer is repeated in the background; the old one is shown meanwhile.
MAX_WAIT_SECONDS = 0.1
# After a write of this server people look for its effect, and wait longer for it.
MAX_WAIT_AFTER_WRITE_SECONDS = 5.0


class CachedReading(Generic[T]):
    """A value that is read when it is first asked for, and again when it is old."""

    def __init__(self, read: Callable[[], T], executor: Executor) -> None:
        self._read = read
        self._executor = executor
        self._lock = Lock()
        self._value: T | None = None
        self._read_at = float("-inf")
        self._cost = 0.0
        self._refresh: Future[None] | None = None

    def get(self) -> T:
        """Return the value; an old one is read again, at once if that is fast.

        An expired value is read at once even if that takes some seconds.
        """
        value, age = self._value, monotonic_seconds() - self._read_at
        if value is None:
            return self._read_now()
        if age < max(MIN_AGE_SECONDS, REST_FACTOR * self._cost):
            return value
        max_wait = MAX_WAIT_SECONDS if isfinite(age) else MAX_WAIT_AFTER_WRITE_SECONDS
        if self._cost <= max_wait:
            return self._read_now()
        self._refresh_in_background()
        return value

    def expire(self) -> None:
        """Read the value again when it is next asked for, because of a change made here."""
        self._read_at = float("-inf")

    def _read_now(self) -> T:
        asked_at = monotonic_seconds()
        with self._lock:
            if self._value is not None and self._read_at >= asked_at:
                return self._value  # another thread has read it meanwhile
            started = monotonic_seconds()
            value = self._read()
            self._value, self._read_at = value, started
            self._cost = monotonic_seconds() - started
            return value

    def _refresh_in_background(self) -> None:
        if self._refresh is None or self._refresh.done():
            self._refresh = self._executor.submit(self._refresh_value)

    def _refresh_value(self) -> None:
        self._read_now()
