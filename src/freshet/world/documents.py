"""Other documents of the simulated web: feeds, sitemaps, robots.txt, script pages and errors."""

from collections.abc import Iterable, Sequence
from email.utils import formatdate

from freshet.core.clock import from_epoch
from freshet.world.page_design import PageFrame
from freshet.world.page_version import PageBlock

_BARE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body>{body}</body></html>
"""


def render_rss(frame: PageFrame, blocks: Sequence[PageBlock], origin: str, changed: float) -> str:
    """Render the linked blocks of a page as an RSS feed."""
    items = "".join(
        f"<item><title>{block.text}</title><link>{origin}{block.href}</link>"
        f'<guid isPermaLink="true">{origin}{block.href}</guid></item>\n'
        for block in blocks
        if block.href
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>'
        f"<title>{frame.title} | {frame.site}</title><link>{origin}/</link>"
        f"<description>All that is new at {frame.site}</description>"
        f"<lastBuildDate>{formatdate(changed, usegmt=True)}</lastBuildDate>\n"
        f"{items}</channel></rss>\n"
    )


def render_sitemap(pages: Iterable[tuple[str, float]]) -> str:
    """Render addresses with the time of their last change as a sitemap."""
    rows = "".join(
        f"<url><loc>{url}</loc><lastmod>{from_epoch(int(changed)).isoformat()}</lastmod></url>\n"
        for url, changed in pages
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )


def render_robots(crawl_delay: float, sitemap_url: str) -> str:
    """Render robots.txt; a delay of 0 and an empty sitemap address are left out."""
    delay = f"Crawl-delay: {crawl_delay:g}\n" if crawl_delay else ""
    sitemap_line = f"\nSitemap: {sitemap_url}\n" if sitemap_url else ""
    return f"User-agent: *\nDisallow: /out\nDisallow: /suggested/\n{delay}{sitemap_line}"


def render_script_page(frame: PageFrame, build: str) -> str:
    """Render a page that is empty until its scripts have run."""
    script = f'<div id="app"></div><script src="/assets/app.{build}.js" defer></script>'
    return _BARE.format(title=frame.title, body=script)


def render_captcha(token: str) -> str:
    """Render a captcha page."""
    body = f'<p>Please verify you are human.</p><div class="h-captcha" data-k="{token}"></div>'
    return _BARE.format(title="Just a moment...", body=body)


def render_not_found() -> str:
    """Render the page for 404 responses."""
    return _BARE.format(title="Page not found", body="<h1>Page not found</h1><p>Sorry.</p>")


def render_unavailable() -> str:
    """Render the page for 503 responses."""
    return _BARE.format(title="Service unavailable", body="<h1>Service unavailable</h1>")
