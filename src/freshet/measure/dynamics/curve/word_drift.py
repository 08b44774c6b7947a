"""Word drift: the number of words that were added or removed by each time, as a clock.

Pages change in bursts, by day and on weekdays, so that their curves over time are bent and stepped
by the rhythm alone. Over the number of changed words the same curve is a straight line up to its
knot.
"""

from collections.abc import Sequence

import numpy as np

from freshet.core.types import FloatArray, IndexArray, TermCounts
from freshet.measure.dynamics.time_grid import UNKNOWN_VERSION
from freshet.measure.kernels.word_table import (
    EMPTY,
    NumberArray,
    WordTable,
    add_state,
    empty_word_table,
    insert_words,
)

MAX_MEMORY_STEPS = 48
MIN_MEMORIES = 16
MAX_WORDS = 500_000
INITIAL_WORDS = 2000


def word_drift(versions: IndexArray, terms: Sequence[TermCounts]) -> FloatArray:
    """Return the number of words added or removed by each state, without flickering ones.

    A word that returns within some steps (two days of hours) was not gone, so rotating blocks do
    not count. Words last present so shortly before the end do not count either. Of pages with very
    many words a sample is used, the same for all states.
    """
    known_points = np.flatnonzero(versions != UNKNOWN_VERSION)
    if not len(known_points):
        return np.zeros(len(versions))
    changed_words = np.cumsum(_changed_words(versions[known_points], terms)).astype(np.float64)
    return np.asarray(
        changed_words[np.searchsorted(known_points, np.arange(len(versions)), side="right") - 1]
    )


def _changed_words(versions: IndexArray, terms: Sequence[TermCounts]) -> NumberArray:
    """Count the words added or removed at each of some known states."""
    starts = np.flatnonzero(np.append(True, versions[1:] != versions[:-1]))
    ends = np.append(starts[1:], len(versions)) - 1
    ids_by_stay = [terms[version].hashes for version in versions[starts].tolist()]
    max_id = _max_sampled_id(sum(map(len, ids_by_stay)))
    if max_id is not None:
        ids_by_stay = [ids[: ids.searchsorted(max_id, side="right")] for ids in ids_by_stay]
    memory = min(MAX_MEMORY_STEPS, len(versions) // MIN_MEMORIES)
    changed = np.zeros(len(versions) + 1, np.int64)
    table, used = empty_word_table(INITIAL_WORDS), 0
    for ids, begin, end in zip(ids_by_stay, starts.tolist(), ends.tolist(), strict=True):
        table = _with_room(table, used + len(ids))
        used += add_state(ids, begin, end, memory, table, changed)
    last_points = table[1][(table[1] != EMPTY) & (table[1] < len(versions) - memory)]
    changed += np.bincount(last_points + 1, minlength=len(changed))
    changed[0] = 0
    return changed[:-1]


def _with_room(table: WordTable, words: int) -> WordTable:
    """Return the table, or a larger one if so many words fill more than half of it."""
    if 2 * words <= len(table[0]):
        return table
    larger = empty_word_table(2 * words)
    insert_words(*table, larger)
    return larger


def _max_sampled_id(words: int) -> np.uint64 | None:
    """Return the largest word id of the sample; None where all words are used.

    Ids are hashes, so that any range of them is a random sample.
    """
    return np.uint64(MAX_WORDS * 2**64 // words) if words > MAX_WORDS else None
