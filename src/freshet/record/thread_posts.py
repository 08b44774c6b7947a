"""The posts of threads, over all pages of a thread.

A thread that is continued on another page has its new posts there. That page is the last one of the
thread, and its posts are those of all pages that lead to it. A page that is linked as the next one
but has no later posts, as the page of older posts, continues nothing.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.types import FloatArray, PageKey
from freshet.view.url import canonical_url

# Posts of one identity on two pages are one post if their times differ by no more.
SAME_POST_SECONDS = 86_400.0
# The time of each post and that of the visit that found it, by the identity of the post.
PostTimes = dict[int, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """A page of a thread, with the times of the posts up to it, in epoch seconds and in order.

    ``found_times`` are the times of the visits that found them. If it is continued, new posts come
    on another page.
    """

    page: int
    post_times: FloatArray
    found_times: FloatArray
    is_continued: bool


def read_threads(catalog: Catalog, page_ids: Sequence[int] | None = None) -> list[ThreadPage]:
    """Return those of some pages that are pages of threads, and the other pages of their threads.

    Without any pages given, all live pages of threads are returned. None has ``thread = "no"``.
    """
    next_pages = next_page_ids(catalog)
    previous = _previous_pages(next_pages)
    wanted = None if page_ids is None else sorted(_linked(page_ids, next_pages, previous))
    columns = catalog.post_columns(wanted)
    starts = np.flatnonzero(np.diff(columns.pages, prepend=-1))
    ends = np.append(starts[1:], len(columns))
    moments = list(zip(columns.times.tolist(), columns.found.tolist(), strict=True))
    identities = columns.identities.tolist()
    posts = {
        int(columns.pages[start]): dict(zip(identities[start:end], moments[start:end], strict=True))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=False)
    }
    excluded = {page for page, thread in catalog.thread_by_page().items() if thread == "no"}
    posts = {page: times for page, times in posts.items() if page not in excluded}
    continued = {page for page, after in next_pages.items() if _is_later(posts, after, page)}
    return [
        ThreadPage(page, *_all_times(page, posts, previous, continued), page in continued)
        for page in posts
    ]


def next_page_ids(catalog: Catalog) -> dict[int, int]:
    """Return the page on which each thread continues, if it is one of the live pages."""
    keys = {page: PageKey(canonical_url(url) or "") for page, url in catalog.next_pages().items()}
    ids = catalog.page_ids(list(set(keys.values())))
    return {page: ids[key] for page, key in keys.items() if ids.get(key, page) != page}


def _previous_pages(next_pages: Mapping[int, int]) -> dict[int, list[int]]:
    """Return the pages that lead to each page."""
    previous: dict[int, list[int]] = {}
    for page, after in next_pages.items():
        previous.setdefault(after, []).append(page)
    return previous


def _linked(
    page_ids: Iterable[int], next_pages: Mapping[int, int], previous: Mapping[int, list[int]]
) -> set[int]:
    """Return pages with all pages that lead to them or that they lead to."""
    linked: set[int] = set()
    waiting = list(page_ids)
    while waiting:
        page = waiting.pop()
        if page not in linked:
            linked.add(page)
            waiting += previous.get(page, [])
            waiting += [next_pages[page]] if page in next_pages else []
    return linked


def _is_later(posts: Mapping[int, PostTimes], page: int, before: int) -> bool:
    """Whether a page has posts after all those of the page before it."""
    if page not in posts or before not in posts:
        return False
    return _last_post(posts[page]) > _last_post(posts[before])


def _last_post(posts: PostTimes) -> float:
    return max(time for time, _ in posts.values())


def _all_times(
    page: int,
    posts: Mapping[int, PostTimes],
    previous: Mapping[int, list[int]],
    continued: Collection[int],
) -> tuple[FloatArray, FloatArray]:
    """Return when the posts of a page and of those before it were posted, and when found.

    Repeated ones count once.
    """
    times: dict[Hashable, tuple[float, float]] = {}
    seen: set[int] = set()
    waiting = [page]
    while waiting:
        earlier = waiting.pop()
        if earlier in seen:
            continue
        seen.add(earlier)
        for identity, moment in posts[earlier].items():
            later = times.setdefault(identity, moment)
            if abs(later[0] - moment[0]) > SAME_POST_SECONDS:
                # Each page numbers its own posts.
                times[identity, earlier] = moment
        waiting += [before for before in previous.get(earlier, []) if before in continued]
    post_times, found_times = np.array(sorted(times.values()), np.float64).T
    return post_times, found_times
