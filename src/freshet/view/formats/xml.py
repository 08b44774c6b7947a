"""A tolerant XML parser: it returns a tree for any input, in time linear in its length.

Nothing is fetched or expanded: a DOCTYPE is skipped, and only HTML's named and numeric character
references are decoded. An end tag closes the nearest open element of its local name, if any.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from html import unescape

# Limits for documents from the web; a file that the user provides is read completely.
MAX_ELEMENTS = 500_000
MAX_VIEW_ELEMENTS = 60_000
NO_LIMIT = sys.maxsize

# Each alternative matches up to the next "<" or to the end of the text, so time is linear.
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
_INVISIBLE = frozenset({"script", "style", "noscript", "template"})
_INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "big", "cite", "code", "em", "font", "i", "s", "small", "span"}
    | {"strike", "strong", "sub", "sup", "tt", "u", "wbr"}
)


class XmlElement:
    """An element: prefix and local name in lower case, attributes, and content."""

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
        """Return the child elements."""
        return [node for node in self.content if isinstance(node, XmlElement)]

    def child(self, *names: str) -> "XmlElement | None":
        """Return the first child element with one of the names."""
        return next((child for child in self.children if child.name in names), None)

    @property
    def descendant_count(self) -> int:
        """Return the number of elements inside this one."""
        return sum(1 for _ in self.walk()) - 1

    def walk(self) -> "Iterator[XmlElement]":
        """Yield this element and all elements inside it, in document order."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(reversed(element.children))

    def text(self) -> str:
        """Return the character data of this element; blocks are separated by blanks."""
        if len(self.content) == 1 and isinstance(self.content[0], str):
            return self.content[0]
        parts: list[str] = []
        pending: list[str | XmlElement] = list(reversed(self.content))
        while pending:
            node = pending.pop()
            if isinstance(node, str):
                parts.append(node)
            elif node.name not in _INVISIBLE:
                separator = () if node.name in _INLINE else (" ",)
                pending.extend((*separator, *reversed(node.content), *separator))
        return "".join(parts)


def parse_xml(
    text: str, non_nesting: frozenset[str] = frozenset(), *, max_elements: int | None = None
) -> XmlElement:
    """Return a nameless root element; stop after ``max_elements`` elements.

    An element named in ``non_nesting`` never contains another of its name: the second closes the
    first.

    >>> parse_xml("<a><b x='1'>c &amp; d</a>").child("a").text().strip()
    'c & d'
    """
    return _TreeBuilder(non_nesting, MAX_ELEMENTS if max_elements is None else max_elements).build(
        text
    )


def root_name(head: str) -> str:
    """Return the local name of the first element of a text; empty if the text begins otherwise.

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
    """Return the visible words of an HTML fragment; block tags become white space.

    >>> html_to_text("a<p>b <b>c</b>&amp;d<script>e</script>")
    'a b c&d'
    """
    if "<" not in markup:
        return " ".join(unescape(markup).split())
    parts: list[str] = []
    invisible_name = ""
    for token in _TOKEN.finditer(markup):
        name = (token["start"] or token["end"] or "").lower()
        if invisible_name:
            invisible_name = "" if token["end"] and name == invisible_name else invisible_name
        elif token["start"] and name in _INVISIBLE:
            invisible_name = name
        elif not name:
            parts.append(unescape(token["text"]) if token["text"] else token["cdata"] or "")
        elif name not in _INLINE:
            parts.append(" ")
    return " ".join("".join(parts).split())


def _parse_attributes(source: str) -> Mapping[str, str]:
    """Return attributes by their names in lower case; the first of a name counts."""
    attributes: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(source):
        attributes.setdefault(name.lower(), unescape(double or single or bare))
    return attributes


class _TreeBuilder:
    """Builds a tree from tokens; it counts open elements so that stray end tags cost nothing."""

    def __init__(self, non_nesting: frozenset[str], max_elements: int) -> None:
        self._non_nesting = non_nesting
        self._max_elements = max_elements
        self._root = self._top = XmlElement("", "", {})
        self._open_names: Counter[str] = Counter()
        self._element_count = 0

    def build(self, text: str) -> XmlElement:
        """Read the tokens of a text, up to the maximum number of elements."""
        for token in _TOKEN.finditer(text):
            kind = token.lastgroup
            if kind == "text":
                if characters := unescape(token[0]):
                    self._top.content.append(characters)
            elif kind == "attributes":
                self._start_element(token["start"].lower(), token["attributes"])
                if self._element_count == self._max_elements:
                    break
            elif kind == "end":
                self._end_element(token["end"].lower().rpartition(":")[2])
            elif kind == "cdata" and token["cdata"]:
                self._top.content.append(token["cdata"])
        return self._root

    def _start_element(self, full_name: str, attribute_source: str) -> None:
        prefix, _, name = full_name.rpartition(":")
        if name in self._non_nesting:
            self._end_element(name)
        attributes = _parse_attributes(attribute_source) if attribute_source else {}
        element = XmlElement(prefix, name, attributes, self._top)
        self._top.content.append(element)
        self._element_count += 1
        if not attribute_source.endswith("/"):
            self._top = element
            self._open_names[name] += 1

    def _end_element(self, name: str) -> None:
        if not self._open_names[name]:
            return
        while self._top.parent is not None:
            closed, self._top = self._top.name, self._top.parent
            self._open_names[closed] -= 1
            if closed == name:
                return
