"""Resolve the references of a document to the distinct pages that it links to."""

from collections.abc import Iterable

import numpy as np

from freshet.core.types import NOFOLLOW, LinkTable
from freshet.view.formats.document import Href
from freshet.view.url import LinkResolver


def resolve_links(hrefs: Iterable[Href], resolver: LinkResolver) -> LinkTable:
    """Return the distinct web pages that references lead to, without the page itself.

    >>> hrefs = [("/a#top", "A", ""), ("/a", "again", ""), ("", "self", "")]
    >>> resolve_links(hrefs, LinkResolver("http://x.org/")).urls
    ('http://x.org/a',)
    """
    links_by_url: dict[str, tuple[str, str, int]] = {}
    for href, anchor, rel in hrefs:
        resolved = resolver.resolve(href)
        if resolved is not None and resolved[0] not in links_by_url:
            nofollow = NOFOLLOW if rel and "nofollow" in rel.split() else 0
            links_by_url[resolved[0]] = (anchor, rel, resolved[1] | nofollow)
    links_by_url.pop(resolver.page_url, None)
    if not links_by_url:
        return LinkTable((), (), (), np.zeros(0, np.uint8))
    anchors, rels, flags = zip(*links_by_url.values(), strict=True)
    return LinkTable(tuple(links_by_url), anchors, rels, np.array(flags, np.uint8))
