"""Lives of a crawler: each is a child of a process that has everything loaded, and is killed.

A crawler keeps a diary for those who examine it: which visits it told its listeners of, and when
it let a request go to which host, by its own clock.
"""

import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from select import select
from signal import SIGKILL, Signals

from scrapy import Request
from scrapy.utils.misc import walk_modules_iter

from freshet.core.clock import Clock, monotonic_seconds
from freshet.fetch import redirect_middleware, robots_middleware, scheduler  # noqa: F401
from freshet.fetch.event_dispatcher import CrawlEvent
from freshet.fetch.politeness.host_schedule import HostSchedule
from freshet.fetch.recording_loop import NO_LIMITS, CrawlLimits
from freshet.fetch.request_lifecycle import RequestLifecycle
from freshet.fetch.run_crawl import run_crawl
from tests.fetch.crash.points import POINTS, lay
from tests.record.record_samples import html, make_collection, observe, record

FAILED = 3
PATIENCE = 20.0
APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND


@dataclass(frozen=True, slots=True)
class Death:
    """How a life ends: at a write, or by a signal after some seconds, whatever is first.

    The seconds count from the first request that is let go; ``is_early``: from birth.
    """

    at_write: int = 0
    seconds: float = 10.0
    by: Signals = SIGKILL
    is_early: bool = False


@dataclass(frozen=True, slots=True)
class Crawling:
    """A crawl to be: of which collection, by which clock, within which budget."""

    folder: Path
    clock: Clock
    budget: str
    limits: CrawlLimits = NO_LIMITS

    @property
    def diary(self) -> Path:
        """Return the file in which its lives note what they do."""
        return self.folder.with_suffix(".diary")

    @property
    def last_words(self) -> Path:
        """Return the file that holds what its lives print."""
        return self.folder.with_suffix(".said")


@dataclass(frozen=True, slots=True)
class Life:
    """One life of a crawler: when it began, by the monotonic clock, and how it ended.

    ``is_own`` says that nobody outside ended it.
    """

    began: float
    code: int
    is_own: bool

    @property
    def is_killed(self) -> bool:
        """Whether it was killed."""
        return self.code == -SIGKILL


def warm_up(folder: Path) -> None:
    """Load and compile here what every life would otherwise load anew, and make writes count.

    No reactor is among it: that is installed by each life.
    """
    lay()
    for package in ("scrapy.downloadermiddlewares", "scrapy.spidermiddlewares"):
        list(walk_modules_iter(package))
    with make_collection(folder / "warm") as collection:
        record(collection, [observe(0, html("one"))], [observe(1, html("two", "link"))])


def live(crawling: Crawling, death: Death, prepare: Callable[[], None] = lambda: None) -> Life:
    """Crawl in a child process, end it as told, and return how it did end."""
    began = monotonic_seconds()
    awake, alarm = os.pipe()
    child = os.fork()
    if child == 0:
        write = _be_born(crawling, alarm)
        POINTS.set(death.at_write)
        prepare()
        _crawl(crawling, write)
    is_own = not _help(child, death, awake)
    os.close(awake)
    os.close(alarm)
    return Life(began, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), is_own)


def _help(child: int, death: Death, awake: int) -> bool:
    """Wait until a child has died, which is helped to when its time is over; say if it was."""
    watched = os.pidfd_open(child)
    is_helped = False
    if not death.is_early:
        select([watched, awake], [], [], PATIENCE)
    for sent, patience in ((death.by, death.seconds), (SIGKILL, PATIENCE)):
        if not select([watched], [], [], patience)[0]:
            os.kill(child, sent)
            is_helped = True
    os.close(watched)
    return is_helped


def _be_born(crawling: Crawling, alarm: int) -> Callable[[str], None]:
    """Send what is printed to a file; return what writes a line into the diary."""
    said = os.open(crawling.last_words, APPENDING)
    os.dup2(said, sys.stdout.fileno())
    os.dup2(said, sys.stderr.fileno())
    diary = os.open(crawling.diary, APPENDING)

    def write(line: str) -> None:
        os.write(diary, f"{line}\n".encode())

    _note_releases(write, alarm)
    return write


def _crawl(crawling: Crawling, write: Callable[[str], None]) -> None:
    """Crawl, noting what is told, and leave this process."""

    def note(event: CrawlEvent) -> None:
        for visit, _ in event.visits:
            write(f"told {visit.uid.hex()}")

    try:
        run_crawl(
            crawling.folder, budget=crawling.budget, clock=crawling.clock, limits=crawling.limits,
            listeners=[note],
        )  # fmt: skip
        os._exit(0)
    finally:
        traceback.print_exc()
        os._exit(FAILED)


def _note_releases(write: Callable[[str], None], alarm: int) -> None:
    """Note each request that is let go, with the very time that its host's clock was set by."""
    start, release = HostSchedule.start_delay, RequestLifecycle.release
    is_gone = False

    def noted_release(requests: RequestLifecycle, request: Request) -> bool:
        nonlocal is_gone
        is_gone = release(requests, request)
        return is_gone

    def noted_start(hosts: HostSchedule, host: str, now: float) -> None:
        nonlocal is_gone
        if is_gone:
            is_gone = False
            write(f"go {host} {now!r}")
            os.write(alarm, b"!")
        start(hosts, host, now)

    HostSchedule.start_delay = noted_start  # type: ignore[method-assign]
    RequestLifecycle.release = noted_release  # type: ignore[method-assign]
