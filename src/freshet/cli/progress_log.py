"""A crawl told as it goes: a line per change, and now and then how far it is.

Of first looks, of ways to fail at a host and of hosts that close, only the first few are told.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from freshet.archive.catalog.catalog import Catalog
from freshet.cli.json_log import log_event
from freshet.cli.output import format_count
from freshet.core.clock import monotonic_seconds
from freshet.core.errors import FreshetError
from freshet.core.local_time import format_time_of_day
from freshet.core.types import Change, Outcome, Page, Visit
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.recording_loop import CrawlEvent

T = TypeVar("T")

PROGRESS_INTERVAL_SECONDS = 60.0
MAX_REPORTED = 20


@dataclass(slots=True)
class CrawlCounts:
    """What a crawl has done so far."""

    visits: int = 0
    looks: int = 0
    changes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def count_visit(self, visit: Visit, change: Change | None) -> None:
        """Count a visit."""
        self.visits += 1
        self.looks += visit.outcome.is_look
        self.changes += change is not None and change.changed
        self.outcomes[str(visit.outcome)] += 1


class OutputClosedError(FreshetError):
    """Whoever read what a crawl tells has gone away."""


class ProgressLog:
    """Hears a crawl's tidings, says what is worth a line, and logs every visit."""

    def __init__(self, catalog: Catalog, say: Callable[[str], None]) -> None:
        self.counts = CrawlCounts()
        self._catalog = catalog
        self._say = say
        self._told = monotonic_seconds()
        self._first_looks: set[int] = set()
        self._failures: set[tuple[str, Outcome]] = set()
        self._closed_hosts: set[str] = set()

    def __call__(self, tidings: CrawlEvent) -> None:
        """Take in what a crawl tells."""
        pages = self._catalog.pages_by_id([visit.page for visit, _ in tidings.visits])
        for visit, change in tidings.visits:
            self.counts.count_visit(visit, change)
            page = pages.get(visit.page)
            if page is not None:
                self._report(page, visit, change)
        for closing in tidings.host_closings:
            self._report_closing(closing)
        if monotonic_seconds() - self._told >= PROGRESS_INTERVAL_SECONDS:
            self._told = monotonic_seconds()
            self._tell(self._progress(tidings))

    def _report(self, page: Page, visit: Visit, change: Change | None) -> None:
        log_event("visit", **visit_fields(page, visit, change))
        what = self._worth_a_line(page, visit, change)
        if what:
            self._tell(f"{format_time_of_day(visit.time)}  {page.url}  {what}")

    def _report_closing(self, closing: HostClosing) -> None:
        log_event("host closed", host=closing.host, until=closing.until, failures=closing.failures,
             why=closing.why)  # fmt: skip
        if closing.host in self._closed_hosts or _is_new(closing.host, self._closed_hosts):
            self._tell(f"{format_time_of_day(closing.time)}  {closing.sentence}")

    def _worth_a_line(self, page: Page, visit: Visit, change: Change | None) -> str:
        """Say what a visit brought, empty where that need not be told."""
        if change is not None and change.changed:
            return describe_change(change)
        if not visit.outcome.is_look:
            why = f": {visit.why}" if visit.why else ""
            is_new = _is_new((page.host, visit.outcome), self._failures)
            return f"{visit.outcome}{why}" if is_new else ""
        if change is None and visit.outcome is Outcome.OK and _is_new(page.id, self._first_looks):
            return "seen for the first time"
        return ""

    def _tell(self, text: str) -> None:
        """Say a line; an exit that a broken pipe asks for must not tear the crawl apart."""
        try:
            self._say(text)
        except SystemExit as end:
            raise OutputClosedError("nobody reads any more what the crawl tells") from end

    def _progress(self, tidings: CrawlEvent) -> str:
        done = f"{format_count(self.counts.visits, 'visit')}, {format_count(self.counts.changes, 'change')}"
        spending = tidings.spending
        return f"{done}; {spending.spent:,} of {spending.budget:,} requests of the day spent"


def _is_new(thing: T, told: set[T]) -> bool:
    """Whether something is among the first few of its kind; it is none the next time."""
    if thing in told or len(told) >= MAX_REPORTED:
        return False
    told.add(thing)
    return True


def visit_fields(page: Page, visit: Visit, change: Change | None) -> dict[str, Any]:
    """Return what a log keeps of a visit."""
    found: dict[str, Any] = {"page": page.url, "outcome": visit.outcome, "status": visit.status}
    if visit.final_url:
        found["final_url"] = visit.final_url
    if visit.why:
        found["why"] = visit.why
    if change is not None:
        found |= {"changed": change.changed, "words": change.words}
        found["new_links"] = change.new_link_count
    return found


def describe_change(change: Change) -> str:
    """Say what is new.

    >>> describe_change(Change(True, words=3, new_internal=1, new_external=0))
    'changed: 3 words, 1 new link'
    """
    parts = []
    if change.words is not None:
        parts.append(format_count(change.words, "word"))
    if change.new_link_count:
        parts.append(format_count(change.new_link_count, "new link"))
    if change.structure and not change.words:
        parts.append("its structure")
    return "changed: " + (", ".join(parts) or "it came back")
