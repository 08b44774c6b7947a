"""Blocks that change together: places whose content changes at the same moments, and no others."""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.measure.dynamics.structure.blocks import BlockOutline
from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    group_starts,
    reduce_rows,
    sort_rows,
    sum_of,
)
from freshet.measure.dynamics.structure.dom_history import VersionTimeline

_PRIMES = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_SIGNED = {"signature": sum_of("mark"), "changes": sum_of("changed"), "looks": sum_of("looks")}


@dataclass(frozen=True, slots=True)
class CoChangingPaths:
    """Paths (numbers of ``Structure.paths``) that changed at the same times, and no others."""

    paths: IndexArray
    times: FloatArray


@dataclass(frozen=True, slots=True)
class CoChangingBlocks:
    """Blocks, by their places in an outline, that changed at the same times, and no others."""

    blocks: tuple[int, ...]
    times: FloatArray


def co_changing_blocks(found: BlockOutline) -> tuple[CoChangingBlocks, ...]:
    """Return the groups of an outline's blocks that always change together, the largest first."""
    place = np.full(len(found.structure.paths), -1, np.int32)
    place[found.table["full_path"]] = np.arange(len(found.table), dtype=np.int32)
    kept = found.runs.take(place[found.runs["full_path"]] >= 0)
    groups = co_changing_paths(kept, found.structure.timeline)
    return tuple(
        CoChangingBlocks(tuple(np.sort(place[group.paths]).tolist()), group.times)
        for group in groups
    )


def co_changing_paths(
    runs: ColumnTable, timeline: VersionTimeline, min_changes: int = 2
) -> tuple[CoChangingPaths, ...]:
    """Return the groups of paths that always change together, the largest first.

    ``runs`` are those of their content (``content.runs``). Paths that change at every look, or
    hardly ever, tell nothing of each other and are left out; one change of the whole page is no
    bond, hence ``min_changes``.
    """
    marked = _marked(runs, timeline)
    signed = reduce_rows(marked, ["full_path"], _SIGNED)
    telling = (signed["changes"] >= min_changes) & (signed["changes"] < signed["looks"] - 1)
    signed = sort_rows(signed.take(telling), "signature")
    parts = np.split(signed["full_path"], group_starts(signed, "signature")[1:])
    groups = [np.sort(paths) for paths in parts if len(paths) > 1]
    groups.sort(key=lambda paths: (-len(paths), int(paths[0])))
    return tuple(
        CoChangingPaths(paths, _times(timeline, marked, int(paths[0]))) for paths in groups
    )


def _marked(runs: ColumnTable, timeline: VersionTimeline) -> ColumnTable:
    """Return runs with a mark for the stay at which other content took the place of the one before.

    After an absence nobody saw a change.
    """
    changed = np.zeros(len(runs), np.bool_)
    changed[1:] = runs["full_path"][1:] == runs["full_path"][:-1]
    changed[1:] &= runs["first"][1:] == runs["last"][:-1] + 1
    marks = _spread(np.arange(1, len(timeline) + 1, dtype=np.uint64))
    return runs.select("full_path", "first", "looks").with_columns(
        mark=np.where(changed, marks[runs["first"]], np.uint64(0)),
        changed=changed.astype(np.int64),
    )


def _times(timeline: VersionTimeline, marked: ColumnTable, path: int) -> FloatArray:
    changed: IndexArray = marked["first"][(marked["full_path"] == path) & (marked["changed"] == 1)]
    return timeline.start[changed]


def _spread(values: HashArray) -> HashArray:
    """Spread every bit over all of them, so that sums of different stays differ."""
    shift = np.uint64(33)
    for prime in _PRIMES:
        values = (values ^ (values >> shift)) * prime
    return values ^ (values >> shift)
