"""The values that all packages share (docs/glossary.md explains each).

Times are aware UTC datetimes; identifiers of terms, links and DOM paths are 64-bit hashes.
Tables that may be long (terms, links, DOM rows) are columns, never one object per row.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

HashArray = NDArray[np.uint64]
TermCountArray = NDArray[np.uint32]
IndexArray = NDArray[np.int32]
FlagArray = NDArray[np.uint8]
FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]


class Outcome(StrEnum):
    """How a visit ended; the first three are looks, the others used budget and show no content."""

    OK = "ok"
    NOT_MODIFIED = "not-modified"
    REPORTED = "reported"
    REDIRECT = "redirect"
    GONE = "gone"
    SOFT_404 = "soft-404"
    CAPTCHA = "captcha"
    EMPTY = "empty"
    ERROR_PAGE = "error-page"
    DENIED = "denied"
    THROTTLED = "throttled"
    CLIENT_ERROR = "client-error"
    SERVER_ERROR = "server-error"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too-large"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    UNTRUSTED = "untrusted"
    PROXY_ERROR = "proxy-error"
    REFUSED = "refused"
    ROBOTS = "robots"

    @property
    def is_look(self) -> bool:
        """Whether the visit showed the content, or that it is unchanged."""
        return self in LOOK_OUTCOMES


LOOK_OUTCOMES = frozenset({Outcome.OK, Outcome.NOT_MODIFIED, Outcome.REPORTED})


class ContentKind(StrEnum):
    """The kind of content of a snapshot, whatever its server declared."""

    HTML = "html"
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    FEED = "feed"
    SITEMAP = "sitemap"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class PageKey:
    """The identity of a page: its canonical URL and its source (empty for the live crawl)."""

    url: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A URL kept fresh; its identity never changes."""

    id: int
    url: str
    source: str
    host: str
    site: str
    directory: str
    added: datetime
    paused: bool = False
    tags: tuple[str, ...] = ()

    @property
    def key(self) -> PageKey:
        """Return the page's identity."""
        return PageKey(self.url, self.source)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The bytes that a visit brought, with content codings removed."""

    url: str
    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()

    def header(self, name: str, default: str = "") -> str:
        """Return the first header with a name, whatever its case."""
        lower_name = name.lower()
        return next((value for key, value in self.headers if key.lower() == lower_name), default)

    @property
    def media_type(self) -> str:
        """Return the declared media type, lower case and without parameters."""
        return self.header("content-type").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """The position of a record in the archive."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Visit:
    """One attempt at a page, with its outcome; a visit that shows the content is a look.

    ``uid`` identifies a visit for good: 16 bytes of its WARC-Record-ID, or of its import row.
    ``digest`` is the sha1 of the payload; ``final_url`` is set if a redirect was followed. ``why``
    says in a few words why a visit is not a look, if more than its outcome is known.
    """

    uid: bytes
    page: int
    time: datetime
    outcome: Outcome
    status: int | None = None
    size: int | None = None
    digest: bytes | None = None
    media_type: str = ""
    location: RecordLocation | None = None
    final_url: str | None = None
    id: int | None = None
    why: str = ""

    @property
    def outcome_text(self) -> str:
        """Return the outcome and its reason in words."""
        return f"{self.outcome}: {self.why}" if self.why else str(self.outcome)


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often each term occurs: the sorted hashes of the terms, and their counts."""

    hashes: HashArray
    counts: TermCountArray

    @property
    def total(self) -> int:
        """Return the number of words, repeated ones included."""
        return int(self.counts.sum())

    def __len__(self) -> int:
        return len(self.hashes)


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row of an input that could not be read: where it is, and why."""

    place: str
    why: str


INTERNAL, SAME_HOST, SAME_SCHEME, NOFOLLOW = 1, 2, 4, 8


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page."""

    url: str
    anchor: str
    rel: str
    internal: bool
    same_host: bool
    same_scheme: bool


@dataclass(frozen=True, slots=True)
class LinkTable:
    """The distinct link targets of a view, in document order, as columns.

    ``flags`` holds INTERNAL | SAME_HOST | SAME_SCHEME | NOFOLLOW per link.
    """

    urls: tuple[str, ...]
    anchors: tuple[str, ...]
    rels: tuple[str, ...]
    flags: FlagArray

    def __len__(self) -> int:
        return len(self.urls)

    def __iter__(self) -> Iterator[Link]:
        for url, anchor, rel, flags in zip(
            self.urls, self.anchors, self.rels, self.flags.tolist(), strict=True
        ):
            yield Link(
                url, anchor, rel, bool(flags & INTERNAL), bool(flags & SAME_HOST),
                bool(flags & SAME_SCHEME),
            )  # fmt: skip

    @property
    def internal_count(self) -> int:
        """Return how many links lead to the page's own site."""
        return int(np.count_nonzero(self.flags & INTERNAL))

    @property
    def external_count(self) -> int:
        """Return how many links lead to other sites."""
        return len(self) - self.internal_count


@dataclass(frozen=True, slots=True)
class DomRows:
    """One row per element in document order (Adar et al. 2009, section 5.1), as columns.

    ``tag`` indexes ``names``; ``parent`` is the row of the parent (-1 at the root); ``index`` is
    the element's position among its siblings of the same name, as in ``/html[0]/body[0]``.
    ``full_path`` and ``type_path`` are hashes of the paths with and without positions,
    ``node_hash`` of the element's own text, ``subtree_hash`` of all text in it. ``start`` and
    ``end`` are the position of that text, in bytes of the view's text as UTF-8.
    """

    names: tuple[str, ...]
    tag: IndexArray
    parent: IndexArray
    index: IndexArray
    full_path: HashArray
    type_path: HashArray
    node_hash: HashArray
    subtree_hash: HashArray
    start: IndexArray
    end: IndexArray

    def __len__(self) -> int:
        return len(self.tag)


@dataclass(frozen=True, slots=True)
class ViewStatistics:
    """Sizes and counts of a view."""

    bytes: int
    text_chars: int
    words: int
    distinct_words: int
    links_internal: int
    links_external: int
    elements: int
    depth: int
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A parsed snapshot: the content that a reader sees and that measures compare.

    ``text_hash`` is the hash of the visible text with white space collapsed, ``structure_hash`` of
    the tags and their nesting, ``body_hash`` of the bytes. ``dom`` is set if it was requested.
    """

    url: str
    kind: ContentKind
    charset: str
    title: str
    language: str
    text: str
    terms: TermCounts
    links: LinkTable
    facts: ViewStatistics
    body_hash: int
    text_hash: int
    structure_hash: int
    dom: DomRows | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """The difference between two views of a page; a field is None if the history does not tell.

    ``changed`` is what policies, metrics and notifications use: the masked text differs, or the
    aspect that ``counts_as`` names, under mask version ``mask``. The other fields are unmasked.
    """

    changed: bool
    mask: int = 0
    bytes: bool | None = None
    text: bool | None = None
    significant: bool | None = None
    structure: bool | None = None
    links: bool | None = None
    moved: bool = False
    dice: float | None = None
    words: int | None = None
    new_internal: int | None = None
    new_external: int | None = None
    never_seen: int | None = None
    new_links: tuple[str, ...] = ()
    removed_links: tuple[str, ...] = ()

    @property
    def new_link_count(self) -> int | None:
        """Return how many links are new, internal and external; None if neither is known.

        >>> Change(True, new_internal=2, new_external=3).new_link_count
        5
        """
        counts = (self.new_internal, self.new_external)
        numbers = [count for count in counts if count is not None]
        return sum(numbers) if numbers else None

    @property
    def fresh_link_count(self) -> int | None:
        """Return how many links the page never had before; if that is not known, how many are new.

        Links that come and go count once, so that a rotating choice of links is not news.

        >>> Change(True, new_internal=2, new_external=3, never_seen=1).fresh_link_count
        1
        """
        return self.new_link_count if self.never_seen is None else self.never_seen


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected changes of pages: a row per page, a column per horizon.

    ``survival`` is the probability that a page has not changed by each horizon, counted from its
    last look; ``new_links`` is the expected number of new outlinks by then.
    """

    pages: IndexArray
    horizons: FloatArray
    survival: FloatArray
    new_links: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class PageChoice:
    """One page worth a visit: the value of a visit now, and the reason.

    An exploratory visit is worth more for what it teaches than for its own value.
    """

    page: int
    value: float
    reason: str
    is_exploratory: bool = False


@dataclass(frozen=True, slots=True)
class PlannedVisit:
    """One visit of a plan: the page, the expected time, the value of the visit, and the reason.

    ``score`` is the value on a scale from 0 to 100, where 100 is the greatest value of the plan;
    None for a visit that comes before all that have a value. An exploratory visit is planned for
    what it teaches about other pages.
    """

    page: Page
    expected: datetime
    value: float
    reason: str
    score: int | None = None
    exploratory: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The next visits in order, for an objective and within a budget of requests a day.

    ``exploratory_share`` is the share of exploratory visits; None if the policy plans none.
    """

    made: datetime
    objective: str
    policy: str
    budget: int
    choices: tuple[PlannedVisit, ...] = field(default=())
    exploratory_share: float | None = None
