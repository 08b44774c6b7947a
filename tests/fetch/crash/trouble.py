"""A crawl in trouble without being killed: a full disk, a failing one, a clock that jumps.

``python -m tests.fetch.crash.trouble KIND [STEP]`` prints what went wrong, a line each, and fails
where anything did. Trouble with the disk begins at a crawl's first write, then at each STEP-th.
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
from tests.fetch.crash.lives import FAILED, Death, warm_up
from tests.fetch.crash.points import POINTS
from tests.fetch.crash.trials import START, Trial, Ways, trial

WRITES = 40
VISITS = 40
PHASE = 30
SPAN = 4
AMPLE = Ways(budget=600)
# A day of this clock is longer than a life, so that who is shut out for a day is never asked.
SLOW = Ways(speed=60.0, budget=100_000, delay=1.0, is_steady=False)
FOR_EVER = 1_000_000
SHORT, LONG = 1.0, 20.0
SOON = 0.02
PATIENT = "trying again, nothing is fetched meanwhile"
CLEAR = "check the disk"


def trapped(first: int, last: int, error: int) -> Callable[[], None]:
    """Return what makes some writes of a crawl fail, counted from when it begins to draw."""

    def prepare() -> None:
        plain = RecordingLoop.start
        collection_writer.RETRY_SECONDS = SOON

        def begin(of: RecordingLoop) -> None:
            POINTS.set(first, last, error)
            plain(of)

        RecordingLoop.start = begin  # type: ignore[method-assign]

    return prepare


def full_disk(folder: Path, step: int) -> Iterator[str]:
    """While there is no space a crawl waits, and then records what it had fetched."""
    for first in range(1, WRITES, step):
        with trial(folder / str(first), AMPLE, CrawlLimits(visits=VISITS)) as ordeal:
            end = ordeal.live(Death(seconds=LONG), trapped(first, first + SPAN, errno.ENOSPC))
            ordeal.examine("waited")
            where = f"full from write {first}"
            if end.code or PATIENT not in ordeal.said():
                yield f"{where}: it ended with {end.code} and said {ordeal.said()}"
            if len(ordeal.evidence.diary.told) < VISITS:
                yield f"{where}: only {len(ordeal.evidence.diary.told)} visits were told of"
            yield from (f"{where}: {fault}" for fault in ordeal.faults)


def ending(folder: Path, step: int) -> Iterator[str]:
    """Asked to end while the disk is full a crawl ends and says why; the next one goes on."""
    for first in range(step, WRITES, 2 * step):
        with trial(folder / str(first), AMPLE, CrawlLimits(visits=VISITS)) as ordeal:
            end = ordeal.live(
                Death(seconds=SHORT, by=SIGTERM), trapped(first, FOR_EVER, errno.ENOSPC)
            )
            ordeal.examine("asked to end")
            if end.code != FAILED or "free" not in ordeal.said():
                yield f"full from write {first}: it ended with {end.code}, said {ordeal.said()}"
            if ordeal.live(Death(seconds=LONG)).code:
                yield f"full from write {first}: later it said {ordeal.said()}"
            ordeal.examine("gone on")
            yield from (f"full from write {first}: {fault}" for fault in ordeal.faults)


def failing_disk(folder: Path, step: int) -> Iterator[str]:
    """A write that fails ends a crawl with a clear error, and the next one goes on."""
    for at in range(1, WRITES, step):
        with trial(folder / str(at), AMPLE, CrawlLimits(visits=VISITS)) as ordeal:
            first = ordeal.live(Death(seconds=LONG), trapped(at, at, errno.EIO))
            if first.code != FAILED or CLEAR not in ordeal.said():
                yield f"write {at} failed: it ended with {first.code} and said {ordeal.said()}"
            ordeal.examine("failed")
            second = ordeal.live(Death(seconds=LONG))
            ordeal.examine("gone on")
            if second.code:
                yield f"after write {at}: it ended with {second.code} and said {ordeal.said()}"
            yield from (f"write {at} failed: {fault}" for fault in ordeal.faults)


def jumping(ordeal: Trial, days: tuple[int, ...]) -> Callable[[], None]:
    """Return what sets a crawl's clock some days on or back, after every so many visits."""

    def prepare() -> None:
        plain, left, kept = CrawlSession.record_observations, list(days), 0

        def take(crawl: CrawlSession, *given: Any) -> Any:
            nonlocal kept
            learnt = plain(crawl, *given)
            kept += len(learnt)
            if left and kept >= PHASE * (1 + len(days) - len(left)):
                ordeal.around.clock.offset += timedelta(days=left.pop(0))
                with jumps_of(ordeal).open("a") as file:
                    file.write(f"{monotonic_seconds()!r}\n")
            return learnt

        CrawlSession.record_observations = take  # type: ignore[method-assign]

    return prepare


def jumps_of(ordeal: Trial) -> Path:
    """Return the file that says when a crawl's clock jumped."""
    return ordeal.crawling.folder.with_suffix(".jumps")


def clock(folder: Path, _: int) -> Iterator[str]:
    """When the clock is set a day on or back, no host is shut out and no budget exceeded."""
    for days in ((1, -1), (-1, 1)):
        ends = CrawlLimits(visits=PHASE * (1 + len(days)))
        with trial(folder / str(days[0]), SLOW, ends) as ordeal:
            end = ordeal.live(Death(seconds=LONG), jumping(ordeal, days))
            ordeal.examine("the clock jumped")
            if end.code:
                yield f"{days}: it ended with {end.code} and said {ordeal.said()}"
            yield from (f"{days}: {fault}" for fault in ordeal.faults)
            yield from shut_out(ordeal)
            yield from negative_ages(ordeal)


def shut_out(ordeal: Trial) -> Iterator[str]:
    """Yield the hosts that were not asked any more after a jump."""
    jumps = [float(line) for line in jumps_of(ordeal).read_text().splitlines()]
    for jump, until in pairwise([*jumps, inf]):
        asked = {entry.host for entry in ordeal.evidence.log if jump < entry.began < until}
        for host in ordeal.around.web.urls.keys() - asked - {"busy"}:
            yield f"{host} was not asked any more after the clock had jumped"


def negative_ages(ordeal: Trial) -> Iterator[str]:
    """Yield the pages that seem to have been seen in the future, by a clock behind their looks."""
    with Collection.open(ordeal.crawling.folder, clock=FixedClock(START)) as collection:
        for page in collection.pages():
            found = collection.why(page).explanation
            if found is None or found.age_days < 0:
                yield f"{page.url} was last seen before {found and found.age_days} days"


TROUBLES: Mapping[str, Callable[[Path, int], Iterator[str]]] = {
    "full-disk": full_disk,
    "ending": ending,
    "failing-disk": failing_disk,
    "clock": clock,
}


def main(kind: str, step: int = 1) -> None:
    """Make one kind of trouble."""
    with TemporaryDirectory() as folder:
        warm_up(Path(folder))
        faults = list(TROUBLES[kind](Path(folder), step))
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
