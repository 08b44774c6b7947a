"""The curves of single starts, of which a change curve is the mean."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray, TermCounts
from freshet.measure.dynamics.curve.kernels.word_table import (
    WordTable,
    count_word_groups,
    empty_word_table,
    insert_words,
)
from freshet.measure.dynamics.curve.word_drift import word_drift
from freshet.measure.dynamics.time_grid import UNKNOWN_VERSION

PositionArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StartCurve:
    """One start's curve over the steps whose state is known, the start itself first.

    ``word_drift`` is how far the page had moved since the start, ``dice`` how alike it still was.
    """

    steps: PositionArray
    drift: FloatArray
    dice: FloatArray


def start_curves(
    states: IndexArray, begins: PositionArray, terms: Sequence[TermCounts]
) -> list[StartCurve]:
    """Compare what was there at some places of a grid with all that came after each."""
    seen = np.flatnonzero(states != UNKNOWN_VERSION)
    moved = word_drift(states, terms)
    versions, shown = np.unique(states[seen], return_inverse=True)
    alike = dice_to_origins(states[begins], versions, terms)
    return [
        _strand(seen, begin, moved, alike[shown, column])
        for column, begin in enumerate(begins.tolist())
    ]


def dice_to_origins(
    origins: IndexArray, versions: IndexArray, terms: Sequence[TermCounts]
) -> FloatArray:
    """Return 2|A∩B| / (|A|+|B|) of the words, a row per version and a column per origin.

    Words are counted by which of the origins have them, once for all origins. Two versions
    without words are alike: 1.
    """
    table, kinds = _grouped([terms[origin].hashes for origin in origins])
    counts = np.zeros((len(versions), len(kinds)), np.int64)
    for row, version in zip(counts, versions.tolist(), strict=True):
        count_word_groups(terms[version].hashes, table, row)
    shared = counts @ kinds
    sizes = np.add.outer(_sizes(versions, terms), _sizes(origins, terms))
    return np.where(sizes > 0, 2 * shared / np.maximum(sizes, 1), 1.0)


def _grouped(origins: list[HashArray]) -> tuple[WordTable, PositionArray]:
    """Number the words of origins by which of them have it; return these numbers, and which."""
    held = np.unique(np.concatenate(origins))
    codes = np.zeros(len(held), np.int64)
    for column, ids in enumerate(origins):
        codes[np.searchsorted(held, ids)] |= 1 << column
    kinds, numbers = np.unique(codes, return_inverse=True)
    table = empty_word_table(len(held))
    insert_words(held, numbers, table)
    return table, (kinds[:, None] >> np.arange(len(origins))) & 1


def _strand(seen: PositionArray, begin: int, moved: FloatArray, dice: FloatArray) -> StartCurve:
    later = seen >= begin
    steps = seen[later] - begin
    return StartCurve(steps, moved[seen[later]] - moved[begin], dice[later])


def _sizes(versions: IndexArray, terms: Sequence[TermCounts]) -> PositionArray:
    return np.array([len(terms[version]) for version in versions], np.int64)
