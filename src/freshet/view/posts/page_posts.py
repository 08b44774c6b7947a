"""Find the posts of a snapshot: the entry point of this package."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from freshet.core.clock import to_epoch
from freshet.core.content.posts import Post
from freshet.core.types import ContentKind, Snapshot
from freshet.view.bounds import ViewLimits
from freshet.view.formats import feeds
from freshet.view.parse import decode_document
from freshet.view.posts.block_identities import find_identities
from freshet.view.posts.block_posts import BlockPosts, find_block_posts
from freshet.view.posts.evidence import ThreadEvidence, weigh
from freshet.view.posts.merge import content_identity
from freshet.view.posts.page_links import ThreadPageLinks, find_page_links
from freshet.view.posts.page_nodes import PageNodes, read_nodes
from freshet.view.posts.schema_posts import MarkedPost, json_ld_posts, microdata_posts
from freshet.view.posts.time_candidates import find_candidates
from freshet.view.posts.time_context import page_context, plausible_moment
from freshet.view.posts.written_time import ExactTime, TimeContext
from freshet.view.sniff import kind_of

_DEFAULT_LIMITS = ViewLimits(max_body_bytes=32 << 20)
_METADATA_CONFIDENCE = 0.95
# Metadata often has the first posts only; it is used if it has most of those that the page shows.
_MIN_METADATA_SHARE = 0.8
NO_TIMES = "no repeated blocks with times were found"


class PostSource(StrEnum):
    """Where the posts of a page were found."""

    NONE = "none"
    FEED = "feed"
    JSON_LD = "json-ld"
    MICRODATA = "microdata"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class PagePosts:
    """The posts of one page by time, and the links to the other pages of its thread.

    An ordinary page has no posts. ``reason`` says in words why posts were found or not,
    ``confidence`` how sure that is, from 0 to 1.
    """

    posts: tuple[Post, ...]
    source: PostSource
    confidence: float
    reason: str
    links: ThreadPageLinks = field(default_factory=ThreadPageLinks)

    @property
    def is_thread(self) -> bool:
        """Return whether the page has posts."""
        return bool(self.posts)


def find_posts(
    snapshot: Snapshot, visited: datetime, *, limits: ViewLimits = _DEFAULT_LIMITS
) -> PagePosts:
    """Return the posts of a snapshot; relative times are counted from the visit's moment.

    >>> from datetime import UTC
    >>> page = Snapshot("http://x.org/", b"<p>It rains")
    >>> find_posts(page, datetime(2020, 1, 1, tzinfo=UTC)).reason
    'no repeated blocks with times were found'
    """
    kind = kind_of(snapshot.body, snapshot.media_type)
    text, _, _ = decode_document(snapshot, kind, limits)
    visited_seconds = to_epoch(visited)
    if kind == ContentKind.FEED:
        return _feed_posts(text, snapshot.url, visited_seconds)
    if kind != ContentKind.HTML:
        return PagePosts((), PostSource.NONE, 0.0, f"a document of the kind {kind} has no posts")
    return _html_posts(read_nodes(text), snapshot.url, visited_seconds)


def _feed_posts(text: str, url: str, visited: float) -> PagePosts:
    """Return the entries of a feed as posts."""
    context = TimeContext(visited)
    marked = [
        MarkedPost(ExactTime(to_epoch(entry.published)), entry.author, entry.text, entry.identity)
        for entry in feeds.messages(text, url)
        if entry.published is not None
    ]
    posts = _posts_of_metadata(marked, context)
    if not posts:
        return PagePosts((), PostSource.NONE, 0.0, "the feed has no entries with times")
    return PagePosts(posts, PostSource.FEED, 1.0, f"{len(posts)} entries of a feed")


def _html_posts(nodes: PageNodes, url: str, visited: float) -> PagePosts:
    """Return the posts of an HTML page, from its metadata or its repeated blocks."""
    candidates = find_candidates(nodes)
    context = page_context(nodes, candidates, visited)
    marked = {
        PostSource.JSON_LD: _posts_of_metadata(json_ld_posts(nodes.scripts), context),
        PostSource.MICRODATA: _posts_of_metadata(microdata_posts(nodes), context),
    }
    source = max(marked, key=lambda name: len(marked[name]))
    block_posts = find_block_posts(nodes, candidates)
    links = find_page_links(nodes, url)
    if block_posts is not None:
        moments = [plausible_moment(time.written, context) for time in block_posts.times]
        evidence = weigh(nodes, block_posts, moments, url)
        if marked[source]:
            evidence = evidence.with_metadata()
        count = sum(moment is not None for moment in moments)
        if evidence.is_thread and len(marked[source]) < _MIN_METADATA_SHARE * count:
            posts = _posts_of_blocks(nodes, block_posts, moments, url)
            return _page_posts(posts, PostSource.BLOCKS, evidence, links)
    if marked[source]:
        reason = f"{len(marked[source])} posts in the page's {source} metadata"
        return PagePosts(marked[source], source, _METADATA_CONFIDENCE, reason, links)
    if block_posts is None:
        return PagePosts((), PostSource.NONE, 0.0, NO_TIMES)
    return PagePosts((), PostSource.NONE, evidence.confidence, evidence.reason)


def _page_posts(
    posts: tuple[Post, ...], source: PostSource, evidence: ThreadEvidence, links: ThreadPageLinks
) -> PagePosts:
    return PagePosts(posts, source, evidence.confidence, evidence.reason, links)


def _posts_of_metadata(marked: Iterable[MarkedPost], context: TimeContext) -> tuple[Post, ...]:
    posts = []
    for item in marked:
        moment = plausible_moment(item.written, context)
        if moment is not None:
            identity = item.identity or content_identity(None, item.author, item.text)
            posts.append(Post(moment, item.author or None, item.text, identity))
    return _in_order(posts)


def _posts_of_blocks(
    nodes: PageNodes, found: BlockPosts, moments: Sequence[float | None], url: str
) -> tuple[Post, ...]:
    known_moments = [moment or 0.0 for moment in moments]
    identities = find_identities(nodes, found.blocks, known_moments, url)
    rows = zip(moments, found.authors, found.texts, identities, strict=True)
    posts = []
    for moment, author, text, identity in rows:
        if moment is None:
            continue
        name = author.name if author else None
        identity = identity or content_identity(None, name, text)
        posts.append(Post(moment, name, text, identity))
    return _in_order(posts)


def _in_order(posts: Sequence[Post]) -> tuple[Post, ...]:
    """Return posts by time; an identity that occurs again gets a number, the earliest post none."""
    counts: Counter[str] = Counter()
    distinct = []
    for post in sorted(posts, key=lambda post: post.time):
        counts[post.identity] += 1
        number = counts[post.identity]
        identity = post.identity if number == 1 else f"{post.identity}/{number}"
        distinct.append(replace(post, identity=identity))
    return tuple(distinct)
