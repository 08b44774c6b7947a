"""The day's budget: what is spent of it, what is left, and what today's caps put out of reach."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from freshet.archive.catalog.rows import LastOutcome
from freshet.core.budget import Budget, day_of, next_midnight
from freshet.core.clock import to_epoch
from freshet.flow.collection import Collection
from freshet.flow.hosts import Turns

RUNNING_BUDGET = "budget of the running crawl"
NAMED_HOSTS = 3


@dataclass(frozen=True, slots=True)
class Today:
    """A UTC day's budget of page requests; ``apart`` counts those for robots.txt and sitemaps.

    Of what is left, ``unreachable`` requests cannot be spent before the day ends, by what is known
    now; ``reasons`` say why.
    """

    day: str
    budget: int
    spent: int
    left: int
    apart: int
    unreachable: int
    reasons: tuple[str, ...] = ()


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


def note_budget(collection: Collection, budget: str) -> None:
    """Let others know the budget that a crawl was given, empty where it is that of the settings."""
    collection.catalog.set_note(RUNNING_BUDGET, budget)


def noted_budget(collection: Collection) -> str:
    """Return the budget that the running crawl was given, empty where it is the settings'."""
    return collection.catalog.note(RUNNING_BUDGET) or ""


def today_of(collection: Collection, outcomes: Sequence[LastOutcome], *, budget: str = "") -> Today:
    """Return how the day's budget stands, given how the pages' last visits ended."""
    now = collection.clock.now()
    pages = sum(item.pages for item in outcomes)
    total = Budget.parse(budget or collection.settings.budget).per_day(pages)
    spending = collection.catalog.spending(day_of(now))
    left = max(0, total - spending.requests)
    reaches = list(_reaches(collection, outcomes)) if left else []
    unreachable = max(0, left - sum(reach.requests for reach in reaches))
    reasons = tuple(_reasons(collection, outcomes, reaches)) if unreachable else ()
    return Today(day_of(now), total, spending.requests, left, spending.apart, unreachable, reasons)


def failing_of(outcomes: Sequence[LastOutcome]) -> dict[str, int]:
    """Return how many pages failed when last visited, by outcome, the most frequent first."""
    counts: Counter[str] = Counter()
    for item in outcomes:
        if item.outcome is not None and not item.outcome.is_look:
            counts[str(item.outcome)] += item.pages
    return dict(counts.most_common())


def _reaches(collection: Collection, outcomes: Sequence[LastOutcome]) -> Iterator[Reach]:
    politeness = collection.settings.politeness
    turns = Turns(collection.catalog.hosts(), politeness)
    now = collection.clock.now()
    start, end = to_epoch(now), to_epoch(next_midnight(now))
    often = 1 + int((end - start) / max(1.0, politeness.page_interval))
    bearable: Counter[str] = Counter()
    for item in outcomes:
        bearable[item.host] += item.pages * (1 if _fails(item) else often)
    for host, number in bearable.items():
        yield Reach(host, turns.room(host, start, end), number)


def _reasons(
    collection: Collection, outcomes: Sequence[LastOutcome], reaches: Sequence[Reach]
) -> Iterator[str]:
    pages = sum(item.pages for item in outcomes)
    failing = sum(item.pages for item in outcomes if _fails(item))
    interval = collection.settings.politeness.page_interval
    if any(reach.bearable <= reach.turns for reach in reaches) or not pages:
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
