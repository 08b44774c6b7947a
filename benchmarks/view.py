"""Viewing HTML pages, against bare resiliparse and against a plain DOM walk in Python.

All start from the bytes of the page.

Real pages are read from the folder that FRESHET_DATA names; without it pages are generated.
"""

import os
import statistics
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree, NodeType
from xxhash import xxh3_64_intdigest

from benchmarks.report import Result, report
from freshet.core.clock import stopwatch
from freshet.core.types import Snapshot
from freshet.view.look import look

PAGES = 300
VERSIONS_PER_PAGE = 2
ROUNDS = 5
SLICE = 400


def read_pages(folder: Path) -> list[bytes]:
    """Return a few versions of each of many real pages."""
    found: list[str] = []
    for file in sorted((folder / "pages").glob("versions_ota_*_snap*.parquet")):
        rows = pl.scan_parquet(file).filter(pl.col("kind") == "html").select("page", "html")
        kept = rows.group_by("page", maintain_order=True).head(VERSIONS_PER_PAGE)
        found += kept.head(SLICE).collect()["html"].to_list()
    order = np.random.default_rng(1).permutation(len(found))
    return [found[place].encode() for place in order[:PAGES]]


def generate_pages(rng: np.random.Generator) -> list[bytes]:
    """Return pages of nested blocks with numbered words and links."""
    return [_page([f"word{n}" for n in rng.integers(0, 1500, 2000)]) for _ in range(PAGES)]


def _page(words: list[str]) -> bytes:
    lines = (words[start : start + 20] for start in range(0, len(words), 20))
    blocks = (
        f'<div class="block"><h2>{line[1]}</h2><p class="text">{" ".join(line)} '
        f'<a class="more" href="/{line[0]}">more</a></p></div>'
        for line in lines
    )
    head = f"<html lang=en><head><title>{words[0]}</title></head>"
    return f"{head}<body>{''.join(blocks)}</body></html>".encode()


def bare(body: bytes) -> tuple[str, list[str]]:
    """Return text and hrefs by resiliparse alone."""
    tree = HTMLTree.parse(body.decode())
    links = [link.getattr("href") for link in tree.document.query_selector_all("a[href]")]
    return extract_plain_text(tree), links


def plain_walk(body: bytes) -> list[tuple[str, int]]:
    """Return every node with the hash of its text, walking the DOM in Python."""
    found, waiting = [], [HTMLTree.parse(body.decode()).document]
    while waiting:
        node = waiting.pop()
        if node.type == NodeType.TEXT:
            found.append(("#text", xxh3_64_intdigest(node.value.encode())))
        elif node.type == NodeType.ELEMENT:
            found.append((node.tag, xxh3_64_intdigest(node.tag.encode())))
        waiting.extend(node.child_nodes)
    return found


def pages_a_second(work: Callable[[bytes], object], pages: list[bytes]) -> float:
    """Return how many pages a second a piece of work takes on."""
    started = stopwatch()
    for page in pages:
        work(page)
    return len(pages) / (stopwatch() - started)


def measure(
    name: str,
    ours: Callable[[bytes], object],
    reference: Callable[[bytes], object],
    pages: list[bytes],
) -> Result:
    """Return both rates, medians of rounds that alternate."""
    rounds = [
        (pages_a_second(ours, pages), pages_a_second(reference, pages)) for _ in range(ROUNDS)
    ]
    fast, slow = (statistics.median(rates) for rates in zip(*rounds, strict=True))
    return Result(name, fast, slow, "pages/s")


def view(body: bytes, *, dom: bool = False) -> object:
    """Return the view of a page, as a crawl would see it."""
    headers = (("content-type", "text/html; charset=utf-8"),)
    return look(Snapshot("https://example.org/a/b", body, headers=headers), dom=dom)


def check(pages: list[bytes]) -> None:
    """Stop unless views hold as many links and elements as a plain reading finds."""
    for body in pages[:20]:
        seen = look(Snapshot("https://example.org/a/b", body), dom=True)
        elements = sum(name != "#text" for name, _ in plain_walk(body))
        if seen.dom is None or len(seen.dom) != elements or not seen.text:
            raise SystemExit(f"view: a page of {len(body)} bytes was read wrongly")


def main() -> None:
    """Print both ratios."""
    folder = os.environ.get("FRESHET_DATA")
    pages = read_pages(Path(folder)) if folder else generate_pages(np.random.default_rng(1))
    check(pages)
    report(
        measure("view", view, bare, pages),
        measure("view with dom", lambda body: view(body, dom=True), plain_walk, pages),
    )


if __name__ == "__main__":
    main()
