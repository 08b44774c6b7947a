"""The blocks of a page, the smallest elements with text, and their behaviour over time."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import isnan

import numpy as np

from freshet.core.types import DomRows, FloatArray, IndexArray
from freshet.measure.dynamics.structure.column_table import ColumnTable
from freshet.measure.dynamics.structure.content_lifespans import path_lifespans
from freshet.measure.dynamics.structure.element_history import ElementHistory

MAX_BLOCKS = 1_000
ALWAYS, OFTEN, MOSTLY = 0.9, 0.2, 0.5
_BLOCK_COLUMNS = (
    "full_path", "lifespan", "page_lifespan", "run_length", "texts", "changes", "came", "looks",
    "latest", "is_constant",
)  # fmt: skip

TextSampler = Callable[[int], str]
"""Returns the text at a path, given by its hash, to describe a block."""


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

    ``lifespan`` is how long a text stays here on average, from its first to its last version, and
    ``page_lifespan`` how long a text that entered the page here stays on it, wherever it moves
    (seconds; None where none entered here). ``run_length`` is the mean time from one change to the
    next. ``texts`` is the number of different texts; ``moves`` is how many changes were content
    that moved in from a sibling; ``presence`` is the share of looks with the block; ``last_change``
    is when its latest content was first seen (epoch seconds), None if it never changed.
    ``is_constant`` says that one text was there from the first look to the last.
    """

    path: str
    lifespan: float
    page_lifespan: float | None
    run_length: float
    texts: int
    changes: int
    moves: int
    presence: float
    last_change: float | None
    is_constant: bool
    behaviour: BlockBehaviour
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

    ``table`` has one row for each block with the columns of ``path_lifespans``, ``came`` (contents
    that moved in) and ``is_constant``; the runs of the contents are those of ``structure``.
    ``left_out`` counts the blocks beyond the limit, those with the fewest looks.
    """

    structure: ElementHistory
    table: ColumnTable
    left_out: int

    def __len__(self) -> int:
        return len(self.table)

    @property
    def runs(self) -> ColumnTable:
        """Return the runs of the blocks' contents; their column ``block`` is the table's row."""
        block_of_path = np.full(len(self.structure.paths), -1, np.int32)
        block_of_path[self.table["full_path"]] = np.arange(len(self.table), dtype=np.int32)
        blocks = block_of_path[self.structure.blocks["full_path"]]
        return self.structure.blocks.with_columns(block=blocks).take(blocks >= 0)


def block_outline(structure: ElementHistory, max_blocks: int = MAX_BLOCKS) -> BlockOutline:
    """Return the blocks of a page."""
    runs, last_stay = structure.blocks, len(structure.timeline) - 1
    table = path_lifespans(runs, structure.timeline)
    came = np.bincount(runs["full_path"], runs["came"], minlength=len(structure.paths))
    table = table.with_columns(
        came=came[table["full_path"]].astype(np.int64),
        is_constant=(table["texts"] == 1) & (table["first"] == 0) & (table["last"] == last_stay),
    )
    kept_rows = np.sort(np.argsort(-table["looks"], kind="stable")[:max_blocks])
    positions = structure.path_table["position"][table["full_path"][kept_rows]]
    order = kept_rows[np.argsort(positions, kind="stable")]
    return BlockOutline(structure, table.take(order), len(table) - len(kept_rows))


def blocks_of_outline(
    outline: BlockOutline, sampler: TextSampler | None = None
) -> tuple[DomBlock, ...]:
    """Return the blocks of an outline as values, in document order."""
    structure, table = outline.structure, outline.table
    looks = max(int(structure.timeline.looks.sum()), 1)
    rows = zip(*(table[name].tolist() for name in _BLOCK_COLUMNS), strict=True)
    blocks = []
    for path, lifespan, page_lifespan, run_length, texts, changes, came, seen, latest, same in rows:
        blocks.append(
            DomBlock(
                path=structure.spell_path(path),
                lifespan=lifespan,
                page_lifespan=None if isnan(page_lifespan) else page_lifespan,
                run_length=run_length,
                texts=texts,
                changes=changes,
                moves=came,
                presence=seen / looks,
                last_change=float(structure.timeline.start[latest]) if changes else None,
                is_constant=same,
                behaviour=classify_behaviour(changes, came, seen),
                sample=sampler(int(structure.paths[path])) if sampler else "",
            )
        )
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
    timeline, runs = outline.structure.timeline, outline.runs
    known_seconds = np.append(0.0, np.cumsum(timeline.seconds))
    return BlockContents(
        runs["block"],
        timeline.start[runs["first"]],
        timeline.end[runs["last"]],
        known_seconds[runs["last"] + 1] - known_seconds[runs["first"]],
        (runs["last"] < len(timeline) - 1).astype(np.int32),
    )


def rows_of_blocks(outline: BlockOutline, dom: DomRows) -> IndexArray:
    """Return for each row of a version the row of its innermost block in the table; -1: none."""
    structure, table = outline.structure, outline.table
    block_of_path = np.full(len(structure.paths) + 1, -1, np.int32)
    is_innermost = structure.path_table["innermost"][table["full_path"]] == 1
    block_of_path[table["full_path"]] = np.where(is_innermost, np.arange(len(table)), -1)
    paths = np.searchsorted(structure.paths, dom.full_path)
    is_known = np.append(structure.paths, np.uint64(0))[paths] == dom.full_path
    return np.where(is_known, block_of_path[paths], -1).astype(np.int32)


def lifespan_shades(lifespans: FloatArray, structure: ElementHistory) -> FloatArray:
    """Return lifespans on a log scale from 0 (the shortest of them) to 1 (the whole history).

    All are NaN where the history has no duration.
    """
    timeline = structure.timeline
    if not timeline.known_span > 0 or not np.isfinite(lifespans).any():
        return np.full(len(lifespans), np.nan)
    steps = np.log1p(lifespans / timeline.step)
    shortest = float(np.nanmin(steps))
    longest = float(np.log1p(timeline.known_span / timeline.step))
    if shortest >= longest:
        return np.where(np.isfinite(lifespans), 1.0, np.nan)
    return np.asarray(np.clip((steps - shortest) / (longest - shortest), 0.0, 1.0), np.float64)
