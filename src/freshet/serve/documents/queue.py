"""The queue: the next visits with their time, value and reason."""

from dataclasses import dataclass
from datetime import datetime

from freshet.core.types import PlannedVisit
from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import ParameterValues, QueryParameter

QUEUE_PARAMETERS = (
    QueryParameter("offset", "Number of visits to skip.", 0, high=100_000),
    QueryParameter("limit", "Number of visits.", 100, low=1, high=500),
)


@dataclass(frozen=True, slots=True)
class QueueDocument:
    """The next visits of a crawl that starts now, in the order of time.

    ``known`` is the number of visits that were planned; ``titles`` are those of the pages,
    by page id. ``next`` is the next offset, None at the end.
    """

    made: datetime
    objective: str
    policy: str
    budget: int
    known: int
    visits: list[PlannedVisit]
    titles: dict[int, str]
    next: int | None


def read_queue(dashboard: Dashboard, values: ParameterValues) -> QueueDocument:
    """Return a part of the queue."""
    start, end = values["offset"], values["offset"] + values["limit"]
    with dashboard.outlook() as outlook:
        planned = outlook.planned
    visits = list(planned[start:end])
    return QueueDocument(
        made=outlook.made,
        objective=outlook.objective,
        policy=outlook.policy,
        budget=outlook.budget,
        known=len(planned),
        visits=visits,
        titles=dashboard.collection.catalog.titles([visit.page.id for visit in visits]),
        next=end if end < len(planned) else None,
    )
