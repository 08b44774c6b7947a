"""A fast clock that waits for its cue, so that no day of the web is lost on getting ready."""

from datetime import datetime

from freshet.core.clock import FixedClock, ScaledClock


class DeferredClock:
    """A clock that stands still until its cue, and then runs ``speed`` times too fast."""

    def __init__(self, start: datetime, speed: float) -> None:
        self.start = start
        self.speed = speed
        self._running: ScaledClock | None = None

    def begin(self) -> None:
        """Let the clock run, if it does not yet."""
        if self._running is None:
            self._running = ScaledClock(self.start, self.speed)

    def now(self) -> datetime:
        """Return the time that this clock has reached."""
        return self.start if self._running is None else self._running.now()

    def seconds_until(self, moment: datetime) -> float:
        """Return the seconds of real time until a moment, as if the cue came now at the latest."""
        if self._running is None:
            return FixedClock(self.start).seconds_until(moment) / self.speed
        return self._running.seconds_until(moment)
