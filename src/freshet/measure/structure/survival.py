"""How long elements live (Adar et al. 2009, section 5.2, Table 4).

Of the elements present at the start that survived the first hour, the share still there later; an
element that was gone once stays gone. Where looks are a day apart there is no first hour: the first
step of the grid takes its place, ``first`` says which it was, and nothing is said of horizons
within it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce as fold

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import Indices
from freshet.measure.grid import DAY, HOUR
from freshet.measure.structure.rows import Structure
from freshet.measure.structure.table import rank_within, reduce, sort, total

HORIZONS = (2 * HOUR, DAY, 7 * DAY, 14 * DAY, 28 * DAY, 35 * DAY)
_BINS = 10_000


@dataclass(frozen=True, slots=True)
class Survival:
    """The share of ``elements`` still there at each horizon (seconds); None where it is unknown.

    The elements are those that survived the first ``first`` seconds.
    """

    horizons: tuple[float, ...]
    shares: tuple[float | None, ...]
    elements: int
    first: float


def survival(structure: Structure, horizons: tuple[float, ...] = HORIZONS) -> Survival:
    """Return which share of a page's first elements is still there at each horizon."""
    timeline, first = structure.timeline, structure.timeline.step
    unknown = Survival(horizons, (None,) * len(horizons), 0, first)
    if not len(timeline):
        return unknown
    begin = float(timeline.start[0])
    base = timeline.stay_at(begin + first)
    if base is None:
        return unknown
    lived = unbroken(structure)
    elements = int(np.count_nonzero(lived > base))
    if not elements:
        return unknown
    stays = [timeline.stay_at(begin + each) if each > first else None for each in horizons]
    left = [None if stay is None else int(np.count_nonzero(lived > stay)) for stay in stays]
    shares = tuple(None if count is None else count / elements for count in left)
    return Survival(horizons, shares, elements, first)


def unbroken(structure: Structure) -> Indices:
    """Return through how many stays from the first one each path was there without a break."""
    rows = sort(structure.rows.only("full_path", "version"), "full_path", "version")
    yet = rows["version"] == rank_within(rows, "full_path")
    lived = reduce(rows.put(yet=yet.astype(np.int32)), ["full_path"], {"stays": total("yet")})
    return lived["stays"].astype(np.int32)


@dataclass(frozen=True, slots=True)
class SurvivalTally:
    """The survival of many pages, as counts that can be added up in any order.

    ``pages`` counts the pages of each horizon (row) by their share in steps of 0.01 %; ``sums``
    are the exact sums of their shares.
    """

    horizons: tuple[float, ...]
    pages: NDArray[np.int64]
    sums: NDArray[np.float64]

    def __add__(self, other: "SurvivalTally") -> "SurvivalTally":
        return SurvivalTally(self.horizons, self.pages + other.pages, self.sums + other.sums)

    @property
    def counts(self) -> tuple[int, ...]:
        """Return of how many pages the share at each horizon is known."""
        return tuple(int(count) for count in self.pages.sum(axis=1))

    @property
    def means(self) -> tuple[float | None, ...]:
        """Return the mean share at each horizon; None where no page tells."""
        known = zip(self.sums.tolist(), self.counts, strict=True)
        return tuple(added / count if count else None for added, count in known)

    @property
    def medians(self) -> tuple[float | None, ...]:
        """Return the middle share at each horizon, to 0.01 %; None where no page tells."""
        return tuple(map(_median, self.pages))


def tally(page: Survival) -> SurvivalTally:
    """Return the tally of one page."""
    pages = np.zeros((len(page.horizons), _BINS + 1), np.int64)
    sums = np.zeros(len(page.horizons))
    for row, share in enumerate(page.shares):
        if share is not None:
            pages[row, round(share * _BINS)] = 1
            sums[row] = share
    return SurvivalTally(page.horizons, pages, sums)


def tally_all(pages: Iterable[Survival], horizons: tuple[float, ...] = HORIZONS) -> SurvivalTally:
    """Return the tally of pages that were all asked for the same horizons."""
    nothing = tally(Survival(horizons, (None,) * len(horizons), 0, 0.0))
    return fold(SurvivalTally.__add__, map(tally, pages), nothing)


def _median(counts: NDArray[np.int64]) -> float | None:
    """Return the middle of counted shares, the mean of both where their number is even."""
    pages = int(counts.sum())
    if not pages:
        return None
    ends = np.cumsum(counts)
    low, high = np.searchsorted(ends, [(pages - 1) // 2 + 1, pages // 2 + 1])
    return float(low + high) / 2 / _BINS
