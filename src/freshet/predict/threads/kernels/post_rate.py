"""Compiled rate of the next post: decayed counts of posts, corrected by trees.

All rates are posts per minute at a time of average rhythm, all times are minutes.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from freshet.core.types import FloatArray, IndexArray
from freshet.predict.threads.kernels.regular_gaps import RegularGaps

# A decayed count is negligible after so many time constants.
MAX_EXPONENT = 40.0
MIN_RATE = 1e-12
# Posts between whose times the gaps of the features lie, counted from the last post.
GAP_POSTS = (1, 3, 10, 30)
STATE_FEATURES = 8
# A silence in which more posts than this would have come at a rate shows that the rate is lower.
MAX_SILENT_POSTS = 10.0


class RateTerms(NamedTuple):
    """Parameters of a rate: ``base`` + sum of weights x decayed counts, times the trees.

    ``feature_decays`` is the number of decays, from the first, that are features of the trees.
    Without trees ``roots`` is empty. A node with a negative ``split_features`` is a leaf.
    """

    decays: FloatArray
    weights: FloatArray
    base: float
    feature_decays: int
    roots: IndexArray
    split_features: IndexArray
    thresholds: FloatArray
    left: IndexArray
    right: IndexArray
    values: FloatArray


class RateTables(NamedTuple):
    """The posts of a thread: times, decayed counts at each post, rhythm of the week, regular gaps.

    ``cumulative_rhythm`` has the weighted minutes from the start of the week to each of its hours.
    """

    times: FloatArray
    counts: FloatArray
    cumulative_rhythm: FloatArray
    regular: RegularGaps


@njit(cache=True, nogil=True)
def decayed_counts(times: FloatArray, decays: FloatArray) -> FloatArray:
    """Return, at each post and for each decay, the sum of exp(-decay x age) over the posts."""
    counts = np.empty((len(times), len(decays)))
    for term in range(len(decays)):
        count = 0.0
        for post in range(len(times)):
            if post > 0:
                count *= math.exp(-decays[term] * (times[post] - times[post - 1]))
            count += 1.0
            counts[post, term] = count
    return counts


@njit(cache=True, nogil=True)
def log_rate(
    tables: RateTables, post: int, elapsed: float, terms: RateTerms, silence: float
) -> float:
    """Return the log rate ``elapsed`` minutes after the post, if none came in the ``silence``.

    The silence are the minutes from the post to now. The rate is at most ten posts in as long.
    """
    logarithm = log_kernel_rate(tables.counts[post], elapsed, terms)
    if len(terms.roots) > 0:
        features = np.empty(feature_count(terms))
        write_features(tables, post, elapsed, terms, features)
        logarithm += tree_sum(features, terms)
    return min(logarithm, math.log(MAX_SILENT_POSTS) - math.log(silence + 1.0))


@njit(cache=True, nogil=True)
def log_kernel_rate(counts: FloatArray, elapsed: float, terms: RateTerms) -> float:
    """Return the log rate without the trees."""
    rate = terms.base
    for term in range(len(terms.decays)):
        exponent = terms.decays[term] * elapsed
        if exponent < MAX_EXPONENT and terms.weights[term] > 0.0:
            rate += terms.weights[term] * counts[term] * math.exp(-exponent)
    return math.log(rate + MIN_RATE)


@njit(cache=True, nogil=True)
def feature_count(terms: RateTerms) -> int:
    """Return the number of features of the trees."""
    return STATE_FEATURES + terms.feature_decays + 1


@njit(cache=True, nogil=True)
def write_features(
    tables: RateTables, post: int, elapsed: float, terms: RateTerms, features: FloatArray
) -> None:
    """Write the features: time waited, last gaps, size, age, mean gap, recent rates, own rate."""
    times, counts = tables.times, tables.counts
    age = times[post] + elapsed - times[0] + 10.0
    features[0] = math.log(elapsed + 1.0)
    for index in range(len(GAP_POSTS)):
        gap = times[post] - times[max(0, post - GAP_POSTS[index])]
        features[1 + index] = math.log(gap + 0.5)
    features[5] = math.log(post + 1.0)
    features[6] = math.log(age)
    features[7] = features[6] - features[5]
    for term in range(terms.feature_decays):
        decay = terms.decays[term]
        exponent = min(decay * elapsed, MAX_EXPONENT)
        rate = counts[post, term] * decay * math.exp(-exponent)
        features[STATE_FEATURES + term] = math.log(rate + MIN_RATE)
    features[-1] = log_kernel_rate(counts[post], elapsed, terms)


@njit(cache=True, nogil=True)
def tree_sum(features: FloatArray, terms: RateTerms) -> float:
    """Return the sum of the values of the leaves that the features reach."""
    total = 0.0
    for root in terms.roots:
        node = root
        while terms.split_features[node] >= 0:
            if features[terms.split_features[node]] <= terms.thresholds[node]:
                node = terms.left[node]
            else:
                node = terms.right[node]
        total += terms.values[node]
    return total


@njit(cache=True, nogil=True)
def hazard_rows(
    tables: RateTables, terms: RateTerms, bounds: tuple[int, float], bin_starts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return features, events and exposures of the bins of time since each post.

    ``bounds`` are the first post that is used and the end of the observation. The bin in which
    the next post comes has the event 1; bins include their left edge. The bins of the last post
    end at the end of the observation.
    """
    first_post, end = bounds
    times = tables.times
    limit = (len(times) - first_post) * len(bin_starts)
    features = np.empty((limit, feature_count(terms)))
    events, exposures = np.zeros(limit), np.empty(limit)
    row = 0
    for post in range(first_post, len(times)):
        is_last = post + 1 == len(times)
        gap = max((end if is_last else times[post + 1]) - times[post], 0.0)
        for index in range(len(bin_starts) - 1):
            start, stop = bin_starts[index], bin_starts[index + 1]
            if start > gap:
                break
            write_features(tables, post, 0.5 * (start + stop), terms, features[row])
            exposures[row] = rhythm_between(
                times[post] + start, times[post] + min(stop, gap), tables.cumulative_rhythm
            )
            events[row] = 0.0 if is_last or gap >= stop else 1.0
            row += 1
    return features[:row], events[:row], exposures[:row]


@njit(cache=True, nogil=True)
def rhythm_between(start: float, stop: float, cumulative: FloatArray) -> float:
    """Return the minutes of average rhythm between two times.

    ``cumulative`` has the weighted minutes from the start of the week to each of its hours.
    """
    return rhythm_since_epoch(stop, cumulative) - rhythm_since_epoch(start, cumulative)


@njit(cache=True, nogil=True)
def rhythm_since_epoch(time: float, cumulative: FloatArray) -> float:
    """Return the weighted minutes since the epoch, a Thursday."""
    hours = len(cumulative) - 1
    week = math.floor(time / (60.0 * hours))
    minutes = time - week * 60.0 * hours
    hour = min(int(minutes // 60.0), hours - 1)
    part = (minutes - 60.0 * hour) / 60.0
    in_week = cumulative[hour] + (cumulative[hour + 1] - cumulative[hour]) * part
    return float(week * cumulative[hours] + in_week)
