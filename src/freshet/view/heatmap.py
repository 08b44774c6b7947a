"""A stored page with its blocks tinted by how long their content stays (Adar et al. 2009, Fig. 7).

The page is read as for its view, so that tints fall on the rows of its DOM, and written anew from a
short list of harmless elements and attributes: no script, style, frame, picture or handler of the
page is in it, and a policy in its head forbids loading anything. Without the page's own styles its
text stays readable on light and on dark.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from math import isfinite

import numpy as np
from resiliparse.parse.html import HTMLTree

from freshet.core.humanize import duration_text
from freshet.core.types import ContentKind, FloatArray, Snapshot
from freshet.view.bounds import ViewLimits
from freshet.view.formats.html import TokenisedMarkup, base_href, tokenise_tree
from freshet.view.kernels.elements import number_elements
from freshet.view.kernels.markup import (
    CLOSE,
    END,
    END_TAG,
    HIDDEN,
    KIND,
    OWNER,
    RAW_TEXT,
    ROW,
    START,
)  # fmt: skip
from freshet.view.parse import decode_document
from freshet.view.sniff import kind_of
from freshet.view.tags import BLOCK, FOREIGN, SILENT, VOID, tag_meanings
from freshet.view.url import LinkResolver

MAX_OPACITY = 0.6
_COLOUR = "214,40,40"
_DEFAULT = ViewLimits()
_MEANINGS = tag_meanings()
_KEPT_NAMES = (
    "a abbr address article aside b bdi bdo blockquote br caption center cite code col colgroup dd "
    "del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i ins kbd "
    "li main mark menu nav ol p pre q rp rt ruby s samp section small span strong sub summary sup "
    "table tbody td tfoot th thead time tr u ul var wbr"
)
_KEPT = frozenset(_KEPT_NAMES.split())
_INSTEAD = {"body": "main", "listing": "pre", "plaintext": "pre", "xmp": "pre"}
_NOTHING, _FRAME = "", frozenset({"html", "head", "frameset"})
_TAG = re.compile(r"<[^>]*>")
_ATTRIBUTE = re.compile(rb' ([^ >][^ >=]*)(?:="([^"]*)")?', re.DOTALL)
_PLAIN_ATTRIBUTES = {
    "lang": re.compile(r"[A-Za-z0-9-]{1,35}"),
    "dir": re.compile(r"(?i:ltr|rtl|auto)"),
    "colspan": re.compile(r"[0-9]{1,4}"),
    "rowspan": re.compile(r"[0-9]{1,4}"),
    "start": re.compile(r"-?[0-9]{1,9}"),
    "title": re.compile(r".{1,300}", re.DOTALL),
}
_HEAD = f"""<!doctype html>
<html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
:root {{ color-scheme: light dark; --back: #fff; --ink: #1a1a1a; --line: #ccc; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --back: #16181c; --ink: #ececec; --line: #444; }}
}}
body {{ margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 sans-serif; }}
a {{ color: inherit; }}
table {{ border-collapse: collapse; }}
td, th {{ border: 1px solid var(--line); padding: 2px 6px; vertical-align: top; }}
pre {{ white-space: pre-wrap; }}
.freshet-legend {{ position: sticky; top: 0; padding: 8px 16px; background: var(--back);
  border-bottom: 1px solid var(--line); font-size: 14px; }}
.freshet-scale {{ display: inline-block; width: 160px; height: 12px; margin: 0 8px;
  border: 1px solid var(--line); vertical-align: -1px;
  background: linear-gradient(to right, rgba({_COLOUR},{MAX_OPACITY}), rgba({_COLOUR},0)); }}
.freshet-page {{ display: block; padding: 16px; overflow-wrap: anywhere; }}
.freshet-block {{ display: block; }}
.freshet-picture {{ border: 1px dashed var(--line); padding: 0 4px; font-style: italic; }}
</style></head><body>
"""


@dataclass(frozen=True, slots=True)
class _HeatmapSource:
    """What a page is written from."""

    markup: TokenisedMarkup
    base: LinkResolver
    shades: list[float]
    titles: Sequence[str]


def render_heatmap(
    snapshot: Snapshot,
    shades: FloatArray,
    titles: Sequence[str] = (),
    *,
    caption: str = "",
    limits: ViewLimits = _DEFAULT,
) -> str:
    """Return a page as one harmless HTML document, its elements tinted by a number per DOM row.

    A shade of 0 is changing all the time, 1 is staying; rows with NaN are left plain. ``titles``
    are what a pointer on a row tells. What is no HTML gives a document that says so.
    """
    kind = kind_of(snapshot.body, snapshot.media_type)
    if kind != ContentKind.HTML:
        return _statement(snapshot, f"This version is no web page ({_called(snapshot, kind)}).")
    text, _, whole = decode_document(snapshot, kind, limits)
    markup = tokenise_tree(HTMLTree.parse(text))
    elements, _ = number_elements(markup.tokens)
    _require_rows(elements, shades, titles)
    base = LinkResolver(snapshot.url, base_href(markup))
    page = "".join(_written(_HeatmapSource(markup, base, shades.tolist(), titles)))
    if not _TAG.sub("", page).strip():
        return _statement(snapshot, "This version of the page holds no text.")
    notes = [caption, "" if whole else "The page is cut short, for it is too large."]
    return _document(snapshot, _legend(shades) + _told(notes), page)


def lifespan_titles(lifespans: FloatArray) -> list[str]:
    """Return what to tell of rows whose content stays so long (seconds); nothing where it is NaN.

    >>> lifespan_titles(np.array([1036800.0, 0.0, np.nan]))
    ['stays 12 days', 'changes at every look', '']
    """
    return [_title(seconds) for seconds in lifespans.tolist()]


def _title(seconds: float) -> str:
    if not isfinite(seconds):
        return ""
    return f"stays {duration_text(seconds / 86_400)}" if seconds > 0 else "changes at every look"


def _require_rows(elements: int, shades: FloatArray, titles: Sequence[str]) -> None:
    for name, given in (("shades", len(shades)), ("titles", len(titles) or elements)):
        if given != elements:
            raise ValueError(
                f"{given} {name} for {elements} elements; take those of this version's DOM rows"
            )


def _called(snapshot: Snapshot, kind: ContentKind) -> str:
    return snapshot.media_type or f"{kind} content"


def _statement(snapshot: Snapshot, words: str) -> str:
    """Return a document that says why there is no page to show."""
    return _document(snapshot, "", f"<p>{escape(words)} There are no blocks to tint.</p>")


def _document(snapshot: Snapshot, legend: str, page: str) -> str:
    url = escape(snapshot.url.encode("utf-8", "replace").decode())
    head = _HEAD.replace("TITLE", f"How long the blocks of {url} stay")
    top = f'<div class="freshet-legend"><b>{url}</b>{legend}</div>\n'
    return f'{head}{top}<div class="freshet-page">{page}</div>\n</body></html>\n'


def _legend(shades: FloatArray) -> str:
    if not np.isfinite(shades).any():
        return "<br>Too little is known of this page to tint it."
    return (
        '<br>changes all the time<span class="freshet-scale"></span>stays'
        " <small>(without the page's styles, scripts and pictures)</small>"
    )


def _told(notes: Sequence[str]) -> str:
    return "".join(f"<br>{escape(note)}" for note in notes if note)


def _written(sheet: _HeatmapSource) -> Iterator[str]:
    """Yield the texts and tags of a page; of drawings and formulas only the text."""
    source, bare = sheet.markup.source, -1
    columns = sheet.markup.tokens[:, (KIND, START, END, OWNER, END_TAG, ROW)].tolist()
    for at, (kind, start, end, owner, last, row) in enumerate(columns):
        if kind <= RAW_TEXT:
            yield "" if owner == HIDDEN else _text(source[start:end], kind == RAW_TEXT)
            continue
        if at < bare or row < 0:
            continue
        name = source[start:end].decode("utf-8", "replace").lower()
        if kind == CLOSE:
            yield _end_tag(name)
        else:
            bare = last if _MEANINGS.get(name, 0) & FOREIGN else bare
            yield _start_tag(sheet, name, end, row)


def _text(written: bytes, raw: bool) -> str:
    """Return text as it stands between tags; what was escaped once is escaped once."""
    text = written.decode("utf-8", "replace").replace("\0", "")
    return escape(text if raw else unescape(text), quote=False)


def _name(name: str) -> str:
    """Return the element to write for one of the page; nothing where it is left out."""
    if name in _KEPT:
        return name
    left_out = name in _FRAME or _MEANINGS.get(name, 0) & (SILENT | VOID)
    return _NOTHING if left_out else _INSTEAD.get(name, "span")


def _end_tag(name: str) -> str:
    return f"</{_name(name)}>" if _name(name) else ""


def _start_tag(sheet: _HeatmapSource, name: str, end: int, row: int) -> str:
    """Return the start tag of an element, with its tint and the harmless of its attributes."""
    given = dict(_attributes(sheet.markup.source, end))
    if name == "img":
        alt = escape(given.get("alt", "").strip())
        return f'<span class="freshet-picture">{alt}</span>' if alt else ""
    if not _name(name):
        return ""
    kept = _harmless(given) | _reference(sheet, name, given) | _tinted(sheet, row)
    if name == "details":
        kept["open"] = ""
    if name not in _KEPT and _MEANINGS.get(name, 0) & BLOCK:
        kept["class"] = "freshet-block"
    written = "".join(f' {key}="{escape(value)}"' for key, value in kept.items())
    return f"<{_name(name)}{written}>"


def _attributes(source: bytes, position: int) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a start tag whose name ends at a position."""
    while found := _ATTRIBUTE.match(source, position):
        name, value = (part.decode("utf-8", "replace") for part in (found[1], found[2] or b""))
        yield name, unescape(value)
        position = found.end()


def _harmless(given: Mapping[str, str]) -> dict[str, str]:
    """Return the attributes that can do no harm, where their values are of the right kind."""
    fitting = ((name, given.get(name, "")) for name in _PLAIN_ATTRIBUTES)
    return {name: value for name, value in fitting if _PLAIN_ATTRIBUTES[name].fullmatch(value)}


def _reference(sheet: _HeatmapSource, name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return where a link leads, if that is a web page."""
    resolved = sheet.base.resolve(given["href"]) if name == "a" and "href" in given else None
    return {"href": resolved[0], "rel": "noopener noreferrer nofollow"} if resolved else {}


def _tinted(sheet: _HeatmapSource, row: int) -> dict[str, str]:
    """Return the tint of a row, the stronger the sooner its content is gone, and its title."""
    shade = sheet.shades[row]
    title = {"title": sheet.titles[row]} if sheet.titles and sheet.titles[row] else {}
    if not isfinite(shade):
        return title
    strength = MAX_OPACITY * (1 - min(max(shade, 0.0), 1.0))
    return {"style": f"background:rgba({_COLOUR},{strength:.3f})"} | title
