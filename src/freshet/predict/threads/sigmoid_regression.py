"""Online regression on a scaled sigmoid (Tan 2012, section 3.4).

f(X) = low + (high - low) s with s = 1 / (1 + exp(w X)). The report's text gives the upper bound
Q3 + 2.5 (Q3 - Q1) the name of the lower one. Its error is in raw minutes and saturates s at the
first long interval; by default the error is divided by high - low and clipped, and the features
are scaled.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np

from freshet.core.types import FloatArray
from freshet.predict.threads.forecast import NextPostForecast, exponential_forecast
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.predict.threads.window_features import interval_windows, time_context

LOW = 1.0
WHISKER = 2.5
MAX_EXPONENT = 500.0


class SigmoidRegression:
    """Learns from every new post; ``literal`` keeps the report's update as it is written."""

    def __init__(
        self, posts: int = 5, learning_rate: float = 0.1, *, literal: bool = False
    ) -> None:
        self.posts = posts
        self.learning_rate = learning_rate
        self.literal = literal

    def fit(self, threads: Sequence[ThreadPosts]) -> Self:
        """Take the bounds and scales of the training intervals, and learn from them in order."""
        intervals = np.concatenate([thread.intervals for thread in threads])
        if len(intervals) == 0:
            raise ValueError("no thread has two posts")
        first_quartile, third_quartile = np.quantile(intervals, (0.25, 0.75))
        upper = third_quartile + WHISKER * (third_quartile - first_quartile)
        self.high_ = max(float(upper), LOW + 1.0)
        rows = [self._features(thread) for thread in threads]
        stacked = np.vstack(rows)
        self.means_, deviations = stacked.mean(axis=0), stacked.std(axis=0)
        self.deviations_ = np.where(deviations > 0.0, deviations, 1.0)
        if self.literal:
            self.means_, self.deviations_ = np.zeros(stacked.shape[1]), np.ones(stacked.shape[1])
        self.weights_ = np.zeros(stacked.shape[1] + 1)
        for thread, features in zip(threads, rows, strict=True):
            for row, interval in zip(self._scaled(features), thread.intervals, strict=False):
                self._learn(row, float(interval))
        return self

    def partial_fit(self, thread: ThreadPosts) -> Self:
        """Learn the interval between the last two posts of a thread."""
        features = self._scaled(self._features(thread.first(len(thread) - 1)))
        self._learn(features[-1], float(thread.intervals[-1]))
        return self

    def predictions(self, thread: ThreadPosts) -> FloatArray:
        """Return the predicted interval after each post, learning from each new one before it.

        The intervals of the posts that `fit` saw are not learnt again.
        """
        weights = self.weights_.copy()
        features = self._scaled(self._features(thread))
        predictions = np.empty(len(thread))
        for post, row in enumerate(features):
            if post >= thread.training_posts:
                self._learn(features[post - 1], float(thread.intervals[post - 1]))
            predictions[post] = self._predict(row)
        self.weights_ = weights
        return predictions

    def forecast(self, thread: ThreadPosts, now: float) -> NextPostForecast:
        """Return an exponential distribution: the time waited is not used."""
        row = self._scaled(self._features(thread))[-1]
        return exponential_forecast(self._predict(row))

    def _sigmoid(self, row: FloatArray) -> float:
        exponent = np.clip(self.weights_ @ row, -MAX_EXPONENT, MAX_EXPONENT)
        return float(1.0 / (1.0 + np.exp(exponent)))

    def _predict(self, row: FloatArray) -> float:
        return LOW + (self.high_ - LOW) * self._sigmoid(row)

    def _learn(self, row: FloatArray, interval: float) -> None:
        sigmoid = self._sigmoid(row)
        error = LOW + (self.high_ - LOW) * sigmoid - interval
        if not self.literal:
            error = float(np.clip(error / (self.high_ - LOW), -1.0, 1.0))
        self.weights_ += self.learning_rate * error * sigmoid * (1.0 - sigmoid) * row

    def _features(self, thread: ThreadPosts) -> FloatArray:
        windows = interval_windows(thread, self.posts)
        intervals = windows if self.literal else np.log1p(windows)
        return np.hstack((intervals, time_context(thread.times)))

    def _scaled(self, features: FloatArray) -> FloatArray:
        rows = (features - self.means_) / self.deviations_
        return np.hstack((rows, np.ones((len(rows), 1))))
