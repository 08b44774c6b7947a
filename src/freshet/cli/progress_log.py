"""The progress log of a crawl: a line per change, and the totals every minute.

First looks, kinds of failures per host and closed hosts are limited to the first few.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from freshet.archive.catalog.catalog import Catalog
from freshet.cli.json_log import log_event
from freshet.core.clock import monotonic_seconds
from freshet.core.errors import FreshetError
from freshet.core.humanize import count_text
from freshet.core.local_time import format_time_of_day
from freshet.core.types import Change, Outcome, Page, Visit
from freshet.fetch.event_dispatcher import CrawlEvent
from freshet.fetch.politeness.host_closing import HostClosing

T = TypeVar("T")

PROGRESS_INTERVAL_SECONDS = 60.0
MAX_REPORTED = 20
MAX_RECOUNTED_PAGES = 100_000


@dataclass(slots=True)
class CrawlCounts:
    """Counts of visits, looks, changes and outcomes of a crawl."""

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


@dataclass(slots=True)
class PageChanges:
    """The changes of a page since its first one in a crawl, and its last mask."""

    since: datetime
    mask: int
    changes: int = 0


class OutputClosedError(FreshetError):
    """The reader of the output has closed it."""


class ProgressLog:
    """Listener of a crawl that prints the important events and logs every visit."""

    def __init__(self, catalog: Catalog, print_line: Callable[[str], None]) -> None:
        self.counts = CrawlCounts()
        self._catalog = catalog
        self._print_line = print_line
        self._last_progress = monotonic_seconds()
        self._first_looks: set[int] = set()
        self._failures: set[tuple[str, Outcome]] = set()
        self._closed_hosts: set[str] = set()
        self._masked_pages: set[int] = set()
        self._page_changes: dict[int, PageChanges] = {}

    def __call__(self, event: CrawlEvent) -> None:
        """Count, log and print the visits of an event."""
        pages = self._catalog.pages_by_id([visit.page for visit, _ in event.visits])
        for visit, change in event.visits:
            self.counts.count_visit(visit, change)
            page = pages.get(visit.page)
            if page is not None:
                self._report(page, visit, change)
                if self._has_new_mask(page, visit, change) and _is_new(page.id, self._masked_pages):
                    self._print(f"{format_time_of_day(visit.time)}  {page.url}  {mask_text(page)}")
        for closing in event.host_closings:
            self._report_closing(closing)
        if monotonic_seconds() - self._last_progress >= PROGRESS_INTERVAL_SECONDS:
            self._last_progress = monotonic_seconds()
            self._print(self._progress(event))

    def _report(self, page: Page, visit: Visit, change: Change | None) -> None:
        log_event("visit", **visit_fields(page, visit, change))
        text = self._describe_visit(page, visit, change)
        if text:
            self._print(f"{format_time_of_day(visit.time)}  {page.url}  {text}")

    def _has_new_mask(self, page: Page, visit: Visit, change: Change | None) -> bool:
        """Whether a changed page was masked since its last visit; if so, count its changes again.

        The crawl has measured its earlier visits again under the mask.
        """
        counted = self._page_changes.get(page.id)
        if counted is None:
            if change is None or not change.changed:
                return False
            if len(self._page_changes) >= MAX_RECOUNTED_PAGES:
                return False
            counted = self._page_changes[page.id] = PageChanges(visit.time, change.mask)
        if change is None:
            return False
        counted.changes += change.changed
        if change.mask <= counted.mask:
            return False
        rows = self._catalog.history(page.id, since=counted.since, until=visit.time)
        changes = sum(row.change.changed for row in rows if row.change is not None)
        self.counts.changes += changes - counted.changes
        counted.mask, counted.changes = change.mask, changes
        return True

    def _report_closing(self, closing: HostClosing) -> None:
        log_event(
            "host closed",
            host=closing.host,
            until=closing.until,
            failures=closing.failures,
            why=closing.why,
        )
        if closing.host in self._closed_hosts or _is_new(closing.host, self._closed_hosts):
            self._print(f"{format_time_of_day(closing.time)}  {closing.sentence}")

    def _describe_visit(self, page: Page, visit: Visit, change: Change | None) -> str:
        """Return the text for a visit, or an empty text if it is not printed."""
        if change is not None and change.changed:
            return describe_change(change)
        if not visit.outcome.is_look:
            why = f": {visit.why}" if visit.why else ""
            is_new = _is_new((page.host, visit.outcome), self._failures)
            return f"{visit.outcome}{why}" if is_new else ""
        if change is None and visit.outcome is Outcome.OK and _is_new(page.id, self._first_looks):
            return "first look"
        return ""

    def _print(self, text: str) -> None:
        """Print a line; turn the exit caused by a broken pipe into an error of the crawl."""
        try:
            self._print_line(text)
        except SystemExit as end:
            raise OutputClosedError("the reader of the output has closed it") from end

    def _progress(self, event: CrawlEvent) -> str:
        visits = count_text(self.counts.visits, "visit")
        changes = count_text(self.counts.changes, "change")
        spending = event.spending
        return (
            f"{visits}, {changes}; {spending.spent:,} of {spending.budget:,} requests spent today"
        )


def _is_new(item: T, reported: set[T]) -> bool:
    """Return whether an item is new and among the first few; remember it."""
    if item in reported or len(reported) >= MAX_REPORTED:
        return False
    reported.add(item)
    return True


def mask_text(page: Page) -> str:
    """Say that a page has a mask, and which command shows it."""
    return f"text that differs at every visit no longer counts: 'freshet mask {page.url}' shows it"


def visit_fields(page: Page, visit: Visit, change: Change | None) -> dict[str, Any]:
    """Return the log fields of a visit."""
    fields: dict[str, Any] = {"page": page.url, "outcome": visit.outcome, "status": visit.status}
    if visit.final_url:
        fields["final_url"] = visit.final_url
    if visit.why:
        fields["why"] = visit.why
    if change is not None:
        fields |= {"changed": change.changed, "words": change.words}
        fields["new_links"] = change.new_link_count
    return fields


def describe_change(change: Change) -> str:
    """Return a description of a change.

    >>> describe_change(Change(True, words=3, new_internal=1, new_external=0))
    'changed: 3 words, 1 new link'
    """
    parts = []
    if change.words is not None:
        parts.append(count_text(change.words, "word"))
    if change.new_link_count:
        parts.append(count_text(change.new_link_count, "new link"))
    if change.structure and not change.words:
        parts.append("its structure")
    return "changed: " + (", ".join(parts) or "the page is available again")
