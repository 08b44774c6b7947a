"""Compiled loops that compare a page's state with its states before its latest looks."""

from math import exp, log1p

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, HashArray, IndexArray

RECENT_LOOKS = 64
TEXT_HALF_LIVES = (4, 12, 40)
FADING = 0.5 ** (np.arange(RECENT_LOOKS) / 40.0)
TEXT_FADING = np.stack([0.5 ** (np.arange(RECENT_LOOKS) / looks) for looks in TEXT_HALF_LIVES])
TOLERANCE, NARROW_TOLERANCE = 0.3, 0.05
LONGEST_STAY = 4
RATE_LOOKS = 2.0

# Columns of a page's state; the first three are also those of a recent look.
GROWTH, WORDS, STAY, OUTCOME = 0, 1, 2, 3
LOOK_WIDTH = 4
LOOKS, SIZE, EARLIER_GROWTH, EARLIER_WORDS = 3, 4, 5, 6
PAGE_WIDTH = 7
# Columns of a page's texts: the present one, and those before the latest two changes.
PRESENT, BEFORE_CHANGE, BEFORE_TWO_CHANGES = 0, 1, 2
TEXTS = 3
# Kinds of alike looks.
ALIKE_CHANGE, ALIKE_NARROW, ALIKE_GROWTH, ALIKE_STAY, ALIKE_STAY_CHANGE, ALIKE_TEXT = range(6)
KINDS = 6
TEXT_SHARES = KINDS
OTHERS = TEXT_SHARES + len(TEXT_HALF_LIVES)
FEATURE_COUNT = OTHERS + 5

SmallFloatArray = NDArray[np.float32]
AlikeStates = tuple[SmallFloatArray, HashArray, SmallFloatArray, HashArray]


@njit(cache=True, nogil=True)
def add_looks(
    looks: tuple[IndexArray, BoolArray, BoolArray, HashArray, FloatArray],
    states: AlikeStates,
    out: SmallFloatArray,
) -> None:
    """Write the features before each look and update the states of its page."""
    pages, measured, changed, hashes, content = looks
    for look in range(len(pages)):
        page = pages[look]
        state, texts = states[0][page], states[1][page]
        recent, recent_texts = states[2][page], states[3][page]
        write_features(out[look], state, texts, recent, recent_texts)
        if measured[look]:
            add_outcome(changed[look], state, texts, recent, recent_texts)
        add_text(changed[look], hashes[look], content[look], state, texts)


@njit(cache=True, nogil=True)
def features_at(pages: IndexArray, states: AlikeStates, out: SmallFloatArray) -> None:
    """Write the features of pages from their states."""
    for row in range(len(pages)):
        page = pages[row]
        write_features(out[row], states[0][page], states[1][page], states[2][page], states[3][page])


@njit(cache=True, nogil=True)
def write_features(
    out: SmallFloatArray,
    state: SmallFloatArray,
    texts: HashArray,
    recent: SmallFloatArray,
    recent_texts: HashArray,
) -> None:
    """Write the features of a page from its state."""
    weights, changes = np.zeros(KINDS + 1), np.zeros(KINDS + 1)
    likeness = np.zeros(KINDS + 1)
    same_texts, totals = np.zeros(len(TEXT_HALF_LIVES)), np.zeros(len(TEXT_HALF_LIVES))
    looks = int(state[LOOKS])
    for age in range(min(looks, RECENT_LOOKS)):
        row = (looks - 1 - age) % RECENT_LOOKS
        fill_likeness(likeness, state, recent[row])
        is_same = texts[PRESENT] != 0 and recent_texts[row] == texts[PRESENT]
        likeness[ALIKE_TEXT] = is_same
        for kind in range(KINDS + 1):
            weight = FADING[age] * likeness[kind]
            weights[kind] += weight
            changes[kind] += weight * recent[row, OUTCOME]
        for index in range(len(TEXT_HALF_LIVES)):
            totals[index] += TEXT_FADING[index, age]
            same_texts[index] += TEXT_FADING[index, age] * is_same
    rate = (changes[KINDS] + 0.5) / (weights[KINDS] + 1)
    for kind in range(KINDS):
        out[kind] = (changes[kind] + RATE_LOOKS * rate) / (weights[kind] + RATE_LOOKS)
    for index in range(len(TEXT_HALF_LIVES)):
        out[TEXT_SHARES + index] = same_texts[index] / max(totals[index], 1e-9)
    out[OTHERS] = rate
    write_latest_change(out[OTHERS + 1 :], state, texts)


@njit(cache=True, nogil=True)
def write_latest_change(out: SmallFloatArray, state: SmallFloatArray, texts: HashArray) -> None:
    """Write the features of the latest change, and of how it relates to the one before."""
    out[:] = np.nan
    if not state[STAY] >= 0:
        return
    out[0] = np.sign(state[GROWTH]) * log1p(abs(state[GROWTH]))
    if np.isnan(state[EARLIER_WORDS]):
        return
    earlier_growth, earlier_words = state[EARLIER_GROWTH], state[EARLIER_WORDS]
    out[1] = change_likeness(state[GROWTH], state[WORDS], -earlier_growth, earlier_words, TOLERANCE)
    out[2] = texts[PRESENT] != 0 and texts[PRESENT] == texts[BEFORE_TWO_CHANGES]
    out[3] = log1p(earlier_words)


@njit(cache=True, nogil=True)
def fill_likeness(out: FloatArray, state: SmallFloatArray, look: SmallFloatArray) -> None:
    """Fill how alike the state of a page and that before a look are, for kinds but the text."""
    out[:] = 0.0
    out[KINDS] = 1.0
    if state[STAY] < 0 or look[STAY] < 0:
        return
    growth, words = state[GROWTH], state[WORDS]
    out[ALIKE_CHANGE] = change_likeness(growth, words, look[GROWTH], look[WORDS], TOLERANCE)
    out[ALIKE_NARROW] = change_likeness(growth, words, look[GROWTH], look[WORDS], NARROW_TOLERANCE)
    out[ALIKE_GROWTH] = np.sign(growth) == np.sign(look[GROWTH])
    if min(state[STAY], LONGEST_STAY) == min(look[STAY], LONGEST_STAY):
        out[ALIKE_STAY] = 1.0
        out[ALIKE_STAY_CHANGE] = out[ALIKE_CHANGE]


@njit(cache=True, nogil=True)
def change_likeness(
    growth: float, words: float, other_growth: float, other_words: float, tolerance: float
) -> float:
    """Return how alike two changes are by their growth and changed words, from 0 to 1."""
    size = max(abs(growth), abs(other_growth), words, other_words, 1.0)
    difference = (abs(growth - other_growth) + abs(words - other_words)) / size
    return exp(-difference / tolerance)


@njit(cache=True, nogil=True)
def add_outcome(
    changed: bool,
    state: SmallFloatArray,
    texts: HashArray,
    recent: SmallFloatArray,
    recent_texts: HashArray,
) -> None:
    """Add the page's state before a look, and whether the look found a change."""
    row = int(state[LOOKS]) % RECENT_LOOKS
    for index in range(OUTCOME):
        recent[row, index] = state[index]
    recent[row, OUTCOME] = changed
    recent_texts[row] = texts[PRESENT]
    # The number of looks is bounded, so that a small float holds it.
    state[LOOKS] = state[LOOKS] + 1 if state[LOOKS] < 3 * RECENT_LOOKS else 2 * RECENT_LOOKS + 1


@njit(cache=True, nogil=True)
def add_text(
    changed: bool,
    text_hash: np.uint64,
    content: FloatArray,
    state: SmallFloatArray,
    texts: HashArray,
) -> None:
    """Learn the text that a look found; without hashes the outcome says whether it is new."""
    words, total_words = content[0], content[1]
    is_first = np.isnan(state[STAY])
    is_unknown = text_hash == 0 or texts[PRESENT] == 0
    is_new = changed if is_unknown else text_hash != texts[PRESENT]
    if is_first:
        state[STAY] = -1.0
        texts[PRESENT] = text_hash
    elif is_new:
        if state[STAY] >= 0:
            state[EARLIER_GROWTH], state[EARLIER_WORDS] = state[GROWTH], state[WORDS]
        growth = total_words - state[SIZE]
        state[GROWTH] = 0.0 if np.isnan(growth) else growth
        state[WORDS] = 0.0 if np.isnan(words) else words
        state[STAY] = 0.0
        texts[BEFORE_TWO_CHANGES], texts[BEFORE_CHANGE] = texts[BEFORE_CHANGE], texts[PRESENT]
        texts[PRESENT] = text_hash
    elif state[STAY] >= 0:
        state[STAY] += 1
    if not np.isnan(total_words):
        state[SIZE] = total_words
