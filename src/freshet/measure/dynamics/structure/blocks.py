"""The blocks of a page: the smallest elements that hold its text, and how each of them lives.

Inline elements belong to the block around them. A block inside which others hold text counts only
with what they do not.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from freshet.core.types import DomRows, Floats, Indices
from freshet.measure.dynamics.structure.block_moves import moves
from freshet.measure.dynamics.structure.column_table import Table, most, reduce, sort
from freshet.measure.dynamics.structure.content_runs import lifespans, runs
from freshet.measure.dynamics.structure.dom_history import Spell, Structure
from freshet.measure.dynamics.structure.kernels.dom_history import gather_texts, number, pass_down

MOST_BLOCKS = 1_000
ALWAYS, OFTEN, MOSTLY = 0.9, 0.2, 0.5

Sample = Callable[[int, int], str]
"""What gives the text of a row (second) of a version (first), to show a block by."""


class Habit(StrEnum):
    """How a block lives."""

    ONCE = "seen once"
    STAYS = "stays"
    MOVES = "moves"
    CHANGES = "changes"
    OFTEN = "changes often"
    ALWAYS = "always changes"


@dataclass(frozen=True, slots=True)
class Block:
    """A block over the history of its page.

    ``lifespan`` is how long its content stays on average (seconds), the one still there counted as
    it is; ``moves`` how many of its changes were content moving in from a sibling; ``presence`` the
    share of looks that found it; ``last_change`` when its latest content was first seen (epoch
    seconds), None if it never had another. ``version`` and ``row`` say where it was seen last.
    """

    path: str
    lifespan: float
    changes: int
    moves: int
    presence: float
    last_change: float | None
    habit: Habit
    version: int
    row: int
    sample: str = ""


@dataclass(frozen=True, slots=True)
class BlockStays:
    """The contents of blocks, a run each: its block, from when to when, and what ended it.

    ``block`` counts in the order of the blocks; ``seconds`` is how long it is known to have been
    there, without the times at which nobody looked; ``ended`` is 1 where other content or none
    took its place, 0 where it was still there at the last look.
    """

    block: Indices
    start: Floats
    end: Floats
    seconds: Floats
    ended: Indices


@dataclass(frozen=True, slots=True)
class Outline:
    """The blocks of a page in document order, as columns.

    ``table`` has a row per block with the columns of ``content.lifespans``, ``place`` (its latest
    row in the structure) and ``innermost``; ``runs`` those of its contents. ``left_out`` counts
    blocks beyond the bound, those seen least.
    """

    structure: Structure
    table: Table
    runs: Table
    left_out: int

    def __len__(self) -> int:
        return len(self.table)


def outline(
    structure: Structure, block_names: Collection[str], most_blocks: int = MOST_BLOCKS
) -> Outline:
    """Return the blocks of a page; ``block_names`` are the elements that start a new line."""
    rows = _block_rows(structure, block_names)
    found = runs(rows, structure.timeline, "content")
    latest = {"place": most("place"), "innermost": most("innermost")}
    where = reduce(sort(rows, "full_path"), ["full_path"], latest)
    table = lifespans(found).put(place=where["place"], innermost=where["innermost"])
    kept = np.sort(np.argsort(-table["looks"], kind="stable")[:most_blocks])
    left_out = len(table) - len(kept)
    order = kept[np.argsort(_document_order(structure, table.take(kept)), kind="stable")]
    return Outline(structure, table.take(order), found, left_out)


def _block_rows(structure: Structure, block_names: Collection[str]) -> Table:
    """Return the rows of blocks that hold text, with their content and whether it moved in."""
    rows = structure.rows
    moved = np.zeros(len(rows), np.bool_)
    moved[moves(structure)["place"]] = True
    pass_down(rows["above"], moved)
    is_block = np.array([name in block_names for name in structure.names] or [False])[rows["tag"]]
    own, beneath = structure.texts[rows["node_hash"]], structure.texts[rows["subtree_hash"]]
    holds, innermost, text = gather_texts(rows["above"], is_block, own, beneath)
    content = np.empty(int(holds.sum()), np.int32)
    number(text[holds], content)
    rows = rows.only("full_path", "version", "place")
    rows = rows.put(moved=moved, innermost=innermost.astype(np.int32))
    return rows.take(holds).put(content=content)


def _document_order(structure: Structure, table: Table) -> Floats:
    """Return where blocks stand: their latest row, scaled to its version's length."""
    stays = structure.rows["version"][table["place"]]
    sizes = np.diff(np.append(structure.begins, len(structure.rows)))[stays]
    return np.asarray((table["place"] - structure.begins[stays]) / sizes, np.float64)


def blocks(found: Outline, spell: Spell, sample: Sample | None = None) -> tuple[Block, ...]:
    """Return the blocks of an outline as values to look at, in document order."""
    structure, table = found.structure, found.table
    looks = max(int(structure.timeline.looks.sum()), 1)
    columns = ("lifespan", "changes", "came", "looks", "latest", "place")
    listed = zip(*(table[name].tolist() for name in columns), strict=True)
    shown = []
    for lifespan, changes, came, seen, latest, place in listed:
        dom, row = structure.found(place)
        version = int(structure.timeline.shown[structure.rows["version"][place]])
        changed = float(structure.timeline.start[latest]) if changes else None
        text = sample(version, row) if sample else ""
        shown.append(
            Block(
                spell(dom, row), lifespan, changes, came, seen / looks, changed,
                habit(changes, came, seen), version, row, text,
            )
        )  # fmt: skip
    return tuple(shown)


def habit(changes: int, moved: int, looks: int) -> Habit:
    """Return how a block lives, from its changes, those that were moves, and the looks at it.

    >>> habit(0, 0, 9), habit(8, 0, 9), habit(3, 2, 9)
    (<Habit.STAYS: 'stays'>, <Habit.ALWAYS: 'always changes'>, <Habit.MOVES: 'moves'>)
    """
    if not changes:
        return Habit.STAYS if looks > 1 else Habit.ONCE
    if moved >= MOSTLY * changes:
        return Habit.MOVES
    pace = changes / max(looks - 1, 1)
    if changes > 1 and pace >= ALWAYS:
        return Habit.ALWAYS
    return Habit.OFTEN if changes > 1 and pace >= OFTEN else Habit.CHANGES


def block_stays(found: Outline) -> BlockStays:
    """Return the contents of an outline's blocks over time, for a picture."""
    timeline, table = found.structure.timeline, found.table
    order = np.full(len(found.structure.paths), -1, np.int32)
    order[table["full_path"]] = np.arange(len(table), dtype=np.int32)
    kept = found.runs.take(order[found.runs["full_path"]] >= 0)
    return BlockStays(
        order[kept["full_path"]],
        timeline.start[kept["first"]],
        timeline.until[kept["last"]],
        kept["seconds"],
        (kept["last"] < len(timeline) - 1).astype(np.int32),
    )


def row_lifespans(found: Outline, dom: DomRows) -> Floats:
    """Return how long content stays at each row of a version; NaN where no innermost block is."""
    structure, table = found.structure, found.table
    known = np.full(len(structure.paths) + 1, np.nan)
    known[table["full_path"]] = np.where(table["innermost"] == 1, table["lifespan"], np.nan)
    order = np.argsort(structure.paths)
    places = np.searchsorted(structure.paths[order], dom.full_path)
    paths = np.append(order, len(order))[places]
    same = np.append(structure.paths, np.uint64(0))[paths] == dom.full_path
    return np.where(same, known[paths], np.nan)


def shades(lifespans: Floats, structure: Structure) -> Floats:
    """Return lifespans from 0 (gone by the next step) to 1 (stays through), on a log scale.

    All are NaN where the history has no length.
    """
    timeline = structure.timeline
    steps = float(timeline.seconds.sum()) / timeline.step
    if not steps > 0:
        return np.full(len(lifespans), np.nan)
    scaled = np.log1p(lifespans / timeline.step) / np.log1p(steps)
    return np.asarray(np.clip(scaled, 0.0, 1.0), np.float64)
