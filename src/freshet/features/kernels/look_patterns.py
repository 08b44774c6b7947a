"""Compiled loops over looks that learn each page's pattern of changes and of returning texts."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, HashArray, IndexArray

KNOWN_TEXTS = 16
CONTEXT_LOOKS = 6
LONGEST_GAP = 60
RATE_GAPS = 2.0
REPEAT_LAGS = (1, 2, 7)
MAX_LAG = 7
REPEAT_FADING = 0.5 ** (1 / 20)
MIN_RATIO, MAX_RATIO = 1e-9, 1e9

# Columns of a page's state.
TEXT, STAY, AGE, LOOKS, CHANGES, HISTORY, TEXTS, REPEATS = 0, 1, 2, 3, 4, 5, 6, 7
PAGE_WIDTH = REPEATS + 2 * len(REPEAT_LAGS)
# Columns of the state of a text of a page.
VISITS, TEXT_LOOKS, TEXT_CHANGES, LAST_STAY, LAST_USE = 0, 1, 2, 3, 4
TEXT_WIDTH = 5
FEATURE_COUNT = 8 + len(REPEAT_LAGS)

SmallFloatArray = NDArray[np.float32]
PatternStates = tuple[
    SmallFloatArray, HashArray, SmallFloatArray, SmallFloatArray, SmallFloatArray, SmallFloatArray
]


@njit(cache=True, nogil=True)
def add_looks(
    looks: tuple[IndexArray, BoolArray, BoolArray, HashArray],
    states: PatternStates,
    out: SmallFloatArray,
) -> None:
    """Write the features before each look and update the states of its page."""
    pages, measured, changed, hashes = looks
    page_states, text_hashes, texts, gaps, counts, ratios = states
    for look in range(len(pages)):
        page = pages[look]
        state = page_states[page]
        write_features(out[look], state, texts[page], gaps[page], counts[page], ratios[page])
        if measured[look]:
            add_outcome(changed[look], state, texts[page], gaps[page], counts[page], ratios[page])
        text_hash = hashes[look]
        if text_hash == 0 and measured[look] and not changed[look] and state[TEXT] >= 0:
            text_hash = text_hashes[page, int(state[TEXT])]
        use_text(text_hash, state, text_hashes[page], texts[page])


@njit(cache=True, nogil=True)
def features_at(pages: IndexArray, states: PatternStates, out: SmallFloatArray) -> None:
    """Write the features of pages from their states."""
    page_states, _, texts, gaps, counts, ratios = states
    for row in range(len(pages)):
        page = pages[row]
        state = page_states[page]
        write_features(out[row], state, texts[page], gaps[page], counts[page], ratios[page])


@njit(cache=True, nogil=True)
def write_features(
    out: SmallFloatArray,
    state: SmallFloatArray,
    texts: SmallFloatArray,
    gaps: SmallFloatArray,
    counts: SmallFloatArray,
    ratios: SmallFloatArray,
) -> None:
    """Write the features of a page from its state."""
    out[:] = np.nan
    mixed = np.empty(CONTEXT_LOOKS + 1)
    mix_contexts(int(state[HISTORY]), counts, ratios, mixed)
    out[0] = mixed[0]
    if state[AGE] >= 0:
        out[1] = gap_hazard(state, gaps)
    text = int(state[TEXT])
    if text >= 0:
        out[2] = texts[text, VISITS]
        out[3] = state[STAY]
        out[4] = texts[text, LAST_STAY]
        out[5] = state[STAY] - texts[text, LAST_STAY]
        if texts[text, TEXT_LOOKS] > 0:
            out[6] = (texts[text, TEXT_CHANGES] + 0.5) / (texts[text, TEXT_LOOKS] + 1)
    out[7] = state[TEXTS] / (state[LOOKS] + 1)
    for index in range(len(REPEAT_LAGS)):
        weight = state[REPEATS + 2 * index + 1]
        if weight > 0:
            out[8 + index] = state[REPEATS + 2 * index] / weight


@njit(cache=True, nogil=True)
def gap_hazard(state: SmallFloatArray, gaps: SmallFloatArray) -> float:
    """Return the share of gaps that ended at the next look, of those that lasted until now."""
    age = int(min(state[AGE] + 1, LONGEST_GAP + 1))
    at_risk = gaps[age:].sum()
    rate = state[CHANGES] / state[LOOKS]
    return float((gaps[age] + RATE_GAPS * rate) / (at_risk + RATE_GAPS))


@njit(cache=True, nogil=True)
def mix_contexts(
    history: int, counts: SmallFloatArray, ratios: SmallFloatArray, mixed: FloatArray
) -> FloatArray:
    """Fill the mixed chances of contexts of each length and more; return those of each length."""
    chances = np.empty(CONTEXT_LOOKS + 1)
    for level in range(CONTEXT_LOOKS, -1, -1):
        node = (1 << level) + (history & ((1 << level) - 1))
        chances[level] = (counts[node, 1] + 0.5) / (counts[node, 0] + counts[node, 1] + 1)
        if level == CONTEXT_LOOKS:
            mixed[level] = chances[level]
        else:
            weight = ratios[node]
            mixed[level] = (weight * chances[level] + mixed[level + 1]) / (weight + 1)
    return chances


@njit(cache=True, nogil=True)
def add_outcome(
    changed: bool,
    state: SmallFloatArray,
    texts: SmallFloatArray,
    gaps: SmallFloatArray,
    counts: SmallFloatArray,
    ratios: SmallFloatArray,
) -> None:
    """Learn whether a look found a change."""
    history, event = int(state[HISTORY]), int(changed)
    mixed = np.empty(CONTEXT_LOOKS + 1)
    chances = mix_contexts(history, counts, ratios, mixed)
    for level in range(CONTEXT_LOOKS + 1):
        node = (1 << level) + (history & ((1 << level) - 1))
        if level < CONTEXT_LOOKS:
            own, deeper = chances[level], mixed[level + 1]
            growth = own / deeper if changed else (1 - own) / (1 - deeper)
            ratios[node] = min(max(ratios[node] * growth, MIN_RATIO), MAX_RATIO)
        counts[node, event] += 1
    add_repeats(history, event, state)
    state[HISTORY] = ((history << 1) | event) & ((1 << MAX_LAG) - 1)
    if state[AGE] >= 0:
        state[AGE] += 1
    if changed:
        if state[AGE] >= 0:
            gaps[int(min(state[AGE], LONGEST_GAP + 1))] += 1
        state[AGE] = 0
    state[LOOKS] += 1
    state[CHANGES] += event
    text = int(state[TEXT])
    if text >= 0:
        texts[text, TEXT_LOOKS] += 1
        texts[text, TEXT_CHANGES] += event


@njit(cache=True, nogil=True)
def add_repeats(history: int, event: int, state: SmallFloatArray) -> None:
    """Learn whether a look had the outcome of earlier ones."""
    for index in range(len(REPEAT_LAGS)):
        lag = REPEAT_LAGS[index]
        if state[LOOKS] < lag:
            continue
        is_repeat = ((history >> (lag - 1)) & 1) == event
        column = REPEATS + 2 * index
        state[column] = state[column] * REPEAT_FADING + is_repeat
        state[column + 1] = state[column + 1] * REPEAT_FADING + 1


@njit(cache=True, nogil=True)
def use_text(
    text_hash: np.uint64, state: SmallFloatArray, hashes: HashArray, texts: SmallFloatArray
) -> None:
    """Make a text the page's present one; the text that was not used for longest is forgotten."""
    present = int(state[TEXT])
    if present >= 0 and hashes[present] == text_hash:
        state[STAY] += 1
        texts[present, LAST_USE] = state[LOOKS]
        return
    if present >= 0:
        texts[present, LAST_STAY] = state[STAY]
    state[STAY] = 1
    if text_hash == 0:
        state[TEXT] = -1
        return
    oldest, text = 0, -1
    for row in range(len(hashes)):
        if hashes[row] == text_hash:
            text = row
        if texts[row, LAST_USE] < texts[oldest, LAST_USE]:
            oldest = row
    if text < 0:
        text = oldest
        hashes[text] = text_hash
        texts[text] = 0.0
        texts[text, LAST_STAY] = np.nan
        state[TEXTS] += 1
    texts[text, VISITS] += 1
    texts[text, LAST_USE] = state[LOOKS]
    state[TEXT] = text
