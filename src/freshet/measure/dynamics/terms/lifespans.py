"""When each word of a page was there (Adar et al. 2009, section 4.3, Figure 5).

Words are looked at on the grid of measure.grid, at the times where it is known what the page
showed. A word that comes and goes has several spells; what lies between two known times that are
not neighbours belongs to none.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.terms.kernels import lifespans as kernels
from freshet.measure.dynamics.terms.kernels.lifespans import (
    FREE_SLOT,
    LifespanColumns,
    SlotTable,
    TotalArray,
)
from freshet.measure.dynamics.time_grid import UNKNOWN_VERSION, default_step, versions_on_grid

Number = TypeVar("Number", bound=np.generic)

MAX_ROWS = 400
_SMALLEST_TABLE = 1024


@dataclass(frozen=True, slots=True)
class WordLifespans:
    """Every word that a page showed, a row each, by first appearance and then by longevity.

    ``first`` and ``last`` are the grid times at which a word was first and last there, ``present_points``
    at how many it was, in how many ``spells``; ``counts`` adds up how often it stood there at each
    of them. Of the grid's ``grid_points``, ``known_points`` are those at which it is known what was shown.
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

    def grid_times(self, places: IndexArray) -> FloatArray:
        """Return grid times as epoch seconds."""
        return self.start + self.step * places.astype(np.float64)

    @property
    def share(self) -> FloatArray:
        """Return at which share of the known times each word was there."""
        return self.present_points / max(self.known_points, 1)

    @property
    def staying_power(self) -> FloatArray:
        """Return each word's staying power; no number where fewer than two times are known."""
        return staying_power(self.present_points, self.known_points)


@dataclass(frozen=True, slots=True)
class WordSpans:
    """The stretches of time in which words were there: run lengths, for a picture of lifespans.

    ``rows`` are the rows of the lifespans that are shown, of ``word_count`` in all; ``row`` says for
    each span which of them it belongs to; ``begins`` and ``ends`` are grid times, the end being
    the first time at which the word is not known to be there.
    """

    rows: IndexArray
    row: IndexArray
    begins: IndexArray
    ends: IndexArray
    word_count: int
    grid_points: int

    def __len__(self) -> int:
        return len(self.row)


def staying_power(present: IndexArray, known: int) -> FloatArray:
    """Return m(m-1)/(n(n-1)) for words that were there at m of n known times.

    That is the share of pairs of different times at which a word was there both times, which is
    the paper's sum; its gloss in words conditions on presence, and is another number.

    >>> staying_power(np.array([5, 3, 1], np.int32), 5).tolist()
    [1.0, 0.3, 0.0]
    """
    if known < 2:
        return np.full(len(present), np.nan)
    m = present.astype(np.float64)
    return m * (m - 1) / (known * (known - 1))


def word_lifespans(series: VersionSeries, *, step: float | None = None) -> WordLifespans:
    """Return when each word of a page was there, whatever order its versions were stored in."""
    step = step or default_step(series.times)
    shown = versions_on_grid(series.times, series.version_indices, step)
    columns = _tally(series, shown)
    ids, first, last, present, spells, counts = columns
    order = np.lexsort((ids, -present, first))
    start = float(series.times[0]) if len(series) else 0.0
    return WordLifespans(
        ids[order], first[order], last[order], present[order], spells[order], counts[order],
        len(shown), int(np.count_nonzero(shown != UNKNOWN_VERSION)), start, step,
    )  # fmt: skip


def word_spans(
    series: VersionSeries, lives: WordLifespans, *, max_words: int | None = MAX_ROWS
) -> WordSpans:
    """Return the stretches in which words were there; above ``max_words`` words, evenly thinned."""
    rows = _thinned(len(lives), max_words)
    by_id = np.argsort(lives.ids[rows])
    wanted = lives.ids[rows][by_id]
    room = int(lives.spells[rows].sum())
    row, begins, ends = (np.empty(room, np.int32) for _ in range(3))
    latest, used = np.full(len(rows), FREE_SLOT, np.int32), 0
    for version, stretch in _stretches(
        versions_on_grid(series.times, series.version_indices, lives.step)
    ):
        ids = series.terms[version].hashes
        used = kernels.extend_spans(wanted, latest, (row, begins, ends), ids, stretch, used)
    row = by_id[row].astype(np.int32)
    order = np.lexsort((begins, row))
    return WordSpans(rows, row[order], begins[order], ends[order], len(lives), lives.grid_points)


def _thinned(words: int, most: int | None) -> IndexArray:
    """Return which rows to show: all, or so many at even distances, the first and last among them.

    >>> _thinned(9, 3).tolist()
    [0, 4, 8]
    """
    if most is None or words <= most:
        return np.arange(words, dtype=np.int32)
    return np.linspace(0, words - 1, most).round().astype(np.int32)


def _stretches(shown: IndexArray) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield each version with the grid times from which and up to which it was shown."""
    bounds = np.flatnonzero(
        np.diff(shown, prepend=UNKNOWN_VERSION - 1, append=UNKNOWN_VERSION - 1)
    ).tolist()
    for begin, end in pairwise(bounds):
        if shown[begin] != UNKNOWN_VERSION:
            yield int(shown[begin]), (begin, end)


def _tally(series: VersionSeries, shown: IndexArray) -> LifespanColumns:
    """Go through the versions in the order they were shown, and note their words."""
    tally = _WordColumns(_empty_slots(_SMALLEST_TABLE), _columns(_SMALLEST_TABLE // 2), 0)
    for version, stretch in _stretches(shown):
        terms = series.terms[version]
        tally = tally.with_room(len(terms))
        known = kernels.add_version(
            tally.slots, tally.columns, terms.hashes, terms.counts, stretch, tally.known
        )
        tally = replace(tally, known=known)
    ids, first, last, present, spells, counts = tally.columns
    n = tally.known
    return ids[:n], first[:n], last[:n], present[:n], spells[:n], counts[:n]


@dataclass(frozen=True, slots=True)
class _WordColumns:
    """The words met so far: a table from word to row, the columns, and how many rows are used."""

    slots: SlotTable
    columns: LifespanColumns
    known: int

    def with_room(self, more: int) -> "_WordColumns":
        """Return a tally with room for more words; half of the table's slots stay free."""
        needed = self.known + more
        if needed <= len(self.columns[0]):
            return self
        slots = _empty_slots(4 << needed.bit_length())
        room = len(slots[0]) // 2
        ids, first, last, present, spells, counts = self.columns
        kernels.insert_words(slots, ids[: self.known])
        columns = (
            _longer(ids, room), _longer(first, room), _longer(last, room),
            _longer(present, room), _longer(spells, room), _longer(counts, room),
        )  # fmt: skip
        return _WordColumns(slots, columns, self.known)


def _empty_slots(size: int) -> SlotTable:
    return np.zeros(size, np.uint64), np.full(size, FREE_SLOT, np.int32)


def _columns(size: int) -> LifespanColumns:
    first, last, present, spells = (np.empty(size, np.int32) for _ in range(4))
    return np.empty(size, np.uint64), first, last, present, spells, np.empty(size, np.int64)


def _longer(column: NDArray[Number], size: int) -> NDArray[Number]:
    longer = np.empty(size, column.dtype)
    longer[: len(column)] = column
    return longer
