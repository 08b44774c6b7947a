"""A trace records which page changed in which cycle; observed days are laid out as a trace."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128

from freshet.core.tables import DAY_SECONDS, BoolArray, PageDayTable, PageIdArray, PageTable
from freshet.core.types import FlagArray, FloatArray, HashArray, IndexArray

LinkCounts = NDArray[np.uint16]

MAX_DAYS = 180
MIN_KNOWN_SHARE = 0.8
MASS_DAY_MIN_PAGES, MASS_DAY_SHARE = 20, 0.4
MAX_NEW_LINKS = 65_535
ROW_BATCH = 1 << 20
IRREGULAR_SOURCES = frozenset({"news_de", "cdr_home", "bbc_front", "hn_front", "gh_trending"})

NAMED_TRACES: Mapping[str, Callable[[str], bool]] = {
    "snap": lambda source: source.endswith("_snap"),
    "mixed": lambda source: source not in IRREGULAR_SOURCES,
}


@dataclass(frozen=True, slots=True)
class PageGroupKeys:
    """Hash keys of each page's host, site and directory."""

    hosts: HashArray
    sites: HashArray
    directories: HashArray


@dataclass(frozen=True, slots=True)
class TraceCells:
    """Known changes by page and cycle; every table has a row per page and a column per cycle.

    ``new_links`` is None if the observations have no link counts.
    """

    pages: IndexArray
    changed: BoolArray
    unknown: BoolArray
    new_links: LinkCounts | None = None


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
    moments of changes within their cycles are not known. The arrays may be memory-mapped files.
    """

    name: str
    pages: PageTable
    cycles: int
    changed_bits: FlagArray
    unknown_bits: FlagArray
    new_links: LinkCounts | None = None
    change_times: ChangeTimes | None = None

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

    def change_counts(self) -> IndexArray:
        """Return the number of cycles in which each page changed."""
        counts = np.zeros(len(self.pages), np.int32)
        for cycle in range(self.cycles):
            counts += self.changed(cycle)
        return counts

    @property
    def digest(self) -> str:
        """Return a hash of pages, cells, links and times; the trace's name is not part of it."""
        hashed = xxh3_128(f"{len(self.pages)} {self.cycles}".encode())
        for column in self._columns():
            hashed.update(np.ascontiguousarray(column).data)
        return hashed.hexdigest()

    def select(self, page_indices: PageIdArray | IndexArray) -> "Trace":
        """Return the trace of some pages in the given order; their ids are numbered anew."""
        table = self.pages
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


def source_of(part: str) -> str:
    """Return the source to which a part of the data belongs.

    >>> source_of("stalker"), source_of("ota_contrib_snap_b")
    ('stalker', 'ota_contrib_snap')
    """
    return re.sub(r"_[bcd]$", "", part)


def cells_of_named_trace(table: PageDayTable, name: str, *, max_days: int = MAX_DAYS) -> TraceCells:
    """Lay observed days out as the cells of a named trace.

    Each source has its own days. Days on which most pages of a source changed at once (a new
    template, a new version of the scraper) are dropped. Of the other days the last ``max_days`` are
    used, and the last days of all sources are aligned. Pages with too few known cells are left out.
    """
    source_of_page = [source_of(part) for part in table.parts]
    sources = sorted({source for source in source_of_page if NAMED_TRACES[name](source)})
    source_index = {source: index for index, source in enumerate(sources)}
    source_of_page_index = np.array(
        [source_index.get(source, -1) for source in source_of_page], np.int32
    )
    source_of_row = source_of_page_index[table.pages]
    days_from_end = np.full(len(table), -1, np.int32)
    for source in range(len(sources)):
        rows = np.flatnonzero(source_of_row == source)
        days_from_end[rows] = _days_from_end(table.days[rows], table.changed[rows], max_days)
    cycles = int(days_from_end.max(initial=-1)) + 1
    return _fill_grid(
        table, np.where(days_from_end < 0, -1, cycles - 1 - days_from_end), cycles, MIN_KNOWN_SHARE
    )


def cells_of_all_days(
    table: PageDayTable, *, min_known_share: float = MIN_KNOWN_SHARE
) -> TraceCells:
    """Lay all observed days out as cells, from the first day of any page to the last.

    Pages known on less than the minimum share of the days are left out.
    """
    return _fill_grid(table, _days_from_start(table), day_span(table), min_known_share)


def day_span(table: PageDayTable) -> int:
    """Return the number of days from the first observation to the last."""
    return int(np.ptp(table.days)) + 1 if len(table) else 0


def count_known_days(table: PageDayTable) -> IndexArray:
    """Return the number of days on which each page was observed."""
    return _count_observed_cycles(table, _days_from_start(table), day_span(table))


def _days_from_start(table: PageDayTable) -> IndexArray:
    return table.days - table.days.min() if len(table) else table.days


def _days_from_end(days: IndexArray, changed: BoolArray, max_days: int) -> IndexArray:
    """Return the number of the source's days after each row's day; -1 for dropped days."""
    distinct_days, day_of_row = np.unique(days, return_inverse=True)
    observed_pages = np.bincount(day_of_row)
    is_mass_day = (observed_pages > MASS_DAY_MIN_PAGES) & (
        np.bincount(day_of_row, changed) > MASS_DAY_SHARE * observed_pages
    )
    used_days = np.flatnonzero(~is_mass_day)[-max_days:]
    days_after = np.full(len(distinct_days), -1, np.int32)
    days_after[used_days] = np.arange(len(used_days))[::-1]
    return days_after[day_of_row]


def _fill_grid(
    table: PageDayTable, cycle_of_row: IndexArray, cycles: int, min_known_share: float
) -> TraceCells:
    """Put the rows that have a cycle into a grid; leave out pages with too few known cells."""
    known_counts = _count_observed_cycles(table, cycle_of_row, cycles)
    kept_pages = np.flatnonzero(known_counts >= max(1.0, min_known_share * cycles)).astype(np.int32)
    row_of_page = np.full(len(table.urls), -1, np.int32)
    row_of_page[kept_pages] = np.arange(len(kept_pages))
    changed = np.zeros(len(kept_pages) * cycles, np.bool_)
    unknown = np.ones_like(changed)
    links = np.zeros(len(changed) if _has_link_counts(table) else 0, np.uint32)
    for rows, cell in _grid_cells(table, row_of_page, cycle_of_row, cycles):
        unknown[cell] = False
        changed[cell[table.changed[rows]]] = True
        if len(links) and table.new_links is not None:
            np.add.at(
                links, cell, np.clip(table.new_links[rows], 0, MAX_NEW_LINKS).astype(np.uint32)
            )
    shape = len(kept_pages), cycles
    return TraceCells(
        kept_pages,
        changed.reshape(shape),
        unknown.reshape(shape),
        np.minimum(links, MAX_NEW_LINKS).astype(np.uint16).reshape(shape) if len(links) else None,
    )


def _grid_cells(
    table: PageDayTable, row_of_page: IndexArray, cycle_of_row: IndexArray, cycles: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64]]]:
    """Yield row indices inside the grid with their cell indices, in batches to save memory."""
    for start in range(0, len(table), ROW_BATCH):
        batch = slice(start, start + ROW_BATCH)
        row, cycle = row_of_page[table.pages[batch]], cycle_of_row[batch]
        inside_rows = np.flatnonzero((row >= 0) & (cycle >= 0))
        cell = row[inside_rows].astype(np.int64) * cycles + cycle[inside_rows]
        inside_rows += start
        yield inside_rows, cell


def _count_observed_cycles(
    table: PageDayTable, cycle_of_row: IndexArray, cycles: int
) -> IndexArray:
    """Return the number of cycles in which each page was observed."""
    cell = np.multiply(table.pages, cycles, dtype=np.int64)
    cell += cycle_of_row
    cell = cell[cycle_of_row >= 0]
    cell.sort()
    is_first_in_cell = np.ones(len(cell), np.bool_)
    is_first_in_cell[1:] = cell[1:] != cell[:-1]
    page = cell[is_first_in_cell] // max(1, cycles)
    return np.bincount(page, minlength=len(table.urls)).astype(np.int32)


def _has_link_counts(table: PageDayTable) -> bool:
    return table.new_links is not None and bool(np.any(table.new_links >= 0))


def _pack_bits(cells: BoolArray) -> FlagArray:
    """Pack a table with a row per page into bits with a row per cycle."""
    return np.ascontiguousarray(np.packbits(cells.T, axis=1))
