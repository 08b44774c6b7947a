"""The demonstration: a simulated web is served on loopback and crawled, and the crawl is scored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from freshet.core.budget import Budget
from freshet.core.clock import Clock, monotonic_seconds
from freshet.core.policy import Policy
from freshet.crawl.live_policy import build_live_policy
from freshet.demo.clock import BoundedClock, DeferredClock
from freshet.demo.demo_collection import DemoCollection, build_collection
from freshet.demo.hosts import HostResponse, RequestLog, SimulatedHosts
from freshet.demo.monitor import CrawlMonitor, LiveStatus, StatusListener
from freshet.demo.scoreboard import DemoScoreboard
from freshet.demo.server import LoopbackServer, RequestHandler, open_sockets, origin_of
from freshet.demo.warm_up import warm_up
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl
from freshet.record.collection_store import CollectionStore
from freshet.world.simulated_web import SimulatedWeb

COLLECTION_FOLDER = "collection"
WARM_UP_FOLDER = "warm-up"
DEFAULT_SEED = 1
DEFAULT_DAYS = 21.0
DEFAULT_SPEED = 20_000.0
DEFAULT_BUDGET = "100/day"
# A visit is late if it begins more than this many simulated seconds after its time.
LATE_SECONDS = 3_600.0
# Real seconds from the start of a crawl to its first request.
START_ALLOWANCE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Options of a demonstration.

    ``start`` is the beginning of the simulated time; ``speed`` is the number of simulated seconds
    in a real second.
    """

    start: datetime
    seed: int = DEFAULT_SEED
    days: float = DEFAULT_DAYS
    speed: float = DEFAULT_SPEED
    budget: str = DEFAULT_BUDGET
    port: int = 0

    @property
    def end(self) -> datetime:
        """The end of the simulated time."""
        return self.start + timedelta(days=self.days)

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The beginning and the end of the simulated time."""
        return self.start, self.end

    def requests_per_day(self, pages: int) -> int:
        """Return the budget in requests a day for so many pages."""
        return Budget.parse(self.budget).requests_per_day(pages)


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Result of a demonstration; ``is_complete`` unless it was stopped early."""

    options: DemoOptions
    demo_collection: DemoCollection
    log: RequestLog
    status: LiveStatus
    seconds: float
    is_complete: bool


PreparedListener = Callable[[DemoCollection], None]
ClockListener = Callable[[Path, Clock], None]


def ignore_clock(path: Path, clock: Clock) -> None:
    """Do nothing with the clock of a demonstration."""


def monday_before(now: datetime, days: float) -> datetime:
    """Return the latest Monday, midnight UTC, that is at least so many days ago.

    >>> monday_before(datetime(2026, 11, 15, 12), 7).isoformat()
    '2026-11-02T00:00:00'
    """
    latest = (now - timedelta(days=days)).replace(hour=0, minute=0, second=0, microsecond=0)
    return latest - timedelta(days=latest.weekday())


def run_demo(
    folder: Path,
    options: DemoOptions,
    *,
    on_prepared: PreparedListener,
    show: StatusListener,
    page_count: int,
    on_clock: ClockListener = ignore_clock,
) -> DemoResult:
    """Crawl a simulated web until its time is over, or until stopped.

    ``on_prepared`` is called before the crawl starts, then ``on_clock`` with the folder of the
    collection and a clock that ends with the simulated time. ``show`` is called in another thread
    with the current status, which contains ``page_count`` pages.
    """
    web = SimulatedWeb(options.seed, options.start, options.days)
    sockets = open_sockets(len(web.hosts), options.port)
    origins = [origin_of(listening) for listening in sockets]
    demo_collection = build_collection(folder / COLLECTION_FOLDER, web, origins, options.budget)
    on_prepared(demo_collection)
    warm_up(folder / WARM_UP_FOLDER, web)
    clock = DeferredClock(options.start, options.speed)
    on_clock(demo_collection.path, BoundedClock(clock, options.end))
    hosts = SimulatedHosts(web, clock, origins)
    budget_per_day = options.requests_per_day(demo_collection.size)
    monitor = CrawlMonitor(
        demo_collection=demo_collection,
        scoreboard=DemoScoreboard(demo_collection, options.start, options.end, budget_per_day),
        policy=_policy(demo_collection),
        log=hosts.log,
        span=options.span,
        page_count=page_count,
        late_seconds=LATE_SECONDS / options.speed,
    )
    limits = CrawlLimits(seconds=clock.seconds_until(options.end) + START_ALLOWANCE_SECONDS)
    start_seconds = monotonic_seconds()
    with (
        LoopbackServer(sockets, _start_clock_on_request(clock, hosts)),
        monitor.showing_status(clock, show),
    ):
        run_crawl(demo_collection.path, clock=clock, limits=limits, listeners=[monitor.on_event])
    now = clock.now()
    return DemoResult(
        options=options,
        demo_collection=demo_collection,
        log=hosts.log,
        status=monitor.status(min(now, options.end)),
        seconds=monotonic_seconds() - start_seconds,
        is_complete=now >= options.end,
    )


def _policy(demo_collection: DemoCollection) -> Policy:
    """Return a policy that knows the collection's pages as the crawl's own policy does."""
    with CollectionStore.open(demo_collection.path) as store:
        return build_live_policy(store.catalog, store.settings)


def _start_clock_on_request(clock: DeferredClock, hosts: SimulatedHosts) -> RequestHandler:
    """Return a request handler; the first request starts the clock."""

    def respond(host: int, method: str, path: str, headers: Mapping[str, str]) -> HostResponse:
        clock.begin()
        return hosts.respond(host, method, path, headers)

    return respond
