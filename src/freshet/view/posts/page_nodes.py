"""The nodes of an HTML page as columns, from one walk of its tree.

Elements and texts are numbered in document order, so that an element is a range of numbers. A text
in a ``pre`` element has a node for each line, because archives of mail are written so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

TEXT = "#text"
MAX_NODES = 2_500_000
_SILENT = frozenset({"style", "template", "noembed", "noframes", "iframe", "svg", "math", "object"})
_SILENT |= {"select", "textarea", "title", "canvas", "video", "audio"}
# Attributes that can tell the time, the author or the identity of a post.
_ATTRIBUTES = frozenset({
    "aria-label", "class", "content", "data-author", "data-comment-id", "data-id",
    "data-message-id", "data-post-id", "data-postid", "data-username", "datetime", "href", "id",
    "itemid", "itemprop", "itemscope", "itemtype", "name", "property", "rel", "role", "title",
    "typeof",
})  # fmt: skip
_TIME_ATTRIBUTE = re.compile(
    r"data-.*(?:time|date|stamp|epoch|created|title|tippy|tooltip)|^(?:ts|unixtime)$"
)
# Parts of a page that show the times of other things.
_ASIDE_TAGS = frozenset({"aside", "nav", "blockquote", "head"})
_ASIDE_CLASSES = frozenset({
    "sidebar", "widget", "widgets", "related", "quote", "quotebox", "quoteblock", "bbcode_quote",
    "bbcode-quote", "bbcodeblock", "signature", "breadcrumb", "breadcrumbs", "quote-header",
})  # fmt: skip
_COMMENT_LISTS = frozenset({
    "comments", "commentlist", "comment-list", "comments-area", "comments-list",
})  # fmt: skip
_COMMENTS = re.compile(r"comment|discussion|repl(?:y|ies)|thread|post", re.IGNORECASE)
_ASIDE_ROLES = frozenset({"complementary", "navigation", "search"})
# States and positions in class names, which differ between blocks of one shape.
_STATE = re.compile(r"\d|^(?:odd|even|alt|first|last|new|read|unread|active|current|selected)$")


@dataclass(slots=True)
class PageNodes:
    """Columns of nodes: tag, parent, the number after the last node inside, shape, text.

    ``shapes`` are tags with class names, without names that differ between blocks of one shape.
    ``is_aside`` marks nodes inside quotations, navigation and side columns. ``attributes`` has the
    elements with attributes that matter; ``scripts`` holds the JSON-LD documents.
    """

    tags: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    is_aside: list[bool] = field(default_factory=list)
    attributes: dict[int, dict[str, str]] = field(default_factory=dict)
    scripts: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tags)

    def attribute(self, node: int, name: str) -> str:
        """Return the value of an attribute, empty if there is none."""
        attributes = self.attributes.get(node)
        return attributes.get(name, "") if attributes else ""

    def text(self, start: int, end: int, *, max_chars: int = 20_000) -> str:
        """Return the text of a range of nodes on one line."""
        return " ".join(self._text_parts(start, end, max_chars))

    def inner_text(self, node: int, *, max_chars: int = 20_000) -> str:
        """Return the text of a node on one line."""
        return self.text(node, self.ends[node], max_chars=max_chars)

    def ancestors(self, node: int, *, limit: int = 60) -> Iterator[int]:
        """Yield the nearest ancestors of a node, from the inside out."""
        parent = self.parents[node]
        while parent >= 0 and limit:
            yield parent
            parent = self.parents[parent]
            limit -= 1

    def _text_parts(self, start: int, end: int, max_chars: int) -> Iterator[str]:
        for text in self.texts[start:end]:
            if text:
                yield text[:max_chars]
                max_chars -= len(text)
                if max_chars <= 0:
                    return


def read_nodes(html: str) -> PageNodes:
    """Parse a document and return its nodes; pages of more than MAX_NODES nodes are cut."""
    return _NodeReader().read(HTMLTree.parse(html))


class _NodeReader:
    """Walks a tree without recursion and fills the columns."""

    def __init__(self) -> None:
        self._nodes = PageNodes()
        self._open: list[tuple[DOMNode, int]] = []
        self._shapes: dict[tuple[str, str], str] = {}
        self._is_aside_class: dict[str, bool] = {}
        self._pre_depth = 0

    def read(self, tree: HTMLTree) -> PageNodes:
        """Return the columns of a tree."""
        node = tree.document.first_child if tree.document else None
        while node is not None or self._open:
            if node is None:
                node = self._close().next
                continue
            if node.type == NodeType.TEXT:
                self._add_text(node.value)
            elif node.type == NodeType.ELEMENT and self._enter(node):
                node = node.first_child
                continue
            node = node.next
            if len(self._nodes) > MAX_NODES:
                node = None
        return self._nodes

    def _enter(self, node: DOMNode) -> bool:
        """Add an element; return whether its content is read next."""
        tag = str(node.tag)
        if tag in _SILENT:
            return False
        if tag == "script":
            if (node.getattr("type") or "").strip().lower() == "application/ld+json":
                self._nodes.scripts.append(node.text)
            return False
        number = self._add(tag, "", self._read_attributes(node))
        if node.first_child is None:
            return False
        self._open.append((node, number))
        self._pre_depth += tag == "pre"
        return True

    def _close(self) -> DOMNode:
        node, number = self._open.pop()
        self._nodes.ends[number] = len(self._nodes)
        self._pre_depth -= node.tag == "pre"
        return node

    def _add(self, tag: str, text: str, attributes: dict[str, str] | None) -> int:
        nodes, parent = self._nodes, self._open[-1][1] if self._open else -1
        number = len(nodes.tags)
        class_names = ""
        if attributes:
            nodes.attributes[number] = attributes
            class_names = attributes.get("class", "")
        nodes.tags.append(tag)
        nodes.parents.append(parent)
        nodes.ends.append(number + 1)
        nodes.shapes.append(self._shape(tag, class_names))
        nodes.texts.append(text)
        is_aside = parent >= 0 and nodes.is_aside[parent]
        if is_aside and class_names:
            is_aside = _COMMENT_LISTS.isdisjoint(class_names.split())
        nodes.is_aside.append(is_aside or self._starts_aside(tag, class_names, attributes))
        return number

    def _add_text(self, value: str) -> None:
        lines = value.split("\n") if self._pre_depth else (value,)
        for line in lines:
            if text := " ".join(line.split()):
                self._add(TEXT, text, None)

    def _read_attributes(self, node: DOMNode) -> dict[str, str] | None:
        names = node.attrs
        if not names:
            return None
        wanted = [name for name in names if name in _ATTRIBUTES or _TIME_ATTRIBUTE.search(name)]
        return {name: node.getattr(name) or "" for name in wanted} or None

    def _shape(self, tag: str, class_names: str) -> str:
        """Return a tag with its class names, without states."""
        if not class_names:
            return tag
        shape = self._shapes.get((tag, class_names))
        if shape is None:
            names = sorted(name for name in class_names.split() if not _STATE.search(name))
            shape = self._shapes[tag, class_names] = ".".join((tag, *names))
        return shape

    def _starts_aside(self, tag: str, class_names: str, attributes: dict[str, str] | None) -> bool:
        """Return whether an element is beside the main content; comments never are."""
        if not attributes:
            return tag in _ASIDE_TAGS
        if tag in _ASIDE_TAGS or attributes.get("role", "") in _ASIDE_ROLES:
            return not _COMMENTS.search(f"{class_names} {attributes.get('id', '')}")
        if not class_names:
            return False
        is_aside = self._is_aside_class.get(class_names)
        if is_aside is None:
            is_aside = not _ASIDE_CLASSES.isdisjoint(class_names.lower().split())
            self._is_aside_class[class_names] = is_aside
        return is_aside
