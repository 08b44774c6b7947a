"""Render blocks as HTML; the words are the same in every design, the markup differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from freshet.world.page_version import OWN_HOST, PageBlock
from freshet.world.thread_markup import WEB_MARKUPS

Tags = tuple[str, str]

_STYLE = """
:root{color-scheme:light dark;--ink:#222;--paper:#fdfdfb;--line:#ddd;--accent:#1a5fb4}
body{margin:0 auto;max-width:56rem;padding:1rem;font:1rem/1.6 system-ui,sans-serif;color:var(--ink)}
header,footer{border-color:var(--line);border-style:solid;border-width:0 0 1px;padding:.5rem 0}
nav a,.menu a{margin-right:1rem;color:var(--accent);text-decoration:none}
ul{padding-left:1.2rem}li{margin:.4rem 0}table{border-collapse:collapse;width:100%}
td{border-bottom:1px solid var(--line);padding:.3rem .6rem}.post{margin:1rem 0}
@media (max-width:40rem){body{padding:.5rem}nav a,.menu a{display:inline-block;margin:.2rem}}
"""


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The parts of a page around its blocks; ``thread_markup`` names the markup of posts."""

    site: str
    title: str
    menu: Sequence[PageBlock]
    token: str = ""
    thread_markup: str = ""


@dataclass(frozen=True, slots=True)
class PageDesign:
    """The tags around each block of a role, around runs of blocks, and around the page."""

    blocks: Mapping[str, Tags]
    runs: Mapping[str, Tags]
    cell: str
    page: str


_PLAIN = PageDesign(
    blocks={
        "heading": ("<h2>", "</h2>\n"),
        "paragraph": ("<p>", "</p>\n"),
        "item": ("<li>", "</li>\n"),
        "post": ('<article class="post"><p>', "</p></article>\n"),
        "row": ("<tr><td>", "</td></tr>\n"),
        "advert": ('<aside class="ad"><p>', "</p></aside>\n"),
    },
    runs={"item": ("<ul>\n", "</ul>\n"), "row": ("<table><tbody>\n", "</tbody></table>\n")},
    cell="</td><td>",
    page="""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<title>{title} | {site}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{token}
<style>{style}</style></head>
<body><header><nav>{menu}</nav></header>
<main><h1>{title}</h1>
{main}</main>
<footer><p>{site}, printed on recycled electrons</p></footer>
</body></html>
""",
)
_BOXED = PageDesign(
    blocks={
        "heading": ('<div class="box"><h3 class="head">', "</h3></div>\n"),
        "paragraph": ('<div class="text">', "</div>\n"),
        "item": ('<div class="card">', "</div>\n"),
        "post": ('<div class="post" role="article">', "</div>\n"),
        "row": ('<div class="row"><span>', "</span></div>\n"),
        "advert": ('<div class="promo">', "</div>\n"),
    },
    runs={
        "item": ('<div class="cards">\n', "</div>\n"),
        "row": ('<div class="grid">\n', "</div>\n"),
    },
    cell="</span> <span>",
    page="""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<title>{title} | {site}</title>{token}
<style>{style}</style></head>
<body class="v2"><div class="wrap"><div class="menu">{menu}</div>
<section class="content"><div class="title"><h1>{title}</h1></div>
{main}</section>
<div class="foot">{site}, printed on recycled electrons</div></div>
</body></html>
""",
)
DESIGNS = (_PLAIN, _BOXED)


def render_html(
    design: PageDesign, frame: PageFrame, blocks: Sequence[PageBlock], origins: Sequence[str]
) -> str:
    """Render a page in a design; links to other hosts start with their origins."""
    main = "".join(
        _render_posts(frame.thread_markup, list(run))
        if role == "post" and frame.thread_markup
        else _render_run(design, role, list(run), origins)
        for role, run in groupby(blocks, key=lambda block: block.role)
    )
    token = f'\n<meta name="csrf-token" content="{frame.token}">' if frame.token else ""
    menu = " ".join(_render_link(block, origins) for block in frame.menu)
    return design.page.format(
        site=frame.site, title=frame.title, token=token, style=_STYLE, menu=menu, main=main
    )


def _render_posts(markup: str, run: list[PageBlock]) -> str:
    """Render posts in a markup that does not depend on the moment of the visit."""
    posts = [block.post for block in run if block.post is not None]
    return WEB_MARKUPS[markup](posts, posts[-1].time if posts else 0.0)


def _render_run(design: PageDesign, role: str, run: list[PageBlock], origins: Sequence[str]) -> str:
    before, after = design.blocks[role]
    text = "".join(f"{before}{_render_link(block, origins)}{after}" for block in run)
    if role == "row":
        text = text.replace("\t", design.cell)
    start_tag, end_tag = design.runs.get(role, ("", ""))
    return f"{start_tag}{text}{end_tag}"


def _render_link(block: PageBlock, origins: Sequence[str]) -> str:
    if not block.href:
        return block.text
    more = f" {block.text_after}" if block.text_after else ""
    origin = "" if block.host == OWN_HOST else origins[block.host]
    return f'<a href="{origin}{block.href}">{block.text}</a>{more}'
