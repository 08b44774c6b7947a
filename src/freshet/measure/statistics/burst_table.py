"""Shares of pages that change within an hour, minutes or at once (Adar et al. 2009, table 2).

Each row is one interval: the share of pages that changed in any of its samples is an upper bound on
change that fast, the share that changed in all samples a lower bound.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from freshet.core.tables import BoolArray, PageIdArray
from freshet.core.types import FloatArray, IndexArray

INSTANT = 0
INTERVAL_MINUTES = (INSTANT, 2, 16, 32, 60)
# Two looks belong to an interval if their distance is within this factor of it.
INTERVAL_TOLERANCE = 4 / 3
# Two looks at once may be a host's crawl delay apart, but no more.
MAX_INSTANT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class LookPairs:
    """Pairs of looks: page, seconds between them, whether the page changed, and Dice.

    Dice is NaN where there are no words to compare. ``apart`` marks two looks planned at once that
    had to keep a host's crawl delay.
    """

    pages: PageIdArray
    seconds: FloatArray
    changed: BoolArray
    dice: FloatArray
    apart: BoolArray

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[int, float, bool, float, bool]]) -> "LookPairs":
        """Return the columns of pairs given as rows."""
        listed = list(rows)
        pages, seconds, changed, dice, apart = zip(*listed, strict=True) if listed else [()] * 5
        return cls(
            np.array(pages, np.int64), np.array(seconds, np.float64),
            np.array(changed, np.bool_), np.array(dice, np.float64), np.array(apart, np.bool_),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.pages)


@dataclass(frozen=True, slots=True)
class BurstInterval:
    """One row of the table: the shares of ``pages`` that changed in any and in all samples.

    Dice is over the pairs that changed, NaN where none did. ``apart`` counts the pages whose two
    looks at once were a host's crawl delay apart.
    """

    minutes: int
    pages: int
    any: float
    all: float
    mean_dice: float
    median_dice: float
    apart: int = 0


def burst_table(pairs: LookPairs) -> list[BurstInterval]:
    """Return a row for each interval that was sampled.

    Each row is over the pages sampled at that interval: a page whose looks at once teach its mask
    may have no looks after minutes. Pages that never changed within two minutes also count as
    unchanged at once, if they were not sampled so.

    >>> looks = [(1, 120.0, True, 0.5, False), (1, 121.0, False, 1.0, False)]
    >>> [(row.minutes, row.any, row.all) for row in burst_table(LookPairs.from_rows(looks))]
    [(2, 1.0, 0.0)]
    """
    return list(_rows(pairs, _interval_of_pairs(pairs.seconds)))


def _rows(pairs: LookPairs, minutes: IndexArray) -> Iterator[BurstInterval]:
    is_two_minutes = minutes == INTERVAL_MINUTES[1]
    stable_pages = np.setdiff1d(
        pairs.pages[is_two_minutes], pairs.pages[is_two_minutes & pairs.changed]
    )
    for interval in INTERVAL_MINUTES:
        is_interval = minutes == interval
        pages, page_rows = np.unique(pairs.pages[is_interval], return_inverse=True)
        if not len(pages):
            continue
        sample_counts = np.bincount(page_rows)
        change_counts = np.bincount(page_rows, pairs.changed[is_interval])
        page_count = len(pages)
        if interval == INSTANT:
            page_count += len(np.setdiff1d(stable_pages, pages))
        dice = pairs.dice[is_interval & pairs.changed & ~np.isnan(pairs.dice)]
        yield BurstInterval(
            interval,
            page_count,
            float(np.count_nonzero(change_counts > 0) / page_count),
            float(np.count_nonzero(change_counts == sample_counts) / page_count),
            float(np.mean(dice)) if len(dice) else float("nan"),
            float(np.median(dice)) if len(dice) else float("nan"),
            len(np.unique(pairs.pages[is_interval & pairs.apart])),
        )


def _interval_of_pairs(seconds: FloatArray) -> IndexArray:
    """Return the interval of each pair, in minutes; -1: none.

    >>> _interval_of_pairs(np.array([0.5, 110.0, 300.0, 3700.0])).tolist()
    [0, 2, -1, 60]
    """
    intervals = np.full(len(seconds), -1, np.int32)
    intervals[seconds <= MAX_INSTANT_SECONDS] = INSTANT
    for minutes in INTERVAL_MINUTES[1:]:
        is_within = (seconds >= 60 * minutes / INTERVAL_TOLERANCE) & (
            seconds <= 60 * minutes * INTERVAL_TOLERANCE
        )
        intervals[is_within] = minutes
    return intervals
