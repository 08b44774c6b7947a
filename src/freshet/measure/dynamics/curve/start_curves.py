"""The curves from single starts, whose mean is the change curve."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray, TermCounts
from freshet.measure.dynamics.curve.word_drift import word_drift
from freshet.measure.dynamics.time_grid import UNKNOWN_VERSION
from freshet.measure.kernels.word_table import (
    WordTable,
    count_word_groups,
    empty_word_table,
    insert_words,
)

PositionArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StartCurve:
    """The curve of one start over the known steps, beginning with the start itself.

    ``drift`` is the word drift since the start, ``dice`` the similarity to it.
    """

    steps: PositionArray
    drift: FloatArray
    dice: FloatArray


def start_curves(
    grid_versions: IndexArray, start_points: PositionArray, terms: Sequence[TermCounts]
) -> list[StartCurve]:
    """Compare the versions at some grid points with all later versions."""
    known_points = np.flatnonzero(grid_versions != UNKNOWN_VERSION)
    drift = word_drift(grid_versions, terms)
    versions, version_rows = np.unique(grid_versions[known_points], return_inverse=True)
    dice = dice_to_origins(grid_versions[start_points], versions, terms)
    return [
        _start_curve(known_points, start, drift, dice[version_rows, column])
        for column, start in enumerate(start_points.tolist())
    ]


def dice_to_origins(
    origins: IndexArray, versions: IndexArray, terms: Sequence[TermCounts]
) -> FloatArray:
    """Return the Dice of words, a row for each version and a column for each origin.

    Words are counted by the set of origins that have them, once for all origins. Two versions
    without words have Dice 1.
    """
    table, groups = _group_words([terms[origin].hashes for origin in origins])
    counts = np.zeros((len(versions), len(groups)), np.int64)
    for row, version in zip(counts, versions.tolist(), strict=True):
        count_word_groups(terms[version].hashes, table, row)
    shared = counts @ groups
    sizes = np.add.outer(_vocabulary_sizes(versions, terms), _vocabulary_sizes(origins, terms))
    return np.where(sizes > 0, 2 * shared / np.maximum(sizes, 1), 1.0)


def _group_words(origins: list[HashArray]) -> tuple[WordTable, PositionArray]:
    """Number the words of origins by the set of origins that have them.

    Returns the table of numbers, and for each number its origins as zeros and ones.
    """
    words = np.unique(np.concatenate(origins))
    codes = np.zeros(len(words), np.int64)
    for column, ids in enumerate(origins):
        codes[np.searchsorted(words, ids)] |= 1 << column
    distinct_codes, numbers = np.unique(codes, return_inverse=True)
    table = empty_word_table(len(words))
    insert_words(words, numbers, table)
    return table, (distinct_codes[:, None] >> np.arange(len(origins))) & 1


def _start_curve(
    known_points: PositionArray, start: int, drift: FloatArray, dice: FloatArray
) -> StartCurve:
    is_later = known_points >= start
    steps = known_points[is_later] - start
    return StartCurve(steps, drift[known_points[is_later]] - drift[start], dice[is_later])


def _vocabulary_sizes(versions: IndexArray, terms: Sequence[TermCounts]) -> PositionArray:
    return np.array([len(terms[version]) for version in versions], np.int64)
