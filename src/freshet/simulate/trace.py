"""A trace: which page changed in which cycle, and how observed days become one."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from freshet.core.tables import DAY_SECONDS, DayTable, PageTable, Truths
from freshet.core.types import Flags, Floats, Ids, Indices

LONGEST = 180
LEAST_KNOWN = 0.8
MASS_PAGES, MASS_SHARE = 20, 0.4
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
    """What is known of pages in cycles, both a row per page and a column per cycle."""

    pages: Indices
    changed: Truths
    unknown: Truths


@dataclass(frozen=True, slots=True)
class Trace:
    """Many pages' change on a common grid of cycles, eight pages to a byte, a row per cycle.

    A page's id is its place. An unknown cell counts as unchanged.
    """

    name: str
    pages: PageTable
    cycles: int
    changed_bits: Flags
    unknown_bits: Flags

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

    def change_counts(self) -> Indices:
        """Return in how many cycles each page changed."""
        counts = np.zeros(len(self.pages), np.int32)
        for cycle in range(self.cycles):
            counts += self.changed(cycle)
        return counts

    def _unpacked(self, bits: Flags, cycle: int) -> Truths:
        return np.unpackbits(bits[cycle], count=len(self.pages)).view(np.bool_)


def packed(
    name: str,
    keys: Keys,
    changed: Truths,
    *,
    unknown: Truths | None = None,
    importance: Floats | None = None,
) -> Trace:
    """Return the trace of a table of cells with a row per page and a column per cycle.

    >>> keys = Keys(*(np.zeros(2, np.uint64),) * 3)
    >>> packed("two", keys, np.array([[True, False], [False, False]])).change_counts().tolist()
    [1, 0]
    """
    count, cycles = changed.shape
    table = PageTable(
        ids=np.arange(count, dtype=np.int64),
        hosts=keys.hosts,
        sites=keys.sites,
        directories=keys.directories,
        importance=np.ones(count) if importance is None else importance,
        since=np.full(count, -DAY_SECONDS),
    )
    unknown = np.zeros_like(changed) if unknown is None else unknown
    return Trace(name, table, cycles, _bits(changed & ~unknown), _bits(unknown))


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
    place = np.full(len(table), -1, np.int32)
    for source in range(len(wanted)):
        rows = np.flatnonzero(owner_of_row == source)
        place[rows] = _days_from_end(table.days[rows], table.changed[rows], longest)
    return _laid_out(table, place)


def _days_from_end(days: Indices, changed: Truths, longest: int) -> Indices:
    """Return how many of a source's days come after each row's day, -1 for days left out."""
    distinct, day_of_row = np.unique(days, return_inverse=True)
    seen = np.bincount(day_of_row)
    mass = (seen > MASS_PAGES) & (np.bincount(day_of_row, changed) > MASS_SHARE * seen)
    kept = np.flatnonzero(~mass)[-longest:]
    after = np.full(len(distinct), -1, np.int32)
    after[kept] = np.arange(len(kept))[::-1]
    return after[day_of_row]


def _laid_out(table: DayTable, after: Indices) -> Cells:
    """Put rows into a grid, aligned at the end, and leave out pages with too few known cells."""
    rows = np.flatnonzero(after >= 0)
    cycles = int(after.max(initial=-1)) + 1
    page, cycle = table.pages[rows], cycles - 1 - after[rows]
    changed = np.zeros((len(table.urls), cycles), np.bool_)
    known = np.zeros_like(changed)
    known[page, cycle] = True
    changed[page[table.changed[rows]], cycle[table.changed[rows]]] = True
    kept = np.flatnonzero(known.sum(axis=1) >= max(1.0, LEAST_KNOWN * cycles))
    return Cells(kept.astype(np.int32), changed[kept], ~known[kept])


def _bits(cells: Truths) -> Flags:
    return np.packbits(cells.T, axis=1)
