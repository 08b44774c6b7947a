"""Models of the mean interval between posts: constant, of all posts, of a window of posts.

All models of an interval have `fit`, `predictions` (after each post, from the posts up to it) and
`forecast`. Those that learn from every new post have `partial_fit`.
"""

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np

from freshet.core.types import FloatArray
from freshet.predict.threads.forecast import NextPostForecast, exponential_forecast
from freshet.predict.threads.thread_posts import ThreadPosts

DAY = 1440.0


class IntervalModel(Protocol):
    """A model that predicts the interval after each post of a thread."""

    def fit(self, threads: Sequence[ThreadPosts]) -> Self:
        """Learn from threads, for example the first posts of one."""

    def predictions(self, thread: ThreadPosts) -> FloatArray:
        """Return the predicted minutes after each post; each uses the posts up to it only."""

    def forecast(self, thread: ThreadPosts, now: float) -> NextPostForecast:
        """Return the distribution of the next post if none came until now."""


class ConstantInterval:
    """Predicts the same interval after every post: by default a day, fitted the training mean."""

    def __init__(self, minutes: float = DAY) -> None:
        self.minutes = minutes

    def fit(self, threads: Sequence[ThreadPosts]) -> Self:
        """Take the mean interval of the threads, where they have one."""
        intervals = np.concatenate([thread.intervals for thread in threads])
        if len(intervals):
            self.minutes = max(float(intervals.mean()), 1.0)
        return self

    def predictions(self, thread: ThreadPosts) -> FloatArray:
        """Return the interval for every post."""
        return np.full(len(thread), self.minutes)

    def forecast(self, thread: ThreadPosts, now: float) -> NextPostForecast:
        """Return an exponential distribution: the time waited is not used."""
        return exponential_forecast(float(self.predictions(thread)[-1]))


class RunningMean(ConstantInterval):
    """Predicts the mean of all intervals so far; it goes on learning while posts come."""

    def __init__(self, minutes: float = DAY) -> None:
        super().__init__(minutes)
        self.count = 0

    def partial_fit(self, interval: float) -> Self:
        """Learn one more interval."""
        self.count += 1
        self.minutes += (interval - self.minutes) / self.count
        return self

    def predictions(self, thread: ThreadPosts) -> FloatArray:
        """Return the means of the intervals up to each post."""
        counts = np.arange(1, len(thread))
        means = np.cumsum(thread.intervals) / counts
        return np.concatenate(([self.minutes], np.maximum(means, 1.0)))


class WindowMean(ConstantInterval):
    """Predicts the mean interval of the last posts (Tan 2012, section 3.1)."""

    def __init__(self, posts: int = 5, minutes: float = DAY) -> None:
        super().__init__(minutes)
        self.posts = posts

    def predictions(self, thread: ThreadPosts) -> FloatArray:
        """Return the mean interval of the window that ends at each post."""
        last = np.arange(1, len(thread))
        first = np.maximum(last - self.posts, 0)
        means = (thread.times[last] - thread.times[first]) / (last - first)
        return np.concatenate(([self.minutes], np.maximum(means, 1.0)))
