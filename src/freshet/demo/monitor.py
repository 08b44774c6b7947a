"""Live status of the demonstration: scores, pages and recent findings.

The crawl reports its visits; a separate thread turns them into a status at intervals. The page
figures come from a policy that learns every visit of the crawl, as the crawl's own policy does.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue
from threading import Event

import numpy as np

from freshet.backtest.continuous.crawler import CrawlerScore
from freshet.core.clock import Clock, from_epoch, to_epoch
from freshet.core.policy import Policy
from freshet.core.tables import HostCaps
from freshet.core.types import Change, Outcome, Visit
from freshet.crawl.fetch_job import CrawlDaySpending
from freshet.crawl.live_policy import visit_table
from freshet.demo.demo_collection import DemoCollection
from freshet.demo.hosts import RequestLog
from freshet.demo.scoreboard import DemoScoreboard
from freshet.fetch.event_dispatcher import CrawlEvent

FINDING_COUNT = 8
REFRESH_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class VisitFinding:
    """A result worth showing; ``is_news`` if the page has really changed."""

    time: datetime
    page: str
    text: str
    is_news: bool = False


@dataclass(frozen=True, slots=True)
class LivePageStatus:
    """Status of a page: its looks and changes so far, and its forecast; rates are per day."""

    name: str
    kind: str
    looks: int
    changes: int
    last_change: datetime | None
    next_check: datetime | None
    chance: float | None
    rate: float | None
    rate_low: float | None
    rate_high: float | None


@dataclass(frozen=True, slots=True)
class LiveStatus:
    """Status of the demonstration at a moment; ``late_visits`` began too late."""

    now: datetime
    elapsed_share: float
    spending: CrawlDaySpending | None
    outcomes: dict[str, int]
    scores: tuple[CrawlerScore, ...]
    pages: tuple[LivePageStatus, ...]
    findings: tuple[VisitFinding, ...]
    late_visits: int = 0

    @property
    def visits(self) -> int:
        """The number of visits made."""
        return sum(self.outcomes.values())


StatusListener = Callable[[LiveStatus], None]


@dataclass(slots=True)
class CrawlMonitor:
    """Collects the events of a crawl and shows its status; ``log`` is the hosts' log.

    ``page_count`` is the number of pages in the status. A visit is late if it begins more than
    ``late_seconds`` real seconds after its time.
    """

    demo_collection: DemoCollection
    scoreboard: DemoScoreboard
    policy: Policy
    log: RequestLog
    span: tuple[datetime, datetime]
    page_count: int = 0
    late_seconds: float = np.inf
    _events: SimpleQueue[CrawlEvent] = field(default_factory=SimpleQueue)
    _spending: CrawlDaySpending | None = None
    _outcomes: Counter[str] = field(default_factory=Counter)
    _last_change: dict[int, datetime] = field(default_factory=dict)
    _late: int = 0
    _findings: deque[VisitFinding] = field(default_factory=lambda: deque(maxlen=FINDING_COUNT))

    def on_event(self, event: CrawlEvent) -> None:
        """Queue an event of the crawl without making it wait."""
        self._events.put(event)

    def status(self, now: datetime) -> LiveStatus:
        """Process all queued events, and return the status at a moment."""
        for event in _drain(self._events):
            self._spending = event.spending
            self._late += sum(wait > self.late_seconds for wait in event.queue.lateness)
            self.policy.learn(visit_table(event.visits))
            for visit, change in event.visits:
                self._score_visit(visit, change)
        start, end = self.span
        return LiveStatus(
            now=now,
            elapsed_share=min(1.0, (now - start) / (end - start)),
            spending=self._spending,
            outcomes=dict(self._outcomes),
            scores=self.scoreboard.scores(now),
            pages=tuple(self._page_statuses(now)),
            findings=tuple(reversed(self._findings)),
            late_visits=self._late,
        )

    @contextmanager
    def showing_status(self, clock: Clock, show: StatusListener) -> Iterator[None]:
        """Show the status at intervals in a separate thread until the context ends."""
        is_finished = Event()

        def show_repeatedly() -> None:
            while not is_finished.wait(REFRESH_SECONDS):
                show(self.status(clock.now()))

        with ThreadPoolExecutor(1, thread_name_prefix="watch") as executor:
            future = executor.submit(show_repeatedly)
            try:
                yield
            finally:
                is_finished.set()
            future.result()

    def _score_visit(self, visit: Visit, change: Change | None) -> None:
        """Score a visit on the ground truth, and record its finding."""
        self._outcomes[visit.outcome] += 1
        if visit.page not in self.demo_collection.web_indices or visit.time > self.span[1]:
            return
        response = self.log.response_to(
            self.demo_collection.web_indices[visit.page], to_epoch(visit.time)
        )
        fetch_time = response.time if response and visit.outcome is Outcome.OK else None
        is_news = self.scoreboard.record_visit(visit.page, fetch_time)
        if change is not None and change.changed:
            self._last_change[visit.page] = visit.time
        text = _describe_finding(visit, change, is_news=is_news)
        if text:
            self._findings.append(
                VisitFinding(visit.time, self.demo_collection.name(visit.page), text, is_news)
            )

    def _page_statuses(self, now: datetime) -> Iterator[LivePageStatus]:
        """Yield the status of the pages to show.

        The policy first selects one page, so that it values all pages at this moment.
        """
        if not self.page_count:
            return
        self.policy.release(self.policy.choose(now, 1, HostCaps()).pages)
        for page in self.demo_collection.pages_to_show(self.page_count):
            yield self._page_status(page, now)

    def _page_status(self, page: int, now: datetime) -> LivePageStatus:
        explanation = self.policy.explain(page, now)
        next_check = (
            explanation.due
            if explanation.due is None
            else max(explanation.due, explanation.not_before)
        )
        return LivePageStatus(
            name=self.demo_collection.name(page),
            kind=self.demo_collection.kind(page),
            looks=explanation.looks,
            changes=explanation.changes,
            last_change=self._last_change.get(page),
            next_check=_optional_time(next_check),
            chance=explanation.chance,
            rate=explanation.rate,
            rate_low=explanation.rate_low,
            rate_high=explanation.rate_high,
        )


def _describe_finding(visit: Visit, change: Change | None, *, is_news: bool) -> str:
    """Describe the finding of a visit; empty if there is nothing to report."""
    if visit.outcome is Outcome.GONE:
        return "gone: the last version is kept"
    if not visit.outcome.is_look:
        return f"{visit.outcome}: no content, no change"
    if change is None or not change.changed:
        return ""
    if not is_news:
        return "changed, but only by noise"
    links = change.new_link_count
    return f"words changed: {change.words or 0}" + (f", new links: {links}" if links else "")


def _optional_time(seconds: float | None) -> datetime | None:
    return from_epoch(seconds) if seconds is not None and np.isfinite(seconds) else None


def _drain(queue: SimpleQueue[CrawlEvent]) -> Iterator[CrawlEvent]:
    """Yield the items that a queue holds now."""
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return
