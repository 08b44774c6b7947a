"""When each word of a page was present (Adar et al. 2009, section 4.3, Figure 5).

Words are observed on the grid of time_grid, at the points where the version is known. A word that
comes and goes has several spells. Time between two known points that are not neighbours belongs to
no spell.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.time_grid import UNKNOWN_VERSION, default_step, versions_on_grid
from freshet.measure.kernels import lifespans as kernels
from freshet.measure.kernels.lifespans import (
    FREE_SLOT,
    LifespanColumns,
    SlotTable,
    TotalArray,
)

Number = TypeVar("Number", bound=np.generic)

MAX_ROWS = 400
_MIN_TABLE_SIZE = 1024


@dataclass(frozen=True, slots=True)
class WordLifespans:
    """One row for each word of a page, by first appearance and then by longevity.

    ``first`` and ``last`` are the first and last grid points with the word, ``present_points`` the
    number of points with it, in how many ``spells``; ``counts`` adds up its occurrences over these
    points. ``known_points`` of the ``grid_points`` have a known version.
    """

    ids: HashArray
    first: IndexArray
    last: IndexArray
    present_points: IndexArray
    spells: IndexArray
    counts: TotalArray
    grid_points: int
    known_points: int
    start: float
    step: float

    def __len__(self) -> int:
        return len(self.ids)

    def grid_times(self, points: IndexArray) -> FloatArray:
        """Return grid points as epoch seconds."""
        return self.start + self.step * points.astype(np.float64)

    @property
    def share(self) -> FloatArray:
        """Return the share of known points at which each word was present."""
        return self.present_points / max(self.known_points, 1)

    @property
    def staying_power(self) -> FloatArray:
        """Return the staying power of each word; NaN where fewer than two points are known."""
        return staying_power(self.present_points, self.known_points)


@dataclass(frozen=True, slots=True)
class WordSpans:
    """The spans of time in which words were present, for a chart.

    ``rows`` are the shown rows of the lifespans, of ``word_count`` in all; ``row`` is for each span
    its index in ``rows``. ``begins`` and ``ends`` are grid points; the end is the first point
    without the word.
    """

    rows: IndexArray
    row: IndexArray
    begins: IndexArray
    ends: IndexArray
    word_count: int
    grid_points: int

    def __len__(self) -> int:
        return len(self.row)


def staying_power(present: IndexArray, known_points: int) -> FloatArray:
    """Return m(m-1)/(n(n-1)) for words present at m of n known points.

    This is the share of pairs of points at which a word was present both times. It is the paper's
    formula; the paper's description in words is conditioned on presence, which is another number.

    >>> staying_power(np.array([5, 3, 1], np.int32), 5).tolist()
    [1.0, 0.3, 0.0]
    """
    if known_points < 2:
        return np.full(len(present), np.nan)
    m = present.astype(np.float64)
    return m * (m - 1) / (known_points * (known_points - 1))


def word_lifespans(series: VersionSeries, *, step: float | None = None) -> WordLifespans:
    """Return when each word of a page was present."""
    step = step or default_step(series.times)
    versions = versions_on_grid(series.times, series.version_indices, step)
    columns = _collect_words(series, versions)
    ids, first, last, present, spells, counts = columns
    order = np.lexsort((ids, -present, first))
    start = float(series.times[0]) if len(series) else 0.0
    return WordLifespans(
        ids[order], first[order], last[order], present[order], spells[order], counts[order],
        len(versions), int(np.count_nonzero(versions != UNKNOWN_VERSION)), start, step,
    )  # fmt: skip


def word_spans(
    series: VersionSeries, lifespans: WordLifespans, *, max_words: int | None = MAX_ROWS
) -> WordSpans:
    """Return the spans in which words were present; more than ``max_words`` are thinned evenly."""
    rows = _shown_rows(len(lifespans), max_words)
    by_id = np.argsort(lifespans.ids[rows])
    wanted = lifespans.ids[rows][by_id]
    span_count = int(lifespans.spells[rows].sum())
    row, begins, ends = (np.empty(span_count, np.int32) for _ in range(3))
    latest_spans, used = np.full(len(rows), FREE_SLOT, np.int32), 0
    for version, stretch in _stretches(
        versions_on_grid(series.times, series.version_indices, lifespans.step)
    ):
        ids = series.terms[version].hashes
        used = kernels.extend_spans(wanted, latest_spans, (row, begins, ends), ids, stretch, used)
    row = by_id[row].astype(np.int32)
    order = np.lexsort((begins, row))
    return WordSpans(
        rows, row[order], begins[order], ends[order], len(lifespans), lifespans.grid_points
    )


def _shown_rows(word_count: int, max_words: int | None) -> IndexArray:
    """Return the rows to show: all, or a number of evenly spaced rows with the first and last.

    >>> _shown_rows(9, 3).tolist()
    [0, 4, 8]
    """
    if max_words is None or word_count <= max_words:
        return np.arange(word_count, dtype=np.int32)
    return np.linspace(0, word_count - 1, max_words).round().astype(np.int32)


def _stretches(versions: IndexArray) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield each version with the range of grid points at which it was shown."""
    bounds = np.flatnonzero(
        np.diff(versions, prepend=UNKNOWN_VERSION - 1, append=UNKNOWN_VERSION - 1)
    ).tolist()
    for begin, end in pairwise(bounds):
        if versions[begin] != UNKNOWN_VERSION:
            yield int(versions[begin]), (begin, end)


def _collect_words(series: VersionSeries, versions: IndexArray) -> LifespanColumns:
    """Record the words of all versions, in the order in which they were shown."""
    words = _WordCollector(_empty_slots(_MIN_TABLE_SIZE), _columns(_MIN_TABLE_SIZE // 2), 0)
    for version, stretch in _stretches(versions):
        terms = series.terms[version]
        words = words.with_room(len(terms))
        used = kernels.add_version(
            words.slots, words.columns, terms.hashes, terms.counts, stretch, words.used
        )
        words = replace(words, used=used)
    ids, first, last, present, spells, counts = words.columns
    n = words.used
    return ids[:n], first[:n], last[:n], present[:n], spells[:n], counts[:n]


@dataclass(frozen=True, slots=True)
class _WordCollector:
    """The words so far: a hash table of rows, the columns, and the number of used rows."""

    slots: SlotTable
    columns: LifespanColumns
    used: int

    def with_room(self, more: int) -> "_WordCollector":
        """Return a collector with room for more words; half of the table stays free."""
        needed = self.used + more
        if needed <= len(self.columns[0]):
            return self
        slots = _empty_slots(4 << needed.bit_length())
        room = len(slots[0]) // 2
        ids, first, last, present, spells, counts = self.columns
        kernels.insert_words(slots, ids[: self.used])
        columns = (
            _extended(ids, room), _extended(first, room), _extended(last, room),
            _extended(present, room), _extended(spells, room), _extended(counts, room),
        )  # fmt: skip
        return _WordCollector(slots, columns, self.used)


def _empty_slots(size: int) -> SlotTable:
    return np.zeros(size, np.uint64), np.full(size, FREE_SLOT, np.int32)


def _columns(size: int) -> LifespanColumns:
    first, last, present, spells = (np.empty(size, np.int32) for _ in range(4))
    return np.empty(size, np.uint64), first, last, present, spells, np.empty(size, np.int64)


def _extended(column: NDArray[Number], size: int) -> NDArray[Number]:
    extended = np.empty(size, column.dtype)
    extended[: len(column)] = column
    return extended
