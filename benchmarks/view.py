"""Viewing HTML pages, against bare resiliparse and against a plain DOM walk in Python.

The bars are 0.6 for text, links and terms, and 0.65 with DOM rows. The references begin with text
already decoded; our views begin with bytes.
"""

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree, NodeType
from xxhash import xxh3_64_intdigest

from benchmarks.pages import histories
from benchmarks.report import report, side_by_side
from freshet.core.types import Snapshot, View
from freshet.view.parse import parse_snapshot

PAGES, VERSIONS = 200, 2
URL = "https://example.org/a/b"
HEADERS = (("content-type", "text/html; charset=utf-8"),)


def bare(html: str) -> tuple[str, list[str]]:
    """Return text and hrefs by resiliparse alone."""
    tree = HTMLTree.parse(html)
    links = [link.getattr("href") for link in tree.document.query_selector_all("a[href]")]
    return extract_plain_text(tree), links


def plain_walk(html: str) -> list[tuple[str, int]]:
    """Return every node with the hash of its text, walking the DOM in Python."""
    found, waiting = [], [HTMLTree.parse(html).document]
    while waiting:
        node = waiting.pop()
        if node.type == NodeType.TEXT:
            found.append(("#text", xxh3_64_intdigest(node.value.encode())))
        elif node.type == NodeType.ELEMENT:
            found.append((node.tag, xxh3_64_intdigest(node.tag.encode())))
        waiting.extend(node.child_nodes)
    return found


def view(body: bytes, *, dom: bool = False) -> View:
    """Return the view of a page, as a crawl would see it."""
    return parse_snapshot(Snapshot(URL, body, headers=HEADERS), dom=dom)


def check(pages: list[str]) -> None:
    """Stop unless views hold as many elements as a plain reading finds."""
    for html in pages[:20]:
        seen = view(html.encode(), dom=True)
        elements = sum(name != "#text" for name, _ in plain_walk(html))
        if seen.dom is None or len(seen.dom) != elements or not seen.text:
            raise SystemExit(f"view: a page of {len(html)} characters was read wrongly")


def main() -> None:
    """Print both ratios."""
    pages = [html for page in histories(PAGES, versions=VERSIONS) for html in page]
    bodies = [html.encode() for html in pages]
    check(pages)
    report(
        side_by_side(
            "view",
            lambda: [view(body) for body in bodies],
            lambda: [bare(html) for html in pages],
            amount=len(pages),
            unit="pages/s",
        ),
        side_by_side(
            "view with dom",
            lambda: [view(body, dom=True) for body in bodies],
            lambda: [plain_walk(html) for html in pages],
            amount=len(pages),
            unit="pages/s",
        ),
    )


if __name__ == "__main__":
    main()
