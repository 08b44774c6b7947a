"""From stored snapshots to a page coloured by lifespans: view and measure together."""

import re

import numpy as np

from freshet.core.types import DomRows, Snapshot
from freshet.core.version_series import build_series
from freshet.draw.page_heatmap import lifespan_titles, render_heatmap
from freshet.measure.dynamics.structure.blocks import (
    BlockBehaviour,
    block_outline,
    blocks_of_outline,
    lifespan_shades,
    rows_of_blocks,
)
from freshet.measure.dynamics.structure.dom_history import look_timeline
from freshet.measure.dynamics.structure.element_history import element_history
from freshet.view.parse import parse_snapshot
from freshet.view.tags import BLOCK, tag_meanings

HOUR = 3600.0
BLOCKS = frozenset(name for name, meaning in tag_meanings().items() if meaning & BLOCK)


def snapshot(visit: int) -> Snapshot:
    posts = "".join(f"<li><a href=/{post}>post {post}</a></li>" for post in range(visit, 0, -1)[:3])
    return Snapshot(
        "http://x.org/",
        f"<html><body><script>{visit}</script><h1>News</h1><p>seen <b>{visit}</b> times</p>"
        f"<ul>{posts}</ul><div>advertisement {visit % 2}</div></body></html>".encode(),
    )


def dom_of(visit: int) -> DomRows:
    dom = parse_snapshot(snapshot(visit), dom=True).dom
    assert dom is not None
    return dom


VISITS = range(3, 13)
DOMS = [dom_of(visit) for visit in VISITS]
SERIES = build_series([HOUR * place for place in range(10)], range(10), [], DOMS)
STRUCTURE = element_history(SERIES, look_timeline(SERIES), BLOCKS)


def test_the_blocks_of_a_page_show_their_habits():
    listed = blocks_of_outline(block_outline(STRUCTURE))
    assert {block.path.removeprefix("/html[0]/body[0]"): block.behaviour for block in listed} == {
        "/h1[0]": BlockBehaviour.STAYS,
        "/p[0]": BlockBehaviour.ALWAYS,
        "/ul[0]/li[0]": BlockBehaviour.ALWAYS,
        "/ul[0]/li[1]": BlockBehaviour.MOVES,
        "/ul[0]/li[2]": BlockBehaviour.MOVES,
        "/div[0]": BlockBehaviour.ALWAYS,
    }


def test_the_last_version_is_tinted_where_content_does_not_stay():
    outline = block_outline(STRUCTURE)
    rows = rows_of_blocks(outline, DOMS[-1])
    lifespans, page_lifespans, runs, is_constant = (
        np.append(outline.table[name], last)[rows]
        for name, last in (
            ("lifespan", np.nan),
            ("page_lifespan", np.nan),
            ("run_length", np.nan),
            ("is_constant", False),
        )
    )
    document = render_heatmap(
        snapshot(12),
        lifespan_shades(lifespans, STRUCTURE),
        lifespan_titles(lifespans, page_lifespans, runs, is_constant),
    )
    found = re.findall(
        r'<(\w+) style="background:rgba\(214,40,40,([0-9.]+)\)" title="([^"]+)', document
    )
    assert [(tag, title) for tag, _, title in found] == [
        ("h1", "unchanged at all looks, for 9 hours"),
        *[(tag, "changes at every look") for tag in ("p", "li", "li", "li")],
        ("div", "a text stays 8 hours here (54 minutes without a break)"),
    ]
    assert float(found[0][1]) == 0
    assert all(float(strength) == 0.6 for _, strength, _ in found[1:5])
