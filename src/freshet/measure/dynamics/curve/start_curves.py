"""The curves of single starts, of which a change curve is the mean."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import Floats, Ids, Indices, Terms
from freshet.measure.dynamics.curve.kernels.word_table import Table, count_numbers, put, wide_table
from freshet.measure.dynamics.curve.word_drift import drift
from freshet.measure.dynamics.time_grid import UNSEEN

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Strand:
    """One start's curve over the steps whose state is known, the start itself first.

    ``drift`` is how far the page had moved since the start, ``dice`` how alike it still was.
    """

    steps: Places
    drift: Floats
    dice: Floats


def strands(states: Indices, begins: Places, terms: Sequence[Terms]) -> list[Strand]:
    """Compare what was there at some places of a grid with all that came after each."""
    seen = np.flatnonzero(states != UNSEEN)
    moved = drift(states, terms)
    versions, shown = np.unique(states[seen], return_inverse=True)
    alike = dice_to(states[begins], versions, terms)
    return [
        _strand(seen, begin, moved, alike[shown, column])
        for column, begin in enumerate(begins.tolist())
    ]


def dice_to(origins: Indices, versions: Indices, terms: Sequence[Terms]) -> Floats:
    """Return 2|A∩B| / (|A|+|B|) of the words, a row per version and a column per origin.

    Words are counted by which of the origins have them, once for all origins. Two versions
    without words are alike: 1.
    """
    table, kinds = _grouped([terms[origin].ids for origin in origins])
    counts = np.zeros((len(versions), len(kinds)), np.int64)
    for row, version in zip(counts, versions.tolist(), strict=True):
        count_numbers(terms[version].ids, table, row)
    shared = counts @ kinds
    sizes = np.add.outer(_sizes(versions, terms), _sizes(origins, terms))
    return np.where(sizes > 0, 2 * shared / np.maximum(sizes, 1), 1.0)


def _grouped(origins: list[Ids]) -> tuple[Table, Places]:
    """Number the words of origins by which of them have it; return these numbers, and which."""
    held = np.unique(np.concatenate(origins))
    codes = np.zeros(len(held), np.int64)
    for column, ids in enumerate(origins):
        codes[np.searchsorted(held, ids)] |= 1 << column
    kinds, numbers = np.unique(codes, return_inverse=True)
    table = wide_table(len(held))
    put(held, numbers, table)
    return table, (kinds[:, None] >> np.arange(len(origins))) & 1


def _strand(seen: Places, begin: int, moved: Floats, dice: Floats) -> Strand:
    later = seen >= begin
    steps = seen[later] - begin
    return Strand(steps, moved[seen[later]] - moved[begin], dice[later])


def _sizes(versions: Indices, terms: Sequence[Terms]) -> Places:
    return np.array([len(terms[version]) for version in versions], np.int64)
