"""HTML to what a reader sees: text, title, language, references, structure.

lexbor builds the tree and writes it out again (resiliparse), and compiled passes over that markup
give everything at once. Scripts, styles, templates, comments, titles and the content of frames are
not text; ``noscript`` is, for pages are fetched without scripting; hidden elements stay.
"""

import re
from dataclasses import dataclass
from html import unescape

import numpy as np
from resiliparse.parse.html import HTMLTree
from xxhash import xxh3_64_intdigest

from freshet.core.types import DomRows
from freshet.view.bounds import Limits
from freshet.view.dom import rows_of
from freshet.view.escaped_markup import spelled
from freshet.view.formats.document import Href, Reading
from freshet.view.kernels.elements import first, link_lines, nest, number
from freshet.view.kernels.markup import (
    CLOSE,
    COLUMNS,
    END,
    KIND,
    START,
    Bytes,
    Ints,
    references,
    tokenise,
    write_text,
)  # fmt: skip
from freshet.view.tags import BASE, LINK, TITLE

_TITLE_BYTES, _TAG_BYTES = 4_000, 2_000
_LANGUAGE = re.compile(rb'(?: [^ >=]+(?:="[^"]*")?)*? lang="\s*([a-zA-Z]{2,3})[-_"]')


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document, read.

    ``text_hash`` is that of its text on one line; ``base`` is what its references are relative to,
    if it says so.
    """

    reading: Reading
    text_hash: int
    base: str = ""
    structure_hash: int = 0
    elements: int = 0
    depth: int = 0
    dom: DomRows | None = None


@dataclass(frozen=True, slots=True)
class Markup:
    """Serialised markup with its tokens, nested."""

    source: bytes
    tokens: Ints
    depth: int

    @property
    def bytes(self) -> Bytes:
        return np.frombuffer(self.source, np.uint8)


def parse(html: str, *, dom: bool, limits: Limits) -> Parsed:
    """Return what a reader sees of an HTML document, with DOM rows when asked for."""
    tree = HTMLTree.parse(html)
    markup = markup_of(tree)
    elements, structure = number(markup.tokens)
    text = np.empty(len(markup.source) + 1, np.uint8)
    text = text[: write_text(markup.bytes, markup.tokens, text)]
    rows = rows_of(markup.source, markup.tokens, text, elements) if dom else None
    written = text.tobytes()
    plain = written.decode("utf-8", "replace")
    reading = Reading(_title(markup), plain, _hrefs(markup, text, limits), _language(markup))
    line = xxh3_64_intdigest(written.replace(b"\n", b" "))
    return Parsed(reading, line, base_of(markup), int(structure), elements, markup.depth, rows)


def markup_of(tree: HTMLTree) -> Markup:
    """Return the tree's markup and tokens; spelt out with all text escaped if it is ambiguous."""
    markup = _tokens(str(tree.document.html).encode("utf-8", "replace"), False)
    return markup or _tokens(spelled(tree), True) or Markup(b"", _tokens_for(b""), 0)


def _tokens(source: bytes, escaped: bool) -> Markup | None:
    tokens = _tokens_for(source)
    size = tokenise(np.frombuffer(source, np.uint8), tokens, escaped)
    depth = nest(tokens[:size]) if size >= 0 else -1
    return Markup(source, tokens[:size], depth) if depth >= 0 else None


def _tokens_for(source: bytes) -> Ints:
    tags = np.count_nonzero(np.frombuffer(source, np.uint8) == ord("<"))
    return np.empty((2 * tags + 2, COLUMNS), np.int64)


def _hrefs(markup: Markup, text: Bytes, limits: Limits) -> tuple[Href, ...]:
    """Return distinct references with anchor text and rel, in document order."""
    found = references(markup.bytes, markup.tokens, LINK)[: limits.links]
    lines = link_lines(markup.bytes, markup.tokens, text, found, limits.anchor_chars)
    hrefs, anchors, rels = (line.tobytes().decode("utf-8", "replace").split("\n") for line in lines)
    return tuple(zip(hrefs[:-1], anchors[:-1], rels[:-1], strict=True))


def base_of(markup: Markup) -> str:
    """Return the href of the first base element that has one."""
    if first(markup.tokens, BASE) < 0:
        return ""
    found = references(markup.bytes, markup.tokens, BASE)[:1]
    lines = link_lines(markup.bytes, markup.tokens, markup.bytes[:0], found, 0)
    return str(lines[0].tobytes().decode("utf-8", "replace")).strip()


def _title(markup: Markup) -> str:
    """Return the text of the first title on one line."""
    at = first(markup.tokens, TITLE)
    if at < 0 or markup.tokens[at + 1, KIND] == CLOSE:
        return ""
    start, end = markup.tokens[at + 1, START], markup.tokens[at + 1, END]
    written = markup.source[start : min(end, start + _TITLE_BYTES)].decode("utf-8", "ignore")
    return " ".join(unescape(written).split())


def _language(markup: Markup) -> str:
    """Return the language that the document's first element declares."""
    start = markup.tokens[0, END] if len(markup.tokens) else 0
    declared = _LANGUAGE.match(markup.source, start, start + _TAG_BYTES)
    return declared[1].decode() if declared else ""
