"""Survival of elements (Adar et al. 2009, section 5.2, Table 4).

Of the elements present at the start that survived the first hour, the share still present later. An
element that was absent once counts as gone. Where looks are a day apart, the first grid step takes
the place of the first hour; ``first_step`` is its length, and shares at horizons within it are
unknown.
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
    """The share of ``elements`` still present at each horizon (seconds); None: unknown.

    The elements are those that survived the first ``first_step`` seconds.
    """

    horizons: tuple[float, ...]
    shares: tuple[float | None, ...]
    elements: int
    first_step: float


def element_survival(
    structure: DomHistory, horizons: tuple[float, ...] = SURVIVAL_HORIZONS
) -> ElementSurvival:
    """Return the share of a page's first elements that is still present at each horizon."""
    timeline, first_step = structure.timeline, structure.timeline.step
    unknown = ElementSurvival(horizons, (None,) * len(horizons), 0, first_step)
    if not len(timeline):
        return unknown
    start = float(timeline.start[0])
    first_stay = timeline.stay_at(start + first_step)
    if first_stay is None:
        return unknown
    unbroken = unbroken_stays(structure)
    elements = int(np.count_nonzero(unbroken > first_stay))
    if not elements:
        return unknown
    stays = [
        timeline.stay_at(start + horizon) if horizon > first_step else None for horizon in horizons
    ]
    survivors = [None if stay is None else int(np.count_nonzero(unbroken > stay)) for stay in stays]
    shares = tuple(None if count is None else count / elements for count in survivors)
    return ElementSurvival(horizons, shares, elements, first_step)


def unbroken_stays(structure: DomHistory) -> IndexArray:
    """Return for each path the number of stays from the first on without a break."""
    rows = sort_rows(structure.rows.select("full_path", "version"), "full_path", "version")
    is_unbroken = rows["version"] == rank_in_group(rows, "full_path")
    totals = reduce_rows(
        rows.with_columns(yet=is_unbroken.astype(np.int32)), ["full_path"], {"stays": sum_of("yet")}
    )
    return totals["stays"].astype(np.int32)
