"""The DOM rows of several versions of a page in one table (Adar et al. 2009, section 5.1).

A version here is a *stay*: a time through which the page showed the same version. Unknown times,
and versions without DOM rows (a PDF), are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.types import DomRows, FloatArray, HashArray, IndexArray
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
)
from freshet.measure.dynamics.time_grid import MAX_GAP_STEPS, default_step
from freshet.measure.kernels.dom_history import (
    NO_PARENT,
    PositionArray,
    number_values,
)

NO_TEXT = 0


@dataclass(frozen=True, slots=True)
class VersionTimeline:
    """The stays of a page in time order.

    A stay is known from ``start`` to ``end`` (epoch seconds) and was observed at ``looks`` points,
    the last of them at ``last_look``; ``step`` is the grid step, or the typical step of the looks.
    """

    versions: IndexArray
    start: FloatArray
    last_look: FloatArray
    end: FloatArray
    looks: IndexArray
    step: float

    def __len__(self) -> int:
        return len(self.versions)

    @property
    def seconds(self) -> FloatArray:
        """Return the known duration of each stay."""
        return self.end - self.start

    @property
    def known_span(self) -> float:
        """Return the time from the first look to the last one."""
        return float(self.last_look[-1] - self.start[0]) if len(self) else 0.0

    def between(self, first: int, end: int) -> "VersionTimeline":
        """Return the stays from one index up to another, without the latter."""
        part = slice(first, end)
        return VersionTimeline(
            self.versions[part], self.start[part], self.last_look[part], self.end[part],
            self.looks[part], self.step,
        )  # fmt: skip

    def every(self, stride: int) -> "VersionTimeline":
        """Return every so many-th stay, extended to the start of the next one."""
        stays = np.arange(0, len(self), stride)
        if stride == 1 or not len(stays):
            return self
        ends = np.append(stays[1:], len(self)) - 1
        return VersionTimeline(
            self.versions[stays], self.start[stays], self.last_look[ends], self.end[ends],
            np.add.reduceat(self.looks, stays), self.step,
        )  # fmt: skip

    def stay_at(self, moment: float) -> int | None:
        """Return the index of the stay at a time; None where it is unknown."""
        stay = int(np.searchsorted(self.start, moment, side="right")) - 1
        return stay if stay >= 0 and moment <= self.end[stay] else None


@dataclass(frozen=True, slots=True)
class DomHistory:
    """The DOM rows of all stays of a page.

    The columns of ``rows`` are full_path, type_path, node_hash, subtree_hash, version (the stay),
    parent (the full path of the parent), tag, index (among siblings of the same name), above and
    place (the rows of the parent and of the element in the table). Paths, texts and names are
    numbers in order of appearance; ``paths``, ``texts`` and ``names`` have their values, and text 0
    is no text. ``stay_starts`` are the first rows of the stays.
    """

    rows: ColumnTable
    stay_starts: PositionArray
    timeline: VersionTimeline
    doms: Sequence[DomRows | None]
    paths: HashArray
    texts: HashArray
    names: tuple[str, ...]

    def locate(self, row_index: int) -> tuple[DomRows, int]:
        """Return the DOM rows of the version of a table row, and the index in them."""
        stay = int(self.rows["version"][row_index])
        dom = self.doms[self.timeline.versions[stay]]
        assert dom is not None
        return dom, row_index - int(self.stay_starts[stay])


def look_timeline(series: VersionSeries) -> VersionTimeline:
    """Return the stays of a page at the times of its looks."""
    return _timeline(series, series.version_indices, series.times, default_step(series.times))


def _timeline(
    series: VersionSeries, versions: IndexArray, times: FloatArray, step: float
) -> VersionTimeline:
    """Join neighbouring times with the same version; each lasts to the next, unless that is far."""
    end_times = np.minimum(np.append(times[1:], times[-1:]), times + MAX_GAP_STEPS * step)
    has_dom = np.append(series.has_dom, False)
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
        versions[starts].astype(np.int32), times[starts], times[ends - 1], end_times[ends - 1],
        (ends - starts).astype(np.int32), step,
    )  # fmt: skip


def dom_history(series: VersionSeries, timeline: VersionTimeline) -> DomHistory:
    """Return the DOM rows of every stay as one table."""
    distinct_versions, version_rows = _in_order_of_appearance(timeline.versions)
    doms = [dom for version in distinct_versions if (dom := series.doms[version]) is not None]
    distinct_rows, paths, texts, names = _number_columns(doms)
    sizes = np.array([len(dom) for dom in doms], np.int64)
    first_rows, lengths = np.cumsum(sizes) - sizes, sizes[version_rows]
    stay_starts = np.cumsum(lengths) - lengths
    row_indices = np.arange(int(lengths.sum()), dtype=np.int32)
    rows = distinct_rows.take(
        row_indices + np.repeat(first_rows[version_rows] - stay_starts, lengths)
    )
    shift = np.repeat(stay_starts.astype(np.int32), lengths)
    above = np.where(rows["above"] < 0, np.int32(NO_PARENT), rows["above"] + shift)
    stays = np.repeat(np.arange(len(timeline), dtype=np.int32), lengths)
    rows = rows.with_columns(version=stays, above=above, place=row_indices)
    return DomHistory(rows, stay_starts, timeline, series.doms, paths, texts, names)


def _in_order_of_appearance(versions: IndexArray) -> tuple[PositionArray, PositionArray]:
    """Return the distinct versions as they first appear, and the index of each entry."""
    distinct, first_indices, inverse = np.unique(versions, return_index=True, return_inverse=True)
    order = np.argsort(first_indices)
    return distinct[order].astype(np.int64), np.argsort(order)[inverse]


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
        "index": np.concatenate([np.empty(0, np.int32), *(dom.index for dom in doms)]),
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
