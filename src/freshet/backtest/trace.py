"""A trace: which page changed in which cycle, and how observed days become one."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

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
    """Host, site and directory of each page, as keys."""

    hosts: HashArray
    sites: HashArray
    directories: HashArray


@dataclass(frozen=True, slots=True)
class TraceCells:
    """What is known of pages in cycles, each a row per page and a column per cycle.

    ``new_links`` is there where the observations tell of any.
    """

    pages: IndexArray
    changed: BoolArray
    unknown: BoolArray
    new_links: LinkCounts | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Many pages' change on a common grid of cycles, eight pages to a byte, a row per cycle.

    A page's id is its place. An unknown cell counts as unchanged, unless it was imputed. Where it
    is known, ``new_links`` says how many links appeared, a row per cycle and a column per page.
    The arrays may be files of which only what is asked for is read.
    """

    name: str
    pages: PageTable
    cycles: int
    changed_bits: FlagArray
    unknown_bits: FlagArray
    new_links: LinkCounts | None = None

    def changed(self, cycle: int) -> BoolArray:
        """Return which pages changed in a cycle."""
        return self._unpacked(self.changed_bits, cycle)

    def unknown(self, cycle: int) -> BoolArray:
        """Return of which pages nothing is known in a cycle."""
        return self._unpacked(self.unknown_bits, cycle)

    @property
    def known_share(self) -> float:
        """Return the share of cells that are known."""
        unknown = int(np.bitwise_count(self.unknown_bits).sum())
        return 1.0 - unknown / (len(self.pages) * self.cycles)

    @property
    def is_imputed(self) -> bool:
        """Whether unknown cells were filled in: some that are not known count as changed."""
        rows = zip(self.changed_bits, self.unknown_bits, strict=True)
        return any(np.any(changed & unknown) for changed, unknown in rows)

    def change_counts(self) -> IndexArray:
        """Return in how many cycles each page changed."""
        counts = np.zeros(len(self.pages), np.int32)
        for cycle in range(self.cycles):
            counts += self.changed(cycle)
        return counts

    @property
    def digest(self) -> str:
        """Return a text that differs where pages, cells or links differ; the name is no matter."""
        hashed = xxh3_128(f"{len(self.pages)} {self.cycles}".encode())
        for column in self._columns():
            hashed.update(np.ascontiguousarray(column).data)
        return hashed.hexdigest()

    def select(self, page_indices: PageIdArray | IndexArray) -> "Trace":
        """Return the trace of some pages, in the order given, their ids counted anew."""
        table = self.pages
        keys = PageGroupKeys(
            table.hosts[page_indices], table.sites[page_indices], table.directories[page_indices]
        )
        return Trace(
            self.name,
            trace_page_table(keys, table.importance[page_indices]),
            self.cycles,
            self._of_some(self.changed_bits, page_indices),
            self._of_some(self.unknown_bits, page_indices),
            None if self.new_links is None else self.new_links[:, page_indices],
        )

    def _columns(self) -> Iterator[FlagArray | FloatArray | HashArray | LinkCounts]:
        table = self.pages
        yield from (self.changed_bits, self.unknown_bits)
        yield from (table.hosts, table.sites, table.directories, table.importance)
        if self.new_links is not None:
            yield self.new_links

    def _of_some(self, bits: FlagArray, places: PageIdArray | IndexArray) -> FlagArray:
        some = np.empty((self.cycles, -(-len(places) // 8)), np.uint8)
        for cycle in range(self.cycles):
            some[cycle] = np.packbits(self._unpacked(bits, cycle)[places])
        return some

    def _unpacked(self, bits: FlagArray, cycle: int) -> BoolArray:
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
    """Return the trace of tables of cells with a row per page and a column per cycle.

    >>> keys = PageGroupKeys(*(np.zeros(2, np.uint64),) * 3)
    >>> build_trace("two", keys, np.array([[True, False], [False, False]])).change_counts().tolist()
    [1, 0]
    """
    count, cycles = changed.shape
    table = trace_page_table(keys, np.ones(count) if importance is None else importance)
    unknown = np.zeros_like(changed) if unknown is None else unknown
    links = None if new_links is None else np.ascontiguousarray(new_links.T)
    return Trace(name, table, cycles, _bits(changed & ~unknown), _bits(unknown), links)


def trace_page_table(keys: PageGroupKeys, importance: FloatArray) -> PageTable:
    """Return the pages of a trace: their ids are their places, and all are known from its start."""
    count = len(importance)
    return PageTable(
        ids=np.arange(count, dtype=np.int64),
        hosts=keys.hosts,
        sites=keys.sites,
        directories=keys.directories,
        importance=importance,
        known_since=np.full(count, -DAY_SECONDS),
    )


def source_of(part: str) -> str:
    """Return the source that a part belongs to.

    >>> source_of("stalker"), source_of("ota_contrib_snap_b")
    ('stalker', 'ota_contrib_snap')
    """
    return re.sub(r"_[bcd]$", "", part)


def cells_of_named_trace(table: PageDayTable, name: str, *, max_days: int = MAX_DAYS) -> TraceCells:
    """Lay observed days out as the cells of a named trace.

    Each source has its own days: mass days (a new template, a new mirror program) are dropped, and
    the last ``max_days`` of the rest end together with those of the other sources. Pages of which
    too little is known are left out.
    """
    source_of_page = [source_of(part) for part in table.parts]
    wanted = sorted({source for source in source_of_page if NAMED_TRACES[name](source)})
    number = {source: place for place, source in enumerate(wanted)}
    owner = np.array([number.get(source, -1) for source in source_of_page], np.int32)
    owner_of_row = owner[table.pages]
    after = np.full(len(table), -1, np.int32)
    for source in range(len(wanted)):
        rows = np.flatnonzero(owner_of_row == source)
        after[rows] = _days_from_end(table.days[rows], table.changed[rows], max_days)
    cycles = int(after.max(initial=-1)) + 1
    return _laid_out(table, np.where(after < 0, -1, cycles - 1 - after), cycles, MIN_KNOWN_SHARE)


def cells_of_all_days(
    table: PageDayTable, *, min_known_share: float = MIN_KNOWN_SHARE
) -> TraceCells:
    """Lay all observed days out as cells, from the first day of any page to the last.

    Pages that are known on less than a share of the days are left out.
    """
    return _laid_out(table, _from_first(table), day_span(table), min_known_share)


def day_span(table: PageDayTable) -> int:
    """Return how many days there are from the first observed one to the last."""
    return int(np.ptp(table.days)) + 1 if len(table) else 0


def count_known_days(table: PageDayTable) -> IndexArray:
    """Return on how many days each page was observed."""
    return _known(table, _from_first(table), day_span(table))


def _from_first(table: PageDayTable) -> IndexArray:
    return table.days - table.days.min() if len(table) else table.days


def _days_from_end(days: IndexArray, changed: BoolArray, longest: int) -> IndexArray:
    """Return how many of a source's days come after each row's day, -1 for days left out."""
    distinct, day_of_row = np.unique(days, return_inverse=True)
    seen = np.bincount(day_of_row)
    mass = (seen > MASS_DAY_MIN_PAGES) & (np.bincount(day_of_row, changed) > MASS_DAY_SHARE * seen)
    kept = np.flatnonzero(~mass)[-longest:]
    after = np.full(len(distinct), -1, np.int32)
    after[kept] = np.arange(len(kept))[::-1]
    return after[day_of_row]


def _laid_out(
    table: PageDayTable, cycle_of_row: IndexArray, cycles: int, least_known: float
) -> TraceCells:
    """Put rows that have a cycle into a grid, but those of pages with too few known cells."""
    known = _known(table, cycle_of_row, cycles)
    kept = np.flatnonzero(known >= max(1.0, least_known * cycles)).astype(np.int32)
    line = np.full(len(table.urls), -1, np.int32)
    line[kept] = np.arange(len(kept))
    changed = np.zeros(len(kept) * cycles, np.bool_)
    unknown = np.ones_like(changed)
    links = np.zeros(len(changed) if _tells_of_links(table) else 0, np.uint32)
    for rows, cell in _placed(table, line, cycle_of_row, cycles):
        unknown[cell] = False
        changed[cell[table.changed[rows]]] = True
        if len(links) and table.new_links is not None:
            np.add.at(
                links, cell, np.clip(table.new_links[rows], 0, MAX_NEW_LINKS).astype(np.uint32)
            )
    shape = len(kept), cycles
    return TraceCells(
        kept,
        changed.reshape(shape),
        unknown.reshape(shape),
        np.minimum(links, MAX_NEW_LINKS).astype(np.uint16).reshape(shape) if len(links) else None,
    )


def _placed(
    table: PageDayTable, line: IndexArray, cycle_of_row: IndexArray, cycles: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64]]]:
    """Yield rows that belong into a grid and the cell of each, some at a time to save memory."""
    for start in range(0, len(table), ROW_BATCH):
        part = slice(start, start + ROW_BATCH)
        page, cycle = line[table.pages[part]], cycle_of_row[part]
        inside = np.flatnonzero((page >= 0) & (cycle >= 0))
        cell = page[inside].astype(np.int64) * cycles + cycle[inside]
        inside += start
        yield inside, cell


def _known(table: PageDayTable, cycle_of_row: IndexArray, cycles: int) -> IndexArray:
    """Return in how many cycles each page was seen, however often in each."""
    cell = np.multiply(table.pages, cycles, dtype=np.int64)
    cell += cycle_of_row
    cell = cell[cycle_of_row >= 0]
    cell.sort()
    first = np.ones(len(cell), np.bool_)
    first[1:] = cell[1:] != cell[:-1]
    page = cell[first] // max(1, cycles)
    return np.bincount(page, minlength=len(table.urls)).astype(np.int32)


def _tells_of_links(table: PageDayTable) -> bool:
    return table.new_links is not None and bool(np.any(table.new_links >= 0))


def _bits(cells: BoolArray) -> FlagArray:
    """Pack cells with a row per page into bits with a row per cycle, each row in one piece."""
    return np.ascontiguousarray(np.packbits(cells.T, axis=1))
