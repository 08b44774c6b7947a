"""How far a page has moved by each moment: a clock that runs as its words come and go.

Pages change in bursts, by day and on weekdays, so that their curves over time are bent and stepped
where nothing else happened than that some hours were livelier. Counted in words that came and
went, the same curve is a straight line up to its knot.
"""

from collections.abc import Sequence

import numpy as np

from freshet.core.types import FloatArray, IndexArray, TermCounts
from freshet.measure.dynamics.curve.kernels.word_table import (
    EMPTY,
    NumberArray,
    WordTable,
    add_state,
    empty_word_table,
    insert_words,
)
from freshet.measure.dynamics.time_grid import UNKNOWN_VERSION

MAX_MEMORY_STEPS = 48
MIN_MEMORIES = 16
MAX_WORDS = 500_000
INITIAL_WORDS = 2000


def word_drift(states: IndexArray, terms: Sequence[TermCounts]) -> FloatArray:
    """Return how many words had come or gone by each state of a page, without those that flicker.

    A word that is back within some steps (two days of hours) was not gone: so blocks that rotate
    do not count; nor do words that were seen last so shortly before the end.
    Of pages with very many words a share is watched, which is the same for all states.
    """
    seen = np.flatnonzero(states != UNKNOWN_VERSION)
    if not len(seen):
        return np.zeros(len(states))
    moved = np.cumsum(_moves(states[seen], terms)).astype(np.float64)
    return np.asarray(moved[np.searchsorted(seen, np.arange(len(states)), side="right") - 1])


def _moves(states: IndexArray, terms: Sequence[TermCounts]) -> NumberArray:
    """Count the words that come or go at each of some states, all of them known."""
    begins = np.flatnonzero(np.append(True, states[1:] != states[:-1]))
    ends = np.append(begins[1:], len(states)) - 1
    shown = [terms[version].hashes for version in states[begins].tolist()]
    limit = _watched_below(sum(map(len, shown)))
    if limit is not None:
        shown = [ids[: ids.searchsorted(limit, side="right")] for ids in shown]
    memory = min(MAX_MEMORY_STEPS, len(states) // MIN_MEMORIES)
    moved = np.zeros(len(states) + 1, np.int64)
    table, filled = empty_word_table(INITIAL_WORDS), 0
    for ids, begin, end in zip(shown, begins.tolist(), ends.tolist(), strict=True):
        table = _with_room(table, filled + len(ids))
        filled += add_state(ids, begin, end, memory, table, moved)
    last = table[1][(table[1] != EMPTY) & (table[1] < len(states) - memory)]
    moved += np.bincount(last + 1, minlength=len(moved))
    moved[0] = 0
    return moved[:-1]


def _with_room(table: WordTable, words: int) -> WordTable:
    """Return the table, or a wider one if so many words fill it by more than half."""
    if 2 * words <= len(table[0]):
        return table
    wider = empty_word_table(2 * words)
    insert_words(*table, wider)
    return wider


def _watched_below(words: int) -> np.uint64 | None:
    """Return the id up to which words are watched: ids are hashes, so that any range is a sample.

    None where all are watched.
    """
    return np.uint64(MAX_WORDS * 2**64 // words) if words > MAX_WORDS else None
