"""The references of a document to the distinct pages that it links to."""

from collections.abc import Iterable

import numpy as np

from freshet.core.types import NOFOLLOW, LinkTable
from freshet.view.formats.document import Href
from freshet.view.url import LinkResolver


def resolve_links(hrefs: Iterable[Href], base: LinkResolver) -> LinkTable:
    """Return the distinct web pages that references lead to, the page itself left out.

    >>> resolve_links([("/a#top", "A", ""), ("/a", "again", ""), ("", "self", "")], LinkResolver("http://x.org/")).urls
    ('http://x.org/a',)
    """
    found: dict[str, tuple[str, str, int]] = {}
    for href, anchor, rel in hrefs:
        resolved = base.resolve(href)
        if resolved is not None and resolved[0] not in found:
            found[resolved[0]] = (anchor, rel, resolved[1])
    found.pop(base.page_url, None)
    return _columns(found)


def _columns(found: dict[str, tuple[str, str, int]]) -> LinkTable:
    if not found:
        return LinkTable((), (), (), np.zeros(0, np.uint8))
    anchors, rels, facts = zip(*found.values(), strict=True)
    follow = [NOFOLLOW if rel and "nofollow" in rel.split() else 0 for rel in rels]
    return LinkTable(
        tuple(found), anchors, rels, np.array(facts, np.uint8) | np.array(follow, np.uint8)
    )
