"""Add pages to a collection, many at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshet.core.errors import BadInput
from freshet.core.types import BadRow, PageKey
from freshet.flow.collection import Collection
from freshet.view.opml import urls as urls_of_opml
from freshet.view.sitemap import entries, is_index
from freshet.view.url import canonical

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
    why = "is no URL of a page; write it as https://…"
    refused = tuple(BadRow(url, why) for url, known in named.items() if not known)
    keys = list(dict.fromkeys(PageKey(known) for known in named.values() if known))
    new = collection.introduce(keys, tags)
    return Added(new, len(keys) - new, refused)


def urls_of_sitemap(text: str, *, name: str) -> list[str]:
    """Return the pages that a stored sitemap, a file of that name, tells of."""
    if is_index(text):
        raise BadInput(f"{name}: the sitemap only names further sitemaps; give those instead")
    return [entry.url for entry in entries(text, NOWHERE) if not entry.url.startswith(NOWHERE)]
