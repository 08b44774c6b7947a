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
from freshet.view.bounds import ViewLimits
from freshet.view.dom import build_dom_rows
from freshet.view.escaped_markup import serialise_escaped
from freshet.view.formats.document import DocumentContent, Href
from freshet.view.kernels.elements import find_first, link_lines, nest_tokens, number_elements
from freshet.view.kernels.markup import (
    CLOSE,
    END,
    KIND,
    START,
    TOKEN_COLUMNS,
    Bytes,
    Ints,
    find_references,
    tokenise,
    write_text,
)  # fmt: skip
from freshet.view.tags import BASE, LINK, TITLE

_TITLE_BYTES, _TAG_BYTES = 4_000, 2_000
_LANGUAGE = re.compile(rb'(?: [^ >=]+(?:="[^"]*")?)*? lang="\s*([a-zA-Z]{2,3})[-_"]')


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document, read.

    ``text_hash`` is that of its text on one line; ``base`` is what its references are relative to,
    if it says so.
    """

    content: DocumentContent
    text_hash: int
    base: str = ""
    structure_hash: int = 0
    elements: int = 0
    depth: int = 0
    dom: DomRows | None = None


@dataclass(frozen=True, slots=True)
class TokenisedMarkup:
    """Serialised markup with its tokens, nested."""

    source: bytes
    tokens: Ints
    depth: int

    @property
    def bytes(self) -> Bytes:
        return np.frombuffer(self.source, np.uint8)


def parse_html(html: str, *, dom: bool, limits: ViewLimits) -> ParsedDocument:
    """Return what a reader sees of an HTML document, with DOM rows when asked for."""
    tree = HTMLTree.parse(html)
    markup = tokenise_tree(tree)
    elements, structure = number_elements(markup.tokens)
    text = np.empty(len(markup.source) + 1, np.uint8)
    text = text[: write_text(markup.bytes, markup.tokens, text)]
    rows = build_dom_rows(markup.source, markup.tokens, text, elements) if dom else None
    written = text.tobytes()
    plain = written.decode("utf-8", "replace")
    reading = DocumentContent(
        _title(markup), plain, _hrefs(markup, text, limits), _language(markup)
    )
    line = xxh3_64_intdigest(written.replace(b"\n", b" "))
    return ParsedDocument(
        reading, line, base_href(markup), int(structure), elements, markup.depth, rows
    )


def tokenise_tree(tree: HTMLTree) -> TokenisedMarkup:
    """Return the tree's markup and tokens; spelt out with all text escaped if it is ambiguous."""
    markup = _tokens(str(tree.document.html).encode("utf-8", "replace"), False)
    return (
        markup
        or _tokens(serialise_escaped(tree), True)
        or TokenisedMarkup(b"", _tokens_for(b""), 0)
    )


def _tokens(source: bytes, escaped: bool) -> TokenisedMarkup | None:
    tokens = _tokens_for(source)
    size = tokenise(np.frombuffer(source, np.uint8), tokens, escaped)
    depth = nest_tokens(tokens[:size]) if size >= 0 else -1
    return TokenisedMarkup(source, tokens[:size], depth) if depth >= 0 else None


def _tokens_for(source: bytes) -> Ints:
    tags = np.count_nonzero(np.frombuffer(source, np.uint8) == ord("<"))
    return np.empty((2 * tags + 2, TOKEN_COLUMNS), np.int64)


def _hrefs(markup: TokenisedMarkup, text: Bytes, limits: ViewLimits) -> tuple[Href, ...]:
    """Return distinct references with anchor text and rel, in document order."""
    found = find_references(markup.bytes, markup.tokens, LINK)[: limits.max_links]
    lines = link_lines(markup.bytes, markup.tokens, text, found, limits.max_anchor_chars)
    hrefs, anchors, rels = (line.tobytes().decode("utf-8", "replace").split("\n") for line in lines)
    return tuple(zip(hrefs[:-1], anchors[:-1], rels[:-1], strict=True))


def base_href(markup: TokenisedMarkup) -> str:
    """Return the href of the first base element that has one."""
    if find_first(markup.tokens, BASE) < 0:
        return ""
    found = find_references(markup.bytes, markup.tokens, BASE)[:1]
    lines = link_lines(markup.bytes, markup.tokens, markup.bytes[:0], found, 0)
    return str(lines[0].tobytes().decode("utf-8", "replace")).strip()


def _title(markup: TokenisedMarkup) -> str:
    """Return the text of the first title on one line."""
    at = find_first(markup.tokens, TITLE)
    if at < 0 or markup.tokens[at + 1, KIND] == CLOSE:
        return ""
    start, end = markup.tokens[at + 1, START], markup.tokens[at + 1, END]
    written = markup.source[start : min(end, start + _TITLE_BYTES)].decode("utf-8", "ignore")
    return " ".join(unescape(written).split())


def _language(markup: TokenisedMarkup) -> str:
    """Return the language that the document's first element declares."""
    start = markup.tokens[0, END] if len(markup.tokens) else 0
    declared = _LANGUAGE.match(markup.source, start, start + _TAG_BYTES)
    return declared[1].decode() if declared else ""
