"""Comparing two versions of a page, against parsing one of them once (bar: at least as fast)."""

from resiliparse.parse.html import HTMLTree

from benchmarks.pages import histories
from benchmarks.report import report, side_by_side
from freshet.core.types import Snapshot, View
from freshet.measure.change import compare
from freshet.view.look import look

PAGES = 150


def view(html: str) -> View:
    """Return the view of a page."""
    return look(Snapshot("https://example.org/", html.encode()))


def main() -> None:
    """Print the ratio."""
    pages = histories(PAGES, versions=2)
    views = [(view(old), view(new)) for old, new in pages]
    if not any(compare(old, new).text for old, new in views):
        raise SystemExit("measure: no version differs from the one before; nothing was compared")
    report(
        side_by_side(
            "measure",
            lambda: [compare(old, new) for old, new in views],
            lambda: [HTMLTree.parse(old) for old, _ in pages],
            amount=len(pages),
            unit="pages/s",
        )
    )


if __name__ == "__main__":
    main()
