"""Table of a page's words: when each was present, its staying power and its divergence."""

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
    """One row for each word, by first appearance and then by longevity.

    ``first`` and ``last`` are epoch seconds; ``share`` is of the known times. ``divergence`` is
    that of all versions together, ``divergence_at`` that of the version shown at ``at``, 0 for
    words that it lacks. Unknown values are NaN, and ``why`` is the reason.
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
    """The most and least specific words by staying power (Table 3), as rows of the term table.

    The best of each kind are first: the highest divergence of the high, the lowest of the low.
    ``stay`` and ``go`` count all words of their kind, listed or not.
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
    """Return the words of a page; ``at`` is the time of one version, by default the first look.

    Without the language model of the collection, divergence is unknown.
    """
    lifespans = word_lifespans(series, step=step)
    look_index = _look_index_at(series, at)
    version_terms = (
        None if look_index is None else series.terms[int(series.version_indices[look_index])]
    )
    return TermTable(
        lifespans.ids,
        lifespans.grid_times(lifespans.first),
        lifespans.grid_times(lifespans.last),
        lifespans.share,
        lifespans.staying_power,
        _divergence(lifespans, language),
        _divergence_at(lifespans.ids, version_terms, language),
        None if look_index is None else float(series.times[look_index]),
        lifespans,
        word_spans(series, lifespans, max_words=max_rows),
        _missing_reason(lifespans),
    )


def split_terms(table: TermTable, *, top: int = 10) -> TermSplit:
    """Split words of high and low staying power into the most and least specific ones.

    Where a kind has fewer than twice ``top`` words, the upper half of them is high. Where
    divergence is unknown, no word is listed.
    """
    stay = np.flatnonzero(table.staying_power > HIGH_STAYING_POWER)
    go = np.flatnonzero(table.staying_power < LOW_STAYING_POWER)
    return TermSplit(
        *_highest_and_lowest(table, stay, top),
        *_highest_and_lowest(table, go, top),
        len(stay),
        len(go),
    )


def distinctive_words(table: TermTable, *, top: int = 20) -> IndexArray:
    """Return the rows of the words with the highest divergence at the time of the table."""
    rows = np.flatnonzero(table.divergence_at > 0)
    order = np.lexsort((table.ids[rows], -table.divergence_at[rows]))
    return rows[order][:top].astype(np.int32)


def _look_index_at(series: VersionSeries, at: float | None) -> int | None:
    """Return the index of the last look at or before a time."""
    if not len(series):
        return None
    index = 0 if at is None else int(np.searchsorted(series.times, at, side="right")) - 1
    return index if index >= 0 else None


def _divergence(lifespans: WordLifespans, language: LanguageModel | None) -> FloatArray:
    if language is None:
        return np.full(len(lifespans), np.nan)
    return word_divergence(lifespans.ids, lifespans.counts, language)


def _divergence_at(
    ids: HashArray, version_terms: TermCounts | None, language: LanguageModel | None
) -> FloatArray:
    if language is None or version_terms is None:
        return np.full(len(ids), np.nan)
    values = word_divergence(version_terms.hashes, version_terms.counts, language)
    order = np.argsort(ids)
    positions = np.searchsorted(ids, version_terms.hashes, sorter=order).clip(
        max=max(len(ids) - 1, 0)
    )
    divergences = np.zeros(len(ids))
    if len(ids):
        rows = order[positions]
        is_present = ids[rows] == version_terms.hashes
        divergences[rows[is_present]] = values[is_present]
    return divergences


def _highest_and_lowest(
    table: TermTable, rows: NDArray[np.intp], top: int
) -> tuple[IndexArray, IndexArray]:
    """Return the rows with the highest and the lowest divergence, which never overlap."""
    rows = rows[~np.isnan(table.divergence[rows])]
    ranked = rows[np.lexsort((table.ids[rows], -table.divergence[rows]))].astype(np.int32)
    middle = (len(ranked) + 1) // 2
    return ranked[: min(top, middle)], ranked[max(middle, len(ranked) - top) :][::-1]


def _missing_reason(lifespans: WordLifespans) -> str:
    if lifespans.known_points == 0:
        return "no version is known"
    if lifespans.known_points == 1:
        return "one time is known; staying power needs two"
    return ""
