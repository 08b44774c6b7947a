"""A trace: which page changed in which cycle, and how observed days become one."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128

from freshet.core.tables import DAY_SECONDS, DayTable, PageIds, PageTable, Truths
from freshet.core.types import Flags, Floats, Ids, Indices

LinkCounts = NDArray[np.uint16]

LONGEST = 180
LEAST_KNOWN = 0.8
MASS_PAGES, MASS_SHARE = 20, 0.4
MOST_LINKS = 65_535
ROWS_AT_ONCE = 1 << 20
IRREGULAR = frozenset({"news_de", "cdr_home", "bbc_front", "hn_front", "gh_trending"})

SOURCES: Mapping[str, Callable[[str], bool]] = {
    "snap": lambda source: source.endswith("_snap"),
    "mixed": lambda source: source not in IRREGULAR,
}


@dataclass(frozen=True, slots=True)
class Keys:
    """Host, site and directory of each page, as keys."""

    hosts: Ids
    sites: Ids
    directories: Ids


@dataclass(frozen=True, slots=True)
class Cells:
    """What is known of pages in cycles, each a row per page and a column per cycle.

    ``new_links`` is there where the observations tell of any.
    """

    pages: Indices
    changed: Truths
    unknown: Truths
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
    changed_bits: Flags
    unknown_bits: Flags
    new_links: LinkCounts | None = None

    def changed(self, cycle: int) -> Truths:
        """Return which pages changed in a cycle."""
        return self._unpacked(self.changed_bits, cycle)

    def unknown(self, cycle: int) -> Truths:
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

    def change_counts(self) -> Indices:
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

    def only(self, places: PageIds | Indices) -> "Trace":
        """Return the trace of some pages, in the order given, their ids counted anew."""
        table = self.pages
        keys = Keys(table.hosts[places], table.sites[places], table.directories[places])
        return Trace(
            self.name,
            page_table(keys, table.importance[places]),
            self.cycles,
            self._of_some(self.changed_bits, places),
            self._of_some(self.unknown_bits, places),
            None if self.new_links is None else self.new_links[:, places],
        )

    def _columns(self) -> Iterator[Flags | Floats | Ids | LinkCounts]:
        table = self.pages
        yield from (self.changed_bits, self.unknown_bits)
        yield from (table.hosts, table.sites, table.directories, table.importance)
        if self.new_links is not None:
            yield self.new_links

    def _of_some(self, bits: Flags, places: PageIds | Indices) -> Flags:
        some = np.empty((self.cycles, -(-len(places) // 8)), np.uint8)
        for cycle in range(self.cycles):
            some[cycle] = np.packbits(self._unpacked(bits, cycle)[places])
        return some

    def _unpacked(self, bits: Flags, cycle: int) -> Truths:
        return np.unpackbits(bits[cycle], count=len(self.pages)).view(np.bool_)


def packed(
    name: str,
    keys: Keys,
    changed: Truths,
    *,
    unknown: Truths | None = None,
    importance: Floats | None = None,
    new_links: LinkCounts | None = None,
) -> Trace:
    """Return the trace of tables of cells with a row per page and a column per cycle.

    >>> keys = Keys(*(np.zeros(2, np.uint64),) * 3)
    >>> packed("two", keys, np.array([[True, False], [False, False]])).change_counts().tolist()
    [1, 0]
    """
    count, cycles = changed.shape
    table = page_table(keys, np.ones(count) if importance is None else importance)
    unknown = np.zeros_like(changed) if unknown is None else unknown
    links = None if new_links is None else np.ascontiguousarray(new_links.T)
    return Trace(name, table, cycles, _bits(changed & ~unknown), _bits(unknown), links)


def page_table(keys: Keys, importance: Floats) -> PageTable:
    """Return the pages of a trace: their ids are their places, and all are known from its start."""
    count = len(importance)
    return PageTable(
        ids=np.arange(count, dtype=np.int64),
        hosts=keys.hosts,
        sites=keys.sites,
        directories=keys.directories,
        importance=importance,
        since=np.full(count, -DAY_SECONDS),
    )


def source_of(part: str) -> str:
    """Return the source that a part belongs to.

    >>> source_of("stalker"), source_of("ota_contrib_snap_b")
    ('stalker', 'ota_contrib_snap')
    """
    return re.sub(r"_[bcd]$", "", part)


def cells(table: DayTable, name: str, *, longest: int = LONGEST) -> Cells:
    """Lay observed days out as the cells of a named trace.

    Each source has its own days: mass days (a new template, a new mirror program) are dropped, and
    the last ``longest`` of the rest end together with those of the other sources. Pages of which
    too little is known are left out.
    """
    source_of_page = [source_of(part) for part in table.parts]
    wanted = sorted({source for source in source_of_page if SOURCES[name](source)})
    number = {source: place for place, source in enumerate(wanted)}
    owner = np.array([number.get(source, -1) for source in source_of_page], np.int32)
    owner_of_row = owner[table.pages]
    after = np.full(len(table), -1, np.int32)
    for source in range(len(wanted)):
        rows = np.flatnonzero(owner_of_row == source)
        after[rows] = _days_from_end(table.days[rows], table.changed[rows], longest)
    cycles = int(after.max(initial=-1)) + 1
    return _laid_out(table, np.where(after < 0, -1, cycles - 1 - after), cycles, LEAST_KNOWN)


def on_one_grid(table: DayTable, *, least_known: float = LEAST_KNOWN) -> Cells:
    """Lay all observed days out as cells, from the first day of any page to the last.

    Pages that are known on less than a share of the days are left out.
    """
    return _laid_out(table, _from_first(table), span(table), least_known)


def span(table: DayTable) -> int:
    """Return how many days there are from the first observed one to the last."""
    return int(np.ptp(table.days)) + 1 if len(table) else 0


def known_days(table: DayTable) -> Indices:
    """Return on how many days each page was observed."""
    return _known(table, _from_first(table), span(table))


def _from_first(table: DayTable) -> Indices:
    return table.days - table.days.min() if len(table) else table.days


def _days_from_end(days: Indices, changed: Truths, longest: int) -> Indices:
    """Return how many of a source's days come after each row's day, -1 for days left out."""
    distinct, day_of_row = np.unique(days, return_inverse=True)
    seen = np.bincount(day_of_row)
    mass = (seen > MASS_PAGES) & (np.bincount(day_of_row, changed) > MASS_SHARE * seen)
    kept = np.flatnonzero(~mass)[-longest:]
    after = np.full(len(distinct), -1, np.int32)
    after[kept] = np.arange(len(kept))[::-1]
    return after[day_of_row]


def _laid_out(table: DayTable, cycle_of_row: Indices, cycles: int, least_known: float) -> Cells:
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
            np.add.at(links, cell, np.clip(table.new_links[rows], 0, MOST_LINKS).astype(np.uint32))
    shape = len(kept), cycles
    return Cells(
        kept,
        changed.reshape(shape),
        unknown.reshape(shape),
        np.minimum(links, MOST_LINKS).astype(np.uint16).reshape(shape) if len(links) else None,
    )


def _placed(
    table: DayTable, line: Indices, cycle_of_row: Indices, cycles: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64]]]:
    """Yield rows that belong into a grid and the cell of each, some at a time to save memory."""
    for start in range(0, len(table), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        page, cycle = line[table.pages[part]], cycle_of_row[part]
        inside = np.flatnonzero((page >= 0) & (cycle >= 0))
        cell = page[inside].astype(np.int64) * cycles + cycle[inside]
        inside += start
        yield inside, cell


def _known(table: DayTable, cycle_of_row: Indices, cycles: int) -> Indices:
    """Return in how many cycles each page was seen, however often in each."""
    cell = np.multiply(table.pages, cycles, dtype=np.int64)
    cell += cycle_of_row
    cell = cell[cycle_of_row >= 0]
    cell.sort()
    first = np.ones(len(cell), np.bool_)
    first[1:] = cell[1:] != cell[:-1]
    page = cell[first] // max(1, cycles)
    return np.bincount(page, minlength=len(table.urls)).astype(np.int32)


def _tells_of_links(table: DayTable) -> bool:
    return table.new_links is not None and bool(np.any(table.new_links >= 0))


def _bits(cells: Truths) -> Flags:
    """Pack cells with a row per page into bits with a row per cycle, each row in one piece."""
    return np.ascontiguousarray(np.packbits(cells.T, axis=1))
