"""Blocks that move between siblings: the same text under the same parent at another place."""

import numpy as np

from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    maximum_of,
    reduce_rows,
    sort_rows,
    sum_of,
)
from freshet.measure.dynamics.structure.dom_history import NO_TEXT, DomHistory

_BLOCK = ["parent", "tag", "subtree_hash", "version"]


def block_moves(structure: DomHistory) -> ColumnTable:
    """Return every move from one stay to the next, by parent and text.

    The columns are parent, subtree_hash, version (the stay that shows it at its new place), before
    and after (full paths), and place (where the row lies in the table). A text that stands twice
    under one parent is left out, for nobody can tell which of the two moved.
    """
    blocks = _blocks(structure)
    moved = blocks["version"][1:] == blocks["version"][:-1] + 1
    moved &= blocks["after"][1:] != blocks["after"][:-1]
    for key in _BLOCK[:-1]:
        moved &= blocks[key][1:] == blocks[key][:-1]
    places = np.flatnonzero(moved) + 1
    return blocks.take(places).with_columns(before=blocks["after"][places - 1])


def _blocks(structure: DomHistory) -> ColumnTable:
    """Return the elements whose text stands once under their parent, each text in time order."""
    rows = structure.rows.select(*_BLOCK, "full_path", "place")
    rows = rows.take(rows["subtree_hash"] != NO_TEXT)
    rows = sort_rows(rows, *_BLOCK).with_columns(one=np.ones(len(rows), np.int32))
    pieces = {
        "after": maximum_of("full_path"),
        "place": maximum_of("place"),
        "alike": sum_of("one"),
    }
    blocks = reduce_rows(rows, _BLOCK, pieces)
    return blocks.take(blocks["alike"] == 1)
