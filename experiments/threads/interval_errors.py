"""What the MAPE of predicted intervals depends on: short intervals, means and medians.

MAPE divides by the interval that came. Half of its sum comes from intervals of minutes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from experiments.threads.recorded_threads import FORUM, ISSUE, RecordedThread
from freshet.backtest.threads.visit_measures import interval_error
from freshet.core.types import FloatArray
from freshet.predict.threads.interval_models import ConstantInterval, IntervalModel
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.predict.threads.window_regression import WindowRegression, WindowSettings

LONG_INTERVAL = 20.0
Predict = Callable[[ThreadPosts], FloatArray]


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """Errors of predicted intervals, means over threads.

    ``mape_long`` leaves out the intervals under 20 minutes, ``median_error`` is the median of the
    errors that MAPE is the mean of, ``level`` the sum of the predictions by that of the intervals.
    """

    model: str
    kind: str
    mape: float
    mape_long: float
    median_error: float
    level: float
    threads: int


def error_rows(threads: Sequence[RecordedThread]) -> Iterator[ErrorRow]:
    """Yield the errors of several predictions on the long threads of each kind."""
    for kind in (FORUM, ISSUE):
        chosen = [thread.posts for thread in threads if thread.kind == kind and thread.is_long]
        for name, predict in _predictions() if chosen else ():
            yield _error_row(name, kind, chosen, predict)


def _predictions() -> Iterator[tuple[str, Predict]]:
    yield "training mean", partial(_fitted, ConstantInterval)
    yield "training median", _training_median
    for name, settings in (
        ("SVR, 10 words", WindowSettings()),
        ("SVR, 10 words, raw minutes", WindowSettings(scaled_minutes=False)),
        ("SVR of logs, 10 words", WindowSettings(logarithm=True)),
    ):
        yield name, partial(_fitted, partial(WindowRegression, settings))


def _fitted(make: Callable[[], IntervalModel], thread: ThreadPosts) -> FloatArray:
    return make().fit([thread.first(thread.training_posts)]).predictions(thread)


def _training_median(thread: ThreadPosts) -> FloatArray:
    intervals = thread.first(thread.training_posts).intervals
    return np.full(len(thread), max(float(np.median(intervals)), 1.0))


def _error_row(name: str, kind: str, threads: Sequence[ThreadPosts], predict: Predict) -> ErrorRow:
    errors, sums = [], np.zeros(2)
    for thread in threads:
        first = thread.training_posts - 1
        actual, predictions = thread.intervals[first:], predict(thread)[first:-1]
        shares = np.abs(predictions - actual) / np.maximum(actual, 1.0)
        is_long = actual >= LONG_INTERVAL
        long_error = interval_error(predictions[is_long], actual[is_long]) if is_long.any() else 0.0
        errors.append((interval_error(predictions, actual), long_error, float(np.median(shares))))
        sums += predictions.sum(), actual.sum()
    means = np.mean(errors, axis=0).tolist()
    return ErrorRow(name, kind, *means, level=float(sums[0] / sums[1]), threads=len(threads))
