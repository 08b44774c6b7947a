"""Trials: a crawl is run and killed repeatedly, and examined after each run."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from freshet.collection.collection import Collection
from freshet.core.budget import utc_day
from freshet.core.clock import ScaledClock, monotonic_seconds
from freshet.core.types import Visit
from freshet.crawl.session import CrawlSession
from freshet.fetch.recording_loop import NO_LIMITS, CrawlLimits
from tests.fetch.crash.crawl_runs import CrawlOptions, CrawlProcessRun, KillPlan, run_child
from tests.fetch.crash.evidence import (
    CrawlEventLog,
    Evidence,
    TrialSetup,
    read_catalog_state,
    read_records,
)
from tests.fetch.crash.web import served
from tests.fetch.crawls import make_collection

START = datetime(2026, 3, 1, 18, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Clock speed, daily budget and delay of a trial.

    ``is_steady``: the clock does not jump.
    """

    speed: float = 7_200.0
    budget: int = 60
    delay: float = 120.0
    is_steady: bool = True


DEFAULT_OPTIONS = TrialOptions()


class Trial:
    """A collection and its web, the runs of its crawl, and the faults found."""

    def __init__(self, crawl: CrawlOptions, setup: TrialSetup) -> None:
        self.crawl = crawl
        self.setup = setup
        self.faults: list[str] = []
        self.evidence: Evidence
        self._acknowledged_visits: dict[str, Visit] = {}

    def run(self, plan: KillPlan, prepare: Callable[[], None] = lambda: None) -> CrawlProcessRun:
        """Run the crawl in a process, and keep the visits that it acknowledged."""
        run = run_child(self.crawl, plan, prepare)
        with Collection.open(self.crawl.folder) as collection:
            state = read_catalog_state(collection, ())
        if state.leased_urls and not run.code:
            self.faults.append(f"an orderly end left {sorted(state.leased_urls)} leased")
        self._acknowledged_visits |= state.visits
        self.setup.start_times.append(run.began)
        self.setup.in_flight_pages.append(self._in_flight(run, state.leased_urls))
        return run

    def output(self) -> str:
        """Return the output of all runs."""
        return self.crawl.output_file.read_text()

    def examine(self, when: object) -> None:
        """Restart a copy, so that the collection stays unchanged, and check everything."""
        copy = self.crawl.folder.with_name("copy")
        shutil.copytree(self.crawl.folder, copy)
        with Collection.open(copy, clock=self.crawl.clock) as collection:
            with collection.recording() as recorder:
                CrawlSession(collection, recorder).start()
            after = read_catalog_state(collection, self._days())
            faults = [str(problem) for problem in collection.check().problems]
        records, differences = read_records(copy / "archive")
        shutil.rmtree(copy)
        event_log = CrawlEventLog.read(self.crawl.event_log)
        log = self.setup.web.entries()
        self.evidence = Evidence(
            self.setup, self._acknowledged_visits, after, log, records, event_log
        )
        faults = [*faults, *differences, *self.evidence.faults()]
        self.faults += [f"run {len(self.setup.start_times)}, {when}: {fault}" for fault in faults]

    def _in_flight(self, run: CrawlProcessRun, leased: frozenset[str]) -> frozenset[str]:
        """Return the pages that may be requested again after a run.

        An orderly end waits for every answer, a failure for none.
        """
        if run.is_killed:
            return leased
        return frozenset(self.setup.web.pages if run.code else ())

    def _days(self) -> list[str]:
        """Return every day that the crawl's clock may have seen."""
        now = self.crawl.clock.now()
        return [utc_day(START + timedelta(days=n)) for n in range(-2, (now - START).days + 3)]


class JumpingClock(ScaledClock):
    """A fast clock that can be set forward and back."""

    offset = timedelta(0)

    def now(self) -> datetime:
        """Return the time that it shows."""
        return super().now() + self.offset


@contextmanager
def open_trial(
    folder: Path, options: TrialOptions = DEFAULT_OPTIONS, limits: CrawlLimits = NO_LIMITS
) -> Iterator[Trial]:
    """Make a collection of the web's pages, to be crawled within a budget by a fast clock.

    Its folder is kept only if there were faults.
    """
    folder.mkdir()
    with served(folder) as web:
        politeness = {"delay": options.delay, "page_interval": 0.0}
        path = make_collection(folder / "collection", web.pages, web.allow, politeness)
        settings = path / "freshet.toml"
        settings.write_text(f'policy = "age"\n{settings.read_text()}')
        origin, clock = monotonic_seconds(), JumpingClock(START, options.speed)
        crawl = CrawlOptions(path, clock, f"{options.budget}/day", limits)
        crawl.event_log.touch()
        setup = TrialSetup(web, clock, origin, options.budget, options.delay, options.is_steady)
        yield (trial := Trial(crawl, setup))
    if not trial.faults:
        shutil.rmtree(folder)
