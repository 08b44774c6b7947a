"""A trace records which page changed in which cycle."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128

from freshet.backtest.site_wide_days import SiteWideDays
from freshet.core.clock import CYCLE_SECONDS
from freshet.core.tables import DAY_SECONDS, BoolArray, PageIdArray, PageTable
from freshet.core.types import FlagArray, FloatArray, HashArray, IndexArray

LinkCounts = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class PageGroupKeys:
    """Hash keys of each page's host, site and directory."""

    hosts: HashArray
    sites: HashArray
    directories: HashArray


@dataclass(frozen=True, slots=True)
class ChangeTimes:
    """Times of pages' changes in seconds since the start of a trace, ascending for each page.

    ``times[starts[i]:starts[i + 1]]`` belong to the i-th page.
    """

    starts: NDArray[np.int64]
    times: FloatArray

    def select(self, page_indices: PageIdArray | IndexArray) -> "ChangeTimes":
        """Return the times of some pages in the given order."""
        counts = np.diff(self.starts)[page_indices]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        offsets = np.repeat(self.starts[:-1][page_indices] - starts[:-1], counts)
        return ChangeTimes(starts, self.times[np.arange(starts[-1]) + offsets])


@dataclass(frozen=True, slots=True)
class Trace:
    """Changes of many pages on a common grid of cycles.

    The bit arrays have a row per cycle and pack eight pages into a byte. A page's id is its index.
    An unknown cell counts as unchanged unless it was imputed. ``new_links`` has a row per cycle and
    a column per page; it is None if link counts are not known. ``change_times`` is None if the
    moments of changes within their cycles are not known. ``site_wide_days`` are the days on which
    whole sites changed, None if they were not looked for. ``most_links`` is the greatest number of
    links that each page has had: no visit can find more. ``measured_importance`` is the
    importance by which the weighted measures weigh pages, None for that of ``pages``, which
    policies know. The arrays may be memory-mapped files.
    """

    name: str
    pages: PageTable
    cycles: int
    changed_bits: FlagArray
    unknown_bits: FlagArray
    new_links: LinkCounts | None = None
    change_times: ChangeTimes | None = None
    site_wide_days: SiteWideDays | None = None
    most_links: LinkCounts | None = None
    measured_importance: FloatArray | None = None

    def changed(self, cycle: int) -> BoolArray:
        """Return which pages changed in a cycle."""
        return self._unpack(self.changed_bits, cycle)

    def unknown(self, cycle: int) -> BoolArray:
        """Return which pages have no observation in a cycle."""
        return self._unpack(self.unknown_bits, cycle)

    @property
    def known_share(self) -> float:
        """Return the share of cells that are known."""
        unknown = int(np.bitwise_count(self.unknown_bits).sum())
        return 1.0 - unknown / (len(self.pages) * self.cycles)

    @property
    def is_imputed(self) -> bool:
        """Whether unknown cells were imputed: some of them count as changed."""
        rows = zip(self.changed_bits, self.unknown_bits, strict=True)
        return any(np.any(changed & unknown) for changed, unknown in rows)

    @property
    def timed_share(self) -> float:
        """Return the share of changed cells whose changes have recorded times."""
        changes = int(np.bitwise_count(self.changed_bits).sum())
        if self.change_times is None or not changes:
            return 0.0
        times = self.change_times
        pages = np.repeat(np.arange(len(self.pages)), np.diff(times.starts))
        cells = pages * self.cycles + times.times // CYCLE_SECONDS
        return len(np.unique(cells)) / changes

    def change_counts(self) -> IndexArray:
        """Return the number of cycles in which each page changed."""
        counts = np.zeros(len(self.pages), np.int32)
        for cycle in range(self.cycles):
            counts += self.changed(cycle)
        return counts

    @property
    def weights(self) -> FloatArray:
        """Return the importance by which the weighted measures weigh pages."""
        importance = self.measured_importance
        return self.pages.importance if importance is None else importance

    def without_importance(self) -> "Trace":
        """Return the trace for policies that take all pages as equally important.

        The weighted measures still use importance.
        """
        equal = replace(self.pages, importance=np.ones(len(self.pages)))
        return replace(self, pages=equal, measured_importance=self.weights)

    @property
    def digest(self) -> str:
        """Return a hash of pages, cells, new links and times, without name and link capacities."""
        hashed = xxh3_128(f"{len(self.pages)} {self.cycles}".encode())
        for column in self._columns():
            hashed.update(np.ascontiguousarray(column).data)
        return hashed.hexdigest()

    def select(self, page_indices: PageIdArray | IndexArray) -> "Trace":
        """Return the trace of some pages in the given order; their ids are numbered anew."""
        table, importance = self.pages, self.measured_importance
        keys = PageGroupKeys(
            table.hosts[page_indices], table.sites[page_indices], table.directories[page_indices]
        )
        return Trace(
            self.name,
            trace_page_table(keys, table.importance[page_indices]),
            self.cycles,
            self._select_bits(self.changed_bits, page_indices),
            self._select_bits(self.unknown_bits, page_indices),
            None if self.new_links is None else self.new_links[:, page_indices],
            None if self.change_times is None else self.change_times.select(page_indices),
            self.site_wide_days,
            None if self.most_links is None else self.most_links[page_indices],
            None if importance is None else importance[page_indices],
        )

    def _columns(self) -> Iterator[NDArray[Any]]:
        table = self.pages
        yield from (self.changed_bits, self.unknown_bits)
        yield from (table.hosts, table.sites, table.directories, table.importance)
        if self.new_links is not None:
            yield self.new_links
        if self.change_times is not None:
            yield from (self.change_times.starts, self.change_times.times)

    def _select_bits(self, bits: FlagArray, page_indices: PageIdArray | IndexArray) -> FlagArray:
        selected = np.empty((self.cycles, -(-len(page_indices) // 8)), np.uint8)
        for cycle in range(self.cycles):
            selected[cycle] = np.packbits(self._unpack(bits, cycle)[page_indices])
        return selected

    def _unpack(self, bits: FlagArray, cycle: int) -> BoolArray:
        return np.unpackbits(bits[cycle], count=len(self.pages)).view(np.bool_)


def build_trace(
    name: str,
    keys: PageGroupKeys,
    changed: BoolArray,
    *,
    unknown: BoolArray | None = None,
    importance: FloatArray | None = None,
    new_links: LinkCounts | None = None,
) -> Trace:
    """Build a trace from tables with a row per page and a column per cycle.

    >>> keys = PageGroupKeys(*(np.zeros(2, np.uint64),) * 3)
    >>> build_trace("two", keys, np.array([[True, False], [False, False]])).change_counts().tolist()
    [1, 0]
    """
    count, cycles = changed.shape
    table = trace_page_table(keys, np.ones(count) if importance is None else importance)
    unknown = np.zeros_like(changed) if unknown is None else unknown
    links = None if new_links is None else np.ascontiguousarray(new_links.T)
    return Trace(name, table, cycles, _pack_bits(changed & ~unknown), _pack_bits(unknown), links)


def trace_page_table(keys: PageGroupKeys, importance: FloatArray) -> PageTable:
    """Return the page table of a trace: ids are indices, and every page is known from the start."""
    count = len(importance)
    return PageTable(
        ids=np.arange(count, dtype=np.int64),
        hosts=keys.hosts,
        sites=keys.sites,
        directories=keys.directories,
        importance=importance,
        known_since=np.full(count, -DAY_SECONDS),
    )


def without_history(pages: PageTable) -> PageTable:
    """Return pages without any history before their first look, as in a live collection."""
    return replace(pages, known_since=np.full(len(pages), np.nan))


def _pack_bits(cells: BoolArray) -> FlagArray:
    """Pack a table with a row per page into bits with a row per cycle."""
    return np.ascontiguousarray(np.packbits(cells.T, axis=1))
