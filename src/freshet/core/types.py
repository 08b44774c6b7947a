"""The words that every part shares, as frozen values (docs/glossary.md explains each).

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


class Outcome(StrEnum):
    """How a visit ended; the first three are looks, the rest cost budget and show no content."""

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
    """What a snapshot is, whatever its server called it."""

    HTML = "html"
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    FEED = "feed"
    SITEMAP = "sitemap"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class PageKey:
    """What makes a page that page: where it came from and its canonical URL."""

    url: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A URL kept fresh; its identity never moves."""

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
    """The bytes that a visit brought, content codings undone."""

    url: str
    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()

    def header(self, name: str, default: str = "") -> str:
        """Return the first header of that name, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), default)

    @property
    def media_type(self) -> str:
        """Return the declared media type, lower case and without parameters."""
        return self.header("content-type").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """Where a record lies in the archive."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Visit:
    """One attempt at a page, with its outcome; a visit that shows the content is a look.

    ``uid`` makes a visit unique for good: 16 bytes of its WARC-Record-ID, or of its import row.
    ``digest`` is the sha1 of the payload; ``final_url`` is set when a redirect was followed.
    ``why`` says in a few words what kept a visit from being a look, where more than its outcome is
    known.
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
        """Return in words how the visit ended."""
        return f"{self.outcome}: {self.why}" if self.why else str(self.outcome)


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often each word occurs: ids sorted, counts beside them."""

    hashes: HashArray
    counts: TermCountArray

    @property
    def total(self) -> int:
        """Return the number of words."""
        return int(self.counts.sum())

    def __len__(self) -> int:
        return len(self.hashes)


@dataclass(frozen=True, slots=True)
class BadRow:
    """A place of an input that could not be taken in, and why."""

    place: str
    why: str


INTERNAL, SAME_HOST, SAME_SCHEME, NOFOLLOW = 1, 2, 4, 8


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page, as a value to look at."""

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
        for url, anchor, rel, fact in zip(
            self.urls, self.anchors, self.rels, self.flags.tolist(), strict=True
        ):
            yield Link(
                url, anchor, rel, bool(fact & INTERNAL), bool(fact & SAME_HOST),
                bool(fact & SAME_SCHEME),
            )  # fmt: skip

    @property
    def internal_count(self) -> int:
        """Return how many links stay on the page's site."""
        return int(np.count_nonzero(self.flags & INTERNAL))

    @property
    def external_count(self) -> int:
        """Return how many links leave the page's site."""
        return len(self) - self.internal_count


@dataclass(frozen=True, slots=True)
class DomRows:
    """One row per element in document order (Adar et al. 2009, section 5.1), as columns.

    ``tag`` indexes ``names``; ``parent`` is the row of the parent (-1 at the root); ``index`` is
    the element's place among its siblings of the same name: rows spell ``/html[0]/body[0]``.
    ``full_path`` and ``type_path`` are hashes of both notations, ``node_hash`` of the element's
    own text, ``subtree_hash`` of all text beneath it. ``start`` and ``end`` say where that text
    stands, in bytes of the view's text as UTF-8.
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
    """A snapshot, parsed: what a reader sees, and what measures compare.

    ``text_hash`` covers the visible text with white space collapsed, ``structure_hash`` the tags
    and their nesting, ``body_hash`` the bytes. ``dom`` is there when it was asked for.
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
    """Two views of a page compared; None where the history does not tell.

    The first facts are unmasked. ``changed`` is what policies, metrics and notifications use: the
    masked text differs, or what ``counts_as`` says instead, under mask version ``mask``.
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
        """Return how many links are new, of both kinds together; None where neither is known.

        >>> Change(True, new_internal=2, new_external=3).new_link_count
        5
        """
        counts = (self.new_internal, self.new_external)
        known = [count for count in counts if count is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is expected of pages: per page (row) and horizon (column).

    ``survival`` is the probability that a page has not changed by each horizon, counted from its
    last look; ``new_links`` the expected number of new outlinks by then.
    """

    pages: IndexArray
    horizons: FloatArray
    survival: FloatArray
    new_links: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class PageChoice:
    """One page of a plan: what a visit now is worth, and why."""

    page: int
    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class PlannedVisit:
    """One line of a plan: a page, when its visit is expected, what it is worth then, and why.

    ``score`` is the value on a scale from 0 to 100, where 100 is the greatest value of the plan;
    None where a visit comes before all that have a value.
    """

    page: Page
    expected: datetime
    value: float
    reason: str
    score: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to visit, in order, for which objective and within which budget of requests a day."""

    made: datetime
    objective: str
    policy: str
    budget: int
    choices: tuple[PlannedVisit, ...] = field(default=())
