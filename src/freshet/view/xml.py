"""A tolerant reader of XML: whatever the input, a tree, in time linear in its length.

Nothing is ever fetched or expanded: a DOCTYPE is skipped, and only the named and numbered
characters of HTML are understood as entities. An end tag closes the nearest open element of its
local name, or nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape

MOST_ELEMENTS = 500_000

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


@dataclass(slots=True)
class Element:
    """One element: its prefix and local name in lower case, its attributes, and what it holds."""

    prefix: str
    name: str
    attributes: Mapping[str, str]
    parent: "Element | None" = None
    content: "list[str | Element]" = field(default_factory=list)

    @property
    def children(self) -> "Iterator[Element]":
        """Yield the elements directly inside."""
        return (part for part in self.content if isinstance(part, Element))

    def child(self, *names: str) -> "Element | None":
        """Return the first element directly inside that has one of the names."""
        return next((child for child in self.children if child.name in names), None)

    def walk(self) -> "Iterator[Element]":
        """Yield this element and all beneath it, in document order."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(reversed(list(element.children)))

    def text(self) -> str:
        """Return the character data of this element and all beneath it, blocks set apart."""
        pieces: list[str] = []
        pending: list[str | Element] = list(reversed(self.content))
        while pending:
            part = pending.pop()
            if isinstance(part, str):
                pieces.append(part)
            elif part.name not in _UNSEEN:
                gap = () if part.name in _INLINE else (" ",)
                pending.extend((*gap, *reversed(part.content), *gap))
        return "".join(pieces)


def parse(text: str, restart: frozenset[str] = frozenset()) -> Element:
    """Return a nameless element that holds everything the text holds.

    An element named in ``restart`` never holds another of its name: the second closes the first.

    >>> parse("<a><b x='1'>c &amp; d</a>").child("a").text().strip()
    'c & d'
    """
    return _Builder(restart).build(text)


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


def plain(markup: str) -> str:
    """Return the visible words of a piece of HTML, block tags turned into white space.

    >>> plain("a<p>b <b>c</b>&amp;d<script>e</script>")
    'a b c&d'
    """
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


class _Builder:
    """Puts tokens into a tree, counting what is open so that stray end tags cost nothing."""

    def __init__(self, restart: frozenset[str]) -> None:
        self.restart = restart
        self.root = self.top = Element("", "", {})
        self.open: Counter[str] = Counter()
        self.elements = 0

    def build(self, text: str) -> Element:
        """Read all tokens of a text, up to a bound on the number of elements."""
        for token in _TOKEN.finditer(text):
            if token["start"]:
                self._start(token)
            elif token["end"]:
                self._end(token["end"].lower().rpartition(":")[2])
            elif characters := _characters(token):
                self.top.content.append(characters)
            if self.elements == MOST_ELEMENTS:
                break
        return self.root

    def _start(self, token: re.Match[str]) -> None:
        prefix, _, name = token["start"].lower().rpartition(":")
        if name in self.restart:
            self._end(name)
        written = token["attributes"]
        element = Element(prefix, name, _attributes(written) if written else {}, self.top)
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
