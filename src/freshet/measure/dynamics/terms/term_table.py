"""The words of a page as one table: when each was there, how well it stays, how telling it is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray, TermCounts
from freshet.core.version_series import VersionSeries
from freshet.measure.dynamics.terms.divergence import LanguageModel, word_divergence
from freshet.measure.dynamics.terms.lifespans import (
    MAX_ROWS,
    WordLifespans,
    WordSpans,
    word_lifespans,
    word_spans,
)

HIGH_STAYING_POWER, LOW_STAYING_POWER = 0.8, 0.2


@dataclass(frozen=True, slots=True)
class TermTable:
    """A row for every word, by first appearance and then by longevity.

    ``first`` and ``last`` are epoch seconds; ``share`` is of the known times. ``word_divergence`` is
    that of all versions together, ``divergence_at`` that of the one version shown at ``at``, and
    nought for words that it lacks. What cannot be said is not a number, and ``why`` says why.
    """

    ids: HashArray
    first: FloatArray
    last: FloatArray
    share: FloatArray
    staying_power: FloatArray
    divergence: FloatArray
    divergence_at: FloatArray
    at: float | None
    lifespans: WordLifespans
    spans: WordSpans
    why: str = ""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class TermSplit:
    """The most telling words of a page by how well they stay (Table 3), as rows of its table.

    The best of each kind come first: the highest divergence of the high, the lowest of the low.
    ``stay`` and ``go`` count all words of their kind, with those that are not listed.
    """

    stay_high: IndexArray
    stay_low: IndexArray
    go_high: IndexArray
    go_low: IndexArray
    stay: int
    go: int


def term_table(
    series: VersionSeries,
    language: LanguageModel | None = None,
    *,
    step: float | None = None,
    at: float | None = None,
    max_rows: int = MAX_ROWS,
) -> TermTable:
    """Return the words of a page; ``at`` is the time of one version, else that of the first look.

    Without the collection's language nothing can be said of divergence.
    """
    lives = word_lifespans(series, step=step)
    moment = _moment(series, at)
    there = None if moment is None else series.terms[int(series.version_indices[moment])]
    return TermTable(
        lives.ids,
        lives.grid_times(lives.first),
        lives.grid_times(lives.last),
        lives.share,
        lives.staying_power,
        _divergence(lives, language),
        _divergence_at(lives.ids, there, language),
        None if moment is None else float(series.times[moment]),
        lives,
        word_spans(series, lives, max_words=max_rows),
        _why(lives),
    )


def split_terms(table: TermTable, *, top: int = 10) -> TermSplit:
    """Part the words that stay and those that go into the most and the least telling ones.

    Where a kind has fewer than twice ``top`` words, the upper half of them is high; where nothing
    is known of divergence, none is.
    """
    stay = np.flatnonzero(table.staying_power > HIGH_STAYING_POWER)
    go = np.flatnonzero(table.staying_power < LOW_STAYING_POWER)
    return TermSplit(*_ends(table, stay, top), *_ends(table, go, top), len(stay), len(go))


def distinctive_words(table: TermTable, *, top: int = 20) -> IndexArray:
    """Return the rows of the words with the highest divergence at the time of the table."""
    rows = np.flatnonzero(table.divergence_at > 0)
    order = np.lexsort((table.ids[rows], -table.divergence_at[rows]))
    return rows[order][:top].astype(np.int32)


def _moment(series: VersionSeries, at: float | None) -> int | None:
    """Return the look by which it is known what was there at a time."""
    if not len(series):
        return None
    place = 0 if at is None else int(np.searchsorted(series.times, at, side="right")) - 1
    return place if place >= 0 else None


def _divergence(lives: WordLifespans, language: LanguageModel | None) -> FloatArray:
    if language is None:
        return np.full(len(lives), np.nan)
    return word_divergence(lives.ids, lives.counts, language)


def _divergence_at(
    ids: HashArray, there: TermCounts | None, language: LanguageModel | None
) -> FloatArray:
    if language is None or there is None:
        return np.full(len(ids), np.nan)
    values = word_divergence(there.hashes, there.counts, language)
    order = np.argsort(ids)
    places = np.searchsorted(ids, there.hashes, sorter=order).clip(max=max(len(ids) - 1, 0))
    found = np.zeros(len(ids))
    if len(ids):
        rows = order[places]
        held = ids[rows] == there.hashes
        found[rows[held]] = values[held]
    return found


def _ends(table: TermTable, rows: NDArray[np.intp], top: int) -> tuple[IndexArray, IndexArray]:
    """Return the rows with the highest and with the lowest divergence, never the same ones."""
    rows = rows[~np.isnan(table.divergence[rows])]
    ranked = rows[np.lexsort((table.ids[rows], -table.divergence[rows]))].astype(np.int32)
    middle = (len(ranked) + 1) // 2
    return ranked[: min(top, middle)], ranked[max(middle, len(ranked) - top) :][::-1]


def _why(lives: WordLifespans) -> str:
    if lives.known_points == 0:
        return "no version is known"
    if lives.known_points == 1:
        return "one moment is known; staying power needs two"
    return ""
