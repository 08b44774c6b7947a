"""Checks of the forecast of the next post: how often its intervals hold, and how close it is.

Recorded threads are forecast by models of other folds, at moments between their last posts and
right after posts. Generated steady feeds show what is known of a regular pace.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.experiment_command import print_progress
from experiments.threads.recorded_threads import FORUM, ISSUE, START, RecordedThread
from freshet.core.types import FloatArray
from freshet.predict.threads.kernels.next_visit import waits_until
from freshet.predict.threads.rate_model import RateModel, kernel_rate, pooled_hazard
from freshet.predict.threads.thread_posts import ThreadPosts

BETWEEN_POSTS, AFTER_POST = "between posts", "after a post"
CHANCES = np.array([0.1, 0.5, 0.9])
MOMENTS = 10
DAY = 1440.0
STEADY = "steady"
STEADY_FEEDS = 40
ModelOf = Callable[[ThreadPosts], RateModel]


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """Shares of the moments whose next post came within, before and after the 80 % interval.

    ``loss`` is the mean pinball loss of the quantiles of 10, 50 and 90 % of log minutes, and
    ``median_error`` the median of |log(median / wait)|.
    """

    model: str
    threads: str
    moments: str
    within: float
    before: float
    after: float
    loss: float
    median_error: float
    count: int


def coverage_rows(threads: Sequence[RecordedThread], hazard_of: ModelOf) -> list[CoverageRow]:
    """Return the checks of the default and of the kernel rule, with and without regular gaps."""
    groups = {
        kind: [thread.posts for thread in threads if thread.kind == kind and thread.is_long]
        for kind in (FORUM, ISSUE)
    } | {STEADY: list(steady_feeds(STEADY_FEEDS))}
    rows = []
    for name, posts in groups.items():
        default: ModelOf = (lambda _: pooled_hazard()) if name == STEADY else hazard_of
        for model, model_of in (("default", default), ("kernel", lambda _: kernel_rate())):
            for is_regular in (True, False):
                label = model if is_regular else f"{model}, no regular gaps"
                rows += _rows(label, name, posts, model_of, is_regular=is_regular)
                print_progress(f"coverage: {label}, {name}")
    return rows


def steady_feeds(count: int, *, seed: int = 1) -> Iterator[ThreadPosts]:
    """Yield feeds with an entry each hour, day, weekday or week, a few minutes early or late."""
    generator = np.random.default_rng(seed)
    days = np.arange(56.0) * DAY
    weekdays = days[np.arange(56) % 7 < 5]
    moments = (np.arange(60.0) * 60.0, days, weekdays, np.arange(30.0) * 7 * DAY)
    for index in range(count):
        times = moments[index % len(moments)]
        spread = 0.005 * (1 + index % 5) * np.diff(times).min()
        noise = generator.normal(0.0, spread, len(times))
        yield ThreadPosts(np.sort(START + DAY * generator.random() + times + noise))


def _rows(
    label: str, name: str, threads: Sequence[ThreadPosts], model_of: ModelOf, *, is_regular: bool
) -> Iterator[CoverageRow]:
    for moments in (BETWEEN_POSTS, AFTER_POST):
        generator = np.random.default_rng(3)
        parts = []
        for thread in threads:
            model, known = model_of(thread), thread.training_posts
            make = model.tables if is_regular else model.rate_tables
            tables = make(thread, known)
            for post, now in _moments(thread, moments, generator):
                quantiles = waits_until(tables, post, now, model.terms, CHANCES, model.frailty)
                parts.append((*quantiles, thread.times[post + 1] - now))
        if parts:
            yield _row(label, name, moments, np.array(parts))


def _moments(
    thread: ThreadPosts, moments: str, generator: np.random.Generator
) -> Iterator[tuple[int, float]]:
    start, end = thread.times[thread.training_posts - 1], thread.times[-1]
    if moments == BETWEEN_POSTS:
        for now in start + (end - start) * generator.random(MOMENTS):
            yield int(np.searchsorted(thread.times, now, side="right")) - 1, float(now)
        return
    for post in generator.integers(thread.training_posts - 1, len(thread) - 1, MOMENTS).tolist():
        yield post, float(thread.times[post])


def _row(label: str, name: str, moments: str, table: FloatArray) -> CoverageRow:
    quantiles, waits = np.log1p(np.minimum(table[:, :3], 1e7)), np.log1p(table[:, 3:])
    errors = waits - quantiles
    before, after = float((errors[:, 0] < 0.0).mean()), float((errors[:, 2] > 0.0).mean())
    return CoverageRow(
        label,
        name,
        moments,
        1.0 - before - after,
        before,
        after,
        loss=float(np.where(errors >= 0.0, CHANCES * errors, (CHANCES - 1.0) * errors).mean()),
        median_error=float(np.median(np.abs(errors[:, 1]))),
        count=len(table),
    )
