"""How many pages change within an hour, minutes or at once (Adar et al. 2009, table 2).

Each row is one interval: the share of pages that changed in any of its samples is an upper bound on
change that fast, the share that changed in all of them a lower one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from freshet.core.tables import BoolArray, PageIdArray
from freshet.core.types import FloatArray, IndexArray

INSTANT = 0
INTERVAL_MINUTES = (INSTANT, 2, 16, 32, 60)
# Two looks meant to be so far apart count where they truly were, within this factor.
INTERVAL_TOLERANCE = 4 / 3
# Two looks at once may be a host's delay apart, but no more.
MAX_INSTANT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class LookPairs:
    """Pairs of looks: whose, how many seconds apart, whether the page changed, and how alike.

    Dice is NaN where there are no words to compare. ``apart`` says that two looks meant to be at
    once had to keep a host's delay between them.
    """

    pages: PageIdArray
    seconds: FloatArray
    changed: BoolArray
    dice: FloatArray
    apart: BoolArray

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[int, float, bool, float, bool]]) -> "LookPairs":
        """Put pairs given one by one into columns."""
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
    """One row of the table: of ``pages`` pages, the shares that changed in any and in all samples.

    Dice is over the pairs that changed, NaN where none did; ``apart`` counts the pages whose two
    looks at once were a host's delay apart.
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

    Each is over the pages that were sampled so: a page whose looks at once teach its mask may have
    none after minutes. Pages that never changed within two minutes count as standing still at once
    too, where they were not looked at so.

    >>> looks = [(1, 120.0, True, 0.5, False), (1, 121.0, False, 1.0, False)]
    >>> [(row.minutes, row.any, row.all) for row in burst_table(LookPairs.from_rows(looks))]
    [(2, 1.0, 0.0)]
    """
    return list(_rows(pairs, _minutes(pairs.seconds)))


def _rows(pairs: LookPairs, minutes: IndexArray) -> Iterator[BurstInterval]:
    soon = minutes == INTERVAL_MINUTES[1]
    still = np.setdiff1d(pairs.pages[soon], pairs.pages[soon & pairs.changed])
    for each in INTERVAL_MINUTES:
        chosen = minutes == each
        pages, places = np.unique(pairs.pages[chosen], return_inverse=True)
        if not len(pages):
            continue
        samples = np.bincount(places)
        changes = np.bincount(places, pairs.changed[chosen])
        number = len(pages)
        if each == INSTANT:
            number += len(np.setdiff1d(still, pages))
        dice = pairs.dice[chosen & pairs.changed & ~np.isnan(pairs.dice)]
        yield BurstInterval(
            each,
            number,
            float(np.count_nonzero(changes > 0) / number),
            float(np.count_nonzero(changes == samples) / number),
            float(np.mean(dice)) if len(dice) else float("nan"),
            float(np.median(dice)) if len(dice) else float("nan"),
            len(np.unique(pairs.pages[chosen & pairs.apart])),
        )


def _minutes(seconds: FloatArray) -> IndexArray:
    """Return the interval that each pair belongs to; -1: none.

    >>> _minutes(np.array([0.5, 110.0, 300.0, 3700.0])).tolist()
    [0, 2, -1, 60]
    """
    found = np.full(len(seconds), -1, np.int32)
    found[seconds <= MAX_INSTANT_SECONDS] = INSTANT
    for minutes in INTERVAL_MINUTES[1:]:
        nearly = (seconds >= 60 * minutes / INTERVAL_TOLERANCE) & (
            seconds <= 60 * minutes * INTERVAL_TOLERANCE
        )
        found[nearly] = minutes
    return found
