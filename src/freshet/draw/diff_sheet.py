"""Two versions of a page as one HTML page, with removed and added text marked.

The HTML page is self-contained: it has no script, and no address that a browser would load or
follow. All text of the compared page is escaped.
"""

import re
from collections.abc import Sequence
from html import escape

from freshet.measure.change.word_diff import DiffKind, DiffPiece

CONTEXT = 3
_MIN_FOLDED_LINES = 4
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_PAGE = """<!doctype html>
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
<p class="key"><del>removed</del> <ins>added</ins></p>
</header>
<main>
<div class="text" dir="auto">{text}</div>
{links}</main>
</body>
</html>
"""


def render_diff_sheet(
    title: str,
    facts: Sequence[str],
    pieces: Sequence[DiffPiece],
    *,
    new_links: Sequence[str] = (),
    removed_links: Sequence[str] = (),
) -> str:
    """Return two compared versions as an HTML page; long unchanged text is folded."""
    last = len(pieces) - 1
    text = "".join(
        _piece_html(piece, is_first=index == 0, is_last=index == last)
        for index, piece in enumerate(pieces)
    )
    links = (
        _link_list("New links", "ins", new_links),
        _link_list("Removed links", "del", removed_links),
    )
    return _PAGE.format(
        title=_escaped(title),
        facts="\n".join(f'<p class="facts">{_escaped(fact)}</p>' for fact in facts),
        text=text or '<span class="facts">Neither version has any text.</span>',
        links="".join(links),
    )


def _piece_html(piece: DiffPiece, *, is_first: bool, is_last: bool) -> str:
    if piece.kind is DiffKind.SAME:
        return _folded(piece.text.splitlines(keepends=True), is_first=is_first, is_last=is_last)
    element = "del" if piece.kind is DiffKind.REMOVED else "ins"
    return f"<{element}>{_escaped(piece.text)}</{element}>"


def _folded(lines: Sequence[str], *, is_first: bool, is_last: bool) -> str:
    """Return unchanged lines; those far from any change are folded."""
    head = 0 if is_first else CONTEXT
    tail = len(lines) - (0 if is_last else CONTEXT)
    if tail - head < _MIN_FOLDED_LINES:
        return _escaped("".join(lines))
    inner = _escaped("".join(lines[head:tail]))
    fold = f"<details><summary>{tail - head:,} lines stayed the same</summary>{inner}</details>"
    return _escaped("".join(lines[:head])) + fold + _escaped("".join(lines[tail:]))


def _link_list(heading: str, element: str, urls: Sequence[str]) -> str:
    items = "".join(f"<li><{element}>{_escaped(url)}</{element}></li>\n" for url in urls)
    return f"<h2>{heading}</h2>\n<ul>\n{items}</ul>\n" if urls else ""


def _escaped(text: str) -> str:
    """Return text escaped for HTML; control and direction characters are replaced.

    >>> _escaped("a < b \\x00")
    'a &lt; b \\ufffd'
    """
    return escape(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text))
