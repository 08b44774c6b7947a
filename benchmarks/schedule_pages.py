"""Pages on hosts of very different sizes, and their visits in a crawl at a constant budget."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from freshet.core.tables import DAY_SECONDS, PageIdArray, PageTable, VisitTable
from freshet.core.types import IndexArray

BUDGET_SHARE, CRAWL_DAYS = 0.05, 60
SWEEP_DAYS = round(1 / BUDGET_SHARE)
LARGEST_HOST_PAGES, LEAST_HOST_PAGES, MOST_HOST_PAGES = 100_000, 10, 1_000
LARGEST_SHARE, SINGLE_SHARE = 0.1, 0.1
PAGES_PER_DIRECTORY, PAGES_PER_STRETCH = 20, 100
OWN_CHANCE, EVENT_CHANCE, EVENT_INTERVAL_DAYS = 0.1, 0.7, 30
STATUS_FILE = Path("/proc/self/statm")
MEMORY_PAGE_BYTES = 4096


def resident_bytes() -> int:
    """Return the memory of this process."""
    return int(STATUS_FILE.read_text().split()[1]) * MEMORY_PAGE_BYTES


def host_sizes(count: int, rng: np.random.Generator) -> IndexArray:
    """Return the numbers of pages of hosts: one large host, many of 10 to 1,000 pages, singles.

    Twice the size is four times as rare, so that every size has the same number of pages in all.
    """
    largest = min(LARGEST_HOST_PAGES, int(LARGEST_SHARE * count))
    singles = int(SINGLE_SHARE * count)
    rest, sizes = count - largest - singles, [np.array([largest])]
    while rest > 0:
        shares = rng.random(1 + rest // 20)
        drawn = LEAST_HOST_PAGES / (1 - shares * (1 - LEAST_HOST_PAGES / MOST_HOST_PAGES))
        drawn = drawn.astype(np.int64)
        drawn = drawn[np.cumsum(drawn) <= rest]
        if not len(drawn):
            break
        sizes.append(drawn)
        rest -= int(drawn.sum())
    return np.concatenate([*sizes, np.ones(singles + rest, np.int64)]).astype(np.int32)


class SimulatedCollection:
    """Pages with their hosts, and visits of a crawl that goes through all pages in turn.

    Neighbouring page ids are on the same host in stretches, as when links are found page by page.
    A page changes by itself, and most pages of a host change on the same day once a month.
    ``host_pages`` gives all hosts the same size.
    """

    def __init__(self, count: int, host_pages: int = 0) -> None:
        self.count = count
        self._rng = np.random.default_rng(1)
        sizes = (
            np.full(count // host_pages, host_pages) if host_pages else host_sizes(count, self._rng)
        )
        hosts = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        hosts = np.append(hosts, np.full(count - len(hosts), len(sizes), np.int32))
        stretches = np.array_split(hosts, max(1, count // PAGES_PER_STRETCH))
        order = self._rng.permutation(len(stretches))
        self._hosts = np.concatenate([stretches[stretch] for stretch in order])
        self._turns = self._rng.integers(0, SWEEP_DAYS, count).astype(np.uint8)

    def pages(self) -> PageTable:
        """Return the table of all pages."""
        ids = np.arange(1, self.count + 1)
        hosts = self._hosts.astype(np.uint64)
        directories = hosts * np.uint64(1 << 32) + (ids // PAGES_PER_DIRECTORY).astype(np.uint64)
        return PageTable(
            ids, hosts, hosts, directories, np.ones(self.count), np.full(self.count, np.nan)
        )

    def largest_host_pages(self) -> PageIdArray:
        """Return the pages of the largest host."""
        return 1 + np.flatnonzero(self._hosts == 0)

    def visits_of_day(self, day: int, batch: int) -> Iterator[VisitTable]:
        """Yield the visits of a day in batches; every page has its turn once in a sweep."""
        pages = 1 + self._rng.permutation(np.flatnonzero(self._turns == day % SWEEP_DAYS))
        for part in np.array_split(pages, max(1, len(pages) // batch)):
            yield self.looks(part, day)

    def looks(
        self, pages: PageIdArray, day: float, *, at_once: bool = False, changed: bool | None = None
    ) -> VisitTable:
        """Return looks at pages within a day from a moment on, or all at that moment."""
        count, hosts = len(pages), self._hosts[pages - 1]
        since_event = (int(day) - hosts) % EVENT_INTERVAL_DAYS
        chances = np.where(since_event < SWEEP_DAYS, EVENT_CHANCE, OWN_CHANCE)
        has_changed = self._rng.random(count) < (chances if changed is None else float(changed))
        moments = np.zeros(count) if at_once else np.sort(self._rng.random(count))
        sure = np.ones(count, np.bool_)
        unknown = np.full(count, -1, np.int32)
        times = (day + moments) * DAY_SECONDS
        return VisitTable(pages, times, sure, sure, has_changed, unknown)

    def forget_order(self) -> None:
        """Free the memory of hosts and turns, which is not the policy's."""
        self._hosts, self._turns = np.empty(0, np.int32), np.empty(0, np.uint8)
