"""The history of a page's elements as runs, in bounded memory (Adar et al. 2009, section 5.1).

A run is a series of neighbouring stays in which a path had the same content. Versions are read a
few at a time; the rows of each part are sorted and reduced to runs, and runs that meet at the edge
of two parts are joined. Memory grows with the changes of a page and not with its versions. Where
even the changes are too many, every second stay is left out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.types import HashArray, IndexArray
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.structure.block_rows import block_rows
from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    ValueArray,
    maximum_of,
    minimum_of,
    rank_in_group,
    reduce_rows,
    sort_rows,
)
from freshet.measure.dynamics.structure.dom_history import (
    DomHistory,
    VersionTimeline,
    dom_history,
)

PART_ROWS = 250_000
MAX_RUNS = 3_000_000

_RUN_AGGREGATES = {"first": minimum_of("version"), "last": maximum_of("version")}
_ELEMENT_COLUMNS: Mapping[str, type[np.generic]] = {
    "full_path": np.uint64,
    "content": np.uint64,
    "first": np.int32,
    "last": np.int32,
}
_BLOCK_COLUMNS: Mapping[str, type[np.generic]] = {**_ELEMENT_COLUMNS, "came": np.int32}
_PATH_COLUMNS: Mapping[str, type[np.generic]] = {
    "full_path": np.uint64, "parent": np.uint64, "name": np.int32, "index": np.int32,
    "position": np.float64, "innermost": np.int32,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ElementHistory:
    """The runs of a page's elements and blocks over its stays.

    ``elements`` and ``blocks`` have the columns full_path (a row of ``path_table``), content (the
    hash of the text: of the subtree, or of the block), first and last (stays); ``blocks`` also has
    came, 1 where the content moved in from a sibling. They are sorted by path and time.
    ``path_table`` has a row for each path: its hash, its parent's row (-1: none), its name and
    index, its latest position in the document from 0 to 1, and whether it is an innermost block.
    With a ``stride`` above 1 only every so many-th stay was used.
    """

    timeline: VersionTimeline
    elements: ColumnTable
    blocks: ColumnTable
    path_table: ColumnTable
    names: tuple[str, ...]
    stride: int = 1

    @property
    def paths(self) -> HashArray:
        """Return the hashes of the paths, ascending."""
        return self.path_table["full_path"]

    def spell_path(self, path: int) -> str:
        """Return a path in direct access notation, such as ``/html[0]/body[0]``."""
        steps: list[str] = []
        while path >= 0:
            name = self.names[self.path_table["name"][path]]
            steps.append(f"/{name}[{self.path_table['index'][path]}]")
            path = int(self.path_table["parent"][path])
        return "".join(reversed(steps))


def element_history(
    series: VersionSeries,
    timeline: VersionTimeline,
    block_names: Collection[str] = (),
    *,
    part_rows: int = PART_ROWS,
    max_runs: int = MAX_RUNS,
) -> ElementHistory:
    """Return the runs of a page's elements, and of its blocks if their names are given.

    ``block_names`` are the elements that start a new line. ``part_rows`` is the number of DOM rows
    that are read at once, ``max_runs`` the largest number of runs.
    """
    collector = _RunCollector(max_runs)
    first = 0
    while first < len(range(0, len(timeline), collector.stride)):
        stride = collector.stride
        kept_stays = timeline.every(stride)
        end = _part_end(series, kept_stays, first, part_rows)
        context = min(first, 1)
        part = dom_history(series, kept_stays.between(first - context, end))
        collector.add(part, block_names, first - context, context)
        first = end if collector.stride == stride else _next_stay(end, collector.stride // stride)
    return collector.history(timeline)


def _next_stay(stay: int, factor: int) -> int:
    """Return the number of the first stay from a stay on, if only every so many-th counts."""
    return -(-stay // factor)


def _part_end(series: VersionSeries, timeline: VersionTimeline, first: int, part_rows: int) -> int:
    """Return the end of the stays from ``first`` on that are read together."""
    rows = 0
    for stay in range(first, len(timeline)):
        dom = series.doms[timeline.versions[stay]]
        rows += 0 if dom is None else len(dom)
        if rows > part_rows and stay > first:
            return stay
    return len(timeline)


class _RunCollector:
    """Joins the runs of one part of a history after the other."""

    def __init__(self, max_runs: int) -> None:
        self.stride = 1
        self._max_runs = max_runs
        self._elements = [_empty_table(_ELEMENT_COLUMNS)]
        self._blocks = [_empty_table(_BLOCK_COLUMNS)]
        self._paths = [_empty_table(_PATH_COLUMNS)]
        self._names: dict[str, int] = {}

    def add(self, part: DomHistory, block_names: Collection[str], first: int, context: int) -> None:
        """Add the stays of a part, numbered from ``first``; the first ``context`` are known."""
        rows = part.rows
        is_new = rows["version"] >= context
        element_rows = ColumnTable({
            "full_path": rows["full_path"],
            "content": rows["subtree_hash"],
            "version": rows["version"],
        }).take(is_new)
        self._elements.append(_hashed_runs(element_rows, part, part.texts, first))
        blocks = block_rows(part, block_names) if block_names else None
        if blocks is not None:
            new_blocks = blocks.take(blocks["version"] >= context)
            self._blocks.append(_hashed_runs(new_blocks, part, None, first))
        self._paths.append(self._path_rows(part, blocks))
        self._join()

    def history(self, timeline: VersionTimeline) -> ElementHistory:
        """Return the joined runs, with paths as rows of the table of paths."""
        self._join(is_end=True)
        (elements,), (blocks,), (paths,) = self._elements, self._blocks, self._paths
        hashes = paths["full_path"]
        parents = np.searchsorted(hashes, paths["parent"]).astype(np.int32)
        parents[paths["parent"] == 0] = -1
        return ElementHistory(
            timeline.every(self.stride),
            _with_path_numbers(elements, hashes),
            _with_path_numbers(blocks, hashes),
            paths.with_columns(parent=parents),
            tuple(self._names),
            self.stride,
        )

    def _path_rows(self, part: DomHistory, blocks: ColumnTable | None) -> ColumnTable:
        """Return a row for each path of a part, with its latest position."""
        rows = part.rows.select("full_path", "parent", "tag", "index", "place", "version")
        latest = np.empty(len(part.paths), np.int64)
        latest[rows["full_path"]] = np.arange(len(rows))
        rows = rows.take(latest)
        names = [self._names.setdefault(name, len(self._names)) for name in part.names]
        sizes = np.diff(np.append(part.stay_starts, len(part.rows)))[rows["version"]]
        innermost = np.zeros(len(part.paths), np.int32)
        if blocks is not None:
            np.maximum.at(innermost, blocks["full_path"], blocks["innermost"])
        return ColumnTable({
            "full_path": part.paths[rows["full_path"]],
            "parent": np.append(part.paths, np.uint64(0))[rows["parent"]],
            "name": np.array(names, np.int32)[rows["tag"]],
            "index": rows["index"],
            "position": (rows["place"] - part.stay_starts[rows["version"]]) / np.maximum(sizes, 1),
            "innermost": innermost[rows["full_path"]],
        })

    def _join(self, *, is_end: bool = False) -> None:
        """Join the runs of parts where they have grown, and halve them where they are too many."""
        pending = sum(map(len, (*self._elements[1:], *self._blocks[1:], *self._paths[1:])))
        joined = len(self._elements[0]) + len(self._blocks[0])
        if not is_end and pending < max(joined, min(PART_ROWS, self._max_runs)):
            return
        self._elements = [_join_runs(_concatenate(self._elements))]
        self._blocks = [_join_runs(_concatenate(self._blocks))]
        self._paths = [_latest_paths(_concatenate(self._paths))]
        while len(self._elements[0]) + len(self._blocks[0]) > self._max_runs and self._can_halve():
            self.stride *= 2
            self._elements = [_halve_runs(self._elements[0])]
            self._blocks = [_halve_runs(self._blocks[0])]
            is_present = np.isin(self._paths[0]["full_path"], self._elements[0]["full_path"])
            self._paths = [self._paths[0].take(is_present)]

    def _can_halve(self) -> bool:
        return int(self._elements[0]["last"].max(initial=0)) > 0


def _hashed_runs(
    rows: ColumnTable, part: DomHistory, texts: HashArray | None, first: int
) -> ColumnTable:
    """Return the runs of a part; paths and texts are hashes, stays are numbered from ``first``."""
    rows = sort_rows(rows, "full_path", "version")
    rows = rows.with_columns(breaks=rows["version"] - rank_in_group(rows, "full_path"))
    aggregates = dict(_RUN_AGGREGATES)
    runs = reduce_rows(rows, ["full_path", "breaks", "content"], aggregates)
    columns = {
        "full_path": part.paths[runs["full_path"]],
        "content": runs["content"] if texts is None else texts[runs["content"]],
        "first": runs["first"] + np.int32(first),
        "last": runs["last"] + np.int32(first),
    }
    if "moved" in rows.columns:
        starts = np.flatnonzero(_differs(rows, "full_path", "breaks", "content"))
        columns["came"] = rows["moved"][starts].astype(np.int32)
    return ColumnTable(columns)


def _differs(rows: ColumnTable, *keys: str) -> ValueArray:
    """Return whether each row differs from the one before in one of the keys."""
    differs = np.zeros(len(rows), np.bool_)
    differs[:1] = True
    for key in keys:
        differs[1:] |= rows[key][1:] != rows[key][:-1]
    return differs


def _join_runs(runs: ColumnTable) -> ColumnTable:
    """Sort runs by path and time, and join neighbours with the same content."""
    runs = sort_rows(runs, "full_path", "first")
    is_start = _differs(runs, "full_path", "content")
    is_start[1:] |= runs["first"][1:] != runs["last"][:-1] + 1
    starts = np.flatnonzero(is_start)
    ends = np.append(starts[1:], len(runs)) - 1
    return runs.take(starts).with_columns(last=runs["last"][ends] if len(runs) else runs["last"])


def _halve_runs(runs: ColumnTable) -> ColumnTable:
    """Return the runs as they would be if only every second stay had been used."""
    first, last = (runs["first"] + 1) // 2, runs["last"] // 2
    halved = runs.with_columns(first=first.astype(np.int32), last=last.astype(np.int32))
    return _join_runs(halved.take(first <= last))


def _latest_paths(paths: ColumnTable) -> ColumnTable:
    """Return one row for each path, the latest, in the order of their hashes."""
    rows = sort_rows(paths, "full_path")
    starts = np.flatnonzero(_differs(rows, "full_path"))
    if not len(starts):
        return rows
    innermost = np.maximum.reduceat(rows["innermost"], starts)
    return rows.take(np.append(starts[1:], len(rows)) - 1).with_columns(innermost=innermost)


def _with_path_numbers(runs: ColumnTable, hashes: HashArray) -> ColumnTable:
    numbers: IndexArray = np.searchsorted(hashes, runs["full_path"]).astype(np.int32)
    return runs.with_columns(full_path=numbers)


def _concatenate(tables: Sequence[ColumnTable]) -> ColumnTable:
    return ColumnTable({
        name: np.concatenate([table[name] for table in tables]) for name in tables[0].columns
    })


def _empty_table(columns: Mapping[str, type[np.generic]]) -> ColumnTable:
    return ColumnTable({name: np.empty(0, kind) for name, kind in columns.items()})
