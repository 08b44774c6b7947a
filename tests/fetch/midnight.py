"""A real crawl over midnight, in a process of its own: the day ends when a file appears."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from freshet.core.clock import monotonic_seconds
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl as run
from tests.warm_process import run_module

DAY, NEXT_DAY = "2026-03-01", "2026-03-02"
BEFORE = datetime(2026, 3, 1, 23, 50, tzinfo=UTC)
AFTER = datetime(2026, 3, 2, 0, 0, 5, tzinfo=UTC)


class ClockWithMidnight:
    """A clock on which it is next day as soon as a file is there."""

    speed = 1.0

    def __init__(self, file: Path) -> None:
        self._file = file
        self._began = monotonic_seconds()

    def now(self) -> datetime:
        """Return the time."""
        start = AFTER if self._file.exists() else BEFORE
        return start + timedelta(seconds=monotonic_seconds() - self._began)

    def seconds_until(self, moment: datetime) -> float:
        """Return how long it is until a moment, in seconds."""
        return max(0.0, (moment - self.now()).total_seconds())


def crawl_over_midnight(folder: Path, file: Path, *, budget: int, visits: int) -> None:
    """Crawl a collection in a child process, until so many visits or a few seconds."""
    options = json.dumps([str(folder), str(file), f"{budget}/day", visits])
    ran = run_module("tests.fetch.midnight", options)
    assert ran.returncode == 0, ran.stderr


def main(folder: str, file: str, budget: str, visits: int) -> None:
    """Crawl in this process."""
    clock = ClockWithMidnight(Path(file))
    run(Path(folder), budget=budget, clock=clock, limits=CrawlLimits(visits=visits, seconds=5.0))


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
