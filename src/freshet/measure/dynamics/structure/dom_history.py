"""The elements of many versions of a page in one table (Adar et al. 2009, section 5.1).

A version here is a *stay*: a time through which the page showed the same. Moments of which nothing
is known, and versions that have no elements to tell (a PDF), are left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.types import DomRows, FloatArray, HashArray, IndexArray
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    maximum_of,
    reduce_rows,
    sort_rows,
)
from freshet.measure.dynamics.structure.kernels.dom_history import (
    NO_PARENT,
    PositionArray,
    number_values,
)
from freshet.measure.dynamics.time_grid import MAX_GAP_STEPS, default_step, versions_on_grid

MAX_ROWS = 3_000_000
NO_TEXT = 0

PathSpeller = Callable[[DomRows, int], str]
"""What spells the path of a row: view.dom.full_path, handed over because stages do not meet."""


@dataclass(frozen=True, slots=True)
class VersionTimeline:
    """When a page showed which version: its stays in time order.

    A stay is known from ``start`` to ``end`` (epoch seconds) and was seen at ``looks`` moments;
    ``step`` is that of the grid, or what suits the looks.
    """

    versions: IndexArray
    start: FloatArray
    end: FloatArray
    looks: IndexArray
    step: float

    def __len__(self) -> int:
        return len(self.versions)

    @property
    def seconds(self) -> FloatArray:
        """Return how long each stay is known to have lasted."""
        return self.end - self.start

    def stay_at(self, moment: float) -> int | None:
        """Return the stay of a moment; None where nothing is known of it."""
        stay = int(np.searchsorted(self.start, moment, side="right")) - 1
        return stay if stay >= 0 and moment <= self.end[stay] else None


@dataclass(frozen=True, slots=True)
class DomHistory:
    """The elements of all stays of a page, a row each.

    The columns of ``rows`` are full_path, type_path, node_hash, subtree_hash, version (the stay),
    parent (the full path above), tag, above and place (where a row's parent and the row itself lie
    in the table). Paths, texts and names are numbers in the order in which they first appear:
    ``paths``, ``texts`` and ``names`` tell what they stand for; text 0 is none. ``stay_starts`` is where
    the rows of each stay begin; ``left_out_stays`` counts the stays left out to bound the table.
    """

    rows: ColumnTable
    stay_starts: PositionArray
    timeline: VersionTimeline
    doms: tuple[DomRows | None, ...]
    paths: HashArray
    texts: HashArray
    names: tuple[str, ...]
    left_out_stays: int = 0

    def spell_paths(self, paths: IndexArray, spell: PathSpeller) -> list[str]:
        """Return the spelling of paths, each as the last version that has it does."""
        rows = sort_rows(self.rows.select("full_path", "place"), "full_path")
        last = reduce_rows(rows, ["full_path"], {"place": maximum_of("place")})
        return [spell(*self.locate(int(place))) for place in last["place"][paths]]

    def locate(self, place: int) -> tuple[DomRows, int]:
        """Return the DOM rows that a row of the table comes from, and which of them it is."""
        stay = int(self.rows["version"][place])
        dom = self.doms[self.timeline.versions[stay]]
        assert dom is not None
        return dom, place - int(self.stay_starts[stay])


def grid_timeline(series: VersionSeries, step: float | None = None) -> VersionTimeline:
    """Return the stays of a page on a grid of hours or days, as its looks suggest."""
    step = step or default_step(series.times)
    states = versions_on_grid(series.times, series.version_indices, step)
    moments = series.times[:1] + step * np.arange(len(states))
    return _timeline(series, states, moments, step)


def look_timeline(series: VersionSeries) -> VersionTimeline:
    """Return the stays of a page by its looks, at whatever times they were."""
    return _timeline(series, series.version_indices, series.times, default_step(series.times))


def _timeline(
    series: VersionSeries, states: IndexArray, moments: FloatArray, step: float
) -> VersionTimeline:
    """Join neighbouring moments that show the same; each lasts to the next, unless that is far."""
    until = np.minimum(np.append(moments[1:], moments[-1:]), moments + MAX_GAP_STEPS * step)
    told = np.array([dom is not None for dom in series.doms] + [False])
    shown = np.where((states >= 0) & (states < len(series.doms)), states, len(series.doms))
    known = told[shown]
    new = np.append(True, (states[1:] != states[:-1]) | (moments[1:] > until[:-1]))[: len(states)]
    starts = np.flatnonzero(new & known)
    ends = np.append(np.flatnonzero(new), len(states))
    ends = ends[np.searchsorted(ends, starts, side="right")]
    return VersionTimeline(
        states[starts].astype(np.int32), moments[starts], until[ends - 1],
        (ends - starts).astype(np.int32), step,
    )  # fmt: skip


def dom_history(
    series: VersionSeries, timeline: VersionTimeline, max_rows: int = MAX_ROWS
) -> DomHistory:
    """Return the elements of every stay as one table, of at most about that many rows."""
    sizes = np.array([0 if dom is None else len(dom) for dom in series.doms], np.int64)
    kept = _thinned(timeline, int(sizes[timeline.versions].sum()), max_rows)
    used, shown = _in_order_of_appearance(kept.versions)
    doms = [dom for version in used if (dom := series.doms[version]) is not None]
    versions, paths, texts, names = _numbered(doms)
    firsts, lengths = np.cumsum(sizes[used]) - sizes[used], sizes[used][shown]
    begins = np.cumsum(lengths) - lengths
    places = np.arange(int(lengths.sum()), dtype=np.int32)
    rows = versions.take(places + np.repeat(firsts[shown] - begins, lengths))
    shift = np.repeat(begins.astype(np.int32), lengths)
    above = np.where(rows["above"] < 0, np.int32(NO_PARENT), rows["above"] + shift)
    stays = np.repeat(np.arange(len(kept), dtype=np.int32), lengths)
    rows = rows.with_columns(version=stays, above=above, place=places)
    thinned = len(timeline) - len(kept)
    return DomHistory(rows, begins, kept, series.doms, paths, texts, names, thinned)


def _in_order_of_appearance(versions: IndexArray) -> tuple[PositionArray, PositionArray]:
    """Return the distinct versions as they first appear, and for each entry which it is."""
    used, firsts, which = np.unique(versions, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    return used[order].astype(np.int64), np.argsort(order)[which]


def _thinned(timeline: VersionTimeline, rows: int, most_rows: int) -> VersionTimeline:
    """Leave out stays evenly where there are too many rows; the one before then lasts on."""
    if rows <= most_rows:
        return timeline
    wanted = max(1, int(len(timeline) * most_rows / rows))
    kept = np.unique(np.linspace(0, len(timeline) - 1, wanted).astype(np.int64))
    ends = np.append(kept[1:], len(timeline))
    return VersionTimeline(
        timeline.versions[kept], timeline.start[kept], timeline.end[ends - 1],
        np.add.reduceat(timeline.looks, kept), timeline.step,
    )  # fmt: skip


def _numbered(doms: Sequence[DomRows]) -> tuple[ColumnTable, HashArray, HashArray, tuple[str, ...]]:
    """Return the rows of versions with paths, texts and names as numbers, and their meaning."""
    full, paths = _numbers([dom.full_path for dom in doms])
    kinds, _ = _numbers([dom.type_path for dom in doms])
    none = np.zeros(1, np.uint64)
    hashes = [none, *(dom.node_hash for dom in doms), *(dom.subtree_hash for dom in doms)]
    both, texts = _numbers(hashes)
    names: dict[str, int] = {}
    meanings = [[names.setdefault(name, len(names)) for name in dom.names] for dom in doms]
    tags = [np.array(known, np.int32)[dom.tag] for known, dom in zip(meanings, doms, strict=True)]
    above = np.concatenate([np.empty(0, np.int32), *(dom.parent for dom in doms)])
    rows = ColumnTable({
        "full_path": full,
        "type_path": kinds,
        "node_hash": both[1 : len(full) + 1],
        "subtree_hash": both[len(full) + 1 :],
        "parent": _parent_paths(full, above, doms, len(paths)),
        "tag": np.concatenate([np.empty(0, np.int32), *tags]),
        "above": above,
    })
    return rows, paths, texts, tuple(names)


def _parent_paths(
    full: IndexArray, above: IndexArray, doms: Sequence[DomRows], top: int
) -> IndexArray:
    """Return the number of the path above each row; that of the root is one of its own."""
    lengths = np.array([len(dom) for dom in doms], np.int64)
    firsts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    parents = np.append(full, np.int32(top))[np.where(above < 0, len(full), above + firsts)]
    return parents.astype(np.int32)


def _numbers(hashes: Sequence[HashArray]) -> tuple[IndexArray, HashArray]:
    values = np.concatenate([np.empty(0, np.uint64), *hashes])
    numbers = np.empty(len(values), np.int32)
    return numbers, number_values(values, numbers)
