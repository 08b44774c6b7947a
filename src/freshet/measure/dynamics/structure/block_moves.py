"""Blocks that move between siblings: the same text under the same parent at another position."""

import numpy as np

from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    maximum_of,
    reduce_rows,
    sort_rows,
    sum_of,
)
from freshet.measure.dynamics.structure.dom_history import NO_TEXT, DomHistory

_BLOCK_KEYS = ["parent", "tag", "subtree_hash", "version"]


def block_moves(structure: DomHistory) -> ColumnTable:
    """Return every move from one stay to the next, by parent and text.

    The columns are parent, subtree_hash, version (the stay after the move), before and after (full
    paths), and place (the row in the table). A text that is twice under one parent is left out,
    because its moves are ambiguous.
    """
    blocks = _unique_texts(structure)
    moved = blocks["version"][1:] == blocks["version"][:-1] + 1
    moved &= blocks["after"][1:] != blocks["after"][:-1]
    for key in _BLOCK_KEYS[:-1]:
        moved &= blocks[key][1:] == blocks[key][:-1]
    rows = np.flatnonzero(moved) + 1
    return blocks.take(rows).with_columns(before=blocks["after"][rows - 1])


def _unique_texts(structure: DomHistory) -> ColumnTable:
    """Return the elements whose text occurs once under their parent, each text in time order."""
    rows = structure.rows.select(*_BLOCK_KEYS, "full_path", "place")
    rows = rows.take(rows["subtree_hash"] != NO_TEXT)
    rows = sort_rows(rows, *_BLOCK_KEYS).with_columns(one=np.ones(len(rows), np.int32))
    aggregates = {
        "after": maximum_of("full_path"),
        "place": maximum_of("place"),
        "alike": sum_of("one"),
    }
    blocks = reduce_rows(rows, _BLOCK_KEYS, aggregates)
    return blocks.take(blocks["alike"] == 1)
