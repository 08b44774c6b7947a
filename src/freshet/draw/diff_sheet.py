"""Two versions of a page as one sheet of HTML, with what went and what came marked in the text.

The sheet needs nothing but itself: no script, no address that a browser would load or follow. All
that comes from the page is written as text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

SAME, REMOVED, ADDED = "same", "removed", "added"
CONTEXT = 3
_FEWEST_FOLDED = 4
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_MARKS = {REMOVED: "del", ADDED: "ins"}
_SHEET = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{
  --ground: #f4f5f7; --paper: #ffffff; --ink: #1f2933; --quiet: #5f6b7a; --line: #dde1e6;
  --came: #d3f2e2; --came-ink: #05512f; --went: #fbdfd6; --went-ink: #8a2a0a;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --ground: #14181d; --paper: #1c2229; --ink: #e4e7eb; --quiet: #97a3b1; --line: #323b45;
    --came: #103d2a; --came-ink: #a5ecc8; --went: #4d2115; --went-ink: #ffc3ac;
  }}
}}
* {{ box-sizing: border-box; }}
body {{
  margin: 0; padding: 2rem 1rem 4rem; background: var(--ground); color: var(--ink);
  font: 16px/1.6 system-ui, "Liberation Sans", Arial, sans-serif;
}}
main, header {{ max-width: 52rem; margin: 0 auto; }}
h1 {{ font-size: 1.25rem; line-height: 1.35; margin: 0 0 .25rem; overflow-wrap: anywhere; }}
h2 {{ font-size: 1rem; margin: 2rem 0 .5rem; }}
.facts {{ color: var(--quiet); margin: 0; }}
.key {{ margin: .75rem 0 1.25rem; font-size: .875rem; }}
.text {{
  background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
  padding: 1.25rem 1.5rem; white-space: pre-wrap; overflow-wrap: anywhere;
}}
ins, del {{ border-radius: 3px; padding: 0 .15em; -webkit-box-decoration-break: clone;
  box-decoration-break: clone; }}
ins {{ background: var(--came); color: var(--came-ink); text-decoration: none; }}
del {{ background: var(--went); color: var(--went-ink); text-decoration: line-through; }}
details {{ border-block: 1px dashed var(--line); margin: .5rem 0; }}
summary {{ color: var(--quiet); cursor: pointer; font-size: .875rem; white-space: normal; }}
ul {{ list-style: none; margin: 0; padding: 0; font-size: .875rem; overflow-wrap: anywhere; }}
li {{ margin: .15rem 0; }}
@media print {{ body {{ background: none; padding: 0; }} .text {{ border: 0; padding: 0; }} }}
</style>
</head>
<body>
<header>
<h1 dir="auto">{title}</h1>
{facts}
<p class="key"><del>went</del> <ins>came</ins></p>
</header>
<main>
<div class="text" dir="auto">{text}</div>
{links}</main>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class DiffSheet:
    """What is on a sheet: its title, lines of facts, the text in pieces, and the links.

    A piece is its fate (same, removed or added) and its text.
    """

    title: str
    facts: Sequence[str]
    pieces: Sequence[tuple[str, str]]
    new_links: Sequence[str] = ()
    removed_links: Sequence[str] = ()


def render_diff_sheet(sheet: DiffSheet) -> str:
    """Return a sheet as HTML; long stretches that stayed the same are folded."""
    last = len(sheet.pieces) - 1
    text = "".join(
        _piece(kind, text, is_first=place == 0, is_last=place == last)
        for place, (kind, text) in enumerate(sheet.pieces)
    )
    return _SHEET.format(
        title=_shown(sheet.title),
        facts="\n".join(f'<p class="facts">{_shown(fact)}</p>' for fact in sheet.facts),
        text=text or '<span class="facts">Neither version has any text.</span>',
        links="".join(_links(sheet)),
    )


def _piece(kind: str, text: str, *, is_first: bool, is_last: bool) -> str:
    if kind == SAME:
        return _folded(text.splitlines(keepends=True), is_first=is_first, is_last=is_last)
    mark = _MARKS[kind]
    return f"<{mark}>{_shown(text)}</{mark}>"


def _folded(lines: Sequence[str], *, is_first: bool, is_last: bool) -> str:
    """Return lines that stayed the same, those far from any change behind a fold."""
    head = 0 if is_first else CONTEXT
    tail = len(lines) - (0 if is_last else CONTEXT)
    if tail - head < _FEWEST_FOLDED:
        return _shown("".join(lines))
    inner = _shown("".join(lines[head:tail]))
    fold = f"<details><summary>{tail - head:,} lines stayed the same</summary>{inner}</details>"
    return _shown("".join(lines[:head])) + fold + _shown("".join(lines[tail:]))


def _links(sheet: DiffSheet) -> Iterator[str]:
    for heading, kind, urls in (
        ("New links", ADDED, sheet.new_links),
        ("Removed links", REMOVED, sheet.removed_links),
    ):
        if urls:
            yield f"<h2>{heading}</h2>\n<ul>\n{_items(urls, _MARKS[kind])}</ul>\n"


def _items(urls: Iterable[str], mark: str) -> str:
    return "".join(f"<li><{mark}>{_shown(url)}</{mark}></li>\n" for url in urls)


def _shown(text: str) -> str:
    """Return text that a browser shows as it is; what would steer it is replaced by a mark.

    >>> _shown("a < b \\x00")
    'a &lt; b \\ufffd'
    """
    return escape(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text))
