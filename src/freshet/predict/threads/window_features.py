"""Features of a window of posts: intervals, time context and words (Tan 2012, section 3.2)."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from freshet.core.types import FloatArray
from freshet.predict.threads.part_of_speech import part_of_speech_tags
from freshet.predict.threads.rhythm import DAYS, HOUR_MINUTES, HOURS
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.predict.threads.word_stems import stems

DAY_MINUTES = HOURS * HOUR_MINUTES
MIN_POSTS_OF_WORD = 2


class ContentFeatures(StrEnum):
    """Which counts describe the texts of a window."""

    NONE = "none"
    WORDS = "words"
    TF_IDF = "tf-idf"
    PARTS_OF_SPEECH = "parts of speech"


def post_counts_by_token(texts: Sequence[str], content: ContentFeatures) -> list[Counter[str]]:
    """Return the counts of the tokens of each post."""
    split = part_of_speech_tags if content is ContentFeatures.PARTS_OF_SPEECH else stems
    return [Counter(split(text)) for text in texts]


def vocabulary_of(counts: Sequence[Counter[str]]) -> list[str]:
    """Return the tokens that more than one post has, sorted."""
    posts = Counter(token for post in counts for token in post)
    return sorted(token for token, number in posts.items() if number >= MIN_POSTS_OF_WORD)


def token_table(counts: Sequence[Counter[str]], vocabulary: Sequence[str]) -> FloatArray:
    """Return the counts of each post (row) and token (column)."""
    column_of = {token: column for column, token in enumerate(vocabulary)}
    table = np.zeros((len(counts), len(vocabulary)))
    for row, post in enumerate(counts):
        for token, count in post.items():
            if token in column_of:
                table[row, column_of[token]] = count
    return table


def window_sums(table: FloatArray, window: int) -> FloatArray:
    """Return the sums of the rows of the window that ends at each row."""
    sums = np.concatenate((np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)))
    ends = np.arange(1, len(table) + 1)
    result: FloatArray = sums[ends] - sums[np.maximum(ends - window, 0)]
    return result


def discounted_sums(table: FloatArray, discount: float) -> FloatArray:
    """Return X'_t = X_t + discount x X'_(t-1) (Tan 2012, section 3.3).

    >>> discounted_sums(np.array([[1.0], [0.0], [2.0]]), 0.5).ravel().tolist()
    [1.0, 0.5, 2.25]
    """
    sums = np.empty_like(table)
    total = np.zeros(table.shape[1])
    for row, values in enumerate(table):
        total = values + discount * total
        sums[row] = total
    return sums


def interval_windows(thread: ThreadPosts, window: int) -> FloatArray:
    """Return the last intervals before each post, the latest first; missing ones repeat."""
    intervals = np.concatenate(([0.0], thread.intervals))
    rows = np.arange(len(thread))[:, None] - np.arange(max(window - 1, 1))[None, :]
    result: FloatArray = intervals[np.maximum(rows, min(1, len(thread) - 1))]
    return result


def time_context(times: FloatArray) -> FloatArray:
    """Return one column for each day of the week and hour of the day, 1 where the post lies."""
    days = (times // DAY_MINUTES).astype(np.int64) % DAYS
    hours = (times // HOUR_MINUTES).astype(np.int64) % HOURS
    return np.hstack((np.eye(DAYS)[days], np.eye(HOURS)[hours]))
