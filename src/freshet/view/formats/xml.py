"""A tolerant reader of XML: whatever the input, a tree, in time linear in its length.

Nothing is ever fetched or expanded: a DOCTYPE is skipped, and only the named and numbered
characters of HTML are understood as entities. An end tag closes the nearest open element of its
local name, or nothing.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from html import unescape

# Pages of the web are read up to so many elements; a file that a person gives is read to its end.
MAX_ELEMENTS = 500_000
MAX_VIEW_ELEMENTS = 60_000
NO_LIMIT = sys.maxsize

# Each alternative either matches a stretch that ends before the next "<" or runs to the end.
_TOKEN = re.compile(
    r"""<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)
    |<!--.*?(?:-->|\Z)
    |<\?.*?(?:\?>|\Z)
    |<![^>\[]*+(?:\[[^\]]*+(?:\]|\Z)[^>]*+)?(?:>|\Z)
    |</\s*+(?P<end>[\w:.-]++)[^<>]*+>?
    |<(?P<start>[^\W\d][\w:.-]*+)
      (?P<attributes>(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+(?=>)|[^<>]*+)>?
    |(?P<text>[^<]++|<)""",
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))"""
)
_UNSEEN = frozenset({"script", "style", "noscript", "template"})
_INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "big", "cite", "code", "em", "font", "i", "s", "small", "span"}
    | {"strike", "strong", "sub", "sup", "tt", "u", "wbr"}
)


class XmlElement:
    """One element: its prefix and local name in lower case, its attributes, and what it holds."""

    __slots__ = ("attributes", "content", "name", "parent", "prefix")

    def __init__(
        self,
        prefix: str,
        name: str,
        attributes: Mapping[str, str],
        parent: "XmlElement | None" = None,
    ) -> None:
        self.prefix = prefix
        self.name = name
        self.attributes = attributes
        self.parent = parent
        self.content: list[str | XmlElement] = []

    @property
    def children(self) -> "list[XmlElement]":
        """Return the elements directly inside."""
        return [part for part in self.content if isinstance(part, XmlElement)]

    def child(self, *names: str) -> "XmlElement | None":
        """Return the first element directly inside that has one of the names."""
        return next((child for child in self.children if child.name in names), None)

    @property
    def descendant_count(self) -> int:
        """Return how many elements are beneath this one."""
        return sum(1 for _ in self.walk()) - 1

    def walk(self) -> "Iterator[XmlElement]":
        """Yield this element and all beneath it, in document order."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(reversed(element.children))

    def text(self) -> str:
        """Return the character data of this element and all beneath it, blocks set apart."""
        if len(self.content) == 1 and isinstance(self.content[0], str):
            return self.content[0]
        pieces: list[str] = []
        pending: list[str | XmlElement] = list(reversed(self.content))
        while pending:
            part = pending.pop()
            if isinstance(part, str):
                pieces.append(part)
            elif part.name not in _UNSEEN:
                gap = () if part.name in _INLINE else (" ",)
                pending.extend((*gap, *reversed(part.content), *gap))
        return "".join(pieces)


def parse_xml(
    text: str, non_nesting: frozenset[str] = frozenset(), *, max_elements: int | None = None
) -> XmlElement:
    """Return a nameless element that holds everything the text holds, up to so many elements.

    An element named in ``non_nesting`` never holds another of its name: the second closes the first.

    >>> parse_xml("<a><b x='1'>c &amp; d</a>").child("a").text().strip()
    'c & d'
    """
    return _TreeBuilder(non_nesting, MAX_ELEMENTS if max_elements is None else max_elements).build(
        text
    )


def root_name(head: str) -> str:
    """Return the local name of the first element of a text, or nothing if it begins otherwise.

    >>> root_name('<?xml version="1.0"?><!-- x --><rdf:RDF>')
    'rdf'
    """
    for token in _TOKEN.finditer(head.lstrip("\ufeff")):
        if token["start"]:
            return token["start"].rpartition(":")[2].lower()
        if (token["text"] or "").strip() or token["end"] or token["cdata"]:
            return ""
    return ""


def html_to_text(markup: str) -> str:
    """Return the visible words of a piece of HTML, block tags turned into white space.

    >>> html_to_text("a<p>b <b>c</b>&amp;d<script>e</script>")
    'a b c&d'
    """
    if "<" not in markup:
        return " ".join(unescape(markup).split())
    pieces: list[str] = []
    unseen = ""
    for token in _TOKEN.finditer(markup):
        name = (token["start"] or token["end"] or "").lower()
        if unseen:
            unseen = "" if token["end"] and name == unseen else unseen
        elif token["start"] and name in _UNSEEN:
            unseen = name
        elif not name:
            pieces.append(_characters(token))
        elif name not in _INLINE:
            pieces.append(" ")
    return " ".join("".join(pieces).split())


def _characters(token: re.Match[str]) -> str:
    """Return the character data that a token stands for."""
    return unescape(token["text"]) if token["text"] else token["cdata"] or ""


def _attributes(written: str) -> Mapping[str, str]:
    """Return attributes by their names in lower case; the first of a name counts."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(written):
        found.setdefault(name.lower(), unescape(double or single or bare))
    return found


class _TreeBuilder:
    """Puts tokens into a tree, counting what is open so that stray end tags cost nothing."""

    def __init__(self, restart: frozenset[str], most: int) -> None:
        self.restart = restart
        self.most = most
        self.root = self.top = XmlElement("", "", {})
        self.open: Counter[str] = Counter()
        self.elements = 0

    def build(self, text: str) -> XmlElement:
        """Read all tokens of a text, up to a bound on the number of elements."""
        for token in _TOKEN.finditer(text):
            kind = token.lastgroup
            if kind == "text":
                if characters := unescape(token[0]):
                    self.top.content.append(characters)
            elif kind == "attributes":
                self._start(token["start"].lower(), token["attributes"])
                if self.elements == self.most:
                    break
            elif kind == "end":
                self._end(token["end"].lower().rpartition(":")[2])
            elif kind == "cdata" and token["cdata"]:
                self.top.content.append(token["cdata"])
        return self.root

    def _start(self, full_name: str, written: str) -> None:
        prefix, _, name = full_name.rpartition(":")
        if name in self.restart:
            self._end(name)
        element = XmlElement(prefix, name, _attributes(written) if written else {}, self.top)
        self.top.content.append(element)
        self.elements += 1
        if not written.endswith("/"):
            self.top = element
            self.open[name] += 1

    def _end(self, name: str) -> None:
        if not self.open[name]:
            return
        while self.top.parent is not None:
            closed, self.top = self.top.name, self.top.parent
            self.open[closed] -= 1
            if closed == name:
                return
