"""Add pages to a collection, many at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshet.archive.catalog.rows import BadRow, NewPage
from freshet.core.errors import BadInput
from freshet.core.types import PageKey
from freshet.flow.collection import Collection
from freshet.view.opml import urls as urls_of_opml
from freshet.view.sitemap import entries, is_index
from freshet.view.url import canonical, place

# A stored sitemap does not say where it lay, so that what it names must be absolute.
NOWHERE = "https://nowhere.invalid/"

__all__ = ["Added", "add_pages", "urls_of_opml", "urls_of_sitemap"]


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the URLs that were to be added."""

    new: int
    known: int
    refused: tuple[BadRow, ...]


def add_pages(collection: Collection, urls: Sequence[str], *, tags: tuple[str, ...]) -> Added:
    """Add live pages; those that are there keep their history, and get the tags too."""
    named = {url: canonical(url) for url in urls}
    refused = tuple(BadRow(url, "is no URL of a page") for url, known in named.items() if not known)
    keys = list(dict.fromkeys(PageKey(known) for known in named.values() if known))
    before = collection.catalog.counts()
    ids = collection.catalog.add_pages([_item(key) for key in keys], collection.clock.now())
    collection.catalog.restore(ids)
    for tag in tags:
        collection.catalog.tag(ids, tag)
    after = collection.catalog.counts()
    new = after.pages + after.removed - before.pages - before.removed
    return Added(new, len(keys) - new, refused)


def urls_of_sitemap(text: str) -> list[str]:
    """Return the pages that a stored sitemap names."""
    if is_index(text):
        raise BadInput("the sitemap only names further sitemaps; give those instead")
    return [entry.url for entry in entries(text, NOWHERE) if not entry.url.startswith(NOWHERE)]


def _item(key: PageKey) -> NewPage:
    where = place(key.url)
    return NewPage(key, where.host, where.site, where.directory)
