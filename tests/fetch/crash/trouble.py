"""A crawl in trouble without being killed: a full disk, a failing one, a clock that jumps.

``python -m tests.fetch.crash.trouble KIND [STEP]`` prints the faults, one a line, and exits with 1
if there are any. Trouble with the disk begins at a crawl's first write, then at each STEP-th.
"""

import errno
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from itertools import pairwise
from math import inf
from pathlib import Path
from signal import SIGTERM
from tempfile import TemporaryDirectory
from typing import Any

from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock, monotonic_seconds
from freshet.crawl.session import CrawlSession
from freshet.fetch import collection_writer
from freshet.fetch.recording_loop import CrawlLimits, RecordingLoop
from tests.fetch.crash.crawl_runs import FAILED, KillPlan, warm_up
from tests.fetch.crash.trials import START, Trial, TrialOptions, open_trial
from tests.fetch.crash.write_faults import WRITE_FAULTS

WRITES = 40
VISITS = 40
VISITS_PER_JUMP = 30
FAILED_WRITES = 4
AMPLE_BUDGET = TrialOptions(budget=600)
# A day of this clock is longer than a run: a host closed for a day gets no further request.
SLOW_CLOCK = TrialOptions(speed=60.0, budget=100_000, delay=1.0, is_steady=False)
ALL_LATER_WRITES = 1_000_000
SHORT_SECONDS, LONG_SECONDS = 1.0, 20.0
RETRY_SECONDS = 0.02
RETRY_MESSAGE = "trying again, nothing is fetched meanwhile"
DISK_MESSAGE = "check the disk"


def failing_writes(first: int, last: int, error: int) -> Callable[[], None]:
    """Return a function that makes writes of a crawl fail, counted from the start of recording."""

    def prepare() -> None:
        original = RecordingLoop.start
        collection_writer.RETRY_SECONDS = RETRY_SECONDS

        def start(loop: RecordingLoop) -> None:
            WRITE_FAULTS.set(first, last, error)
            original(loop)

        RecordingLoop.start = start  # type: ignore[method-assign]

    return prepare


def full_disk(folder: Path, step: int) -> Iterator[str]:
    """A crawl waits while the disk is full, and then records the fetched pages."""
    for first in range(1, WRITES, step):
        with open_trial(folder / str(first), AMPLE_BUDGET, CrawlLimits(visits=VISITS)) as trial:
            end = trial.run(
                KillPlan(seconds=LONG_SECONDS),
                failing_writes(first, first + FAILED_WRITES, errno.ENOSPC),
            )
            trial.examine("waited")
            where = f"full from write {first}"
            if end.code or RETRY_MESSAGE not in trial.output():
                yield f"{where}: it ended with {end.code} and printed {trial.output()}"
            if (reported := len(trial.evidence.event_log.reported_visits)) < VISITS:
                yield f"{where}: only {reported} visits were reported"
            yield from (f"{where}: {fault}" for fault in trial.faults)


def ending(folder: Path, step: int) -> Iterator[str]:
    """A crawl that is stopped while the disk is full says why; the next one continues."""
    for first in range(step, WRITES, 2 * step):
        with open_trial(folder / str(first), AMPLE_BUDGET, CrawlLimits(visits=VISITS)) as trial:
            end = trial.run(
                KillPlan(seconds=SHORT_SECONDS, signal=SIGTERM),
                failing_writes(first, ALL_LATER_WRITES, errno.ENOSPC),
            )
            trial.examine("stopped by SIGTERM")
            if end.code != FAILED or "free" not in trial.output():
                yield f"full from write {first}: it ended with {end.code}, printed {trial.output()}"
            if trial.run(KillPlan(seconds=LONG_SECONDS)).code:
                yield f"full from write {first}: later it printed {trial.output()}"
            trial.examine("continued")
            yield from (f"full from write {first}: {fault}" for fault in trial.faults)


def failing_disk(folder: Path, step: int) -> Iterator[str]:
    """A failed write ends a crawl with a clear error, and the next one continues."""
    for at in range(1, WRITES, step):
        with open_trial(folder / str(at), AMPLE_BUDGET, CrawlLimits(visits=VISITS)) as trial:
            first = trial.run(KillPlan(seconds=LONG_SECONDS), failing_writes(at, at, errno.EIO))
            if first.code != FAILED or DISK_MESSAGE not in trial.output():
                yield f"write {at} failed: it ended with {first.code} and printed {trial.output()}"
            trial.examine("failed")
            second = trial.run(KillPlan(seconds=LONG_SECONDS))
            trial.examine("continued")
            if second.code:
                yield f"after write {at}: it ended with {second.code} and printed {trial.output()}"
            yield from (f"write {at} failed: {fault}" for fault in trial.faults)


def clock_jumps(trial: Trial, days: tuple[int, ...]) -> Callable[[], None]:
    """Return a function that moves a crawl's clock by days, each time after some visits."""

    def prepare() -> None:
        original, days_left, recorded = CrawlSession.record_observations, list(days), 0

        def record(crawl: CrawlSession, *arguments: Any) -> Any:
            nonlocal recorded
            visits = original(crawl, *arguments)
            recorded += len(visits)
            if days_left and recorded >= VISITS_PER_JUMP * (1 + len(days) - len(days_left)):
                trial.setup.clock.offset += timedelta(days=days_left.pop(0))
                with jumps_of(trial).open("a") as file:
                    file.write(f"{monotonic_seconds()!r}\n")
            return visits

        CrawlSession.record_observations = record  # type: ignore[method-assign]

    return prepare


def jumps_of(trial: Trial) -> Path:
    """Return the file with the times at which a crawl's clock jumped."""
    return trial.crawl.folder.with_suffix(".jumps")


def clock(folder: Path, _: int) -> Iterator[str]:
    """When the clock is moved by a day, no host is left out and no budget exceeded."""
    for days in ((1, -1), (-1, 1)):
        limits = CrawlLimits(visits=VISITS_PER_JUMP * (1 + len(days)))
        with open_trial(folder / str(days[0]), SLOW_CLOCK, limits) as trial:
            end = trial.run(KillPlan(seconds=LONG_SECONDS), clock_jumps(trial, days))
            trial.examine("the clock jumped")
            if end.code:
                yield f"{days}: it ended with {end.code} and printed {trial.output()}"
            yield from (f"{days}: {fault}" for fault in trial.faults)
            yield from neglected_hosts(trial)
            yield from negative_ages(trial)


def neglected_hosts(trial: Trial) -> Iterator[str]:
    """Yield the hosts without a request after a jump."""
    jumps = [float(line) for line in jumps_of(trial).read_text().splitlines()]
    for jump, until in pairwise([*jumps, inf]):
        requested = {entry.host for entry in trial.evidence.log if jump < entry.began < until}
        for host in trial.setup.web.urls.keys() - requested - {"busy"}:
            yield f"{host} got no request after the clock had jumped"


def negative_ages(trial: Trial) -> Iterator[str]:
    """Yield the pages with a negative age by a clock behind their visits."""
    with Collection.open(trial.crawl.folder, clock=FixedClock(START)) as collection:
        for page in collection.pages():
            explanation = collection.why(page).explanation
            if explanation is None or explanation.age_days < 0:
                yield f"{page.url} was last seen before {explanation and explanation.age_days} days"


TROUBLES: Mapping[str, Callable[[Path, int], Iterator[str]]] = {
    "full-disk": full_disk,
    "ending": ending,
    "failing-disk": failing_disk,
    "clock": clock,
}


def main(kind: str, step: int = 1) -> None:
    """Run one kind of trial."""
    with TemporaryDirectory() as folder:
        warm_up(Path(folder))
        faults = list(TROUBLES[kind](Path(folder), step))
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
