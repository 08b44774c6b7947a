"""What is served that is no ordinary page: feeds, sitemaps, robots, shells and refusals."""

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
    """Write the linked blocks of a page as an RSS feed."""
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
    """Write addresses and when each last changed as a sitemap."""
    rows = "".join(
        f"<url><loc>{url}</loc><lastmod>{from_epoch(int(changed)).isoformat()}</lastmod></url>\n"
        for url, changed in pages
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )


def render_robots(crawl_delay: float, sitemap_url: str) -> str:
    """Write the rules for crawlers; a delay of 0 and an empty address are left out."""
    delay = f"Crawl-delay: {crawl_delay:g}\n" if crawl_delay else ""
    place = f"\nSitemap: {sitemap_url}\n" if sitemap_url else ""
    return f"User-agent: *\nDisallow: /out\nDisallow: /suggested/\n{delay}{place}"


def render_script_page(frame: PageFrame, build: str) -> str:
    """Write a page that is empty until its scripts have run."""
    script = f'<div id="app"></div><script src="/assets/app.{build}.js" defer></script>'
    return _BARE.format(title=frame.title, body=script)


def render_captcha(token: str) -> str:
    """Write a page that asks for proof of a human."""
    body = f'<p>Please verify you are human.</p><div class="h-captcha" data-k="{token}"></div>'
    return _BARE.format(title="Just a moment...", body=body)


def render_not_found() -> str:
    """Write the page that stands where there is none."""
    return _BARE.format(title="Page not found", body="<h1>Page not found</h1><p>Sorry.</p>")


def render_unavailable() -> str:
    """Write what a host says while it is down."""
    return _BARE.format(title="Service unavailable", body="<h1>Service unavailable</h1>")
