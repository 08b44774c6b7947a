"""Lay observed days out as the cells of a trace."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.site_wide_days import SiteWideDays, find_site_wide_days
from freshet.backtest.trace import ChangeTimes, LinkCounts
from freshet.core.clock import CYCLE_SECONDS
from freshet.core.tables import DAY_SECONDS, BoolArray, PageDayTable
from freshet.core.types import IndexArray

MAX_DAYS = 180
MIN_KNOWN_SHARE = 0.8
MAX_NEW_LINKS = 65_535
ROW_BATCH = 1 << 20
LAST_DAY = int(np.iinfo(np.int32).max)
IRREGULAR_SOURCES = frozenset({"news_de", "cdr_home", "bbc_front", "hn_front", "gh_trending"})


@dataclass(frozen=True, slots=True)
class NamedTrace:
    """A named trace of daily observations: its sources, and whether it has site-wide days."""

    includes: Callable[[str], bool]
    drops_site_wide_days: bool


def _is_regular(source: str) -> bool:
    return source not in IRREGULAR_SOURCES


NAMED_TRACES: Mapping[str, NamedTrace] = {
    "snap": NamedTrace(lambda source: source.endswith("_snap"), drops_site_wide_days=True),
    "mixed": NamedTrace(_is_regular, drops_site_wide_days=True),
    "raw": NamedTrace(_is_regular, drops_site_wide_days=False),
}


@dataclass(frozen=True, slots=True)
class TraceCells:
    """Known changes by page and cycle; every table has a row per page and a column per cycle.

    ``new_links`` is None if the observations have no link counts, ``change_times`` if they do not
    tell the moment of any change. ``site_wide_days`` are the days on which whole sites changed.
    ``most_links`` is the greatest number of links of each page on these days.
    """

    pages: IndexArray
    changed: BoolArray
    unknown: BoolArray
    new_links: LinkCounts | None = None
    change_times: ChangeTimes | None = None
    site_wide_days: SiteWideDays | None = None
    most_links: LinkCounts | None = None


def source_of(part: str) -> str:
    """Return the source to which a part of the data belongs.

    >>> source_of("stalker"), source_of("ota_contrib_snap_b")
    ('stalker', 'ota_contrib_snap')
    """
    return re.sub(r"_[bcd]$", "", part)


def cells_of_named_trace(
    table: PageDayTable, name: str, *, max_days: int = MAX_DAYS, drop: bool | None = None
) -> TraceCells:
    """Lay observed days out as the cells of a named trace.

    Each source has its own days. Its site-wide days (a new template, a new version of the scraper)
    are dropped if the trace is defined so, or if ``drop`` says so. Of the other days the last
    ``max_days`` are used, and the last days of all sources are aligned. Pages with too few known
    cells are left out.
    """
    named_trace = NAMED_TRACES[name]
    sources = [source_of(part) for part in table.parts]
    sites = _SiteIndex([source if named_trace.includes(source) else "" for source in sources])
    site_wide_days = SiteWideDays(
        find_site_wide_days(table, sites.of_page, sites.names),
        named_trace.drops_site_wide_days if drop is None else drop,
    )
    site_of_row = sites.of_page[table.pages]
    days_from_end = np.full(len(table), -1, np.int32)
    first_days: dict[str, int] = {}
    for number, site in enumerate(sites.names):
        rows = np.flatnonzero(site_of_row == number)
        dropped_days = site_wide_days.dropped_days(site)
        days_from_end[rows] = _days_from_end(table.days[rows], dropped_days, max_days)
        first_days[site] = int(table.days[rows[days_from_end[rows] >= 0]].min(initial=LAST_DAY))
    used_days = site_wide_days.from_days(first_days)
    return _fill_grid(table, days_from_end, MIN_KNOWN_SHARE, used_days)


def cells_of_all_days(
    table: PageDayTable,
    *,
    min_known_share: float = MIN_KNOWN_SHARE,
    sites: Sequence[str] | None = None,
    drop: bool = False,
) -> TraceCells:
    """Lay all observed days out as cells, from the first day of any page to the last.

    Pages known on less than the minimum share of the days are left out. ``sites`` are the sites of
    the pages, by default their parts. With ``drop``, the site-wide days of a site are cut out: its
    earlier days move towards the end, and its first cells are unknown.
    """
    site_index = _SiteIndex(table.parts if sites is None else sites)
    found_days = find_site_wide_days(table, site_index.of_page, site_index.names)
    site_wide_days = SiteWideDays(found_days, drop)
    days_from_end = (table.days.max(initial=0) - table.days).astype(np.int32)
    site_of_row = site_index.of_page[table.pages]
    for number, site in enumerate(site_index.names):
        dropped_days = site_wide_days.dropped_days(site)
        if len(dropped_days):
            rows = np.flatnonzero(site_of_row == number)
            first_after = np.searchsorted(dropped_days, table.days[rows], side="right")
            days_from_end[rows] -= (len(dropped_days) - first_after).astype(np.int32)
            days_from_end[rows[np.isin(table.days[rows], dropped_days)]] = -1
    return _fill_grid(table, days_from_end, min_known_share, site_wide_days)


class _SiteIndex:
    """Sites numbered in the order of their names; pages of the site '' belong to none (-1)."""

    def __init__(self, sites: Sequence[str]) -> None:
        self.names = sorted(set(sites) - {""})
        numbers = {name: number for number, name in enumerate(self.names)}
        self.of_page: IndexArray = np.array([numbers.get(site, -1) for site in sites], np.int32)


def day_span(table: PageDayTable) -> int:
    """Return the number of days from the first observation to the last."""
    return int(np.ptp(table.days)) + 1 if len(table) else 0


def count_known_days(table: PageDayTable) -> IndexArray:
    """Return the number of days on which each page was observed."""
    return _count_observed_cycles(table, _days_from_start(table), day_span(table))


def _days_from_start(table: PageDayTable) -> IndexArray:
    return table.days - table.days.min() if len(table) else table.days


def _days_from_end(days: IndexArray, dropped_days: IndexArray, max_days: int) -> IndexArray:
    """Return the number of the source's days after each row's day; -1 for days not used."""
    distinct_days, day_of_row = np.unique(days, return_inverse=True)
    used_days = np.flatnonzero(~np.isin(distinct_days, dropped_days))[-max_days:]
    days_after = np.full(len(distinct_days), -1, np.int32)
    days_after[used_days] = np.arange(len(used_days))[::-1]
    return days_after[day_of_row]


def _fill_grid(
    table: PageDayTable,
    days_from_end: IndexArray,
    min_known_share: float,
    site_wide_days: SiteWideDays,
) -> TraceCells:
    """Put the rows that have a day into a grid; leave out pages with too few known cells."""
    cycles = int(days_from_end.max(initial=-1)) + 1
    cycle_of_row = np.where(days_from_end < 0, -1, cycles - 1 - days_from_end)
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
        _change_times(table, row_of_page, cycle_of_row),
        site_wide_days,
        _most_links(table, row_of_page, cycle_of_row, shape),
    )


def _most_links(
    table: PageDayTable,
    row_of_page: IndexArray,
    cycle_of_row: IndexArray,
    shape: tuple[int, int],
) -> LinkCounts | None:
    """Return the greatest number of links of every page in the grid.

    A page whose number of links is not known can have as many as a cell holds.
    """
    if table.page_links is None:
        return None
    most = np.full(shape[0], -1, np.int32)
    for rows, cell in _grid_cells(table, row_of_page, cycle_of_row, shape[1]):
        np.maximum.at(most, cell // shape[1], table.page_links[rows])
    most = np.where(most < 0, MAX_NEW_LINKS, np.minimum(most, MAX_NEW_LINKS))
    return most.astype(np.uint16)


def _change_times(
    table: PageDayTable, row_of_page: IndexArray, cycle_of_row: IndexArray
) -> ChangeTimes | None:
    """Return the recorded moments of changes in the grid, counted from its first cycle."""
    if table.change_times is None:
        return None
    row_indices = np.flatnonzero(~np.isnan(table.change_times) & (cycle_of_row >= 0))
    row_indices = row_indices[row_of_page[table.pages[row_indices]] >= 0]
    if not len(row_indices):
        return None
    pages = row_of_page[table.pages[row_indices]].astype(np.int64)
    seconds = table.change_times[row_indices] % DAY_SECONDS
    seconds += cycle_of_row[row_indices] * CYCLE_SECONDS
    order = np.lexsort((seconds, pages))
    pages, seconds = pages[order], seconds[order]
    is_distinct = np.append(True, (pages[1:] != pages[:-1]) | (seconds[1:] != seconds[:-1]))
    pages, seconds = pages[is_distinct], seconds[is_distinct]
    counts = np.bincount(pages, minlength=int(row_of_page.max()) + 1)
    return ChangeTimes(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), seconds)


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
