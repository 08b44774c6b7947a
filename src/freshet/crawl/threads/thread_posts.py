"""The posts of threads, over all pages of a thread.

A thread that is continued on another page has its new posts there. That page is the last one of the
thread, and its posts are those of all pages that lead to it. A page that is linked as the next one
but has no later posts, as the page of older posts, continues nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.types import FloatArray, PageKey
from freshet.view.url import canonical_url


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """A page of a thread, with the times of the posts up to it, in epoch seconds and in order.

    If it is continued, new posts come on another page.
    """

    page: int
    post_times: FloatArray
    is_continued: bool


def read_threads(catalog: Catalog, page_ids: Sequence[int] | None = None) -> list[ThreadPage]:
    """Return those of some pages that are pages of threads, and the pages that they continue.

    Without any pages given, all live pages of threads are returned.
    """
    next_pages = next_page_ids(catalog)
    previous = {page: before for before, page in next_pages.items()}
    wanted = None if page_ids is None else set(page_ids)
    if wanted is not None and not wanted.isdisjoint(next_pages.keys() | previous.keys()):
        # A page may end or lead to the threads of others.
        wanted |= next_pages.keys() | previous.keys()
    columns = catalog.post_columns(None if wanted is None else sorted(wanted))
    starts = np.flatnonzero(np.diff(columns.pages, prepend=-1))
    times = dict(
        zip(columns.pages[starts].tolist(), np.split(columns.times, starts[1:]), strict=True)
        if len(columns)
        else ()
    )
    continued = {page for page, after in next_pages.items() if is_later(times, after, page)}
    pages = []
    for page in times:
        parts = list(_times_before(page, times, previous, continued))
        pages.append(ThreadPage(page, np.sort(np.concatenate(parts)), page in continued))
    return pages


def next_page_ids(catalog: Catalog) -> dict[int, int]:
    """Return the page on which each thread continues, if it is one of the live pages."""
    keys = {page: PageKey(canonical_url(url) or "") for page, url in catalog.next_pages().items()}
    ids = catalog.page_ids(list(set(keys.values())))
    return {page: ids[key] for page, key in keys.items() if ids.get(key, page) != page}


def is_later(times: Mapping[int, FloatArray], page: int, before: int) -> bool:
    """Whether a page has posts after all those of the page before it."""
    return page in times and before in times and times[page][-1] > times[before][-1]


def _times_before(
    page: int, times: Mapping[int, FloatArray], previous: Mapping[int, int], continued: set[int]
) -> Iterator[FloatArray]:
    """Yield the times of the posts of a page and of the pages that lead to it."""
    yield times[page]
    seen = {page}
    while (page := previous.get(page, page)) in continued and page not in seen:
        yield times[page]
        seen.add(page)
