"""Blocks that change together: places whose content changes at the same moments, and no others."""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import Floats, Ids, Indices
from freshet.measure.dynamics.structure.blocks import Outline
from freshet.measure.dynamics.structure.column_table import Table, reduce, sort, starts_of, total
from freshet.measure.dynamics.structure.dom_history import Timeline

_PRIMES = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_SIGNED = {"signature": total("mark"), "changes": total("changed"), "looks": total("looks")}


@dataclass(frozen=True, slots=True)
class Together:
    """Paths (numbers of ``Structure.paths``) that changed at the same times, and no others."""

    paths: Indices
    times: Floats


@dataclass(frozen=True, slots=True)
class Bound:
    """Blocks, by their places in an outline, that changed at the same times, and no others."""

    blocks: tuple[int, ...]
    times: Floats


def bound_blocks(found: Outline) -> tuple[Bound, ...]:
    """Return the groups of an outline's blocks that always change together, the largest first."""
    place = np.full(len(found.structure.paths), -1, np.int32)
    place[found.table["full_path"]] = np.arange(len(found.table), dtype=np.int32)
    kept = found.runs.take(place[found.runs["full_path"]] >= 0)
    groups = changing_together(kept, found.structure.timeline)
    return tuple(
        Bound(tuple(np.sort(place[group.paths]).tolist()), group.times) for group in groups
    )


def changing_together(
    runs: Table, timeline: Timeline, least_changes: int = 2
) -> tuple[Together, ...]:
    """Return the groups of paths that always change together, the largest first.

    ``runs`` are those of their content (``content.runs``). Paths that change at every look, or
    hardly ever, tell nothing of each other and are left out; one change of the whole page is no
    bond, hence ``least_changes``.
    """
    marked = _marked(runs, timeline)
    signed = reduce(marked, ["full_path"], _SIGNED)
    telling = (signed["changes"] >= least_changes) & (signed["changes"] < signed["looks"] - 1)
    signed = sort(signed.take(telling), "signature")
    parts = np.split(signed["full_path"], starts_of(signed, "signature")[1:])
    groups = [np.sort(paths) for paths in parts if len(paths) > 1]
    groups.sort(key=lambda paths: (-len(paths), int(paths[0])))
    return tuple(Together(paths, _times(timeline, marked, int(paths[0]))) for paths in groups)


def _marked(runs: Table, timeline: Timeline) -> Table:
    """Return runs with a mark for the stay at which other content took the place of the one before.

    After an absence nobody saw a change.
    """
    changed = np.zeros(len(runs), np.bool_)
    changed[1:] = runs["full_path"][1:] == runs["full_path"][:-1]
    changed[1:] &= runs["first"][1:] == runs["last"][:-1] + 1
    marks = _spread(np.arange(1, len(timeline) + 1, dtype=np.uint64))
    return runs.only("full_path", "first", "looks").put(
        mark=np.where(changed, marks[runs["first"]], np.uint64(0)),
        changed=changed.astype(np.int64),
    )


def _times(timeline: Timeline, marked: Table, path: int) -> Floats:
    changed: Indices = marked["first"][(marked["full_path"] == path) & (marked["changed"] == 1)]
    return timeline.start[changed]


def _spread(values: Ids) -> Ids:
    """Spread every bit over all of them, so that sums of different stays differ."""
    shift = np.uint64(33)
    for prime in _PRIMES:
        values = (values ^ (values >> shift)) * prime
    return values ^ (values >> shift)
