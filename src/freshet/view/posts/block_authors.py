"""The authors of post blocks, by class names, profile links and position.

Each block offers elements that could name its author. The same kind of element must do so in most
blocks; a block without it takes its best other one.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from freshet.view.posts.blocks import PostBlock
from freshet.view.posts.page_nodes import TEXT, PageNodes
from freshet.view.posts.time_candidates import TimeCandidate

_MAX_NAME_CHARS, _MAX_NAME_WORDS = 60, 6
_MAX_PLAIN_CHARS, _MAX_PLAIN_WORDS = 30, 3
_MAX_NODES_READ = 300
_MAX_NAME_NODES = 12
_MAX_NODES_AFTER = 8
_WORDS = re.compile(r"[a-z]+")
_STRONG_WORDS = frozenset({
    "author", "username", "user", "poster", "nick", "nickname", "byline", "creator", "sender",
    "hnuser", "fullname", "displayname", "handle", "commenter", "login", "postauthor",
    "bigusername",
})  # fmt: skip
_BYLINE_WORDS = frozenset({"author", "byline", "vcard"})
_WEAK_WORDS = frozenset({
    "name",
    "by",
    "profile",
    "member",
    "person",
    "actor",
    "owner",
    "from",
})
_NOT_A_NAME = re.compile(
    r"reply|quote|report|share|edit|delete|permalink|link|like|top|follow|posts?|re:.*|new|online"
    r"|offline|guest|admin(?:istrator)?|moderator|member|author|op|anonymous user|comments?|raw"
    r"|parent|prev|next|root|hide|subject|message|default|website|profile|username|user|\W*"
    r"|\d+ \w+|.*#\d+",
    re.IGNORECASE,
)
_PROFILE_LINK = re.compile(
    r"/(?:users?|u|member|members|profile|profiles|people|author|authors|~)/"
    r"|/@[\w.]|/~\w|viewprofile|member\.php|profile\.php|userinfo|[?&](?:user|u|uid|author|userid)="
    r"|^mailto:|user\?id=|action=profile|/user-\d|User:",
    re.IGNORECASE,
)
_LEAD_WORDS = re.compile(
    r"^(?:(?:view all posts by|posts by|reply to|posted|written|submitted|sent|asked|answered"
    r"|commented|geschrieben|from|by|von|author|on|re)\b[\s:]*)+",
    re.IGNORECASE,
)
_TAIL_WORDS = re.compile(
    r"[\s,;:·•|»>@(\[\u2013\u2014-]*(?:\b(?:wrote|writes|said|says|posted|commented|replied|answered|asked"
    r"|opened|on|at|added|this|issue|a|comment|sagt|schrieb|meint|dijo|am|vom|um|dit|le)\b[\s,;:·•|»>@(\[\u2013\u2014-]*)*$",
    re.IGNORECASE,
)
_ENDS_WITH_BY = re.compile(r"(?:^|\s)(?:by|from|author|poster|name)\s*:?\s*$", re.IGNORECASE)
_BY_NAME = re.compile(
    r"^[\s,·|-]*(?:\S+ ){0,2}?by:?\s+(?P<name>\S.{0,40}?)\s*[:.,)|]?$", re.IGNORECASE
)

_HANDLE = re.compile(r"(?<=\S)\s+\(?@[\w.@-]+\)?$")
_CAPITAL_WORD = re.compile(r"(?!(?:By|On|At|From|Posted|This)\b)[A-Z][a-z]{3,}")
_ADDRESS = re.compile(r"(?<=\S)\s*<\S+@\S+>?$")
_MAIL_ADDRESS = re.compile(r"\S+ at \S+|\S+@\S+")

AuthorKey = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class BlockAuthor:
    """The author of a block and the node that names it, -1 if that is the text of the time."""

    name: str
    node: int


@dataclass(frozen=True, slots=True)
class _NameCandidate:
    key: AuthorKey
    name: str
    node: int


def find_authors(
    nodes: PageNodes, blocks: Sequence[PostBlock], times: Sequence[TimeCandidate]
) -> list[BlockAuthor | None]:
    """Return the author of each block, None where there is none."""
    offers = [_offers(nodes, block, time) for block, time in zip(blocks, times, strict=True)]
    ranking = _ranked_keys(offers)
    return [_choose(candidates, ranking) for candidates in offers]


def _choose(
    candidates: list[_NameCandidate], ranking: dict[AuthorKey, float]
) -> BlockAuthor | None:
    best = max(candidates, key=lambda candidate: ranking.get(candidate.key, -1.0), default=None)
    if best is None or ranking.get(best.key, -1.0) < 0:
        return None
    return BlockAuthor(best.name, best.node)


def _ranked_keys(offers: Sequence[list[_NameCandidate]]) -> dict[AuthorKey, float]:
    """Return the worth of each key: its hints, and the share of blocks that have it.

    Keys without a hint need four blocks in five, and more than one name.
    """
    blocks_of_key: defaultdict[AuthorKey, int] = defaultdict(int)
    names_of_key: defaultdict[AuthorKey, set[str]] = defaultdict(set)
    for candidates in offers:
        for key in {candidate.key for candidate in candidates}:
            blocks_of_key[key] += 1
        for candidate in candidates:
            names_of_key[candidate.key].add(candidate.name)
    ranking: dict[AuthorKey, float] = {}
    for key, count in blocks_of_key.items():
        share, hint = count / len(offers), key[2]
        if hint == 0 and (share < 0.8 or len(names_of_key[key]) < 2 or len(offers) < 3):
            continue
        is_constant = len(offers) >= 4 and share > 0.5 and len(names_of_key[key]) == 1
        ranking[key] = hint + 4.0 * share - (6.0 if is_constant else 0.0)
    return ranking


def _offers(nodes: PageNodes, block: PostBlock, time: TimeCandidate) -> list[_NameCandidate]:
    """Return the elements and texts of a block that could name its author."""
    candidates = _names_in_time_text(time)
    seen_keys: set[AuthorKey] = set()
    previous_text, last_node = "", min(block.end, block.start + _MAX_NODES_READ)
    for node in range(block.start, last_node):
        candidate = _element_name(nodes, node, previous_text, block)
        if candidate is not None and candidate.key not in seen_keys:
            seen_keys.add(candidate.key)
            candidates.append(candidate)
        if nodes.tags[node] == TEXT:
            previous_text = nodes.texts[node]
    return candidates


def _element_name(
    nodes: PageNodes, node: int, previous_text: str, block: PostBlock
) -> _NameCandidate | None:
    """Return the name in an element or a text, None if it cannot be a name."""
    if not _can_be_name(nodes, node, block.time_node):
        return None
    is_text = nodes.tags[node] == TEXT
    hint = _container_hint(nodes, node) if is_text else _hint(nodes, node)
    if _ENDS_WITH_BY.search(previous_text[-12:]):
        hint = max(hint, 2)
    if hint == 0 and not (is_text and node <= block.time_node + _MAX_NODES_AFTER):
        return None
    text = nodes.inner_text(node, max_chars=_MAX_NAME_CHARS + 1)
    if _MAIL_ADDRESS.fullmatch(text) and _is_name(previous_text, is_plain=True):
        text = previous_text
    name = _clean_name(text) if len(text) <= _MAX_NAME_CHARS else ""
    if not _is_name(name, is_plain=hint == 0):
        return None
    parent = nodes.parents[node]
    shapes = (nodes.shapes[node], nodes.shapes[parent] if parent >= 0 else "")
    return _NameCandidate((*shapes, hint), name, node)


def _can_be_name(nodes: PageNodes, node: int, time_node: int) -> bool:
    """Return whether a node is small, in the main content and apart from the time."""
    end = nodes.ends[node]
    has_time = node <= time_node < end or time_node < node < nodes.ends[time_node]
    return end - node <= _MAX_NAME_NODES and not nodes.is_aside[node] and not has_time


def _container_hint(nodes: PageNodes, node: int) -> int:
    """Return 2 for a text in an element that is named after authors but has more in it."""
    shapes = [nodes.shapes[ancestor] for ancestor in nodes.ancestors(node, limit=2)]
    return 2 if any(_is_byline(shape) for shape in shapes) else 0


@lru_cache(maxsize=4096)
def _is_byline(shape: str) -> bool:
    return not _BYLINE_WORDS.isdisjoint(_WORDS.findall(shape.lower()))


def _text_count(nodes: PageNodes, node: int) -> int:
    return sum(bool(text) for text in nodes.texts[node : nodes.ends[node]])


def _names_in_time_text(time: TimeCandidate) -> list[_NameCandidate]:
    """Return names in the text of the time: "Ann, 3 March 2009" or "3 hours ago by Ann"."""
    name = _clean_name(time.lead)
    if name and _is_name(name, is_plain=False):
        return [_NameCandidate(("lead", "", 2), name, -1)]
    match = _BY_NAME.match(time.rest[:60]) if time.rest else None
    if match and _is_name(match["name"], is_plain=False):
        return [_NameCandidate(("rest", "", 2), match["name"], -1)]
    return []


def _hint(nodes: PageNodes, node: int) -> int:
    """Return how much an element looks like the name of an author, from 0 to 6."""
    attributes = nodes.attributes.get(node)
    if not attributes:
        return 1 if nodes.tags[node] in {"cite", "address"} else 0
    if "author" in (attributes.get("itemprop") or attributes.get("rel") or ""):
        return 6
    words = set(_WORDS.findall(attributes.get("class", "").lower()))
    if "fn" in words:
        return 5
    hint = 4 * (not _STRONG_WORDS.isdisjoint(words)) or 2 * (not _WEAK_WORDS.isdisjoint(words))
    if nodes.tags[node] == "a" and _PROFILE_LINK.search(attributes.get("href", "")):
        hint = max(hint + 1, 4)
    # A profile with more than a name in it, such as a rank or a score.
    return hint - 1 if hint > 1 and _text_count(nodes, node) > 1 else hint


@lru_cache(maxsize=4096)
def _clean_name(text: str) -> str:
    """Return a name without the words around it.

    >>> _clean_name("Posted by Ann Lee on"), _clean_name("Ann wrote:")
    ('Ann Lee', 'Ann')
    """
    name = _HANDLE.sub("", _ADDRESS.sub("", text.strip()))
    if _CAPITAL_WORD.fullmatch(name):
        return name
    name = _TAIL_WORDS.sub("", name)
    return _LEAD_WORDS.sub("", name).strip(' \t,;:·•|»>()[]\u2013\u2014"')


def _is_name(name: str, *, is_plain: bool) -> bool:
    chars, words = len(name), name.count(" ") + 1
    if not name or chars > _MAX_NAME_CHARS or words > _MAX_NAME_WORDS:
        return False
    if is_plain and (chars > _MAX_PLAIN_CHARS or words > _MAX_PLAIN_WORDS):
        return False
    if "," in name and words > _MAX_PLAIN_WORDS:
        return False
    has_letter = any(char.isalpha() for char in name)
    is_sentence = is_plain and name[-1] in ".!?"
    return has_letter and not is_sentence and not _NOT_A_NAME.fullmatch(name)
