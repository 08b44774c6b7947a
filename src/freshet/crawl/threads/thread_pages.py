"""Adds the pages on which threads continue, so that their new posts are found there."""

from datetime import datetime

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.found_pages import FoundPage
from freshet.core.types import PageKey
from freshet.record.collection_reader import new_page
from freshet.record.fault_isolation import isolate_faults
from freshet.view.url import canonical_url, page_address

THREAD_TAG = "thread"
# The greatest number of pages that one page of a thread leads to.
MAX_THREAD_PAGES = 1_000


def add_next_pages(catalog: Catalog, now: datetime) -> list[int]:
    """Add the next pages of threads that are no pages yet; return the ids of the new pages.

    A next page is on the same host, and looks for posts as the page that leads to it does.
    """
    with isolate_faults("adding the next pages of threads", "collection"):
        return _add_next_pages(catalog, now)
    return []


def _add_next_pages(catalog: Catalog, now: datetime) -> list[int]:
    next_pages = catalog.next_pages()
    keys = {page: PageKey(canonical_url(url) or "") for page, url in next_pages.items()}
    known = catalog.page_ids([key for key in keys.values() if key.url])
    unknown = {page: key for page, key in keys.items() if key.url and key not in known}
    if not unknown:
        return []
    pages, depths = catalog.pages_by_id(list(unknown)), catalog.find_depths(list(unknown))
    found = [
        FoundPage(new_page(key), page, THREAD_TAG, depths.get(page, 0) + 1)
        for page, key in unknown.items()
        if page_address(key.url).host == pages[page].host and depths.get(page, 0) < MAX_THREAD_PAGES
    ]
    new_ids = catalog.add_found_pages(found, None, now)
    ids = catalog.page_ids([item.page.key for item in found])
    settings = {ids[item.page.key]: catalog.page_settings(item.found_on) for item in found}
    catalog.update_page_settings({
        page: {"thread": settings[page]["thread"]} for page in new_ids if "thread" in settings[page]
    })
    return new_ids
