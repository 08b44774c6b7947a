"""A fast clock that stands still until it is started, so that set-up takes no simulated time."""

from datetime import datetime

from freshet.core.clock import Clock, FixedClock, ScaledClock


class DeferredClock:
    """A clock that stands still until it begins, and then runs ``speed`` times as fast."""

    def __init__(self, start: datetime, speed: float) -> None:
        self.start = start
        self.speed = speed
        self._running: ScaledClock | None = None

    def begin(self) -> None:
        """Start the clock if it is not running yet."""
        if self._running is None:
            self._running = ScaledClock(self.start, self.speed)

    def now(self) -> datetime:
        """Return the current time of this clock."""
        return self.start if self._running is None else self._running.now()

    def seconds_until(self, moment: datetime) -> float:
        """Return the real seconds until a moment, as if the clock started now at the latest."""
        if self._running is None:
            return FixedClock(self.start).seconds_until(moment) / self.speed
        return self._running.seconds_until(moment)


class BoundedClock:
    """A clock that runs as another one does, and stands still at the end of the simulated time."""

    def __init__(self, clock: Clock, end: datetime) -> None:
        self._clock = clock
        self._end = end
        self.speed = clock.speed

    def now(self) -> datetime:
        """Return the time of the other clock, at most the end."""
        return min(self._clock.now(), self._end)

    def seconds_until(self, moment: datetime) -> float:
        """Return the real seconds until the other clock shows a time."""
        return self._clock.seconds_until(moment)
