"""The blocks of a page: the smallest elements with text, and their behaviour over time.

Inline elements belong to the block around them. A block that contains other blocks counts only with
the text outside these.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from freshet.core.types import DomRows, FloatArray, IndexArray
from freshet.measure.dynamics.structure.block_moves import block_moves
from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    maximum_of,
    reduce_rows,
    sort_rows,
)
from freshet.measure.dynamics.structure.content_runs import content_runs, path_lifespans
from freshet.measure.dynamics.structure.dom_history import DomHistory, PathSpeller
from freshet.measure.kernels.dom_history import (
    gather_block_texts,
    mark_descendants,
    number_values,
)

MAX_BLOCKS = 1_000
ALWAYS, OFTEN, MOSTLY = 0.9, 0.2, 0.5

TextSampler = Callable[[int, int], str]
"""Returns the text of a row (second) of a version (first), to describe a block."""


class BlockBehaviour(StrEnum):
    """How often a block changes."""

    ONCE = "seen once"
    STAYS = "stays"
    MOVES = "moves"
    CHANGES = "changes"
    OFTEN = "changes often"
    ALWAYS = "always changes"


@dataclass(frozen=True, slots=True)
class DomBlock:
    """A block over the history of its page.

    ``lifespan`` is how long its content stays on average (seconds), including the current content;
    ``moves`` is how many of its changes were content that moved in from a sibling; ``presence`` is
    the share of looks with the block; ``last_change`` is when its latest content was first seen
    (epoch seconds), None if it never changed. ``version`` and ``row`` are its latest occurrence.
    """

    path: str
    lifespan: float
    changes: int
    moves: int
    presence: float
    last_change: float | None
    behaviour: BlockBehaviour
    version: int
    row: int
    sample: str = ""


@dataclass(frozen=True, slots=True)
class BlockContents:
    """The contents of blocks, one run each: its block, its start and end, and how it ended.

    ``block`` is the index in the order of the blocks; ``seconds`` is the known duration, without
    gaps between looks; ``ended`` is 1 where other content or none followed, 0 where the content was
    still present at the last look.
    """

    block: IndexArray
    start: FloatArray
    end: FloatArray
    seconds: FloatArray
    ended: IndexArray


@dataclass(frozen=True, slots=True)
class BlockOutline:
    """The blocks of a page in document order, as columns.

    ``table`` has one row for each block with the columns of ``content_runs.path_lifespans``,
    ``place`` (its latest row in the history) and ``innermost``; ``runs`` has those of its contents.
    ``left_out`` counts the blocks beyond the limit, those with the fewest looks.
    """

    structure: DomHistory
    table: ColumnTable
    runs: ColumnTable
    left_out: int

    def __len__(self) -> int:
        return len(self.table)


def block_outline(
    structure: DomHistory, block_names: Collection[str], max_blocks: int = MAX_BLOCKS
) -> BlockOutline:
    """Return the blocks of a page; ``block_names`` are the elements that start a new line."""
    rows = _block_rows(structure, block_names)
    runs = content_runs(rows, structure.timeline, "content")
    aggregates = {"place": maximum_of("place"), "innermost": maximum_of("innermost")}
    latest_rows = reduce_rows(sort_rows(rows, "full_path"), ["full_path"], aggregates)
    table = path_lifespans(runs).with_columns(
        place=latest_rows["place"], innermost=latest_rows["innermost"]
    )
    kept_rows = np.sort(np.argsort(-table["looks"], kind="stable")[:max_blocks])
    left_out = len(table) - len(kept_rows)
    order = kept_rows[np.argsort(_document_order(structure, table.take(kept_rows)), kind="stable")]
    return BlockOutline(structure, table.take(order), runs, left_out)


def _block_rows(structure: DomHistory, block_names: Collection[str]) -> ColumnTable:
    """Return the rows of blocks with text, with their content and whether it moved in."""
    rows = structure.rows
    moved = np.zeros(len(rows), np.bool_)
    moved[block_moves(structure)["place"]] = True
    mark_descendants(rows["above"], moved)
    is_block = np.array([name in block_names for name in structure.names] or [False])[rows["tag"]]
    own_texts, subtree_texts = (
        structure.texts[rows["node_hash"]],
        structure.texts[rows["subtree_hash"]],
    )
    has_text, innermost, block_text = gather_block_texts(
        rows["above"], is_block, own_texts, subtree_texts
    )
    content = np.empty(int(has_text.sum()), np.int32)
    number_values(block_text[has_text], content)
    rows = rows.select("full_path", "version", "place")
    rows = rows.with_columns(moved=moved, innermost=innermost.astype(np.int32))
    return rows.take(has_text).with_columns(content=content)


def _document_order(structure: DomHistory, table: ColumnTable) -> FloatArray:
    """Return the position of blocks: their latest row, relative to its version's length."""
    stays = structure.rows["version"][table["place"]]
    sizes = np.diff(np.append(structure.stay_starts, len(structure.rows)))[stays]
    return np.asarray((table["place"] - structure.stay_starts[stays]) / sizes, np.float64)


def blocks_of_outline(
    outline: BlockOutline, path_of: PathSpeller, sampler: TextSampler | None = None
) -> tuple[DomBlock, ...]:
    """Return the blocks of an outline as values, in document order."""
    structure, table = outline.structure, outline.table
    looks = max(int(structure.timeline.looks.sum()), 1)
    columns = ("lifespan", "changes", "came", "looks", "latest", "place")
    rows = zip(*(table[name].tolist() for name in columns), strict=True)
    blocks = []
    for lifespan, changes, moves_in, looks_with_block, latest, row_index in rows:
        dom, row = structure.locate(row_index)
        version = int(structure.timeline.versions[structure.rows["version"][row_index]])
        changed = float(structure.timeline.start[latest]) if changes else None
        text = sampler(version, row) if sampler else ""
        blocks.append(
            DomBlock(
                path_of(dom, row), lifespan, changes, moves_in, looks_with_block / looks, changed,
                classify_behaviour(changes, moves_in, looks_with_block), version, row, text,
            )
        )  # fmt: skip
    return tuple(blocks)


def classify_behaviour(changes: int, moved: int, looks: int) -> BlockBehaviour:
    """Return the behaviour of a block by its changes, its moves and its looks.

    >>> [str(classify_behaviour(*counts)) for counts in ((0, 0, 9), (8, 0, 9), (3, 2, 9))]
    ['stays', 'always changes', 'moves']
    """
    if not changes:
        return BlockBehaviour.STAYS if looks > 1 else BlockBehaviour.ONCE
    if moved >= MOSTLY * changes:
        return BlockBehaviour.MOVES
    pace = changes / max(looks - 1, 1)
    if changes > 1 and pace >= ALWAYS:
        return BlockBehaviour.ALWAYS
    return BlockBehaviour.OFTEN if changes > 1 and pace >= OFTEN else BlockBehaviour.CHANGES


def block_contents(outline: BlockOutline) -> BlockContents:
    """Return the contents of an outline's blocks over time."""
    timeline, table = outline.structure.timeline, outline.table
    block_of_path = np.full(len(outline.structure.paths), -1, np.int32)
    block_of_path[table["full_path"]] = np.arange(len(table), dtype=np.int32)
    runs = outline.runs.take(block_of_path[outline.runs["full_path"]] >= 0)
    return BlockContents(
        block_of_path[runs["full_path"]],
        timeline.start[runs["first"]],
        timeline.end[runs["last"]],
        runs["seconds"],
        (runs["last"] < len(timeline) - 1).astype(np.int32),
    )


def row_lifespans(outline: BlockOutline, dom: DomRows) -> FloatArray:
    """Return the lifespan of content at each row of a version; NaN outside innermost blocks."""
    structure, table = outline.structure, outline.table
    lifespan_of_path = np.full(len(structure.paths) + 1, np.nan)
    lifespan_of_path[table["full_path"]] = np.where(
        table["innermost"] == 1, table["lifespan"], np.nan
    )
    order = np.argsort(structure.paths)
    positions = np.searchsorted(structure.paths[order], dom.full_path)
    paths = np.append(order, len(order))[positions]
    is_same_path = np.append(structure.paths, np.uint64(0))[paths] == dom.full_path
    return np.where(is_same_path, lifespan_of_path[paths], np.nan)


def lifespan_shades(lifespans: FloatArray, structure: DomHistory) -> FloatArray:
    """Return lifespans on a log scale from 0 (one step) to 1 (the whole history).

    All are NaN where the history has no duration.
    """
    timeline = structure.timeline
    steps = float(timeline.seconds.sum()) / timeline.step
    if not steps > 0:
        return np.full(len(lifespans), np.nan)
    scaled = np.log1p(lifespans / timeline.step) / np.log1p(steps)
    return np.asarray(np.clip(scaled, 0.0, 1.0), np.float64)
