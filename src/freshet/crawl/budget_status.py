"""The day's budget: what is spent of it, what is left, and what today's caps put out of reach."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HostOutcomeCount
from freshet.archive.warc.lock import ArchiveLock
from freshet.core.budget import HOURS_PER_DAY, Budget, next_midnight, utc_day
from freshet.core.clock import to_epoch
from freshet.core.local_time import format_time_to_minute
from freshet.crawl.hosts import HostTurns
from freshet.record.archive_writer import is_crawl
from freshet.record.store import CollectionStore
from freshet.schedule.bursts import MAX_DELAY

RUNNING_BUDGET = "budget of the running crawl"
CRAWL_START = "start of the last crawl"
LOST_REQUESTS = "requests lost by crawls that were killed"
NAMED_HOSTS = 3


@dataclass(frozen=True, slots=True)
class DayBudgetStatus:
    """A UTC day's budget of page requests; ``other_requests`` counts those for robots.txt and sitemaps.

    Of what is left, ``unreachable`` requests cannot be spent before the day ends, by what is known
    now; ``reasons`` say why. Of what is spent, ``lost`` were booked by crawls that were killed
    before anything came of them, and ``burst_requests`` were for rounds, which may use ``share`` of them;
    ``in_rounds`` pages are in one now.
    """

    day: str
    budget: int
    spent: int
    left: int
    apart: int
    unreachable: int
    reasons: tuple[str, ...] = ()
    lost: int = 0
    samples: int = 0
    share: int = 0
    in_rounds: int = 0


@dataclass(frozen=True, slots=True)
class HostCapacity:
    """How often a host can still be asked today: by its turns, and by what its pages bear."""

    host: str
    turns: int
    page_visits: int

    @property
    def requests(self) -> int:
        """Return how many requests the host can take."""
        return min(self.turns, self.page_visits)


def save_running_budget(collection: CollectionStore, budget: str) -> None:
    """Let others know the budget that a crawl was given, empty where it is that of the settings."""
    collection.catalog.write_note(RUNNING_BUDGET, budget)


def current_budget(collection: CollectionStore) -> str:
    """Return the budget that holds now: the one a running crawl was given, else the setting."""
    runs = is_crawl(ArchiveLock(collection.archive_folder).holder())
    return (runs and collection.catalog.read_note(RUNNING_BUDGET)) or collection.settings.budget


def save_crawl_start(catalog: Catalog, now: datetime) -> None:
    """Keep when a crawl began."""
    catalog.write_note(CRAWL_START, now.isoformat())


def add_lost_requests(catalog: Catalog, day: str, requests: int) -> None:
    """Keep that further requests of a day were lost with a crawl that was killed."""
    catalog.write_note(LOST_REQUESTS, f"{day} {lost_requests(catalog, day) + requests}")


def lost_requests(catalog: Catalog, day: str) -> int:
    """Return how many requests of a day were lost with crawls that were killed."""
    noted, _, requests = (catalog.read_note(LOST_REQUESTS) or "").partition(" ")
    return int(requests) if noted == day else 0


def day_budget_status(
    collection: CollectionStore, outcomes: Sequence[HostOutcomeCount], *, budget: str = ""
) -> DayBudgetStatus:
    """Return how the day's budget stands, given how the pages' last visits ended."""
    now = collection.clock.now()
    pages = sum(item.pages for item in outcomes)
    total = Budget.parse(budget or collection.settings.budget).requests_per_day(pages)
    spending = collection.catalog.spending(utc_day(now))
    left = max(0, total - spending.requests)
    reaches = list(_reaches(collection, outcomes)) if left else []
    by_hosts = sum(reach.requests for reach in reaches)
    by_pace, late = _paced(collection, outcomes, total)
    reasons = [late] if by_pace < min(by_hosts, left) else []
    reasons += _reasons(collection, outcomes, reaches) if by_hosts < left else []
    unreachable = max(0, left - min(by_hosts, by_pace))
    return DayBudgetStatus(
        utc_day(now), total, spending.requests, left, spending.other_requests, unreachable, tuple(reasons),
        lost_requests(collection.catalog, utc_day(now)), spending.burst_requests,
        int(collection.settings.rounds.share * total),
        collection.catalog.count_pages_in_bursts(now - timedelta(seconds=MAX_DELAY)),
    )  # fmt: skip


def failing_page_counts(outcomes: Sequence[HostOutcomeCount]) -> dict[str, int]:
    """Return how many pages failed when last visited, by outcome, the most frequent first."""
    counts: Counter[str] = Counter()
    for item in outcomes:
        if item.outcome is not None and not item.outcome.is_look:
            counts[str(item.outcome)] += item.pages
    return dict(counts.most_common())


def _paced(
    collection: CollectionStore, outcomes: Sequence[HostOutcomeCount], total: int
) -> tuple[int, str]:  # fmt: skip
    """Return how many requests the pace still allows today, and why no more.

    A crawl that began today does not make up for the hours before. Pages never seen and pages
    asked for do not wait for the pace.
    """
    now = collection.clock.now()
    midnight = next_midnight(now)
    noted = collection.catalog.read_note(CRAWL_START)
    runs = noted is not None and is_crawl(ArchiveLock(collection.archive_folder).holder())
    began = datetime.fromisoformat(noted) if runs and noted else now
    if began <= midnight - timedelta(days=1):
        return total, ""
    unseen = sum(item.pages for item in outcomes if item.outcome is None)
    share = total * ((midnight - now) / timedelta(days=1))
    who = (
        f"the crawl began at {format_time_to_minute(began)} and"
        if runs
        else "a crawl that begins now"
    )
    an_hour = total / HOURS_PER_DAY
    rate = f"{an_hour:,.0f}" if an_hour >= 10 else f"{an_hour:.2g}"
    why = f"{who} spends the budget evenly, {rate} requests an hour:"
    return (
        1 + int(share) + unseen + len(collection.catalog.requested_pages()),
        f"{why} it does not make up for the hours before",
    )


def _reaches(
    collection: CollectionStore, outcomes: Sequence[HostOutcomeCount]
) -> Iterator[HostCapacity]:
    politeness = collection.settings.politeness
    now = collection.clock.now()
    start, end = to_epoch(now), to_epoch(next_midnight(now))
    turns = HostTurns(collection.catalog.host_states(), politeness, start)
    often = 1 + int((end - start) / max(1.0, politeness.page_interval))
    bearable: Counter[str] = Counter()
    for item in outcomes:
        bearable[item.host] += item.pages * (1 if _fails(item) else often)
    for host, number in bearable.items():
        yield HostCapacity(host, turns.count_turns(host, start, end), number)


def _reasons(
    collection: CollectionStore,
    outcomes: Sequence[HostOutcomeCount],
    reaches: Sequence[HostCapacity],
) -> Iterator[str]:
    pages = sum(item.pages for item in outcomes)
    if not pages:
        yield "there are no live pages to visit; 'freshet add URL' adds one"
        return
    failing = sum(item.pages for item in outcomes if _fails(item))
    interval = collection.settings.politeness.page_interval
    if any(reach.page_visits <= reach.turns for reach in reaches):
        yield f"pages: {pages:,}, each visited at most every {interval:g} s"
    if failing:
        yield f"failing pages, which are backed off: {failing:,}"
    capped = sorted(
        (reach for reach in reaches if reach.turns < reach.page_visits),
        key=lambda reach: reach.page_visits - reach.turns,
        reverse=True,
    )
    for reach in capped[:NAMED_HOSTS]:
        yield f"host {reach.host} can be asked {reach.turns:,} times more today"
    if len(capped) > NAMED_HOSTS:
        yield f"so can {len(capped) - NAMED_HOSTS:,} further hosts only so often"


def _fails(item: HostOutcomeCount) -> bool:
    return item.outcome is not None and not item.outcome.is_look
