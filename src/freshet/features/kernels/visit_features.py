"""Compiled loops over looks in time order: features before each look, then the states after it."""

from math import exp, log, log1p, sqrt
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, IndexArray

SmallFloatArray = NDArray[np.float32]
RelatedArrays = tuple[IndexArray, IndexArray, FloatArray]

HALF_LIVES = np.array([0.75, 3.0, 10.0, 30.0, 120.0])
HALF_LIFE_COUNT = len(HALF_LIVES)
OTHERS_HALF_LIVES = 3
RECENT_HASHES = 8
MAX_WEEKDAY_GAP = 1.5
LOOK_WEIGHTS = np.array([0.5, 0.8, 0.95])
LOOK_WEIGHT_COUNT = len(LOOK_WEIGHTS)
CHANGE_WEIGHT = 0.7

# Columns of the state of a page.
FIRST_LOOK, LAST_LOOK, LOOKS, CHANGES, LAST_CHANGE, STREAK = 0, 1, 2, 3, 4, 5
GAP_MEAN, GAP_SQUARES, GAP_COUNT, RETURNS = 6, 7, 8, 9
LAST_WORDS, MEAN_WORDS, LAST_DICE, LAST_LINKS, MEAN_LINKS, SIZE = 10, 11, 12, 13, 14, 15
SHARES = 16
# A state of looks, of a page and of all pages of a host: faded days and changes, and by weekday.
LOOK_STATE = SHARES + LOOK_WEIGHT_COUNT
FADED_DAYS, FADED_CHANGES = 0, HALF_LIFE_COUNT
WEEKDAY_LOOKS, WEEKDAY_CHANGES = 2 * HALF_LIFE_COUNT, 2 * HALF_LIFE_COUNT + 7
UPDATED = 2 * HALF_LIFE_COUNT + 14
LOOK_STATE_WIDTH = UPDATED + 1
PAGE_STATE_WIDTH = LOOK_STATE + LOOK_STATE_WIDTH

PAGE_FEATURE_COUNT = 30 + 2 * HALF_LIFE_COUNT
OTHERS_FEATURE_COUNT = 2 * OTHERS_HALF_LIVES + 1
FEATURE_COUNT = PAGE_FEATURE_COUNT + 2 * OTHERS_FEATURE_COUNT + 3


@njit(cache=True, nogil=True)
def weekday_of(days: float) -> int:
    """Return the weekday of a time in days since 1970, Monday being 0."""
    return int(days + 3) % 7


@njit(cache=True, nogil=True)
def faded_sum(state: FloatArray, column: int, index: int, now: float) -> float:
    """Return a faded sum of a look state at a time."""
    age = max(0.0, now - state[UPDATED])
    return float(state[column + index] * 0.5 ** (age / HALF_LIVES[index]))


@njit(cache=True, nogil=True)
def write_rates(out: SmallFloatArray, state: FloatArray, now: float, gap: float) -> None:
    """Write the faded change rates of a page, and the chances of a change that they give."""
    for index in range(HALF_LIFE_COUNT):
        days = faded_sum(state, FADED_DAYS, index, now)
        changes = faded_sum(state, FADED_CHANGES, index, now)
        rate = (changes + 0.05) / (days + 0.5)
        out[2 * index] = log(rate)
        out[2 * index + 1] = 1.0 - exp(-rate * gap)


@njit(cache=True, nogil=True)
def write_history(out: SmallFloatArray, page: FloatArray, now: float, gap: float) -> None:
    """Write how often, how regularly and when a page has changed."""
    looks, changes = page[LOOKS], page[CHANGES]
    since_change = now - page[LAST_CHANGE] if changes > 0 else np.nan
    mean_gap = exp(page[GAP_MEAN]) if page[GAP_COUNT] > 0 else np.nan
    out[0] = log(gap + 0.01)
    out[1] = log1p(looks)
    out[2] = log1p(changes)
    out[3] = (changes + 0.5) / (looks + 1.0)
    out[4] = log1p(max(0.0, now - page[FIRST_LOOK]))
    out[5] = log1p(max(0.0, since_change)) if changes > 0 else np.nan
    out[6] = log(mean_gap + 0.01) if page[GAP_COUNT] > 0 else np.nan
    out[7] = sqrt(page[GAP_SQUARES] / page[GAP_COUNT]) if page[GAP_COUNT] > 1 else np.nan
    out[8] = since_change / mean_gap if page[GAP_COUNT] > 0 else np.nan
    out[9] = page[STREAK]
    out[10] = page[RETURNS] / changes if changes > 0 else np.nan
    for index in range(LOOK_WEIGHT_COUNT):
        out[11 + index] = page[SHARES + index] if looks > 0 else np.nan


@njit(cache=True, nogil=True)
def write_content(out: SmallFloatArray, page: FloatArray) -> None:
    """Write the sizes of a page and of its changes."""
    for index in range(6):
        out[index] = page[LAST_WORDS + index]
    out[0], out[1] = log1p(page[LAST_WORDS]), page[MEAN_WORDS]
    out[3], out[4] = log1p(page[LAST_LINKS]), log1p(page[MEAN_LINKS])
    out[5] = log1p(page[SIZE])
    out[6] = page[LAST_WORDS] / page[SIZE] if page[SIZE] > 0 else np.nan


@njit(cache=True, nogil=True)
def weekday_share(state: FloatArray, weekday: int) -> float:
    """Return the share of looks of a weekday that found a change, less that of all weekdays."""
    looks, changes = 0.0, 0.0
    for day in range(7):
        looks += state[WEEKDAY_LOOKS + day]
        changes += state[WEEKDAY_CHANGES + day]
    if looks == 0.0:
        return np.nan
    share = changes / looks
    day_changes = state[WEEKDAY_CHANGES + weekday] + 2.0 * share
    return float(day_changes / (state[WEEKDAY_LOOKS + weekday] + 2.0) - share)


@njit(cache=True, nogil=True)
def write_page(out: SmallFloatArray, page: FloatArray, now: float) -> None:
    """Write the features of a page by itself."""
    gap = max(0.0, now - page[LAST_LOOK]) if page[LAST_LOOK] > -np.inf else np.nan
    looks = page[LOOK_STATE:]
    write_history(out[:14], page, now, gap)
    write_content(out[14:21], page)
    out[21] = weekday_of(now)
    out[22] = weekday_of(now - gap) if gap == gap else np.nan
    out[23] = 24.0 * (now - np.floor(now))
    out[24] = weekday_share(looks, weekday_of(now))
    out[25] = faded_sum(looks, FADED_DAYS, HALF_LIFE_COUNT - 1, now)
    out[26] = 1.0 if page[STREAK] > 0 else 0.0
    out[27] = page[LAST_CHANGE] - page[FIRST_LOOK] if page[CHANGES] > 0 else np.nan
    out[28] = gap
    out[29] = page[RETURNS]
    write_rates(out[30:], looks, now, gap)


@njit(cache=True, nogil=True)
def write_others(out: SmallFloatArray, group: FloatArray, page: FloatArray, now: float) -> None:
    """Write how other pages of a group have changed lately."""
    own = page[LOOK_STATE:]
    for index in range(OTHERS_HALF_LIVES):
        days = faded_sum(group, FADED_DAYS, index, now) - faded_sum(own, FADED_DAYS, index, now)
        changes = faded_sum(group, FADED_CHANGES, index, now)
        changes -= faded_sum(own, FADED_CHANGES, index, now)
        is_known = days > 1e-6
        out[2 * index] = (max(0.0, changes) + 0.02) / (days + 0.2) if is_known else np.nan
        out[2 * index + 1] = log1p(max(0.0, changes))
    out[2 * OTHERS_HALF_LIVES] = weekday_share(group, weekday_of(now))


@njit(cache=True, nogil=True)
def add_look(state: FloatArray, now: float, gap: float, changed: bool) -> None:
    """Add a measured look to a look state."""
    for index in range(HALF_LIFE_COUNT):
        for column in (FADED_DAYS, FADED_CHANGES):
            state[column + index] = faded_sum(state, column, index, now)
        state[FADED_DAYS + index] += min(gap, 2.0 * HALF_LIVES[index])
        state[FADED_CHANGES + index] += changed
    state[UPDATED] = max(state[UPDATED], now)
    if gap <= MAX_WEEKDAY_GAP:
        state[WEEKDAY_LOOKS + weekday_of(now)] += 1.0
        state[WEEKDAY_CHANGES + weekday_of(now)] += changed


@njit(cache=True, nogil=True)
def faded_mean(mean: float, value: float) -> float:
    """Return a running mean with a new value; NaN is an unknown value, or no mean yet."""
    if np.isnan(value):
        return mean
    if np.isnan(mean):
        return value
    return CHANGE_WEIGHT * mean + (1 - CHANGE_WEIGHT) * value


@njit(cache=True, nogil=True)
def add_change(page: FloatArray, now: float, content: FloatArray, is_return: bool) -> None:
    """Add a change to the state of a page."""
    if page[CHANGES] > 0:
        log_gap = log(max(0.01, now - page[LAST_CHANGE]))
        page[GAP_COUNT] += 1
        difference = log_gap - page[GAP_MEAN]
        page[GAP_MEAN] += difference / page[GAP_COUNT]
        page[GAP_SQUARES] += difference * (log_gap - page[GAP_MEAN])
    page[MEAN_WORDS] = faded_mean(page[MEAN_WORDS], log1p(content[0]))
    page[LAST_WORDS], page[LAST_DICE], page[LAST_LINKS] = content[0], content[1], content[2]
    page[MEAN_LINKS] = faded_mean(page[MEAN_LINKS], content[2])
    page[CHANGES] += 1
    page[LAST_CHANGE] = now
    page[RETURNS] += is_return
    page[STREAK] = max(0.0, page[STREAK]) + 1


@njit(cache=True, nogil=True)
def add_hash(recent: HashArray, text_hash: int) -> bool:
    """Add the hash of a text to the recent ones; return whether it was among them.

    An unknown hash is 0.
    """
    was_there = False
    for index in range(RECENT_HASHES):
        was_there |= recent[index] == text_hash and text_hash != 0
    if not was_there:
        recent[1:] = recent[:-1].copy()
        recent[0] = text_hash
    return was_there


@njit(cache=True, nogil=True)
def add_page_look(
    page: FloatArray, recent: HashArray, look: tuple[float, bool, int], content: FloatArray
) -> None:
    """Add a measured look (time, changed, hash of the text) to the state of a page."""
    now, changed, text_hash = look
    for index in range(LOOK_WEIGHT_COUNT):
        weight = LOOK_WEIGHTS[index] if page[LOOKS] > 0 else 0.0
        page[SHARES + index] = weight * page[SHARES + index] + (1 - weight) * changed
    page[LOOKS] += 1
    if changed:
        add_change(page, now, content, add_hash(recent, text_hash))
    else:
        page[STREAK] = min(0.0, page[STREAK]) - 1


@njit(cache=True, nogil=True)
def update_page(
    page: FloatArray, recent: HashArray, look: tuple[float, bool, bool, int], content: FloatArray
) -> bool:
    """Add a look (time, measured, changed, hash of the text) to a page; say whether it counts."""
    now, measured, changed, text_hash = look
    counts = measured and page[LAST_LOOK] > -np.inf
    if counts:
        add_page_look(page, recent, (now, changed, text_hash), content)
        add_look(page[LOOK_STATE:], now, max(0.0, now - page[LAST_LOOK]), changed)
    else:
        add_hash(recent, text_hash)
    page[FIRST_LOOK] = min(page[FIRST_LOOK], now)
    page[LAST_LOOK] = now
    if content[3] == content[3]:
        page[SIZE] = content[3]
    return counts


@njit(cache=True, nogil=True)
def write_related(
    out: SmallFloatArray, page: int, states: FloatArray, related: RelatedArrays, now: float
) -> None:
    """Write whether related pages have changed since the last look at a page."""
    starts, pages, weights = related
    total, changed, rate = 0.0, 0.0, 0.0
    for place in range(starts[page], starts[page + 1]):
        other = states[pages[place]]
        days = faded_sum(other[LOOK_STATE:], FADED_DAYS, 1, now)
        total += weights[place]
        changed += weights[place] * (other[LAST_CHANGE] > states[page, LAST_LOOK])
        recent_changes = faded_sum(other[LOOK_STATE:], FADED_CHANGES, 1, now)
        rate += weights[place] * (recent_changes + 0.05) / (days + 0.5)
    out[0] = changed / total if total > 0 else np.nan
    out[1] = rate / total if total > 0 else np.nan
    out[2] = changed


@njit(cache=True, nogil=True)
def write_features(
    out: SmallFloatArray,
    page: int,
    now: float,
    states: tuple[FloatArray, FloatArray, IndexArray],
    related: RelatedArrays,
) -> None:
    """Write all features of a page at a time, in days since 1970."""
    page_states, group_states, hosts = states
    own = page_states[page]
    write_page(out[:PAGE_FEATURE_COUNT], own, now)
    others = out[PAGE_FEATURE_COUNT:]
    write_others(others[:OTHERS_FEATURE_COUNT], group_states[hosts[page] + 1], own, now)
    write_others(others[OTHERS_FEATURE_COUNT : 2 * OTHERS_FEATURE_COUNT], group_states[0], own, now)
    write_related(others[2 * OTHERS_FEATURE_COUNT :], page, page_states, related, now)


@njit(cache=True, nogil=True)
def add_looks(
    looks: tuple[NDArray[Any], ...],
    states: tuple[FloatArray, FloatArray, IndexArray],
    recent: HashArray,
    related: RelatedArrays,
    out: SmallFloatArray,
) -> None:
    """Write the features before each look and update the states, in time order.

    Looks at the same time do not see each other. Group 0 is the whole collection, the others are
    the hosts.
    """
    pages, times, measured, changed, hashes, content = looks
    page_states, group_states, hosts = states
    start = 0
    while start < len(pages):
        now, end = times[start], start
        while end < len(pages) and times[end] == now:
            write_features(out[end], pages[end], now, states, related)
            end += 1
        for look in range(start, end):
            page = page_states[pages[look]]
            gap = now - page[LAST_LOOK]
            facts = now, measured[look], changed[look], hashes[look]
            if update_page(page, recent[pages[look]], facts, content[look]):
                gap = max(0.0, gap)
                add_look(group_states[0], now, gap, changed[look])
                add_look(group_states[hosts[pages[look]] + 1], now, gap, changed[look])
        start = end


@njit(cache=True, nogil=True)
def add_page_looks(page: FloatArray, recent: HashArray, looks: tuple[NDArray[Any], ...]) -> None:
    """Add looks to the state of their page only, not to those of its host and of the collection."""
    times, measured, changed, hashes, content = looks
    for look in range(len(times)):
        facts = times[look], measured[look], changed[look], hashes[look]
        update_page(page, recent, facts, content[look])


@njit(cache=True, nogil=True)
def replace_looks(group: FloatArray, before: FloatArray, after: FloatArray) -> None:
    """Replace the looks of one page in the look state of a group."""
    now = group[UPDATED]
    for column in (FADED_DAYS, FADED_CHANGES):
        for index in range(HALF_LIFE_COUNT):
            group[column + index] += faded_sum(after, column, index, now)
            group[column + index] -= faded_sum(before, column, index, now)
    for column in range(WEEKDAY_LOOKS, UPDATED):
        group[column] += after[column] - before[column]


@njit(cache=True, nogil=True)
def features_at(
    pages: IndexArray,
    times: FloatArray,
    states: tuple[FloatArray, FloatArray, IndexArray],
    related: RelatedArrays,
    out: SmallFloatArray,
) -> None:
    """Write the features of pages at given times, from the present states."""
    for row in range(len(pages)):
        write_features(out[row], pages[row], times[row], states, related)
