"""Plain text, Markdown and JSON documents."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from freshet.core.types import ContentKind
from freshet.view.formats import json_text
from freshet.view.formats.document import DocumentContent, Href

MAX_TITLE_CHARS = 200
MAX_LINKS = 50_000

_BARE = r"https?://[^\s<>\"'`|\\^{}\[\]]++"
_BARE_URL = re.compile(_BARE, re.IGNORECASE)
_IMAGE = r"!\[[^\[\]]*+\]\([^()]*+\)"
_TARGET = r"<?(?P<inline>[^\s<>()]*+(?:\([^\s<>()]*+\)[^\s<>()]*+)*+)"
_MARKDOWN_LINK = re.compile(
    rf"""{_IMAGE}
    |\[(?P<anchor>(?:[^\[\]]++|{_IMAGE}|\[[^\[\]]*+\])*+)\]\(\s*+{_TARGET}
    |^[ ]{{0,3}}\[(?P<label>[^\[\]]++)\]:[ \t]*+<?(?P<definition>[^\s<>]++)
    |<(?P<auto>https?://[^\s<>]++)>
    |(?P<bare>{_BARE})""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_HEADING = re.compile(
    r"^[ ]{0,3}(?:\#{1,6}[ \t]++(?P<under>[^\n]++)|(?P<over>[^\n]++)\n=++[ \t]*+$)", re.MULTILINE
)
_LINK_TEXT = re.compile(r"!?\[([^\[\]]*+)\]\([^()]*+\)")


def read(text: str, kind: ContentKind, *, max_links: int = MAX_LINKS) -> DocumentContent:
    """Return the text of a document unchanged, with its title and its first links.

    >>> read("# Rain\\n[more](/rain)", ContentKind.MARKDOWN).hrefs
    (('/rain', 'more', ''),)
    """
    if kind == ContentKind.JSON:
        return _read_json(text)
    if kind == ContentKind.MARKDOWN:
        hrefs = tuple(islice(_markdown_links(text), max_links))
        return DocumentContent(_heading(text) or _first_line(text), text, hrefs)
    urls = islice(_BARE_URL.finditer(text), max_links)
    hrefs = tuple((_trim_punctuation(match[0]), "", "") for match in urls)
    return DocumentContent(_first_line(text), text, hrefs)


def _first_line(text: str) -> str:
    """Return the first line that is not empty, cut to the length of a title."""
    return " ".join(text.lstrip()[: 10 * MAX_TITLE_CHARS].partition("\n")[0].split())[
        :MAX_TITLE_CHARS
    ]


def _heading(text: str) -> str:
    """Return the first heading of a Markdown document."""
    match = _HEADING.search(text)
    if match is None:
        return ""
    heading = (match["under"] or match["over"]).strip().rstrip("#")
    return _first_line(_LINK_TEXT.sub(r"\1", heading))


def _markdown_links(text: str) -> Iterator[Href]:
    """Yield the links of a Markdown document; images are no links."""
    for match in _MARKDOWN_LINK.finditer(text):
        if bare := match["bare"]:
            yield _trim_punctuation(bare), "", ""
            continue
        href = match["inline"] or match["definition"] or match["auto"]
        if href:
            anchor = _LINK_TEXT.sub(r"\1", match["anchor"] or match["label"] or "")
            yield href, " ".join(anchor.split()), ""


def _trim_punctuation(url: str) -> str:
    """Return a URL without the punctuation of the surrounding sentence."""
    trimmed = url.rstrip(".,;:!?*_~")
    if trimmed.endswith(")") and "(" not in trimmed:
        return trimmed.rstrip(").,;:!?*_~")
    return trimmed


def _read_json(text: str) -> DocumentContent:
    """Return the lines of a JSON document; an invalid one is read as text."""
    content = json_text.read(text, _BARE_URL)
    if content is None:
        return read(text, ContentKind.TEXT)
    return replace(content, title=_first_line(content.title))
