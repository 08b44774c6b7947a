"""Read HTML: visible text, title, language, references, structure.

lexbor parses the tree and serialises it again (resiliparse); compiled passes over that markup
extract everything. Scripts, styles, templates, comments, titles and the content of frames are not
text. ``noscript`` is text, because pages are fetched without scripting. Hidden elements are text.
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

_MAX_TITLE_BYTES, _MAX_TAG_BYTES = 4_000, 2_000
_LANGUAGE = re.compile(rb'(?: [^ >=]+(?:="[^"]*")?)*? lang="\s*([a-zA-Z]{2,3})[-_"]')


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A parsed document.

    ``text_hash`` is the hash of its text on one line; ``base`` is the URL that its references are
    relative to, if it declares one.
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
    """Serialised markup with its nested tokens."""

    source: bytes
    tokens: Ints
    depth: int

    @property
    def bytes(self) -> Bytes:
        return np.frombuffer(self.source, np.uint8)


def parse_html(html: str, *, dom: bool, limits: ViewLimits) -> ParsedDocument:
    """Parse an HTML document; build DOM rows if ``dom`` is true."""
    tree = HTMLTree.parse(html)
    markup = tokenise_tree(tree)
    elements, structure_hash = number_elements(markup.tokens)
    text = np.empty(len(markup.source) + 1, np.uint8)
    text = text[: write_text(markup.bytes, markup.tokens, text)]
    rows = build_dom_rows(markup.source, markup.tokens, text, elements) if dom else None
    text_bytes = text.tobytes()
    decoded_text = text_bytes.decode("utf-8", "replace")
    content = DocumentContent(
        _title(markup), decoded_text, _hrefs(markup, text, limits), _language(markup)
    )
    text_hash = xxh3_64_intdigest(text_bytes.replace(b"\n", b" "))
    return ParsedDocument(
        content, text_hash, base_href(markup), int(structure_hash), elements, markup.depth, rows
    )


def tokenise_html(html: str) -> TokenisedMarkup:
    """Parse a document and return its normalised markup with nested tokens."""
    return tokenise_tree(HTMLTree.parse(html))


def tokenise_tree(tree: HTMLTree) -> TokenisedMarkup:
    """Return the tree's markup and tokens; ambiguous markup is escaped first."""
    markup = _tokenise(str(tree.document.html).encode("utf-8", "replace"), is_escaped=False)
    markup = markup or _tokenise(serialise_escaped(tree), is_escaped=True)
    return markup or TokenisedMarkup(b"", np.empty((0, TOKEN_COLUMNS), np.int64), 0)


def _tokenise(source: bytes, *, is_escaped: bool) -> TokenisedMarkup | None:
    source_array = np.frombuffer(source, np.uint8)
    tag_count = np.count_nonzero(source_array == ord("<"))
    tokens = np.empty((2 * tag_count + 2, TOKEN_COLUMNS), np.int64)
    size = tokenise(source_array, tokens, is_escaped)
    depth = nest_tokens(tokens[:size], is_escaped) if size >= 0 else -1
    return TokenisedMarkup(source, tokens[:size], depth) if depth >= 0 else None


def _hrefs(markup: TokenisedMarkup, text: Bytes, limits: ViewLimits) -> tuple[Href, ...]:
    """Return distinct references with anchor text and rel, in document order."""
    references = find_references(markup.bytes, markup.tokens, LINK)[: limits.max_links]
    lines = link_lines(markup.bytes, markup.tokens, text, references, limits.max_anchor_chars)
    hrefs, anchors, rels = (line.tobytes().decode("utf-8", "replace").split("\n") for line in lines)
    return tuple(zip(hrefs[:-1], anchors[:-1], rels[:-1], strict=True))


def base_href(markup: TokenisedMarkup) -> str:
    """Return the href of the first base element that has one."""
    if find_first(markup.tokens, BASE) < 0:
        return ""
    references = find_references(markup.bytes, markup.tokens, BASE)[:1]
    lines = link_lines(markup.bytes, markup.tokens, markup.bytes[:0], references, 0)
    return str(lines[0].tobytes().decode("utf-8", "replace")).strip()


def _title(markup: TokenisedMarkup) -> str:
    """Return the text of the first title element on one line."""
    title_token = find_first(markup.tokens, TITLE)
    if title_token < 0 or markup.tokens[title_token + 1, KIND] == CLOSE:
        return ""
    start, end = markup.tokens[title_token + 1, START], markup.tokens[title_token + 1, END]
    title = markup.source[start : min(end, start + _MAX_TITLE_BYTES)].decode("utf-8", "ignore")
    return " ".join(unescape(title).split())


def _language(markup: TokenisedMarkup) -> str:
    """Return the language that the document's first element declares."""
    start = markup.tokens[0, END] if len(markup.tokens) else 0
    match = _LANGUAGE.match(markup.source, start, start + _MAX_TAG_BYTES)
    return match[1].decode() if match else ""
