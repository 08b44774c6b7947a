"""Comparison of two versions of a page, against parsing one of them once (bar: as fast).

Under a mask the version before is stored without its text, as in a crawl.
"""

from resiliparse.parse.html import HTMLTree

from benchmarks.pages import load_pages
from benchmarks.report import compare_rates, report
from freshet.core.types import Snapshot, View
from freshet.measure.change.compare import compare, compare_masked, mask_view
from freshet.measure.noise.mask import Mask, MaskRule
from freshet.view.parse import parse_snapshot

PAGES = 150
MASK = Mask(
    1,
    (
        MaskRule("Page made on # * # #:#:# UTC in #.# seconds"),
        MaskRule("You are visitor number #; # users are online"),
        MaskRule("Advertisement: *!"),
        MaskRule("/html/body/aside"),
        MaskRule("/html[0]/body[0]/div[3]/p[0]"),
    ),
)


def view(html: str) -> View:
    """Return the view of a page."""
    return parse_snapshot(Snapshot("https://example.org/", html.encode()), dom=True)


def main() -> None:
    """Print the ratios."""
    pages = load_pages(PAGES, versions=2)
    views = [(view(old), view(new)) for old, new in pages]
    if not any(compare(old, new).text for old, new in views):
        raise SystemExit("measure: no version differs from the one before; nothing was compared")
    masked_views = [(mask_view(old, MASK).without_content(), (old, new)) for old, new in views]
    report(
        compare_rates(
            "measure",
            lambda: [compare(old, new) for old, new in views],
            lambda: [HTMLTree.parse(old) for old, _ in pages],
            amount=len(pages),
            unit="pages/s",
        ),
        compare_rates(
            "measure under a mask",
            lambda: [compare_masked(old, mask_view(new, MASK)) for old, (_, new) in masked_views],
            lambda: [HTMLTree.parse(old) for old, _ in pages],
            amount=len(pages),
            unit="pages/s",
        ),
    )


if __name__ == "__main__":
    main()
