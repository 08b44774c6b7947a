"""The DOM rows of many versions of a page in one table (Adar et al. 2009, section 5.1).

A version here is a *stay*: a time through which the page showed the same version. Unknown times,
and versions without DOM rows (a PDF), are left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.types import DomRows, FloatArray, HashArray, IndexArray
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
)
from freshet.measure.dynamics.time_grid import MAX_GAP_STEPS, default_step, versions_on_grid
from freshet.measure.kernels.dom_history import (
    NO_PARENT,
    PositionArray,
    number_values,
)

MAX_ROWS = 3_000_000
NO_TEXT = 0

PathSpeller = Callable[[DomRows, int], str]
"""Returns the path of a DOM row: view.dom.full_path, as stages do not import each other."""


@dataclass(frozen=True, slots=True)
class VersionTimeline:
    """The stays of a page in time order.

    A stay is known from ``start`` to ``end`` (epoch seconds) and was observed at ``looks`` points;
    ``step`` is the grid step, or the typical step of the looks.
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
        """Return the known duration of each stay."""
        return self.end - self.start

    def stay_at(self, moment: float) -> int | None:
        """Return the index of the stay at a time; None where it is unknown."""
        stay = int(np.searchsorted(self.start, moment, side="right")) - 1
        return stay if stay >= 0 and moment <= self.end[stay] else None


@dataclass(frozen=True, slots=True)
class DomHistory:
    """The DOM rows of all stays of a page.

    The columns of ``rows`` are full_path, type_path, node_hash, subtree_hash, version (the stay),
    parent (the full path of the parent), tag, above and place (the rows of the parent and of the
    element in the table). Paths, texts and names are numbers in order of appearance; ``paths``,
    ``texts`` and ``names`` have their values, and text 0 is no text. ``stay_starts`` are the first
    rows of the stays; ``left_out_stays`` counts the stays left out to limit the table.
    """

    rows: ColumnTable
    stay_starts: PositionArray
    timeline: VersionTimeline
    doms: tuple[DomRows | None, ...]
    paths: HashArray
    texts: HashArray
    names: tuple[str, ...]
    left_out_stays: int = 0

    def locate(self, row_index: int) -> tuple[DomRows, int]:
        """Return the DOM rows of the version of a table row, and the index in them."""
        stay = int(self.rows["version"][row_index])
        dom = self.doms[self.timeline.versions[stay]]
        assert dom is not None
        return dom, row_index - int(self.stay_starts[stay])


def grid_timeline(series: VersionSeries, step: float | None = None) -> VersionTimeline:
    """Return the stays of a page on its default grid of hours or days."""
    step = step or default_step(series.times)
    states = versions_on_grid(series.times, series.version_indices, step)
    moments = series.times[:1] + step * np.arange(len(states))
    return _timeline(series, states, moments, step)


def look_timeline(series: VersionSeries) -> VersionTimeline:
    """Return the stays of a page at the times of its looks."""
    return _timeline(series, series.version_indices, series.times, default_step(series.times))


def _timeline(
    series: VersionSeries, versions: IndexArray, times: FloatArray, step: float
) -> VersionTimeline:
    """Join neighbouring times with the same version; each lasts to the next, unless that is far."""
    end_times = np.minimum(np.append(times[1:], times[-1:]), times + MAX_GAP_STEPS * step)
    has_dom = np.array([dom is not None for dom in series.doms] + [False])
    dom_indices = np.where(
        (versions >= 0) & (versions < len(series.doms)), versions, len(series.doms)
    )
    is_known = has_dom[dom_indices]
    starts_stay = np.append(True, (versions[1:] != versions[:-1]) | (times[1:] > end_times[:-1]))[
        : len(versions)
    ]
    starts = np.flatnonzero(starts_stay & is_known)
    ends = np.append(np.flatnonzero(starts_stay), len(versions))
    ends = ends[np.searchsorted(ends, starts, side="right")]
    return VersionTimeline(
        versions[starts].astype(np.int32), times[starts], end_times[ends - 1],
        (ends - starts).astype(np.int32), step,
    )  # fmt: skip


def dom_history(
    series: VersionSeries, timeline: VersionTimeline, max_rows: int = MAX_ROWS
) -> DomHistory:
    """Return the DOM rows of every stay as one table, of about ``max_rows`` rows at most."""
    sizes = np.array([0 if dom is None else len(dom) for dom in series.doms], np.int64)
    shown_timeline = _thin_stays(timeline, int(sizes[timeline.versions].sum()), max_rows)
    distinct_versions, version_rows = _in_order_of_appearance(shown_timeline.versions)
    doms = [dom for version in distinct_versions if (dom := series.doms[version]) is not None]
    distinct_rows, paths, texts, names = _number_columns(doms)
    first_rows, lengths = (
        np.cumsum(sizes[distinct_versions]) - sizes[distinct_versions],
        sizes[distinct_versions][version_rows],
    )
    stay_starts = np.cumsum(lengths) - lengths
    row_indices = np.arange(int(lengths.sum()), dtype=np.int32)
    rows = distinct_rows.take(
        row_indices + np.repeat(first_rows[version_rows] - stay_starts, lengths)
    )
    shift = np.repeat(stay_starts.astype(np.int32), lengths)
    above = np.where(rows["above"] < 0, np.int32(NO_PARENT), rows["above"] + shift)
    stays = np.repeat(np.arange(len(shown_timeline), dtype=np.int32), lengths)
    rows = rows.with_columns(version=stays, above=above, place=row_indices)
    left_out_stays = len(timeline) - len(shown_timeline)
    return DomHistory(
        rows, stay_starts, shown_timeline, series.doms, paths, texts, names, left_out_stays
    )


def _in_order_of_appearance(versions: IndexArray) -> tuple[PositionArray, PositionArray]:
    """Return the distinct versions as they first appear, and the index of each entry."""
    distinct, first_indices, inverse = np.unique(versions, return_index=True, return_inverse=True)
    order = np.argsort(first_indices)
    return distinct[order].astype(np.int64), np.argsort(order)[inverse]


def _thin_stays(timeline: VersionTimeline, rows: int, max_rows: int) -> VersionTimeline:
    """Leave out stays evenly where there are too many rows; the stay before is extended."""
    if rows <= max_rows:
        return timeline
    stay_count = max(1, int(len(timeline) * max_rows / rows))
    stays = np.unique(np.linspace(0, len(timeline) - 1, stay_count).astype(np.int64))
    ends = np.append(stays[1:], len(timeline))
    return VersionTimeline(
        timeline.versions[stays], timeline.start[stays], timeline.end[ends - 1],
        np.add.reduceat(timeline.looks, stays), timeline.step,
    )  # fmt: skip


def _number_columns(
    doms: Sequence[DomRows],
) -> tuple[ColumnTable, HashArray, HashArray, tuple[str, ...]]:
    """Return the rows of versions with paths, texts and names as numbers, and their values."""
    full_paths, paths = _number_hashes([dom.full_path for dom in doms])
    type_paths, _ = _number_hashes([dom.type_path for dom in doms])
    no_text = np.zeros(1, np.uint64)
    hashes = [no_text, *(dom.node_hash for dom in doms), *(dom.subtree_hash for dom in doms)]
    text_numbers, texts = _number_hashes(hashes)
    names: dict[str, int] = {}
    name_numbers = [[names.setdefault(name, len(names)) for name in dom.names] for dom in doms]
    tags = [
        np.array(numbers, np.int32)[dom.tag]
        for numbers, dom in zip(name_numbers, doms, strict=True)
    ]
    above = np.concatenate([np.empty(0, np.int32), *(dom.parent for dom in doms)])
    rows = ColumnTable({
        "full_path": full_paths,
        "type_path": type_paths,
        "node_hash": text_numbers[1 : len(full_paths) + 1],
        "subtree_hash": text_numbers[len(full_paths) + 1 :],
        "parent": _parent_paths(full_paths, above, doms, len(paths)),
        "tag": np.concatenate([np.empty(0, np.int32), *tags]),
        "above": above,
    })
    return rows, paths, texts, tuple(names)


def _parent_paths(
    full_paths: IndexArray, above: IndexArray, doms: Sequence[DomRows], root_number: int
) -> IndexArray:
    """Return the number of the parent's path for each row; the root has its own number."""
    lengths = np.array([len(dom) for dom in doms], np.int64)
    first_rows = np.repeat(np.cumsum(lengths) - lengths, lengths)
    parents = np.append(full_paths, np.int32(root_number))[
        np.where(above < 0, len(full_paths), above + first_rows)
    ]
    return parents.astype(np.int32)


def _number_hashes(hashes: Sequence[HashArray]) -> tuple[IndexArray, HashArray]:
    values = np.concatenate([np.empty(0, np.uint64), *hashes])
    numbers = np.empty(len(values), np.int32)
    return numbers, number_values(values, numbers)
