"""The DOM rows of blocks: the smallest elements with text, and their content.

Inline elements belong to the block around them. A block that contains other blocks counts only with
the text outside these.
"""

from collections.abc import Collection

import numpy as np

from freshet.measure.dynamics.structure.block_moves import block_moves
from freshet.measure.dynamics.structure.column_table import ColumnTable
from freshet.measure.dynamics.structure.dom_history import DomHistory
from freshet.measure.kernels.dom_history import gather_block_texts, mark_descendants


def block_rows(structure: DomHistory, block_names: Collection[str]) -> ColumnTable:
    """Return the rows of blocks with text, with their content and whether it moved in.

    ``block_names`` are the elements that start a new line. The columns are full_path, version,
    moved, innermost and content, the hash of the block's text.
    """
    rows = structure.rows
    moved = np.zeros(len(rows), np.bool_)
    moved[block_moves(structure)["place"]] = True
    mark_descendants(rows["above"], moved)
    is_block = np.array([name in block_names for name in structure.names] or [False])[rows["tag"]]
    has_text, innermost, block_text = gather_block_texts(
        rows["above"],
        is_block,
        structure.texts[rows["node_hash"]],
        structure.texts[rows["subtree_hash"]],
    )
    blocks = rows.select("full_path", "version").with_columns(
        moved=moved, innermost=innermost.astype(np.int32), content=block_text
    )
    return blocks.take(has_text)
