"""Values that are written to the catalog and read from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from freshet.core.content.posts import Post
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

# A host may have one robots.txt for http and another for https. The one for http is stored under
# the host's name with this suffix.
HTTP_PORT_SUFFIX = ":80"


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page to be added: its identity, host, site and directory."""

    key: PageKey
    host: str
    site: str
    directory: str


@dataclass(frozen=True, slots=True)
class AddedPages:
    """The ids of pages in the order given, and the ids of those that are new."""

    ids: list[int]
    new_ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class ViewSummary:
    """What the catalog stores of a view."""

    kind: ContentKind
    title: str
    language: str
    text_hash: int
    structure_hash: int
    facts: ViewStatistics

    @classmethod
    def from_view(cls, view: View) -> "ViewSummary":
        """Return the summary of a view."""
        return cls(
            view.kind, view.title, view.language, view.text_hash, view.structure_hash, view.facts
        )


@dataclass(frozen=True, slots=True)
class LinkDelta:
    """The links that appeared and disappeared since the previous look; at the first, all appear."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadLook:
    """What a look showed of a thread: its posts, and the page on which the thread continues.

    ``reason`` says why the page was taken for a thread, or for an ordinary page without posts.
    """

    posts: tuple[Post, ...]
    reason: str
    next_page: str | None = None


@dataclass(frozen=True, slots=True)
class VisitEntry:
    """A visit and everything that was measured of it, to be written in one transaction.

    ``since`` is the visit that this one was compared with: its id, or its uid if it may be in the
    same batch. The link lists of ``change`` are not stored; ``links`` is. ``thread`` is
    None where no posts were looked for.
    """

    visit: Visit
    change: Change | None = None
    since: int | bytes | None = None
    view: ViewSummary | None = None
    links: LinkDelta | None = None
    etag: str | None = None
    last_modified: str | None = None
    thread: ThreadLook | None = None


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One visit of a page's history, with its change and its view summary if there are any.

    ``removed_links`` is the number of links that disappeared; the catalog's ``link_deltas`` has
    their URLs.
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
    """The number of visits made on one UTC day, and the bytes stored of them."""

    day: date
    visits: int
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class HostOutcomeCount:
    """The number of live pages of a host whose last visit had an outcome; paused ones left out.

    The outcome is None for pages that were never visited.
    """

    host: str
    outcome: Outcome | None
    pages: int


@dataclass(frozen=True, slots=True)
class PageTotals:
    """A page with its totals, as a row of a listing."""

    page: Page
    visits: int
    looks: int
    changes: int
    last_look: datetime | None
    last_change: datetime | None


@dataclass(frozen=True, slots=True)
class FailingPage(PageTotals):
    """A page whose last visit showed no content: the visit's time, its outcome and the reason."""

    last_visit: datetime
    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class PageListEntry:
    """A page of a sorted list, and the key of its row, after which the list can be continued."""

    page: Page
    key: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PageDay:
    """The looks at a page on one UTC day, and how many of them found a change."""

    page: int
    day: date
    looks: int
    changes: int


@dataclass(frozen=True, slots=True)
class DayActivity:
    """The visits of one UTC day, the looks among them, and the changes found."""

    day: date
    visits: int
    looks: int
    changes: int


@dataclass(frozen=True, slots=True)
class HostPages:
    """A host, and the number of its live pages."""

    host: str
    pages: int


@dataclass(frozen=True, slots=True)
class RecentVisit:
    """A visit as a list of news shows it; ``changed`` is None if nothing was compared."""

    id: int
    page: int
    url: str
    time: datetime
    outcome: Outcome
    why: str
    changed: bool | None
    words: int | None
    new_links: int | None


@dataclass(frozen=True, slots=True)
class StoredMask:
    """A version of a page's mask, as plain values that the noise measures understand."""

    version: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HostState:
    """What is stored of a host between visits, so that it is treated politely."""

    host: str
    next_allowed: datetime | None = None
    delay: float | None = None
    failures: int = 0
    backoff_until: datetime | None = None
    robots: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_blank(self) -> bool:
        """Whether nothing is stored of the host."""
        return self == HostState(self.host)

    def without_backoff(self) -> "HostState":
        """Return the state without its back-off and without a robots.txt that failed."""
        has_failed = self.robots.get("failing_since") is not None
        robots = {} if has_failed else self.robots
        return replace(self, failures=0, backoff_until=None, robots=robots)


@dataclass(frozen=True, slots=True)
class Lease:
    """A page leased to a worker, from ``start`` to ``end``."""

    page: int
    worker: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class DailySpending:
    """The requests of one UTC day.

    ``requests`` are requests for pages, ``burst_requests`` those of them that were made for burst
    samples, ``exploratory_requests`` those that were made for what they teach about other pages,
    and ``other_requests`` requests for robots.txt and sitemaps.
    """

    requests: int = 0
    other_requests: int = 0
    burst_requests: int = 0
    exploratory_requests: int = 0


@dataclass(frozen=True, slots=True)
class CacheValidators:
    """The validators of the last look with content, for a conditional request.

    ``url`` is where the validators came from if a redirect was followed. ``not_modified_count`` is
    the number of visits since then that the server answered with "not modified".
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
    """The live pages that are not to be visited: the paused ones and the removed ones."""

    paused: frozenset[int]
    removed: frozenset[int]


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One import: its kind, path and source, when it ran, and how much it added."""

    id: int
    kind: str
    path: str
    source: str
    started: datetime
    finished: datetime | None
    counts: Mapping[str, int]
