"""The status of the day's budget: spent, remaining and unreachable requests."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HostOutcomeCount
from freshet.archive.warc.lock import ArchiveLock
from freshet.core.budget import HOURS_PER_DAY, Budget, next_midnight, utc_day
from freshet.core.clock import to_epoch
from freshet.core.humanize import quantity_text
from freshet.core.local_time import format_time_to_minute
from freshet.crawl.hosts import HostTurns
from freshet.record.collection_store import CollectionStore
from freshet.record.writer_lock import is_crawl
from freshet.schedule.bursts.burst_rules import MAX_DELAY

RUNNING_BUDGET = "budget of the running crawl"
CRAWL_START = "start of the last crawl"
LOST_REQUESTS = "requests lost by crawls that were killed"
NAMED_HOSTS = 3


@dataclass(frozen=True, slots=True)
class DayBudgetStatus:
    """A UTC day's budget of page requests.

    ``left`` requests remain; ``unreachable`` of them cannot be spent before the day ends, for the
    given ``reasons``. ``apart`` counts requests outside the budget, for robots.txt and sitemaps.
    ``lost`` requests were booked by crawls that were killed. ``samples`` were for bursts, which may
    use ``share`` of the budget; ``in_rounds`` pages are in a burst now.
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
    """The requests that a host can still take today: by its turns, and by its pages' intervals."""

    host: str
    turns: int
    page_visits: int

    @property
    def requests(self) -> int:
        """Return the number of requests that the host can take."""
        return min(self.turns, self.page_visits)


def save_running_budget(collection: CollectionStore, budget: str) -> None:
    """Save the budget of the running crawl for other processes; empty for that of the settings."""
    collection.catalog.write_note(RUNNING_BUDGET, budget)


def current_budget(collection: CollectionStore) -> str:
    """Return the budget of the running crawl, else that of the settings."""
    is_crawl_running = is_crawl(ArchiveLock(collection.archive_folder).holder())
    return (
        is_crawl_running and collection.catalog.read_note(RUNNING_BUDGET)
    ) or collection.settings.budget


def save_crawl_start(catalog: Catalog, now: datetime) -> None:
    """Save the start time of a crawl."""
    catalog.write_note(CRAWL_START, now.isoformat())


def add_lost_requests(catalog: Catalog, day: str, requests: int) -> None:
    """Add requests of a day that a killed crawl had booked."""
    catalog.write_note(LOST_REQUESTS, f"{day} {lost_requests(catalog, day) + requests}")


def lost_requests(catalog: Catalog, day: str) -> int:
    """Return the number of requests of a day that killed crawls had booked."""
    note_day, _, requests = (catalog.read_note(LOST_REQUESTS) or "").partition(" ")
    return int(requests) if note_day == day else 0


def day_budget_status(
    collection: CollectionStore, outcomes: Sequence[HostOutcomeCount], *, budget: str = ""
) -> DayBudgetStatus:
    """Return the status of the day's budget, given the outcomes of the pages' last visits."""
    now = collection.clock.now()
    pages = sum(item.pages for item in outcomes)
    total = Budget.parse(budget or collection.settings.budget).requests_per_day(pages)
    spending = collection.catalog.spending(utc_day(now))
    remaining = max(0, total - spending.requests)
    capacities = list(_host_capacities(collection, outcomes)) if remaining else []
    by_hosts = sum(capacity.requests for capacity in capacities)
    by_pace, pace_reason = _pace_limit(collection, outcomes, total)
    reasons = [pace_reason] if by_pace < min(by_hosts, remaining) else []
    reasons += _reasons(collection, outcomes, capacities) if by_hosts < remaining else []
    unreachable = max(0, remaining - min(by_hosts, by_pace))
    return DayBudgetStatus(
        utc_day(now), total, spending.requests, remaining, spending.other_requests, unreachable,
        tuple(reasons),
        lost_requests(collection.catalog, utc_day(now)), spending.burst_requests,
        int(collection.settings.rounds.share * total),
        collection.catalog.count_pages_in_bursts(now - timedelta(seconds=MAX_DELAY)),
    )  # fmt: skip


def failing_page_counts(outcomes: Sequence[HostOutcomeCount]) -> dict[str, int]:
    """Return the number of failing pages by outcome, the most frequent first."""
    counts: Counter[str] = Counter()
    for item in outcomes:
        if item.outcome is not None and not item.outcome.is_look:
            counts[str(item.outcome)] += item.pages
    return dict(counts.most_common())


def _pace_limit(
    collection: CollectionStore, outcomes: Sequence[HostOutcomeCount], total: int
) -> tuple[int, str]:  # fmt: skip
    """Return how many requests the pace still allows today, and the reason for the limit.

    A crawl that started today does not catch up on the hours before. Pages never visited and
    requested pages do not wait for the pace.
    """
    now = collection.clock.now()
    midnight = next_midnight(now)
    note = collection.catalog.read_note(CRAWL_START)
    is_crawl_running = note is not None and is_crawl(
        ArchiveLock(collection.archive_folder).holder()
    )
    start = datetime.fromisoformat(note) if is_crawl_running and note else now
    if start <= midnight - timedelta(days=1):
        return total, ""
    unvisited = sum(item.pages for item in outcomes if item.outcome is None)
    share = total * ((midnight - now) / timedelta(days=1))
    subject = (
        f"the crawl began at {format_time_to_minute(start)} and"
        if is_crawl_running
        else "a crawl that begins now"
    )
    rate = quantity_text(total / HOURS_PER_DAY)
    why = f"{subject} spends the budget evenly, {rate} requests an hour:"
    return (
        1 + int(share) + unvisited + len(collection.catalog.requested_pages()),
        f"{why} it does not make up for the hours before",
    )


def _host_capacities(
    collection: CollectionStore, outcomes: Sequence[HostOutcomeCount]
) -> Iterator[HostCapacity]:
    politeness = collection.settings.politeness
    now = collection.clock.now()
    start, end = to_epoch(now), to_epoch(next_midnight(now))
    turns = HostTurns(collection.catalog.host_states(), politeness, start)
    visits_per_page = 1 + int((end - start) / max(1.0, politeness.page_interval))
    page_visits: Counter[str] = Counter()
    for item in outcomes:
        page_visits[item.host] += item.pages * (1 if _is_failing(item) else visits_per_page)
    for host, number in page_visits.items():
        yield HostCapacity(host, turns.count_turns(host, start, end), number)


def _reasons(
    collection: CollectionStore,
    outcomes: Sequence[HostOutcomeCount],
    capacities: Sequence[HostCapacity],
) -> Iterator[str]:
    pages = sum(item.pages for item in outcomes)
    if not pages:
        yield "there are no live pages to visit; 'freshet add URL' adds one"
        return
    failing = sum(item.pages for item in outcomes if _is_failing(item))
    interval = collection.settings.politeness.page_interval
    if any(capacity.page_visits <= capacity.turns for capacity in capacities):
        yield f"pages: {pages:,}, each visited at most every {interval:g} s"
    if failing:
        yield f"failing pages, which are backed off: {failing:,}"
    capped = sorted(
        (capacity for capacity in capacities if capacity.turns < capacity.page_visits),
        key=lambda capacity: capacity.page_visits - capacity.turns,
        reverse=True,
    )
    for capacity in capped[:NAMED_HOSTS]:
        yield f"host {capacity.host} can be asked {capacity.turns:,} times more today"
    if len(capped) > NAMED_HOSTS:
        yield f"{len(capped) - NAMED_HOSTS:,} further hosts are limited in the same way"


def _is_failing(item: HostOutcomeCount) -> bool:
    return item.outcome is not None and not item.outcome.is_look
