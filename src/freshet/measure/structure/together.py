"""Blocks that change together: paths whose own text changes at the same moments."""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import Floats, Ids, Indices
from freshet.measure.structure.rows import NO_TEXT, Structure
from freshet.measure.structure.table import Table, reduce, sort, starts_of, total

_PRIMES = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_SIGNED = {"signature": total("mark"), "changes": total("changed"), "looks": total("looks")}


@dataclass(frozen=True, slots=True)
class Together:
    """Paths (numbers of ``Structure.paths``) that changed at the same times, and no others."""

    paths: Indices
    times: Floats


def changing_together(structure: Structure, least_changes: int = 2) -> tuple[Together, ...]:
    """Return the groups of paths that always change together, the largest first.

    Paths that change at every look, or hardly ever, tell nothing of each other and are left out;
    one change of the whole page is no bond, hence ``least_changes``.
    """
    rows = _marked(structure)
    signed = reduce(rows, ["full_path"], _SIGNED)
    telling = (signed["changes"] >= least_changes) & (signed["changes"] < signed["looks"] - 1)
    signed = sort(signed.take(telling), "signature")
    parts = np.split(signed["full_path"], starts_of(signed, "signature")[1:])
    groups = [np.sort(paths) for paths in parts if len(paths) > 1]
    groups.sort(key=lambda paths: (-len(paths), int(paths[0])))
    return tuple(Together(paths, _times(structure, rows, int(paths[0]))) for paths in groups)


def _marked(structure: Structure) -> Table:
    """Return the rows that hold text, path by path, with a mark for the stay where one changed."""
    rows = structure.rows.only("full_path", "version", "node_hash")
    rows = sort(rows.take(rows["node_hash"] != NO_TEXT), "full_path", "version")
    changed = np.zeros(len(rows), np.bool_)
    changed[1:] = (
        (rows["full_path"][1:] == rows["full_path"][:-1])
        & (rows["version"][1:] == rows["version"][:-1] + 1)
        & (rows["node_hash"][1:] != rows["node_hash"][:-1])
    )
    marks = _spread(np.arange(1, len(structure.timeline) + 1, dtype=np.uint64))
    return rows.put(
        mark=np.where(changed, marks[rows["version"]], np.uint64(0)),
        changed=changed.astype(np.int64),
        looks=structure.timeline.looks[rows["version"]].astype(np.int64),
    )


def _times(structure: Structure, rows: Table, path: int) -> Floats:
    changed: Indices = rows["version"][(rows["full_path"] == path) & (rows["changed"] == 1)]
    return structure.timeline.start[changed]


def _spread(values: Ids) -> Ids:
    """Spread every bit over all of them, so that sums of different stays differ."""
    shift = np.uint64(33)
    for prime in _PRIMES:
        values = (values ^ (values >> shift)) * prime
    return values ^ (values >> shift)
