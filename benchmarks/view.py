"""Viewing HTML pages, against resiliparse alone and against a plain DOM walk in Python.

The required ratios are 0.6 for text, links and terms, and 0.65 with DOM rows. The references
begin with text already decoded; our views begin with bytes.
"""

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree, NodeType
from xxhash import xxh3_64_intdigest

from benchmarks.pages import load_pages
from benchmarks.report import compare_rates, report
from freshet.core.types import Snapshot, View
from freshet.view.parse import parse_snapshot

PAGES, VERSIONS = 200, 2
URL = "https://example.org/a/b"
HEADERS = (("content-type", "text/html; charset=utf-8"),)


def extract_with_resiliparse(html: str) -> tuple[str, list[str]]:
    """Return text and hrefs by resiliparse alone."""
    tree = HTMLTree.parse(html)
    links = [link.getattr("href") for link in tree.document.query_selector_all("a[href]")]
    return extract_plain_text(tree), links


def plain_walk(html: str) -> list[tuple[str, int]]:
    """Return every node with the hash of its text, walking the DOM in Python."""
    nodes, queue = [], [HTMLTree.parse(html).document]
    while queue:
        node = queue.pop()
        if node.type == NodeType.TEXT:
            nodes.append(("#text", xxh3_64_intdigest(node.value.encode())))
        elif node.type == NodeType.ELEMENT:
            nodes.append((node.tag, xxh3_64_intdigest(node.tag.encode())))
        queue.extend(node.child_nodes)
    return nodes


def view(body: bytes, *, dom: bool = False) -> View:
    """Return the view of a page, as a crawl would see it."""
    return parse_snapshot(Snapshot(URL, body, headers=HEADERS), dom=dom)


def check(pages: list[str]) -> None:
    """Stop unless views hold as many elements as a plain reading finds."""
    for html in pages[:20]:
        parsed = view(html.encode(), dom=True)
        elements = sum(name != "#text" for name, _ in plain_walk(html))
        if parsed.dom is None or len(parsed.dom) != elements or not parsed.text:
            raise SystemExit(f"view: a page of {len(html)} characters was read wrongly")


def main() -> None:
    """Print both ratios."""
    pages = [html for page in load_pages(PAGES, versions=VERSIONS) for html in page]
    bodies = [html.encode() for html in pages]
    check(pages)
    report(
        compare_rates(
            "view",
            lambda: [view(body) for body in bodies],
            lambda: [extract_with_resiliparse(html) for html in pages],
            amount=len(pages),
            unit="pages/s",
        ),
        compare_rates(
            "view with dom",
            lambda: [view(body, dom=True) for body in bodies],
            lambda: [plain_walk(html) for html in pages],
            amount=len(pages),
            unit="pages/s",
        ),
    )


if __name__ == "__main__":
    main()
