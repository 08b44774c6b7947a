"""Examples of posts: the looks at each thread, with the posts that were known and found.

A model sees a thread as the crawl saw it. Before a look it knows the posts that earlier looks have
found, and it is asked how likely a new one has been posted since the look before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import from_epoch
from freshet.core.errors import FreshetError
from freshet.core.tables import BoolArray, hash_names
from freshet.core.types import FloatArray, IndexArray
from freshet.predict.change_model import LookSummary
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.record.thread_posts import ThreadPage, read_threads

MINUTE_SECONDS = 60.0
# With fewer sites, threads are resampled instead of sites.
MIN_SITES = 10
MIN_THREADS, MIN_POSTS = 5, 300


class TooFewPostsError(FreshetError):
    """There are too few posts to learn from."""


@dataclass(frozen=True, slots=True)
class WatchedThread:
    """The posts of a thread by time, when each was found, and the looks at its last page.

    All times are in epoch seconds. ``site`` is a number that pages of one site share.
    """

    post_times: FloatArray
    found_times: FloatArray
    looks: FloatArray
    site: int

    def known_posts(self, moment: float) -> ThreadPosts | None:
        """Return the posts that were found by a moment, None if there were none.

        No post is later than the moment: times ahead of it count as the moment.
        """
        times = self.post_times[self.found_times <= moment]
        return ThreadPosts(np.minimum(times, moment) / MINUTE_SECONDS) if len(times) else None


@dataclass(frozen=True, slots=True)
class PostExamples:
    """Looks at threads in time order: the look before, and if a post came in between.

    ``rows`` are positions in ``threads``.
    """

    threads: Sequence[WatchedThread]
    rows: IndexArray
    previous: FloatArray
    times: FloatArray
    has_post: BoolArray

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, chosen: BoolArray) -> "PostExamples":
        """Return some of the examples."""
        columns = (getattr(self, name)[chosen] for name in self.__slots__[1:])
        return PostExamples(self.threads, *columns)

    def groups(self) -> IndexArray:
        """Return the sites, or the threads if there are few sites."""
        sites = np.array([thread.site for thread in self.threads], np.uint64)
        numbers = np.unique(sites, return_inverse=True)[1].astype(np.int32)[self.rows]
        return numbers if len(np.unique(numbers)) >= MIN_SITES else self.rows

    def summary(self) -> LookSummary:
        """Return how many looks there are, and from when to when."""
        rows = np.unique(self.rows)
        return LookSummary(
            len(rows),
            len({self.threads[row].site for row in rows.tolist()}),
            len(self),
            int(self.has_post.sum()),
            from_epoch(float(self.previous.min())),
            from_epoch(float(self.times.max())),
        )


def gather_posts(catalog: Catalog) -> PostExamples:
    """Return the examples of a collection's threads; raise TooFewPostsError without enough."""
    threads = _watched_threads(catalog)
    posts = sum(len(thread.post_times) for thread in threads)
    if len(threads) < MIN_THREADS or posts < MIN_POSTS:
        raise TooFewPostsError(
            f"there are {posts:,} posts in {len(threads):,} threads; "
            f"{MIN_POSTS} in {MIN_THREADS} are needed"
        )
    return post_examples(threads)


def post_examples(threads: Sequence[WatchedThread]) -> PostExamples:
    """Return the looks at threads that follow another look by a minute or more."""
    parts = []
    for row, thread in enumerate(threads):
        previous, times = thread.looks[:-1], thread.looks[1:]
        is_apart = times - previous >= MINUTE_SECONDS
        previous, times = previous[is_apart], times[is_apart]
        has_post = _finds_posts(thread, previous, times)
        parts.append((np.full(len(times), row, np.int32), previous, times, has_post))
    rows, previous, times, has_post = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(times, kind="stable")
    return PostExamples(threads, rows[order], previous[order], times[order], has_post[order])


def _finds_posts(thread: WatchedThread, previous: FloatArray, times: FloatArray) -> BoolArray:
    """Return whether each look found a post that is later than the look before it.

    Older posts that a page shows for the first time are not new.
    """
    looks = np.searchsorted(times, thread.found_times)
    is_inside = looks < len(times)
    looks, post_times = looks[is_inside], thread.post_times[is_inside]
    is_new = (thread.found_times[is_inside] > previous[looks]) & (post_times > previous[looks])
    return np.bincount(looks[is_new], minlength=len(times)) > 0


def _watched_threads(catalog: Catalog) -> list[WatchedThread]:
    """Return the threads of the live crawl; those that are continued count on their last page.

    Their looks begin with the first one that found posts.
    """
    pages = {page.page: page for page in read_threads(catalog) if not page.is_continued}
    if not pages:
        return []
    looks = _looks_of_pages(catalog, list(pages))
    rows = catalog.pages_by_id(list(pages))
    sites = hash_names([rows[page].site for page in pages])
    return [
        _watched_thread(thread, looks[page], int(site))
        for (page, thread), site in zip(pages.items(), sites.tolist(), strict=True)
    ]


def _watched_thread(thread: ThreadPage, looks: FloatArray, site: int) -> WatchedThread:
    first_found = thread.found_times.min()
    return WatchedThread(thread.post_times, thread.found_times, looks[looks >= first_found], site)


def _looks_of_pages(catalog: Catalog, ids: Sequence[int]) -> dict[int, FloatArray]:
    """Return the times of all looks at pages, in order."""
    looks: dict[int, FloatArray] = {page: np.empty(0) for page in ids}
    for table in catalog.look_tables(only_live=True):
        is_wanted = np.isin(table.pages, ids)
        pages, times = table.pages[is_wanted], table.times[is_wanted]
        for page in np.unique(pages).tolist():
            looks[page] = np.sort(times[pages == page])
    return looks
