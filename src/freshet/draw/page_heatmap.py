"""Render a stored page with its blocks coloured by the lifespan of their content.

This follows Adar et al. 2009, Fig. 7. The page is parsed as for its view, so that colours match the
rows of its DOM, and written again from an allow-list of elements and attributes. It contains no
script, style, frame, image or event handler of the page, and a policy in its head forbids loading
anything. Without the page's own styles the text is readable on light and dark backgrounds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from math import isfinite

import numpy as np

from freshet.core.humanize import duration_text
from freshet.core.tables import BoolArray
from freshet.core.types import ContentKind, FloatArray, Snapshot
from freshet.view.bounds import ViewLimits
from freshet.view.formats.html import TokenisedMarkup, base_href, tokenise_html
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
MAX_RUN_SHARE = 0.5
_COLOUR = "214,40,40"
_DEFAULT_LIMITS = ViewLimits()
_MEANINGS = tag_meanings()
_ALLOWED_NAMES = (
    "a abbr address article aside b bdi bdo blockquote br caption center cite code col colgroup dd "
    "del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i ins kbd "
    "li main mark menu nav ol p pre q rp rt ruby s samp section small span strong sub summary sup "
    "table tbody td tfoot th thead time tr u ul var wbr"
)
_ALLOWED = frozenset(_ALLOWED_NAMES.split())
_REPLACEMENTS = {"body": "main", "listing": "pre", "plaintext": "pre", "xmp": "pre"}
_OMITTED = frozenset({"html", "head", "frameset"})
_TAG = re.compile(r"<[^>]*>")
_ATTRIBUTE = re.compile(rb' ([^ >][^ >=]*)(?:="([^"]*)")?', re.DOTALL)
_SAFE_ATTRIBUTES = {
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
    """The inputs for writing a page."""

    markup: TokenisedMarkup
    base: LinkResolver
    shades: list[float]
    titles: Sequence[str]


def render_heatmap(
    snapshot: Snapshot,
    shades: FloatArray,
    titles: Sequence[str] = (),
    *,
    scale_ends: tuple[str, str] = ("changes all the time", "stays"),
    caption: str = "",
    limits: ViewLimits = _DEFAULT_LIMITS,
) -> str:
    """Return a page as one safe HTML document, its elements coloured by a number per DOM row.

    A shade of 0 means that the content changes all the time, 1 that it stays; rows with NaN have no
    colour. ``titles`` are the tooltips of the rows, ``scale_ends`` the meaning of both shades.
    Content that is not HTML gives a document that says so.
    """
    kind = kind_of(snapshot.body, snapshot.media_type)
    if kind != ContentKind.HTML:
        content = snapshot.media_type or f"{kind} content"
        return _message_document(snapshot, f"This version is not a web page ({content}).")
    text, _, is_complete = decode_document(snapshot, kind, limits)
    markup = tokenise_html(text)
    elements, _ = number_elements(markup.tokens)
    _require_row_counts(elements, shades, titles)
    base = LinkResolver(snapshot.url, base_href(markup))
    page = "".join(_page_parts(_HeatmapSource(markup, base, shades.tolist(), titles)))
    if not _TAG.sub("", page).strip():
        return _message_document(snapshot, "This version of the page has no text.")
    notes = [caption, "" if is_complete else "The page is too large and is cut short."]
    note_lines = "".join(f"<br>{escape(note)}" for note in notes if note)
    return _document(snapshot, _legend(shades, scale_ends) + note_lines, page)


def lifespan_titles(
    lifespans: FloatArray, page_lifespans: FloatArray, runs: FloatArray, is_constant: BoolArray
) -> list[str]:
    """Return a tooltip for the lifespans (seconds) of texts at a place and on the page.

    ``runs`` are the times without a break. A place whose text was there from the first look to the
    last is constant. NaN has no tooltip.

    >>> days = np.array([12.0, 0.0, 1.0, np.nan]) * 86_400
    >>> lifespan_titles(days, days * 2, days, np.array([True, False, False, False]))[:2]
    ['unchanged at all looks, for 12 days', 'changes at every look']
    >>> lifespan_titles(days, days * 2, days / 4, np.array([True, False, False, False]))[2:]
    ['a text stays 1 day here (6 hours without a break), 2 days on the page', '']
    """
    columns = (values.tolist() for values in (lifespans, page_lifespans, runs, is_constant))
    return [_title(*row) for row in zip(*columns, strict=True)]


def _title(lifespan: float, page_lifespan: float, run: float, is_constant: bool) -> str:
    if not isfinite(lifespan):
        return ""
    if is_constant:
        return f"unchanged at all looks, for {duration_text(lifespan / 86_400)}"
    if not lifespan > 0:
        return "changes at every look"
    here = f"a text stays {duration_text(lifespan / 86_400)} here"
    if run < MAX_RUN_SHARE * lifespan:
        here += f" ({duration_text(run / 86_400)} without a break)"
    if isfinite(page_lifespan) and page_lifespan > lifespan:
        here += f", {duration_text(page_lifespan / 86_400)} on the page"
    return here


def lifespan_scale_ends(lifespans: FloatArray, known_span: float) -> tuple[str, str]:
    """Return the texts at the two ends of the scale: the shortest lifespan and the history.

    >>> lifespan_scale_ends(np.array([7200.0, 3600.0, np.nan]), 864_000.0)
    ('stays 1 hour', 'all 10 days')
    """
    shortest = float(np.nanmin(lifespans)) if np.isfinite(lifespans).any() else 0.0
    first = f"stays {duration_text(shortest / 86_400)}" if shortest > 0 else "changes at every look"
    return first, f"all {duration_text(known_span / 86_400)}"


def _require_row_counts(elements: int, shades: FloatArray, titles: Sequence[str]) -> None:
    for name, count in (("shades", len(shades)), ("titles", len(titles) or elements)):
        if count != elements:
            raise ValueError(
                f"{count} {name} for {elements} elements; take those of this version's DOM rows"
            )


def _message_document(snapshot: Snapshot, message: str) -> str:
    """Return a document that says why there is no page to show."""
    return _document(snapshot, "", f"<p>{escape(message)} There are no blocks to colour.</p>")


def _document(snapshot: Snapshot, legend: str, page: str) -> str:
    url = escape(snapshot.url.encode("utf-8", "replace").decode())
    head = _HEAD.replace("TITLE", f"How long the blocks of {url} stay")
    top = f'<div class="freshet-legend"><b>{url}</b>{legend}</div>\n'
    return f'{head}{top}<div class="freshet-page">{page}</div>\n</body></html>\n'


def _legend(shades: FloatArray, scale_ends: tuple[str, str]) -> str:
    if not np.isfinite(shades).any():
        return "<br>There are too few visits to colour this page."
    shortest, longest = map(escape, scale_ends)
    return (
        f'<br>{shortest}<span class="freshet-scale"></span>{longest}'
        " <small>(without the page's styles, scripts and pictures)</small>"
    )


def _page_parts(page: _HeatmapSource) -> Iterator[str]:
    """Yield the texts and tags of a page; only the text of svg and math elements."""
    source, foreign_end = page.markup.source, -1
    columns = page.markup.tokens[:, (KIND, START, END, OWNER, END_TAG, ROW)].tolist()
    for token, (kind, start, end, owner, end_tag, row) in enumerate(columns):
        if kind <= RAW_TEXT:
            yield "" if owner == HIDDEN else _text(source[start:end], kind == RAW_TEXT)
            continue
        if token < foreign_end or row < 0:
            continue
        name = source[start:end].decode("utf-8", "replace").lower()
        if kind == CLOSE:
            output_name = "" if _MEANINGS.get(name, 0) & VOID else _output_name(name)
            yield f"</{output_name}>" if output_name else ""
        else:
            foreign_end = end_tag if _MEANINGS.get(name, 0) & FOREIGN else foreign_end
            yield _start_tag(page, name, end, row)


def _text(source: bytes, is_raw: bool) -> str:
    """Return text in its escaped form; escaped source is unescaped first."""
    text = source.decode("utf-8", "replace").replace("\0", "")
    return escape(text if is_raw else unescape(text), quote=False)


def _output_name(name: str) -> str:
    """Return the output element for an element of the page; empty if it is omitted."""
    if name in _ALLOWED:
        return name
    is_omitted = name in _OMITTED or _MEANINGS.get(name, 0) & (SILENT | VOID)
    return "" if is_omitted else _REPLACEMENTS.get(name, "span")


def _start_tag(page: _HeatmapSource, name: str, end: int, row: int) -> str:
    """Return the start tag of an element with its colour and its safe attributes."""
    attributes = dict(_attributes(page.markup.source, end))
    if name == "img":
        alt = escape(attributes.get("alt", "").strip())
        return f'<span class="freshet-picture">{alt}</span>' if alt else ""
    output_name = _output_name(name)
    if not output_name:
        return ""
    output = _safe_attributes(attributes)
    if name == "a" and "href" in attributes and (link := page.base.resolve(attributes["href"])):
        output |= {"href": link[0], "rel": "noopener noreferrer nofollow"}
    output |= _colour_attributes(page, row)
    if name == "details":
        output["open"] = ""
    if name not in _ALLOWED and _MEANINGS.get(name, 0) & BLOCK:
        output["class"] = "freshet-block"
    written = "".join(f' {key}="{escape(value)}"' for key, value in output.items())
    return f"<{output_name}{written}>"


def _attributes(source: bytes, position: int) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a start tag whose name ends at a position."""
    while match := _ATTRIBUTE.match(source, position):
        name, value = (group.decode("utf-8", "replace") for group in (match[1], match[2] or b""))
        yield name, unescape(value)
        position = match.end()


def _safe_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return the safe attributes that have a valid value."""
    candidates = ((name, attributes.get(name, "")) for name in _SAFE_ATTRIBUTES)
    return {name: value for name, value in candidates if _SAFE_ATTRIBUTES[name].fullmatch(value)}


def _colour_attributes(page: _HeatmapSource, row: int) -> dict[str, str]:
    """Return the colour of a row, stronger for a shorter lifespan, and its tooltip."""
    shade = page.shades[row]
    title = {"title": page.titles[row]} if page.titles and page.titles[row] else {}
    if not isfinite(shade):
        return title
    opacity = MAX_OPACITY * (1 - min(max(shade, 0.0), 1.0))
    return {"style": f"background:rgba({_COLOUR},{opacity:.3f})"} | title
