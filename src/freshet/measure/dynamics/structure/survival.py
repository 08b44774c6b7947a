"""How long elements live (Adar et al. 2009, section 5.2, Table 4).

Of the elements present at the start that survived the first hour, the share still there later; an
element that was gone once stays gone. Where looks are a day apart there is no first hour: the first
step of the grid takes its place, ``first_step`` says which it was, and nothing is said of horizons
within it.
"""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import IndexArray
from freshet.measure.dynamics.structure.column_table import (
    rank_in_group,
    reduce_rows,
    sort_rows,
    sum_of,
)
from freshet.measure.dynamics.structure.dom_history import DomHistory
from freshet.measure.dynamics.time_grid import DAY, HOUR

SURVIVAL_HORIZONS = (2 * HOUR, DAY, 7 * DAY, 14 * DAY, 28 * DAY, 35 * DAY)


@dataclass(frozen=True, slots=True)
class ElementSurvival:
    """The share of ``elements`` still there at each horizon (seconds); None where it is unknown.

    The elements are those that survived the first ``first_step`` seconds.
    """

    horizons: tuple[float, ...]
    shares: tuple[float | None, ...]
    elements: int
    first_step: float


def element_survival(
    structure: DomHistory, horizons: tuple[float, ...] = SURVIVAL_HORIZONS
) -> ElementSurvival:
    """Return which share of a page's first elements is still there at each horizon."""
    timeline, first = structure.timeline, structure.timeline.step
    unknown = ElementSurvival(horizons, (None,) * len(horizons), 0, first)
    if not len(timeline):
        return unknown
    begin = float(timeline.start[0])
    base = timeline.stay_at(begin + first)
    if base is None:
        return unknown
    lived = unbroken_stays(structure)
    elements = int(np.count_nonzero(lived > base))
    if not elements:
        return unknown
    stays = [timeline.stay_at(begin + each) if each > first else None for each in horizons]
    left = [None if stay is None else int(np.count_nonzero(lived > stay)) for stay in stays]
    shares = tuple(None if count is None else count / elements for count in left)
    return ElementSurvival(horizons, shares, elements, first)


def unbroken_stays(structure: DomHistory) -> IndexArray:
    """Return through how many stays from the first one each path was there without a break."""
    rows = sort_rows(structure.rows.select("full_path", "version"), "full_path", "version")
    yet = rows["version"] == rank_in_group(rows, "full_path")
    lived = reduce_rows(
        rows.with_columns(yet=yet.astype(np.int32)), ["full_path"], {"stays": sum_of("yet")}
    )
    return lived["stays"].astype(np.int32)
