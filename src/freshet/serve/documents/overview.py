"""The overview: what changed, what is planned, and how the budget is spent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from freshet.archive.catalog.rows import CollectionCounts, DayActivity, RecentVisit
from freshet.collection.status import CollectionStatus
from freshet.core.budget import utc_day
from freshet.core.humanize import count_text, format_size
from freshet.core.types import PlannedVisit
from freshet.crawl.budget_status import DayBudgetStatus
from freshet.serve.dashboard import ACTIVITY_DAYS, Dashboard
from freshet.serve.parameters import ParameterValues

SHOWN_CHANGES, SHOWN_VISITS = 12, 8
LOW_SPACE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class ActivityDay:
    """One UTC day: its page requests, visits, looks and changes found."""

    day: date
    requests: int
    visits: int
    looks: int
    changes: int


@dataclass(frozen=True, slots=True)
class OverviewDocument:
    """The state of a collection at a moment.

    ``freshness`` is the expected share of live pages that are still as their last look showed
    them, by the forecast at the time ``outlook_made``. ``titles`` are those of the pages named,
    by page id. ``last_visit_id`` is where the stream of events goes on.
    """

    made: datetime
    name: str
    objective: str
    policy: str
    writer: str
    counts: CollectionCounts
    today: DayBudgetStatus
    freshness: float | None
    outlook_made: datetime
    failing: dict[str, int]
    warnings: list[str]
    activity: list[ActivityDay]
    latest_changes: list[RecentVisit]
    next_visits: list[PlannedVisit]
    titles: dict[int, str]
    last_visit_id: int


def read_overview(dashboard: Dashboard, values: ParameterValues) -> OverviewDocument:
    """Return the overview of the collection."""
    collection, status = dashboard.collection, dashboard.status()
    now = collection.clock.now()
    with dashboard.outlook() as outlook:
        policy, freshness, made = outlook.policy, outlook.freshness, outlook.made
        next_visits = list(outlook.planned[:SHOWN_VISITS])
    latest_changes = collection.catalog.latest_changes(limit=SHOWN_CHANGES)
    shown = {visit.page for visit in latest_changes} | {visit.page.id for visit in next_visits}
    return OverviewDocument(
        made=now,
        name=collection.path.resolve().name,
        objective=status.objective,
        policy=policy,
        writer=status.writer,
        counts=status.counts,
        today=status.today,
        freshness=freshness,
        outlook_made=made,
        failing=status.failing,
        warnings=list(_warnings(status)),
        activity=_activity(dashboard, now),
        latest_changes=latest_changes,
        next_visits=next_visits,
        titles=collection.catalog.titles(sorted(shown)),
        last_visit_id=collection.catalog.last_visit_id(),
    )


def activity_bars(days: Sequence[ActivityDay]) -> list[dict[str, Any]]:
    """Return the days as bars: their visits and changes as shares of the most visits on a day."""
    tallest = max((day.visits for day in days), default=0) or 1
    return [
        {
            "day": day,
            "visits": day.visits / tallest,
            "changes": day.changes / tallest,
        }
        for day in days
    ]


def _activity(dashboard: Dashboard, now: datetime) -> list[ActivityDay]:
    """Return every day of the last weeks, from the first one with visits on."""
    by_day = {item.day: item for item in dashboard.activity()}
    first = now - timedelta(days=ACTIVITY_DAYS - 1)
    spendings = dashboard.collection.catalog.spending_since(utc_day(first))
    days = [(first + timedelta(days=number)).date() for number in range(ACTIVITY_DAYS)]
    rows = [
        _activity_day(day, by_day.get(day), spendings[str(day)].requests)
        if str(day) in spendings
        else _activity_day(day, by_day.get(day), 0)
        for day in days
    ]
    started = next((index for index, row in enumerate(rows) if row.visits or row.requests), None)
    return [] if started is None else rows[started:]


def _activity_day(day: date, activity: DayActivity | None, requests: int) -> ActivityDay:
    if activity is None:
        return ActivityDay(day, requests, 0, 0, 0)
    return ActivityDay(day, requests, activity.visits, activity.looks, activity.changes)


def _warnings(status: CollectionStatus) -> Iterator[str]:
    """Yield what keeps the crawl from its targets."""
    if status.today.unreachable:
        yield (
            f"{count_text(status.today.unreachable, 'request')} of today's budget cannot be used: "
            + "; ".join(status.today.reasons)
        )
    for host in status.closed_hosts[:3]:
        yield f"host {host.host} is backed off after {count_text(host.failures, 'failure')}"
    if len(status.closed_hosts) > 3:
        yield f"{len(status.closed_hosts) - 3:,} further hosts are backed off"
    if status.free_bytes < LOW_SPACE_BYTES:
        yield f"only {format_size(status.free_bytes)} are free on the disk of the collection"
    if status.learned is not None and not status.learned.in_use:
        yield f"the learned model is not used: {status.learned.why}"
