"""Counts the new links of a collection's pages in intervals of any length."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from xxhash import xxh3_64_intdigest

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.links import PageLinkHistories
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.content.link_intervals import LinkEvents, LinkIntervalCounter, LinkIntervals
from freshet.core.errors import UsageError
from freshet.core.tables import PageIdArray
from freshet.view.url import site_of_host

MAX_INTERVALS = 100_000


@dataclass(frozen=True, slots=True)
class PageLinkCounts:
    """New links per page and interval; ``ids`` and ``urls`` belong to the rows of the counts.

    The intervals lie between ``bounds``; each includes its end.
    """

    ids: PageIdArray
    urls: tuple[str, ...]
    bounds: tuple[datetime, ...]
    counts: LinkIntervals


def count_new_links(
    catalog: Catalog, bounds: Sequence[datetime], *, source: str | None = None
) -> PageLinkCounts:
    """Return the new links of all pages between times, or of the pages of one source.

    Links are internal if they lead to the site of their page. An interval without a look at a page
    has no counts for it; the next one then counts from the last look before.
    """
    seconds = np.array([to_epoch(bound) for bound in bounds], np.float64)
    if len(seconds) < 2 or np.any(np.diff(seconds) <= 0):
        raise UsageError("intervals need at least two times, each later than the one before")
    counter = LinkIntervalCounter(catalog.page_count(source=source), seconds)
    ids: list[PageIdArray] = [np.empty(0, np.int64)]
    urls: list[str] = []
    for histories in catalog.link_histories(until=float(seconds[-1]), source=source):
        _add_histories(counter, histories, first_row=len(urls))
        ids.append(histories.ids)
        urls += histories.urls
    return PageLinkCounts(np.concatenate(ids), tuple(urls), tuple(bounds), counter.counts())


def count_new_links_every(
    catalog: Catalog, length: timedelta, now: datetime, *, source: str | None = None
) -> PageLinkCounts:
    """Return the new links in intervals of equal length from the first look until now."""
    first = catalog.first_look_time(source=source)
    begin = now if first is None else from_epoch(first)
    return count_new_links(catalog, interval_bounds(begin, now, length), source=source)


def interval_bounds(first: datetime, last: datetime, length: timedelta) -> tuple[datetime, ...]:
    """Return the bounds of intervals of equal length that end at a time and begin by another.

    >>> day = timedelta(days=1)
    >>> start = datetime(2026, 1, 1)
    >>> [bound.day for bound in interval_bounds(start, start + 3 * day, 2 * day)]
    [31, 2, 4]
    """
    if length <= timedelta(0):
        raise UsageError("an interval must be longer than 0")
    count = max(1, -(-(last - first) // length))
    if count > MAX_INTERVALS:
        raise UsageError(f"{count:,} intervals are too many; choose longer ones")
    return tuple(last - number * length for number in range(count, -1, -1))


def _add_histories(
    counter: LinkIntervalCounter, histories: PageLinkHistories, *, first_row: int
) -> None:
    """Add the links of some pages, whose rows begin with a given one."""
    pages, times, counts = [], [], []
    targets: list[int] = []
    is_internal: list[bool] = []
    for event in histories.events:
        position = int(np.searchsorted(histories.ids, event.page))
        site = histories.sites[position]
        pages.append(first_row + position)
        times.append(event.time)
        targets += map(link_hash, (*event.added, *event.removed))
        is_internal += [_site(url) == site for url in event.added]
        is_internal += [False] * len(event.removed)
        counts.append((len(event.added), len(event.removed)))
    per_event = np.array(counts, np.int64).reshape(-1, 2)
    looks = np.searchsorted(histories.ids, histories.look_pages) + first_row
    events = LinkEvents(
        np.repeat(np.array(pages, np.int32), per_event.sum(axis=1)),
        np.repeat(np.array(times, np.float64), per_event.sum(axis=1)),
        np.array(targets, np.uint64),
        np.repeat(np.tile([True, False], len(per_event)), per_event.ravel()),
        np.array(is_internal, np.bool_),
    )
    counter.add_pages(events, looks.astype(np.int32), histories.look_times)


def link_hash(url: str) -> int:
    """Return the 64-bit hash by which links are compared."""
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def _site(url: str) -> str:
    """Return the registrable domain that an absolute URL leads to."""
    return site_of_host(url.split("/", 3)[2].partition("?")[0])
