"""The message of each post block, without the furniture around it.

A block is cut into the largest pieces that have neither its time nor its author. The pieces of the
shape with most text are the message.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache

from freshet.view.posts.block_authors import BlockAuthor
from freshet.view.posts.blocks import PostBlock
from freshet.view.posts.page_nodes import TEXT, PageNodes
from freshet.view.posts.time_candidates import TimeCandidate

_MAX_TEXT_CHARS = 20_000
_MAX_PIECES = 400
# Elements that stand beside each other in a message that has no element of its own.
_FLOW_TAGS = frozenset({
    TEXT,
    "p",
    "ul",
    "ol",
    "pre",
    "blockquote",
    "dd",
    "code",
    "table",
    "b",
    "i",
})
_FLOW_TAGS |= {"em", "strong", "a", "span", "br", "q", "tt", "u"}
_SILENT_TAGS = frozenset({"button", "nav", "input", "img", "hr", "br"})
_EDGE = re.compile(r"^[\s:,.;)\]\u2013\u2014·|-]+")
_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[a-z]+")
_MAX_COMPARED_CHARS = 200
_BODY_WORDS = frozenset({
    "body", "content", "text", "message", "md", "prose", "comment", "post", "inner", "usertext",
})  # fmt: skip
_MARGIN_WORDS = frozenset({
    "author", "meta", "info", "profile", "signature", "stats", "statistics", "modified", "edited",
    "buttons", "controls", "footer", "avatar", "score", "points", "rank", "moderatorbar", "poster",
    "keyinfo", "tagline", "head", "header",
})  # fmt: skip
_POST_NUMBER = re.compile(r"#\d{1,6}")
_MIN_REST_CHARS = 12
_MIN_BLOCKS, _MAX_FURNITURE_CHARS, _MAX_NODES_READ = 4, 40, 400

_Piece = tuple[str, int]


def find_texts(
    nodes: PageNodes,
    blocks: Sequence[PostBlock],
    times: Sequence[TimeCandidate],
    authors: Sequence[BlockAuthor | None],
) -> list[str]:
    """Return the text of each block on one line."""
    pieces = [
        _pieces(nodes, block, author.node if author else -1)
        for block, author in zip(blocks, authors, strict=True)
    ]
    names = [author.name if author else "" for author in authors]
    reader = _MessageReader(nodes, _body_shape(nodes, pieces, names), _furniture(nodes, blocks))
    return [
        reader.text(block_pieces, time) for block_pieces, time in zip(pieces, times, strict=True)
    ]


def is_link_text(nodes: PageNodes, block: PostBlock, text: str) -> bool:
    """Return whether a text consists of links, as the title in a list of threads does."""
    end = min(block.end, block.start + _MAX_NODES_READ)
    chars = sum(
        len(nodes.texts[node])
        for node in range(block.start, end)
        if nodes.texts[node] and _is_in_link(nodes, node) and nodes.texts[node] in text
    )
    return bool(text) and 5 * chars >= 4 * len(text)


def _is_in_link(nodes: PageNodes, node: int) -> bool:
    return any(nodes.tags[ancestor] == "a" for ancestor in nodes.ancestors(node, limit=3))


def _furniture(nodes: PageNodes, blocks: Sequence[PostBlock]) -> frozenset[str]:
    """Return the short texts that half of the blocks have, such as the names of controls."""
    if len(blocks) < _MIN_BLOCKS:
        return frozenset()
    counts: Counter[str] = Counter()
    for block in blocks:
        texts = nodes.texts[block.start : min(block.end, block.start + _MAX_NODES_READ)]
        counts.update({text for text in texts if 0 < len(text) <= _MAX_FURNITURE_CHARS})
    return frozenset(text for text, count in counts.items() if 2 * count >= len(blocks))


def _pieces(nodes: PageNodes, block: PostBlock, author_node: int) -> list[_Piece]:
    """Return the largest elements and texts of a block without its time and its author."""
    pieces: list[_Piece] = []
    node = block.start
    while node < block.end and len(pieces) < _MAX_PIECES:
        end = nodes.ends[node]
        if node in (block.time_node, author_node):
            node = end
            continue
        if node < block.time_node < end or node < author_node < end:
            node += 1
            continue
        if nodes.tags[node] not in _SILENT_TAGS:
            pieces.append((nodes.shapes[node], node))
        node = end
    return pieces


def _body_shape(nodes: PageNodes, pieces: Sequence[list[_Piece]], names: Sequence[str]) -> str:
    """Return the shape of pieces with most text that differs between blocks.

    Texts that differ only in numbers or in the author's name are furniture: "Posts: 12".
    """
    chars: defaultdict[str, float] = defaultdict(float)
    seen: set[tuple[str, str]] = set()
    for block_pieces, name in zip(pieces, names, strict=True):
        for shape, node in block_pieces:
            text = _text_without_links(nodes, node)
            plain = _DIGITS.sub("", text[:_MAX_COMPARED_CHARS])
            key = (shape, plain.replace(name, "") if name else plain)
            if key not in seen:
                seen.add(key)
                chars[shape] += len(text) * _shape_weight(shape)
    return max(chars, key=lambda shape: chars[shape], default="")


@lru_cache(maxsize=4096)
def _shape_weight(shape: str) -> float:
    """Return the weight of a text by the class names of its element."""
    words = set(_WORDS.findall(shape.lower()))
    weight = 1.0 if _BODY_WORDS.isdisjoint(words) else 2.0
    return weight if _MARGIN_WORDS.isdisjoint(words) else weight / 4


def _text_without_links(nodes: PageNodes, node: int) -> str:
    """Return the beginning of the text of a piece, without the texts of links."""
    end = min(nodes.ends[node], node + _MAX_NODES_READ)
    texts = (
        nodes.texts[inner]
        for inner in range(node, end)
        if nodes.texts[inner] and nodes.tags[nodes.parents[inner]] != "a"
    )
    return " ".join(texts)[:_MAX_TEXT_CHARS]


class _MessageReader:
    """Reads the messages of blocks whose body has a known shape."""

    def __init__(self, nodes: PageNodes, body_shape: str, furniture: frozenset[str]) -> None:
        self._nodes = nodes
        self._body_shape = body_shape
        self._body_tag = body_shape.partition(".")[0]
        self._furniture = furniture

    def text(self, pieces: list[_Piece], time: TimeCandidate) -> str:
        """Return the message of a block: the text behind its time, or that of its body."""
        rest = _EDGE.sub("", time.rest)
        if len(rest) >= _MIN_REST_CHARS:
            return rest[:_MAX_TEXT_CHARS]
        body = [node for shape, node in pieces if shape == self._body_shape]
        if self._body_tag in _FLOW_TAGS and self._body_tag != "pre":
            body = [node for shape, node in pieces if shape.partition(".")[0] in _FLOW_TAGS]
        text = self._message(body)
        if text or not pieces:
            return text
        return max((self._message([node]) for _, node in pieces), key=len)

    def _message(self, body: list[int]) -> str:
        """Return the text of some nodes, without quotations unless those are nearly all."""
        own: list[str] = []
        quoted: list[str] = []
        nodes = self._nodes
        for piece in body:
            for node in range(piece, nodes.ends[piece]):
                text = nodes.texts[node]
                if text and text not in self._furniture and not _is_left_out(text):
                    (quoted if nodes.is_aside[node] else own).append(text)
        text = " ".join(own)
        if 3 * len(text) < sum(map(len, quoted)) and len(text) < _MAX_FURNITURE_CHARS:
            text = " ".join((*own, *quoted))
        return text[:_MAX_TEXT_CHARS]


def _is_left_out(text: str) -> bool:
    """Return whether a text is the number of a post, or a line of mail that quotes another."""
    if _POST_NUMBER.fullmatch(text):
        return True
    return text.startswith(">") or (text.startswith("On ") and text.endswith("wrote:"))
