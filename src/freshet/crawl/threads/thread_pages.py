"""Adds the pages on which threads continue, so that their new posts are found there."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.found_pages import FoundPage
from freshet.core.types import PageKey
from freshet.record.collection_reader import new_page
from freshet.record.fault_isolation import isolate_faults
from freshet.view.url import canonical_url, page_address

THREAD_TAG = "thread"
# The greatest number of pages that follow one another, and of different next pages of one page.
MAX_THREAD_PAGES, MAX_NEXT_PAGES = 1_000, 10


def add_next_pages(catalog: Catalog, now: datetime) -> list[int]:
    """Add the next pages of threads that are no pages yet; return the ids of the new pages.

    A next page is on the same site, and looks for posts as the page that leads to it does.
    """
    with isolate_faults("adding the next pages of threads", "collection"):
        return _add_next_pages(catalog, now)
    return []


def _add_next_pages(catalog: Catalog, now: datetime) -> list[int]:
    keys = {page: PageKey(canonical_url(url) or "") for page, url in catalog.next_pages().items()}
    known = catalog.page_ids([key for key in keys.values() if key.url])
    unknown = {page: key for page, key in keys.items() if key.url and key not in known}
    if not unknown:
        return []
    pages, depths = catalog.pages_by_id(list(unknown)), catalog.find_depths(list(unknown))
    leading = _leading_pages(catalog, list(unknown))
    found = [
        FoundPage(new_page(key), page, THREAD_TAG, depths.get(page, 0) + 1)
        for page, key in unknown.items()
        if page in leading
        and page_address(key.url).site == pages[page].site
        and depths.get(page, 0) < MAX_THREAD_PAGES
    ]
    new_ids = catalog.add_found_pages(found, None, now)
    settings, ids = catalog.thread_by_page(), catalog.page_ids([item.page.key for item in found])
    origins = {ids[item.page.key]: item.found_on for item in found}
    catalog.update_page_settings({
        page: {"thread": settings[origins[page]]} for page in new_ids if origins[page] in settings
    })
    return new_ids


def _leading_pages(catalog: Catalog, pages: Sequence[int]) -> set[int]:
    """Return the pages whose next page may be added.

    A page that was found so itself must have later posts than the page before it, and no page leads
    to many: servers may give their links another address at every visit.
    """
    origins = catalog.found_origins(THREAD_TAG)
    next_counts = Counter(origins.values())
    columns = catalog.post_columns([*pages, *(origins[page] for page in pages if page in origins)])
    last_posts = dict(zip(columns.pages.tolist(), columns.times.tolist(), strict=True))
    return {
        page
        for page in pages
        if next_counts[page] < MAX_NEXT_PAGES
        and (page not in origins or last_posts.get(page, 0.0) > last_posts.get(origins[page], 0.0))
    }
