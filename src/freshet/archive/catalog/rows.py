"""What goes into the catalog and what comes out of it, as frozen values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from freshet.core.types import (
    Change,
    ContentKind,
    Outcome,
    Page,
    PageKey,
    View,
    ViewStatistics,
    Visit,
)

# A host's robots.txt over plain http is another's than that over https: it is kept under this name.
HTTP_PORT_SUFFIX = ":80"


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page to be added: its identity and where it belongs."""

    key: PageKey
    host: str
    site: str
    directory: str


@dataclass(frozen=True, slots=True)
class AddedPages:
    """The ids of pages in the order given, and which of them were not there before."""

    ids: list[int]
    new_ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class ViewSummary:
    """What is kept of a view once it has been measured."""

    kind: ContentKind
    title: str
    language: str
    text_hash: int
    structure_hash: int
    facts: ViewStatistics

    @classmethod
    def from_view(cls, view: View) -> "ViewSummary":
        """Return what the catalog keeps of a view."""
        return cls(
            view.kind, view.title, view.language, view.text_hash, view.structure_hash, view.facts
        )


@dataclass(frozen=True, slots=True)
class LinkDelta:
    """The links that appeared and disappeared since the look before; at first all appeared."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VisitEntry:
    """A visit with everything that was learnt from it, to be appended at once.

    ``since`` is the visit that the change was measured against: its id, or its uid where it may be
    in the same batch. The link lists of ``change`` are not kept; ``links`` is.
    """

    visit: Visit
    change: Change | None = None
    since: int | bytes | None = None
    view: ViewSummary | None = None
    links: LinkDelta | None = None
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One visit of a page's history, with its change and what was seen where there are any.

    ``removed_links`` counts the links that were gone; ``link_deltas`` of the catalog names them.
    """

    visit: Visit
    change: Change | None = None
    since: int | None = None
    removed_links: int | None = None
    view: ViewSummary | None = None
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """A file of the archive, and the import it came from (empty for the live crawl)."""

    id: int
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class CollectionCounts:
    """How much a collection holds; ``changes`` counts the looks that found the page changed."""

    pages: int
    paused: int
    removed: int
    visits: int
    looks: int
    changes: int
    files: int
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class DailyGrowth:
    """The visits of one UTC day, by when they were made, and the bytes stored of them."""

    day: date
    visits: int
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class HostOutcomeCount:
    """How many live pages of a host, paused ones left out, ended their last visit so.

    The outcome is None for pages that were never visited.
    """

    host: str
    outcome: Outcome | None
    pages: int


@dataclass(frozen=True, slots=True)
class PageTotals:
    """One page of a listing, with its totals."""

    page: Page
    visits: int
    looks: int
    changes: int
    last_look: datetime | None
    last_change: datetime | None


@dataclass(frozen=True, slots=True)
class FailingPage(PageTotals):
    """A page whose last visit showed no content: when that was, how it ended and why."""

    last_visit: datetime
    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class StoredMask:
    """A page's mask as it is kept: plain values that the measuring part understands."""

    version: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HostState:
    """What is remembered of a host between visits, so that it is treated politely."""

    host: str
    next_allowed: datetime | None = None
    delay: float | None = None
    failures: int = 0
    backoff_until: datetime | None = None
    robots: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_blank(self) -> bool:
        """Whether nothing is remembered of the host."""
        return self == HostState(self.host)

    def without_backoff(self) -> "HostState":
        """Return the state without its back-off and without a robots.txt that failed."""
        has_failed = self.robots.get("failing_since") is not None
        robots = {} if has_failed else self.robots
        return replace(self, failures=0, backoff_until=None, robots=robots)


@dataclass(frozen=True, slots=True)
class Lease:
    """A page lent to a worker, from when until when."""

    page: int
    worker: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class DailySpending:
    """What was spent on a UTC day: page requests, and those for robots.txt and sitemaps apart.

    ``burst_requests`` are those of the page requests that were made for rounds.
    """

    requests: int = 0
    other_requests: int = 0
    burst_requests: int = 0


@dataclass(frozen=True, slots=True)
class CacheValidators:
    """What the last look with content gives to ask by whether a page was modified since.

    ``url`` is where the validators came from when a redirect was followed; ``not_modified_count`` counts the
    visits since then that the server answered with "not modified".
    """

    etag: str | None
    last_modified: str | None
    url: str | None = None
    not_modified_count: int = 0


@dataclass(frozen=True, slots=True)
class PageColumns:
    """Live pages as columns, by id."""

    ids: Sequence[int]
    hosts: Sequence[str]
    sites: Sequence[str]
    directories: Sequence[str]
    paused: Sequence[bool]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class InactivePages:
    """Which live pages are not to be visited: those paused, and those removed."""

    paused: frozenset[int]
    removed: frozenset[int]


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One import: what was brought in, from where, and what came of it."""

    id: int
    kind: str
    path: str
    source: str
    started: datetime
    finished: datetime | None
    counts: Mapping[str, int]
