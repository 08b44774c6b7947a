"""The blocks of a page: the smallest elements that hold its text, and how each of them lives.

Inline elements belong to the block around them. A block inside which others hold text counts only
with what they do not.
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
from freshet.measure.dynamics.structure.kernels.dom_history import (
    gather_block_texts,
    mark_descendants,
    number_values,
)

MAX_BLOCKS = 1_000
ALWAYS, OFTEN, MOSTLY = 0.9, 0.2, 0.5

TextSampler = Callable[[int, int], str]
"""What gives the text of a row (second) of a version (first), to show a block by."""


class BlockBehaviour(StrEnum):
    """How a block lives."""

    ONCE = "seen once"
    STAYS = "stays"
    MOVES = "moves"
    CHANGES = "changes"
    OFTEN = "changes often"
    ALWAYS = "always changes"


@dataclass(frozen=True, slots=True)
class DomBlock:
    """A block over the history of its page.

    ``lifespan`` is how long its content stays on average (seconds), the one still there counted as
    it is; ``block_moves`` how many of its changes were content moving in from a sibling; ``presence`` the
    share of looks that found it; ``last_change`` when its latest content was first seen (epoch
    seconds), None if it never had another. ``version`` and ``row`` say where it was seen last.
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
    """The contents of blocks, a run each: its block, from when to when, and what ended it.

    ``block`` counts in the order of the blocks; ``seconds`` is how long it is known to have been
    there, without the times at which nobody looked; ``ended`` is 1 where other content or none
    took its place, 0 where it was still there at the last look.
    """

    block: IndexArray
    start: FloatArray
    end: FloatArray
    seconds: FloatArray
    ended: IndexArray


@dataclass(frozen=True, slots=True)
class BlockOutline:
    """The blocks of a page in document order, as columns.

    ``table`` has a row per block with the columns of ``content.path_lifespans``, ``place`` (its latest
    row in the structure) and ``innermost``; ``content_runs`` those of its contents. ``left_out`` counts
    blocks beyond the bound, those seen least.
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
    found = content_runs(rows, structure.timeline, "content")
    latest = {"place": maximum_of("place"), "innermost": maximum_of("innermost")}
    where = reduce_rows(sort_rows(rows, "full_path"), ["full_path"], latest)
    table = path_lifespans(found).with_columns(place=where["place"], innermost=where["innermost"])
    kept = np.sort(np.argsort(-table["looks"], kind="stable")[:max_blocks])
    left_out = len(table) - len(kept)
    order = kept[np.argsort(_document_order(structure, table.take(kept)), kind="stable")]
    return BlockOutline(structure, table.take(order), found, left_out)


def _block_rows(structure: DomHistory, block_names: Collection[str]) -> ColumnTable:
    """Return the rows of blocks that hold text, with their content and whether it moved in."""
    rows = structure.rows
    moved = np.zeros(len(rows), np.bool_)
    moved[block_moves(structure)["place"]] = True
    mark_descendants(rows["above"], moved)
    is_block = np.array([name in block_names for name in structure.names] or [False])[rows["tag"]]
    own, beneath = structure.texts[rows["node_hash"]], structure.texts[rows["subtree_hash"]]
    holds, innermost, text = gather_block_texts(rows["above"], is_block, own, beneath)
    content = np.empty(int(holds.sum()), np.int32)
    number_values(text[holds], content)
    rows = rows.select("full_path", "version", "place")
    rows = rows.with_columns(moved=moved, innermost=innermost.astype(np.int32))
    return rows.take(holds).with_columns(content=content)


def _document_order(structure: DomHistory, table: ColumnTable) -> FloatArray:
    """Return where blocks stand: their latest row, scaled to its version's length."""
    stays = structure.rows["version"][table["place"]]
    sizes = np.diff(np.append(structure.stay_starts, len(structure.rows)))[stays]
    return np.asarray((table["place"] - structure.stay_starts[stays]) / sizes, np.float64)


def blocks_of_outline(
    found: BlockOutline, spell: PathSpeller, sample: TextSampler | None = None
) -> tuple[DomBlock, ...]:
    """Return the blocks of an outline as values to look at, in document order."""
    structure, table = found.structure, found.table
    looks = max(int(structure.timeline.looks.sum()), 1)
    columns = ("lifespan", "changes", "came", "looks", "latest", "place")
    listed = zip(*(table[name].tolist() for name in columns), strict=True)
    shown = []
    for lifespan, changes, came, seen, latest, place in listed:
        dom, row = structure.locate(place)
        version = int(structure.timeline.versions[structure.rows["version"][place]])
        changed = float(structure.timeline.start[latest]) if changes else None
        text = sample(version, row) if sample else ""
        shown.append(
            DomBlock(
                spell(dom, row), lifespan, changes, came, seen / looks, changed,
                classify_behaviour(changes, came, seen), version, row, text,
            )
        )  # fmt: skip
    return tuple(shown)


def classify_behaviour(changes: int, moved: int, looks: int) -> BlockBehaviour:
    """Return how a block lives, from its changes, those that were moves, and the looks at it.

    >>> classify_behaviour(0, 0, 9), classify_behaviour(8, 0, 9), classify_behaviour(3, 2, 9)
    (<BlockBehaviour.STAYS: 'stays'>, <BlockBehaviour.ALWAYS: 'always changes'>, <BlockBehaviour.MOVES: 'moves'>)
    """
    if not changes:
        return BlockBehaviour.STAYS if looks > 1 else BlockBehaviour.ONCE
    if moved >= MOSTLY * changes:
        return BlockBehaviour.MOVES
    pace = changes / max(looks - 1, 1)
    if changes > 1 and pace >= ALWAYS:
        return BlockBehaviour.ALWAYS
    return BlockBehaviour.OFTEN if changes > 1 and pace >= OFTEN else BlockBehaviour.CHANGES


def block_contents(found: BlockOutline) -> BlockContents:
    """Return the contents of an outline's blocks over time, for a picture."""
    timeline, table = found.structure.timeline, found.table
    order = np.full(len(found.structure.paths), -1, np.int32)
    order[table["full_path"]] = np.arange(len(table), dtype=np.int32)
    kept = found.runs.take(order[found.runs["full_path"]] >= 0)
    return BlockContents(
        order[kept["full_path"]],
        timeline.start[kept["first"]],
        timeline.end[kept["last"]],
        kept["seconds"],
        (kept["last"] < len(timeline) - 1).astype(np.int32),
    )


def row_lifespans(found: BlockOutline, dom: DomRows) -> FloatArray:
    """Return how long content stays at each row of a version; NaN where no innermost block is."""
    structure, table = found.structure, found.table
    known = np.full(len(structure.paths) + 1, np.nan)
    known[table["full_path"]] = np.where(table["innermost"] == 1, table["lifespan"], np.nan)
    order = np.argsort(structure.paths)
    places = np.searchsorted(structure.paths[order], dom.full_path)
    paths = np.append(order, len(order))[places]
    same = np.append(structure.paths, np.uint64(0))[paths] == dom.full_path
    return np.where(same, known[paths], np.nan)


def lifespan_shades(lifespans: FloatArray, structure: DomHistory) -> FloatArray:
    """Return lifespans from 0 (gone by the next step) to 1 (stays through), on a log scale.

    All are NaN where the history has no length.
    """
    timeline = structure.timeline
    steps = float(timeline.seconds.sum()) / timeline.step
    if not steps > 0:
        return np.full(len(lifespans), np.nan)
    scaled = np.log1p(lifespans / timeline.step) / np.log1p(steps)
    return np.asarray(np.clip(scaled, 0.0, 1.0), np.float64)
