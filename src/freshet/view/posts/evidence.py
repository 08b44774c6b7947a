"""Whether repeated blocks with times are the posts of a thread, and why.

News pages, shops, blogs and lists of threads have repeated blocks with times too. Points for and
against are added: authors, length of text, order of time, class names, controls for answers; links
instead of text, headings that lead to other pages, dates without a time of day. The weights were
set by hand on hand-made pages and checked on real ones.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp
from statistics import median

from freshet.view.posts.block_posts import BlockPosts
from freshet.view.posts.block_texts import is_link_text
from freshet.view.posts.page_nodes import TEXT, PageNodes
from freshet.view.posts.written_time import DAY

THRESHOLD = 3.75
SINGLE_THRESHOLD = 4.5
_SAMPLE = 60
_MAX_NODES_READ = 400
_WORDS = re.compile(r"[a-z]+")
_TALK_WORDS = frozenset({
    "comment", "comments", "reply", "replies", "message", "messages", "thread", "topic", "answer",
    "answers", "discussion", "forum", "postbody", "postbit", "toot", "comtr", "question",
    "conversation", "msg", "posts", "viewtopic", "showthread", "postlist", "commentlist",
})  # fmt: skip
_CONTROL = re.compile(
    r"(?:reply|quote|report(?: post)?|permalink|up ?vote|down ?vote|add a comment|#\d+"
    r"|respond|cite|thank|context|parent|reply with quote|multi-?quote)s?\W*\d*\W*",
    re.IGNORECASE,
)
_TALK_URL = re.compile(
    r"thread|topic|discussion|/issues?/\d|/pull/\d|question|comments|forum|/t/|showpost|message"
    r"|/posts?/|item\?id|/@[\w.]+/\d|pipermail|archives?/list|/r/",
    re.IGNORECASE,
)
_MAIL_WORDS = re.compile(r"messages sorted by|(?:previous|next) message|in reply to", re.IGNORECASE)
_OLDEST_FIRST, _TALK_NAMES = "oldest first", "class names of a discussion"
_CONTROLS, _TALK_ADDRESS = "controls for answers", "an address of threads"
_TALK_POINTS = frozenset({_OLDEST_FIRST, _TALK_NAMES, _CONTROLS, _TALK_ADDRESS})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(frozen=True, slots=True)
class ThreadEvidence:
    """The points for and against a thread, with a word for each."""

    points: tuple[tuple[str, float], ...]
    blocks: int

    @property
    def score(self) -> float:
        """Return the sum of the points."""
        return sum(value for _, value in self.points)

    @property
    def is_thread(self) -> bool:
        """Return whether the points are enough; a single block needs more."""
        return self.score >= (THRESHOLD if self.blocks > 1 else SINGLE_THRESHOLD)

    @property
    def confidence(self) -> float:
        """Return a number from 0 to 1, at least 0.5 for a thread."""
        threshold = THRESHOLD if self.blocks > 1 else SINGLE_THRESHOLD
        return 1.0 / (1.0 + exp(threshold - self.score))

    def with_metadata(self) -> "ThreadEvidence":
        """Return the evidence of a page whose metadata describes posts."""
        return ThreadEvidence((*self.points, ("metadata of posts", 2.0)), self.blocks)

    @property
    def reason(self) -> str:
        """Return the points for a thread, or those against it, in words."""
        sign = 1 if self.is_thread else -1
        words = [word for word, value in self.points if value * sign > 0]
        if self.is_thread:
            return f"{self.blocks} blocks with times: {', '.join(words)}"
        why = ", ".join(words) or "little speaks for a thread"
        return f"{self.blocks} blocks with times were found, but they are not taken as posts: {why}"


def weigh(
    nodes: PageNodes, posts: BlockPosts, moments: Sequence[float | None], url: str
) -> ThreadEvidence:
    """Return the evidence that blocks are the posts of a thread."""
    points = [
        *_author_points(posts),
        *_text_points(nodes, posts),
        *_time_points(posts, moments),
        *_markup_points(nodes, posts),
    ]
    if _TALK_URL.search(url):
        points.append((_TALK_ADDRESS, 1.0))
    if not _TALK_POINTS.intersection(name for name, _ in points):
        points.append(("nothing of a discussion", -2.0))
    if len(posts) == 1:
        is_mail = _MAIL_WORDS.search(nodes.text(0, len(nodes))) is not None
        points.append(("an archive of mail", 3.0) if is_mail else ("one block only", -3.0))
    return ThreadEvidence(tuple(points), len(posts))


def _author_points(posts: BlockPosts) -> Iterator[tuple[str, float]]:
    names = Counter(author.name for author in posts.authors if author)
    if posts.author_share >= 0.8:
        yield "authors", 2.0
    elif posts.author_share >= 0.5:
        yield "authors of most blocks", 1.0
    else:
        yield "no authors", -3.0
    if len(posts) >= 2 and len(names) >= 2:
        yield "several authors", 1.0
    elif len(posts) >= 4:
        yield "one author only", -2.0


def _text_points(nodes: PageNodes, posts: BlockPosts) -> Iterator[tuple[str, float]]:
    length = median(len(text) for text in posts.texts)
    if length >= 40:
        yield "texts", 1.0
    elif length < 12:
        yield "hardly any text", -2.5
    page_chars = sum(map(len, nodes.texts))
    share = sum(map(len, posts.texts)) / max(page_chars, 1)
    if share >= 0.4:
        yield "most text of the page", 1.0
    elif share < 0.12:
        yield "little text of the page", -1.5


def _time_points(posts: BlockPosts, moments: Sequence[float | None]) -> Iterator[tuple[str, float]]:
    past = [moment for moment in moments if moment is not None]
    if 2 * len(past) < len(moments):
        yield "times in the future", -5.0
    if 2 * sum(time.written.precision >= DAY for time in posts.times) > len(posts):
        yield "dates without a time of day", -2.0
    if len(set(past)) == 1 and 2 <= len(posts) <= 3:
        yield "the same time everywhere", -3.0 if past[0] % DAY == 0 else -1.0
    if len(set(past)) < 3:
        return
    pairs = list(itertools.pairwise(past))
    falling = sum(later < earlier for earlier, later in pairs)
    if 20 * falling <= len(pairs):
        yield _OLDEST_FIRST, 1.5
    elif 20 * (len(pairs) - falling) <= len(pairs):
        yield "newest first", -0.5


def _markup_points(nodes: PageNodes, posts: BlockPosts) -> Iterator[tuple[str, float]]:
    """Yield points for class names, controls, headings and links of a sample of blocks."""
    step = max(1, len(posts) // _SAMPLE)
    sample = range(0, len(posts), step)
    talk = sum(_has_talk_words(nodes, posts.blocks[index].root) for index in sample)
    marks = [_BlockMarks.read(nodes, posts, index) for index in sample]
    count = len(marks)
    if 2 * talk >= count:
        yield _TALK_NAMES, 2.0
    if 2 * sum(mark.has_control for mark in marks) >= count:
        yield _CONTROLS, 1.5
    if 5 * sum(mark.leads_away for mark in marks) >= 3 * count:
        yield "headings that lead to other pages", -2.5
    if 2 * sum(mark.is_mostly_links for mark in marks) >= count:
        yield "mostly links", -4.0


@dataclass(frozen=True, slots=True)
class _BlockMarks:
    has_control: bool
    leads_away: bool
    is_mostly_links: bool

    @classmethod
    def read(cls, nodes: PageNodes, posts: BlockPosts, index: int) -> "_BlockMarks":
        block = posts.blocks[index]
        author = posts.authors[index]
        name = author.name if author else ""
        link_chars = chars = 0
        has_control = leads_away = False
        end = min(block.end, block.start + _MAX_NODES_READ)
        link_end = heading_end = 0
        for node in range(block.start, end):
            tag = nodes.tags[node]
            if tag == TEXT:
                text = nodes.texts[node]
                chars += len(text)
                link_chars += len(text) if node < link_end else 0
                has_control = has_control or _is_control(text)
            elif tag in _HEADINGS:
                heading_end = nodes.ends[node]
            elif tag == "a":
                link_end = nodes.ends[node]
                is_heading = node < heading_end or _holds_heading(nodes, node)
                is_name = nodes.inner_text(node, max_chars=80) == name
                leads_away |= is_heading and not is_name and _leads_away(nodes, node)
            if not has_control and node in nodes.attributes:
                has_control = _is_control(nodes.attributes[node].get("title", "-"))
        is_link = is_link_text(nodes, block, posts.texts[index])
        return cls(has_control, leads_away, is_link or 5 * link_chars > 3 * chars)


def _is_control(text: str) -> bool:
    return len(text) <= 24 and _CONTROL.fullmatch(text) is not None


def _leads_away(nodes: PageNodes, node: int) -> bool:
    href = nodes.attribute(node, "href")
    return bool(href) and "#" not in href


def _holds_heading(nodes: PageNodes, node: int) -> bool:
    end = min(nodes.ends[node], node + 20)
    return not _HEADINGS.isdisjoint(nodes.tags[node + 1 : end])


def _has_talk_words(nodes: PageNodes, root: int) -> bool:
    """Return whether the class names or ids of a block or around it are those of discussions."""
    for node in (root, *nodes.ancestors(root, limit=4)):
        attributes = nodes.attributes.get(node)
        if attributes:
            names = f"{attributes.get('class', '')} {attributes.get('id', '')}".lower()
            if not _TALK_WORDS.isdisjoint(_WORDS.findall(names)):
                return True
    return False
