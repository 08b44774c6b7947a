"""The demonstration: a living web is served on loopback, crawled, and the crawl is scored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from freshet.core.budget import Budget
from freshet.core.clock import stopwatch
from freshet.core.policy import Policy
from freshet.crawl.live_policy import informed_policy
from freshet.demo.clock import CuedClock
from freshet.demo.demo_collection import Stage, build
from freshet.demo.hosts import Answer, Hosts, Log
from freshet.demo.monitor import Show, Sight, Watch
from freshet.demo.scoreboard import Race
from freshet.demo.server import Answering, Server, listen, origin_of
from freshet.demo.warm_up import rehearse
from freshet.fetch.recording_loop import Limits
from freshet.fetch.run_crawl import crawl
from freshet.record.store import CollectionStore
from freshet.world.simulated_web import LivingWeb

COLLECTION = "collection"
REHEARSAL = "rehearsal"
SEED = 1
DAYS = 21.0
SPEED = 20_000.0
BUDGET = "100/day"
# Seconds of the web's time by which a visit may begin late.
LATE = 3_600.0
# Real seconds that the first request may take from the start of a crawl.
GETTING_READY = 0.5


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen about a demonstration.

    ``start`` is when the web's time begins, ``speed`` how many of its seconds pass in a real one.
    """

    start: datetime
    seed: int = SEED
    days: float = DAYS
    speed: float = SPEED
    budget: str = BUDGET
    port: int = 0

    @property
    def end(self) -> datetime:
        """When the web's time ends."""
        return self.start + timedelta(days=self.days)

    @property
    def span(self) -> tuple[datetime, datetime]:
        """When the web's time begins and ends."""
        return self.start, self.end

    def requests_a_day(self, pages: int) -> int:
        """Return what the budget comes to for so many pages."""
        return Budget.parse(self.budget).per_day(pages)


@dataclass(frozen=True, slots=True)
class Ended:
    """A demonstration that has ended; ``is_whole`` unless it was stopped before its time."""

    options: Options
    stage: Stage
    log: Log
    sight: Sight
    seconds: float
    is_whole: bool


Prepared = Callable[[Stage], None]


def monday_before(now: datetime, days: float) -> datetime:
    """Return the latest Monday, midnight UTC, since which so many days have passed.

    >>> monday_before(datetime(2026, 11, 15, 12), 7).isoformat()
    '2026-11-02T00:00:00'
    """
    latest = (now - timedelta(days=days)).replace(hour=0, minute=0, second=0, microsecond=0)
    return latest - timedelta(days=latest.weekday())


def run(folder: Path, options: Options, *, prepared: Prepared, show: Show, shown: int) -> Ended:
    """Crawl a living web until its time is over, or until asked to stop.

    ``prepared`` is told what is about to be crawled; ``show`` gets a picture every moment, in
    another thread, with so many pages ``shown`` in it.
    """
    web = LivingWeb(options.seed, options.start, options.days)
    sockets = listen(len(web.hosts), options.port)
    origins = [origin_of(each) for each in sockets]
    stage = build(folder / COLLECTION, web, origins, options.budget)
    prepared(stage)
    rehearse(folder / REHEARSAL, web)
    clock = CuedClock(options.start, options.speed)
    hosts = Hosts(web, clock, origins)
    watch = Watch(
        stage, _race(stage, options), _policy(stage), hosts.log, options.span, shown,
        late_seconds=LATE / options.speed,
    )  # fmt: skip
    limits = Limits(seconds=clock.seconds_until(options.end) + GETTING_READY)
    began = stopwatch()
    with Server(sockets, _cueing(clock, hosts)), watch.showing(clock, show):
        crawl(stage.path, clock=clock, limits=limits, listeners=[watch.hear])
    now = clock.now()
    sight = watch.look(min(now, options.end))
    return Ended(options, stage, hosts.log, sight, stopwatch() - began, now >= options.end)


def _race(stage: Stage, options: Options) -> Race:
    return Race(stage, *options.span, options.requests_a_day(stage.size))


def _policy(stage: Stage) -> Policy:
    """Return a policy that knows the stage's pages as the crawl's own does."""
    with CollectionStore.open(stage.path) as collection:
        return informed_policy(collection.catalog, collection.settings)


def _cueing(clock: CuedClock, hosts: Hosts) -> Answering:
    """Return what answers requests; the first of them starts the clock."""

    def answer(host: int, method: str, path: str, headers: Mapping[str, str]) -> Answer:
        clock.cue()
        return hosts.answer(host, method, path, headers)

    return answer
