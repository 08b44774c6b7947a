"""The day's budget: what is spent of it, what is left, and what today's caps put out of reach."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import LastOutcome
from freshet.archive.warc.lock import ArchiveLock
from freshet.core.budget import HOURS, Budget, day_of, next_midnight
from freshet.core.clock import to_epoch
from freshet.core.local_time import time_to_minute
from freshet.crawl.hosts import Turns
from freshet.record.archive_writer import is_crawl
from freshet.record.store import CollectionStore
from freshet.schedule.bursts import LATEST

RUNNING_BUDGET = "budget of the running crawl"
CRAWL_START = "start of the last crawl"
LOST = "requests lost by crawls that were killed"
NAMED_HOSTS = 3


@dataclass(frozen=True, slots=True)
class Today:
    """A UTC day's budget of page requests; ``apart`` counts those for robots.txt and sitemaps.

    Of what is left, ``unreachable`` requests cannot be spent before the day ends, by what is known
    now; ``reasons`` say why. Of what is spent, ``lost`` were booked by crawls that were killed
    before anything came of them, and ``samples`` were for rounds, which may use ``share`` of them;
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
class Reach:
    """How often a host can still be asked today: by its turns, and by what its pages bear."""

    host: str
    turns: int
    bearable: int

    @property
    def requests(self) -> int:
        """Return how many requests the host can take."""
        return min(self.turns, self.bearable)


def note_budget(collection: CollectionStore, budget: str) -> None:
    """Let others know the budget that a crawl was given, empty where it is that of the settings."""
    collection.catalog.set_note(RUNNING_BUDGET, budget)


def budget_now(collection: CollectionStore) -> str:
    """Return the budget that holds now: the one a running crawl was given, else the setting."""
    runs = is_crawl(ArchiveLock(collection.archive).holder())
    return (runs and collection.catalog.note(RUNNING_BUDGET)) or collection.settings.budget


def note_start(catalog: Catalog, now: datetime) -> None:
    """Keep when a crawl began."""
    catalog.set_note(CRAWL_START, now.isoformat())


def note_lost(catalog: Catalog, day: str, requests: int) -> None:
    """Keep that further requests of a day were lost with a crawl that was killed."""
    catalog.set_note(LOST, f"{day} {lost_on(catalog, day) + requests}")


def lost_on(catalog: Catalog, day: str) -> int:
    """Return how many requests of a day were lost with crawls that were killed."""
    noted, _, requests = (catalog.note(LOST) or "").partition(" ")
    return int(requests) if noted == day else 0


def today_of(
    collection: CollectionStore, outcomes: Sequence[LastOutcome], *, budget: str = ""
) -> Today:
    """Return how the day's budget stands, given how the pages' last visits ended."""
    now = collection.clock.now()
    pages = sum(item.pages for item in outcomes)
    total = Budget.parse(budget or collection.settings.budget).per_day(pages)
    spending = collection.catalog.spending(day_of(now))
    left = max(0, total - spending.requests)
    reaches = list(_reaches(collection, outcomes)) if left else []
    by_hosts = sum(reach.requests for reach in reaches)
    by_pace, late = _paced(collection, outcomes, total)
    reasons = [late] if by_pace < min(by_hosts, left) else []
    reasons += _reasons(collection, outcomes, reaches) if by_hosts < left else []
    unreachable = max(0, left - min(by_hosts, by_pace))
    return Today(
        day_of(now), total, spending.requests, left, spending.apart, unreachable, tuple(reasons),
        lost_on(collection.catalog, day_of(now)), spending.samples,
        int(collection.settings.rounds.share * total),
        collection.catalog.pages_in_rounds(now - timedelta(seconds=LATEST)),
    )  # fmt: skip


def failing_of(outcomes: Sequence[LastOutcome]) -> dict[str, int]:
    """Return how many pages failed when last visited, by outcome, the most frequent first."""
    counts: Counter[str] = Counter()
    for item in outcomes:
        if item.outcome is not None and not item.outcome.is_look:
            counts[str(item.outcome)] += item.pages
    return dict(counts.most_common())


def _paced(
    collection: CollectionStore, outcomes: Sequence[LastOutcome], total: int
) -> tuple[int, str]:  # fmt: skip
    """Return how many requests the pace still allows today, and why no more.

    A crawl that began today does not make up for the hours before. Pages never seen and pages
    asked for do not wait for the pace.
    """
    now = collection.clock.now()
    midnight = next_midnight(now)
    noted = collection.catalog.note(CRAWL_START)
    runs = noted is not None and is_crawl(ArchiveLock(collection.archive).holder())
    began = datetime.fromisoformat(noted) if runs and noted else now
    if began <= midnight - timedelta(days=1):
        return total, ""
    unseen = sum(item.pages for item in outcomes if item.outcome is None)
    share = total * ((midnight - now) / timedelta(days=1))
    who = f"the crawl began at {time_to_minute(began)} and" if runs else "a crawl that begins now"
    an_hour = total / HOURS
    rate = f"{an_hour:,.0f}" if an_hour >= 10 else f"{an_hour:.2g}"
    why = f"{who} spends the budget evenly, {rate} requests an hour:"
    return (
        1 + int(share) + unseen + len(collection.catalog.asked()),
        f"{why} it does not make up for the hours before",
    )


def _reaches(collection: CollectionStore, outcomes: Sequence[LastOutcome]) -> Iterator[Reach]:
    politeness = collection.settings.politeness
    now = collection.clock.now()
    start, end = to_epoch(now), to_epoch(next_midnight(now))
    turns = Turns(collection.catalog.hosts(), politeness, start)
    often = 1 + int((end - start) / max(1.0, politeness.page_interval))
    bearable: Counter[str] = Counter()
    for item in outcomes:
        bearable[item.host] += item.pages * (1 if _fails(item) else often)
    for host, number in bearable.items():
        yield Reach(host, turns.room(host, start, end), number)


def _reasons(
    collection: CollectionStore, outcomes: Sequence[LastOutcome], reaches: Sequence[Reach]
) -> Iterator[str]:
    pages = sum(item.pages for item in outcomes)
    if not pages:
        yield "there are no live pages to visit; 'freshet add URL' adds one"
        return
    failing = sum(item.pages for item in outcomes if _fails(item))
    interval = collection.settings.politeness.page_interval
    if any(reach.bearable <= reach.turns for reach in reaches):
        yield f"pages: {pages:,}, each visited at most every {interval:g} s"
    if failing:
        yield f"failing pages, which are backed off: {failing:,}"
    capped = sorted(
        (reach for reach in reaches if reach.turns < reach.bearable),
        key=lambda reach: reach.bearable - reach.turns,
        reverse=True,
    )
    for reach in capped[:NAMED_HOSTS]:
        yield f"host {reach.host} can be asked {reach.turns:,} times more today"
    if len(capped) > NAMED_HOSTS:
        yield f"so can {len(capped) - NAMED_HOSTS:,} further hosts only so often"


def _fails(item: LastOutcome) -> bool:
    return item.outcome is not None and not item.outcome.is_look
