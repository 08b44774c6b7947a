"""Crawls recorded pages with the real program over HTTP at a fast clock, and scores the crawl."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from math import ceil
from pathlib import Path

from experiments.wild.page_history import PageHistory
from experiments.wild.replay_hosts import ReplayHosts
from experiments.wild.replay_score import (
    ServedRequest,
    count_changes,
    round_robin_score,
    score_pages,
    total_score,
)
from freshet.collection.collection import Collection
from freshet.core.budget import Budget, utc_day
from freshet.core.clock import FixedClock, to_epoch
from freshet.core.settings import OBJECTIVES
from freshet.core.tables import DAY_SECONDS
from freshet.demo.clock import DeferredClock
from freshet.demo.server import ADDRESS, LoopbackServer, open_sockets, origin_of
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl
from freshet.record.collection_store import SETTINGS_FILE

CONTACT = "replay@example.org"
START = datetime(2026, 4, 1, tzinfo=UTC)
# Real seconds from the start of a crawl to its first request.
START_ALLOWANCE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Options of a replay; ``speed`` is the number of recorded seconds in a real second.

    ``policy`` is a value of that setting, or an objective of the default policy. ``settings`` are
    further lines of the settings file, outside its tables.
    """

    policy: str = "freshness"
    budget: str = "10%/day"
    days: float = 90.0
    speed: float = 40_000.0
    start: datetime = START
    settings: str = ""

    @property
    def span(self) -> tuple[float, float]:
        """The beginning and the end of the crawl in epoch seconds."""
        return to_epoch(self.start), to_epoch(self.start + timedelta(days=self.days))


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The score of a replayed crawl, and of round-robin with as many requests.

    ``budgeted`` is the number of requests that the budget allows. ``changes_recorded`` are the
    changes that the program itself counted, under its masks. ``burst_requests`` were samples of
    bursts.
    """

    policy: str
    budget: str
    pages: int
    days: float
    speed: float
    requests: int
    budgeted: int
    not_modified: int
    true_changes: int
    freshness: float
    changes_found: int
    round_robin_freshness: float
    round_robin_changes_found: int
    changes_recorded: int
    burst_requests: int
    robots_requests: int
    pages_visited: int


def replay(histories: Sequence[PageHistory], folder: Path, options: ReplayOptions) -> ReplayResult:
    """Crawl recorded pages into a new collection in ``folder``, and score the crawl.

    A process can do this once, because Scrapy's reactor runs once.
    """
    clock = DeferredClock(options.start, options.speed)
    hosts = ReplayHosts(histories, clock)
    sockets = open_sockets(len(hosts.sites))
    origins = [origin_of(listening) for listening in sockets]
    make_collection(folder, hosts, origins, options)
    real_seconds = options.days * DAY_SECONDS / options.speed
    limits = CrawlLimits(seconds=real_seconds + START_ALLOWANCE_SECONDS)
    with LoopbackServer(sockets, hosts.respond):
        run_crawl(folder, clock=clock, limits=limits)
    return replay_result(histories, hosts, folder, options)


def make_collection(
    folder: Path, hosts: ReplayHosts, origins: Sequence[str], options: ReplayOptions
) -> None:
    """Create the collection of all pages, of which nothing is known."""
    Collection.create(folder, contact=CONTACT).close()
    (folder / SETTINGS_FILE).write_text(settings_text(origins, options), "utf-8")
    with Collection.open(folder, clock=FixedClock(options.start)) as collection:
        urls = (origins[host] + path for host, path in zip(hosts.hosts, hosts.paths, strict=True))
        collection.add_many(list(urls))


def settings_text(origins: Sequence[str], options: ReplayOptions) -> str:
    """Return the settings: policy, budget, permission to fetch from these ports, no delays.

    At a fast clock any delay between two requests to a host would be hours long.
    """
    kind = "objective" if options.policy in OBJECTIVES else "policy"
    ports = (origin.rpartition(":")[2] for origin in origins)
    allowed = ", ".join(f'"{ADDRESS}/32:{port}"' for port in ports)
    return f"""contact = "{CONTACT}"
budget = "{options.budget}"
{kind} = "{options.policy}"
{options.settings}
[network]
allow = [{allowed}]

[politeness]
delay = 0.0
per_host = 2
"""


def replay_result(
    histories: Sequence[PageHistory], hosts: ReplayHosts, folder: Path, options: ReplayOptions
) -> ReplayResult:
    """Score the crawl by the log of its hosts."""
    start, end = options.span
    requests = [request for request in hosts.requests if request.time < end]
    score = total_score(score_pages(histories, requests, start, end))
    round_robin = round_robin_score(histories, len(requests), start, end)
    per_day = Budget.parse(options.budget).requests_per_day(len(histories))
    changes_recorded, burst_requests = recorded_by_program(folder, options)
    return ReplayResult(
        policy=options.policy,
        budget=options.budget,
        pages=len(histories),
        days=options.days,
        speed=options.speed,
        requests=score.requests,
        budgeted=int(per_day * options.days),
        not_modified=count_not_modified(requests),
        true_changes=count_changes(histories, start, end),
        freshness=round(score.freshness, 4),
        changes_found=score.changes_found,
        round_robin_freshness=round(round_robin.freshness, 4),
        round_robin_changes_found=round_robin.changes_found,
        changes_recorded=changes_recorded,
        burst_requests=burst_requests,
        robots_requests=hosts.robots_requests,
        pages_visited=len({request.page for request in requests}),
    )


def count_not_modified(requests: Sequence[ServedRequest]) -> int:
    """Return how many requests were answered with "not modified"."""
    return sum(request.status == HTTPStatus.NOT_MODIFIED for request in requests)


def recorded_by_program(folder: Path, options: ReplayOptions) -> tuple[int, int]:
    """Return the changes that the program recorded, and the samples of bursts that it took."""
    end = options.span[1]
    days = [options.start + timedelta(days=day) for day in range(ceil(options.days))]
    with Collection.open(folder) as collection:
        rows = [row for page in collection.pages() for row in page.history()]
        changes = sum(
            row.change is not None and row.change.changed and to_epoch(row.visit.time) < end
            for row in rows
        )
        spending = [collection.catalog.spending(utc_day(day)) for day in days]
    return changes, sum(day_spending.burst_requests for day_spending in spending)
