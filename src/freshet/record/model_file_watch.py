"""Looks once an hour whether a learned model was stored, replaced or removed."""

from datetime import datetime, timedelta
from pathlib import Path

REFRESH_INTERVAL = timedelta(hours=1)


class ModelFileWatch:
    """Watches the file of a model that a crawl uses; without a path there is never one.

    ``looked`` is the time of the last look for a new model. A change of the file is reported until
    it is accepted, so that a model that could not be loaded is tried again.
    """

    def __init__(self, path: Path | None) -> None:
        self.looked: datetime | None = None
        self._path = path
        self._accepted: tuple[int, ...] | None = None
        self._latest: tuple[int, ...] | None = None

    def is_due(self, now: datetime) -> bool:
        """Whether the last look is an hour ago; a clock that was set back counts too."""
        return self.looked is None or abs(now - self.looked) >= REFRESH_INTERVAL

    def has_changed(self) -> bool:
        """Whether the file differs from the accepted one; the first time it always does."""
        self._latest = self._read_state()
        return self._latest != self._accepted

    def accept(self) -> None:
        """Take the file as ``has_changed`` last found it for the one in use."""
        self._accepted = self._latest

    def _read_state(self) -> tuple[int, ...]:
        """Return what identifies the file, nothing if there is none."""
        if self._path is None or not self._path.exists():
            return ()
        stat = self._path.stat()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino
