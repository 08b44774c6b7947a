"""Blocks that change together: their content changes at the same times, and at no others."""

from dataclasses import dataclass

import numpy as np

from freshet.core.hashing import mix_bits
from freshet.core.types import FloatArray, IndexArray
from freshet.measure.dynamics.structure.blocks import BlockOutline
from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    group_starts,
    reduce_rows,
    sort_rows,
    sum_of,
)
from freshet.measure.dynamics.structure.dom_history import VersionTimeline

_SIGNATURE_AGGREGATES = {
    "signature": sum_of("mark"),
    "changes": sum_of("changed"),
    "looks": sum_of("looks"),
}


@dataclass(frozen=True, slots=True)
class CoChangingPaths:
    """Paths (numbers of ``DomHistory.paths``) that changed at the same times only."""

    paths: IndexArray
    times: FloatArray


@dataclass(frozen=True, slots=True)
class CoChangingBlocks:
    """Blocks, by their index in an outline, that changed at the same times only."""

    blocks: tuple[int, ...]
    times: FloatArray


def co_changing_blocks(outline: BlockOutline) -> tuple[CoChangingBlocks, ...]:
    """Return the groups of blocks that always change together, the largest first."""
    runs = outline.runs
    block_of_path = dict(zip(runs["full_path"].tolist(), runs["block"].tolist(), strict=True))
    groups = co_changing_paths(runs, outline.structure.timeline)
    return tuple(
        CoChangingBlocks(
            tuple(sorted(block_of_path[path] for path in group.paths.tolist())), group.times
        )
        for group in groups
    )


def co_changing_paths(
    runs: ColumnTable, timeline: VersionTimeline, min_changes: int = 2
) -> tuple[CoChangingPaths, ...]:
    """Return the groups of paths that always change together, the largest first.

    ``runs`` are those of their content (``ElementHistory``). Paths that change at every look, or
    hardly ever, carry no information and are left out. One change of the whole page is no relation,
    hence ``min_changes``.
    """
    marked_runs = _mark_changes(runs, timeline)
    signatures = reduce_rows(marked_runs, ["full_path"], _SIGNATURE_AGGREGATES)
    changes = signatures["changes"]
    is_informative = (changes >= min_changes) & (changes < signatures["looks"] - 1)
    signatures = sort_rows(signatures.take(is_informative), "signature")
    parts = np.split(signatures["full_path"], group_starts(signatures, "signature")[1:])
    groups = [np.sort(paths) for paths in parts if len(paths) > 1]
    groups.sort(key=lambda paths: (-len(paths), int(paths[0])))
    return tuple(
        CoChangingPaths(paths, _change_times(timeline, marked_runs, int(paths[0])))
        for paths in groups
    )


def _mark_changes(runs: ColumnTable, timeline: VersionTimeline) -> ColumnTable:
    """Return runs with a mark for the stay at which one content replaced another.

    After an absence no change was observed.
    """
    changed = np.zeros(len(runs), np.bool_)
    changed[1:] = runs["full_path"][1:] == runs["full_path"][:-1]
    changed[1:] &= runs["first"][1:] == runs["last"][:-1] + 1
    # The bits are mixed, so that sums of different stays differ.
    marks = mix_bits(np.arange(1, len(timeline) + 1, dtype=np.uint64))
    looks = np.append(0, np.cumsum(timeline.looks))
    return runs.select("full_path", "first").with_columns(
        looks=(looks[runs["last"] + 1] - looks[runs["first"]]).astype(np.int64),
        mark=np.where(changed, marks[runs["first"]], np.uint64(0)),
        changed=changed.astype(np.int64),
    )


def _change_times(timeline: VersionTimeline, marked_runs: ColumnTable, path: int) -> FloatArray:
    is_change = (marked_runs["full_path"] == path) & (marked_runs["changed"] == 1)
    stays: IndexArray = marked_runs["first"][is_change]
    return timeline.start[stays]
