"""Support vector regression of the next interval on a window of posts (Tan 2012, section 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.feature_selection import f_regression
from sklearn.svm import SVR

from freshet.core.types import FloatArray
from freshet.predict.threads.forecast import NextPostForecast, exponential_forecast
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.predict.threads.window_features import (
    ContentFeatures,
    discounted_sums,
    interval_windows,
    post_counts_by_token,
    time_context,
    token_table,
    vocabulary_of,
    window_sums,
)

MIN_TRAINING_POSTS = 4
MAX_LOG_INTERVAL = 20.0


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """Size of the window, number of tokens, content, and whether log intervals are regressed.

    With a ``discount`` the tokens of all earlier posts count, discounted, instead of those of the
    window. Without ``scaled_minutes`` the intervals are regressed as they are: the penalty of the
    regression then keeps the predictions near the median.
    """

    posts: int = 5
    tokens: int = 10
    content: ContentFeatures = ContentFeatures.WORDS
    logarithm: bool = False
    discount: float | None = None
    intervals: bool = True
    context: bool = True
    scaled_minutes: bool = True


class WindowRegression:
    """Learns the interval after a post from the window that ends at it."""

    def __init__(self, settings: WindowSettings | None = None) -> None:
        self.settings = settings or WindowSettings()

    def fit(self, threads: Sequence[ThreadPosts]) -> Self:
        """Learn from threads: the tokens that explain the interval best, then the regression."""
        threads = [thread for thread in threads if len(thread) >= MIN_TRAINING_POSTS]
        if not threads:
            raise ValueError(f"no thread has {MIN_TRAINING_POSTS} posts")
        targets = np.concatenate([thread.intervals for thread in threads])
        if self.settings.logarithm:
            targets = np.log1p(targets)
        self._choose_tokens(threads, targets)
        rows = np.vstack([self._features(thread)[:-1] for thread in threads])
        self.means_, deviations = rows.mean(axis=0), rows.std(axis=0)
        self.deviations_ = np.where(deviations > 0.0, deviations, 1.0)
        self.level_, self.spread_ = 0.0, 1.0
        if self.settings.scaled_minutes:
            self.level_, self.spread_ = float(targets.mean()), float(targets.std()) or 1.0
        self.regression_ = SVR(kernel="rbf")
        self.regression_.fit(self._scaled(rows), (targets - self.level_) / self.spread_)
        return self

    def predictions(self, thread: ThreadPosts) -> FloatArray:
        """Return the predicted interval after each post, at least a minute."""
        values = self.regression_.predict(self._scaled(self._features(thread)))
        values = values * self.spread_ + self.level_
        if self.settings.logarithm:
            values = np.expm1(np.minimum(values, MAX_LOG_INTERVAL))
        result: FloatArray = np.maximum(values, 1.0)
        return result

    def forecast(self, thread: ThreadPosts, now: float) -> NextPostForecast:
        """Return an exponential distribution: the time waited is not used."""
        return exponential_forecast(float(self.predictions(thread)[-1]))

    def _choose_tokens(self, threads: Sequence[ThreadPosts], targets: FloatArray) -> None:
        """Take the tokens with the best univariate regression on the interval."""
        self.tokens_: list[str] = []
        self.token_weights_ = np.ones(0)
        content = self.settings.content
        if content is ContentFeatures.NONE or self.settings.tokens == 0:
            return
        counts = [post_counts_by_token(thread.texts, content) for thread in threads]
        vocabulary = vocabulary_of([post for thread in counts for post in thread])
        if not vocabulary:
            return
        tables = [token_table(thread, vocabulary) for thread in counts]
        posts = np.vstack(tables)
        weights = np.ones(len(vocabulary))
        if content is ContentFeatures.TF_IDF:
            weights = np.log(len(posts) / (posts > 0).sum(axis=0))
        rows = np.vstack([self._token_sums(table * weights)[:-1] for table in tables])
        scores = np.full(len(vocabulary), -1.0)
        varied = rows.std(axis=0) > 0.0
        if varied.any():
            scores[varied] = np.nan_to_num(f_regression(rows[:, varied], targets)[0], nan=-1.0)
        best = np.argsort(-scores, kind="stable")[: self.settings.tokens]
        self.tokens_ = [vocabulary[index] for index in best]
        self.token_weights_ = weights[best]

    def _features(self, thread: ThreadPosts) -> FloatArray:
        parts = []
        if self.settings.intervals:
            parts.append(interval_windows(thread, self.settings.posts))
        if self.settings.context:
            parts.append(time_context(thread.times))
        if self.tokens_:
            counts = post_counts_by_token(thread.texts, self.settings.content)
            parts.append(self._token_sums(token_table(counts, self.tokens_) * self.token_weights_))
        return np.hstack(parts) if parts else np.zeros((len(thread), 1))

    def _token_sums(self, table: FloatArray) -> FloatArray:
        if self.settings.discount is not None:
            return discounted_sums(table, self.settings.discount)
        return window_sums(table, self.settings.posts)

    def _scaled(self, rows: FloatArray) -> FloatArray:
        scaled: FloatArray = (rows - self.means_) / self.deviations_
        return scaled
