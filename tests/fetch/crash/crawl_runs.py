"""Runs a crawler in a child of a process that has everything loaded, and kills it.

The child logs the visits that it reports to its listeners, and the host and time of each request
that it releases, by its own clock.
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
from tests.fetch.crash.write_faults import WRITE_FAULTS, install_write_faults
from tests.record.record_samples import html, make_collection, observe, record

FAILED = 3
TIMEOUT_SECONDS = 20.0
APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND


@dataclass(frozen=True, slots=True)
class KillPlan:
    """When a run is ended: at a write, or by a signal after some seconds, whichever is first.

    The seconds count from the first released request, or with ``is_early`` from the start.
    """

    at_write: int = 0
    seconds: float = 10.0
    signal: Signals = SIGKILL
    is_early: bool = False


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """Collection, clock, budget and limits of a crawl."""

    folder: Path
    clock: Clock
    budget: str
    limits: CrawlLimits = NO_LIMITS

    @property
    def event_log(self) -> Path:
        """Return the file in which its processes log events."""
        return self.folder.with_suffix(".events")

    @property
    def output_file(self) -> Path:
        """Return the file with the output of its processes."""
        return self.folder.with_suffix(".output")


@dataclass(frozen=True, slots=True)
class CrawlProcessRun:
    """One process of a crawl: its start by the monotonic clock, and its exit code.

    ``is_self_ended``: it ended without a signal from outside.
    """

    began: float
    code: int
    is_self_ended: bool

    @property
    def is_killed(self) -> bool:
        """Whether it was killed."""
        return self.code == -SIGKILL


def warm_up(folder: Path) -> None:
    """Load and compile once what every child needs, and install the write faults.

    Each child installs its own reactor.
    """
    install_write_faults()
    for package in ("scrapy.downloadermiddlewares", "scrapy.spidermiddlewares"):
        list(walk_modules_iter(package))
    with make_collection(folder / "warm") as collection:
        record(collection, [observe(0, html("one"))], [observe(1, html("two", "link"))])


def run_child(
    crawl: CrawlOptions, plan: KillPlan, prepare: Callable[[], None] = lambda: None
) -> CrawlProcessRun:
    """Crawl in a child process, end it by the plan, and return how it ended."""
    began = monotonic_seconds()
    first_release, release_alarm = os.pipe()
    child = os.fork()
    if child == 0:
        write = _start_child(crawl, release_alarm)
        WRITE_FAULTS.set(plan.at_write)
        prepare()
        _crawl(crawl, write)
    is_self_ended = not _end_child(child, plan, first_release)
    os.close(first_release)
    os.close(release_alarm)
    return CrawlProcessRun(began, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), is_self_ended)


def _end_child(child: int, plan: KillPlan, first_release: int) -> bool:
    """Wait for the end of a child, send its signal in time, and return whether one was sent."""
    child_file = os.pidfd_open(child)
    is_signalled = False
    if not plan.is_early:
        select([child_file, first_release], [], [], TIMEOUT_SECONDS)
    for signal, timeout in ((plan.signal, plan.seconds), (SIGKILL, TIMEOUT_SECONDS)):
        if not select([child_file], [], [], timeout)[0]:
            os.kill(child, signal)
            is_signalled = True
    os.close(child_file)
    return is_signalled


def _start_child(crawl: CrawlOptions, release_alarm: int) -> Callable[[str], None]:
    """Redirect the output to a file; return a function that writes a line to the event log."""
    output = os.open(crawl.output_file, APPENDING)
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    event_log = os.open(crawl.event_log, APPENDING)

    def write(line: str) -> None:
        os.write(event_log, f"{line}\n".encode())

    _log_releases(write, release_alarm)
    return write


def _crawl(crawl: CrawlOptions, write: Callable[[str], None]) -> None:
    """Crawl, log reported visits, and exit this process."""

    def note(event: CrawlEvent) -> None:
        for visit, _ in event.visits:
            write(f"visit {visit.uid.hex()}")

    try:
        run_crawl(
            crawl.folder, budget=crawl.budget, clock=crawl.clock, limits=crawl.limits,
            listeners=[note],
        )  # fmt: skip
        os._exit(0)
    finally:
        traceback.print_exc()
        os._exit(FAILED)


def _log_releases(write: Callable[[str], None], release_alarm: int) -> None:
    """Log each released request with the time at which the delay of its host starts."""
    start, release = HostSchedule.start_delay, RequestLifecycle.release
    is_released = False

    def logging_release(requests: RequestLifecycle, request: Request) -> bool:
        nonlocal is_released
        is_released = release(requests, request)
        return is_released

    def logging_start(hosts: HostSchedule, host: str, now: float) -> None:
        nonlocal is_released
        if is_released:
            is_released = False
            write(f"request {host} {now!r}")
            os.write(release_alarm, b"!")
        start(hosts, host, now)

    HostSchedule.start_delay = logging_start  # type: ignore[method-assign]
    RequestLifecycle.release = logging_release  # type: ignore[method-assign]
