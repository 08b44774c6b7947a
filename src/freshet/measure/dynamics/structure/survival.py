"""Survival of elements (Adar et al. 2009, section 5.2, Table 4).

An element is a path of the first version. It lives from there to its last report within the five
weeks of the paper, whether or not it was absent in between. Of the elements that survived the first
hour, a share is still alive at each horizon. A second share counts an element as gone from its
first absence on. Where looks are a day apart, the first grid step takes the place of the first
hour; ``first_step`` is its length, and shares at horizons within it are unknown.
"""

from dataclasses import dataclass, replace

import numpy as np

from freshet.core.types import IndexArray
from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    maximum_of,
    minimum_of,
    reduce_rows,
)
from freshet.measure.dynamics.structure.element_history import ElementHistory
from freshet.measure.dynamics.time_grid import DAY, HOUR

SURVIVAL_HORIZONS = (2 * HOUR, DAY, 7 * DAY, 14 * DAY, 28 * DAY, 35 * DAY)

Shares = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class ElementSurvival:
    """The share of ``elements`` alive at each horizon (seconds); None: unknown.

    The elements are those of the first version that survived the first ``first_step`` seconds.
    ``unbroken_shares`` are those of the elements that were present at every look so far; their
    elements are those without an absence within the first step.
    """

    horizons: tuple[float, ...]
    shares: Shares
    unbroken_shares: Shares
    elements: int
    first_step: float


def element_survival(
    history: ElementHistory, horizons: tuple[float, ...] = SURVIVAL_HORIZONS
) -> ElementSurvival:
    """Return the share of a page's first elements that is still alive at each horizon."""
    timeline, first_step = history.timeline, history.timeline.step
    unknown = (None,) * len(horizons)
    nothing = ElementSurvival(horizons, unknown, unknown, 0, first_step)
    if not len(timeline):
        return nothing
    start = float(timeline.start[0])
    first_stay = timeline.stay_at(start + first_step)
    if first_stay is None:
        return nothing
    stays = [
        timeline.stay_at(start + horizon) if horizon > first_step else None for horizon in horizons
    ]
    last_reports = last_stays(history, start + horizons[-1])
    elements = int(np.count_nonzero(last_reports >= first_stay))
    if not elements:
        return nothing
    return ElementSurvival(
        horizons,
        _shares(last_reports, first_stay, stays),
        _shares(last_unbroken_stays(history), first_stay, stays),
        elements,
        first_step,
    )


def last_stays(history: ElementHistory, until: float) -> IndexArray:
    """Return for each path of the first version the last stay up to a time that has it."""
    window = int(np.searchsorted(history.timeline.start, until, side="right")) - 1
    runs = history.elements.take(history.elements["first"] <= window)
    spans = reduce_rows(
        runs, ["full_path"], {"first": minimum_of("first"), "last": maximum_of("last")}
    )
    last: IndexArray = np.minimum(spans["last"], window)[spans["first"] == 0]
    return last


def last_unbroken_stays(history: ElementHistory) -> IndexArray:
    """Return for each path of the first version the last stay before its first absence."""
    runs = history.elements
    follows = np.zeros(len(runs), np.bool_)
    follows[1:] = runs["full_path"][1:] == runs["full_path"][:-1]
    follows[1:] &= runs["first"][1:] == runs["last"][:-1] + 1
    presence = ColumnTable({"number": np.cumsum(~follows), **runs.columns})
    spans = reduce_rows(
        presence, ["number"], {"first": minimum_of("first"), "last": maximum_of("last")}
    )
    last: IndexArray = spans["last"][spans["first"] == 0]
    return last


def _shares(last: IndexArray, first_stay: int, stays: list[int | None]) -> Shares:
    """Return the share of those alive at the first stay that is alive at the others."""
    elements = int(np.count_nonzero(last >= first_stay))
    return tuple(
        None if stay is None or not elements else int(np.count_nonzero(last >= stay)) / elements
        for stay in stays
    )


def without_short_horizons(survival: ElementSurvival, min_seconds: float) -> ElementSurvival:
    """Return the survival with unknown shares at horizons up to a time."""
    is_long = [seconds > min_seconds for seconds in survival.horizons]
    shares, unbroken_shares = (
        tuple(share if long else None for long, share in zip(is_long, values, strict=True))
        for values in (survival.shares, survival.unbroken_shares)
    )
    return replace(survival, shares=shares, unbroken_shares=unbroken_shares)
