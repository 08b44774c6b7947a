"""Days on which a whole site changed: a new template, a release, a new version of the scraper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.humanize import count_text
from freshet.core.tables import IntArray, PageDayTable
from freshet.core.types import IndexArray

MIN_OBSERVED_PAGES, MIN_CHANGED_SHARE = 20, 0.4
SHOWN_DAYS = 3


@dataclass(frozen=True, slots=True)
class SiteWideDay:
    """A day (days since 1970) on which ``changed`` of the ``observed`` pages of a site changed."""

    site: str
    day: int
    observed: int
    changed: int

    def __str__(self) -> str:
        share = self.changed / self.observed
        date = np.datetime64(self.day, "D")
        return f"{date} {self.site} ({share:.0%} of {count_text(self.observed, 'page')})"


@dataclass(frozen=True, slots=True)
class SiteWideDays:
    """The site-wide days of a trace in the order of time, and whether they were dropped."""

    days: tuple[SiteWideDay, ...] = ()
    are_dropped: bool = False

    def dropped_days(self, site: str) -> IndexArray:
        """Return the days of a site that were dropped, ascending."""
        days = [day.day for day in self.days if day.site == site] if self.are_dropped else []
        return np.array(days, np.int32)

    def from_days(self, first_days: Mapping[str, int]) -> "SiteWideDays":
        """Return the days of each site from its first day on."""
        days = (day for day in self.days if day.day >= first_days[day.site])
        return SiteWideDays(tuple(days), self.are_dropped)

    def describe(self) -> str:
        """Return the number of days, the first few of them, and whether they were dropped.

        >>> SiteWideDays((SiteWideDay("example.org", 365, 40, 30),)).describe()
        '1 site-wide day kept: 1971-01-01 example.org (75% of 40 pages)'
        """
        shown = ", ".join(str(day) for day in self.days[:SHOWN_DAYS])
        more = len(self.days) - SHOWN_DAYS
        rest = f", and {more:,} more" if more > 0 else ""
        action = "dropped" if self.are_dropped else "kept"
        return f"{count_text(len(self.days), 'site-wide day')} {action}: {shown}{rest}"


def find_site_wide_days(
    table: PageDayTable, site_of_page: IndexArray, names: Sequence[str]
) -> tuple[SiteWideDay, ...]:
    """Return the site-wide days.

    These are the days on which more than 20 pages of a site were observed, and more than 40 % of
    them changed.

    ``site_of_page`` has the index of each page's site in ``names``, -1 for pages of no site.
    """
    rows = np.flatnonzero(site_of_page[table.pages] >= 0)
    if not len(rows):
        return ()
    first_day = int(table.days.min())
    span = int(table.days.max()) - first_day + 1
    cells = table.pages[rows].astype(np.int64) * span + (table.days[rows] - first_day)
    # A page that was looked at several times in a day has changed if any look found a change.
    cells, changed = _distinct_cells(2 * cells + table.changed[rows])
    groups = site_of_page[cells // span].astype(np.int64) * span + cells % span
    groups, group_of_cell = np.unique(groups, return_inverse=True)
    observed = np.bincount(group_of_cell)
    changes = np.bincount(group_of_cell, changed)
    is_site_wide = (observed > MIN_OBSERVED_PAGES) & (changes > MIN_CHANGED_SHARE * observed)
    days = (
        SiteWideDay(
            names[int(groups[index]) // span],
            first_day + int(groups[index]) % span,
            int(observed[index]),
            int(changes[index]),
        )
        for index in np.flatnonzero(is_site_wide)
    )
    return tuple(sorted(days, key=lambda day: (day.day, day.site)))


def _distinct_cells(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return the cells of keys (twice the cell, plus 1 if it changed), and whether each changed."""
    keys = np.unique(keys)
    is_last = np.append(keys[1:] >> 1 != keys[:-1] >> 1, True)
    return keys[is_last] >> 1, keys[is_last] & 1
