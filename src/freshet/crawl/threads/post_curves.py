"""Forecasts of posts: what a policy learns of threads, and when the next post is expected."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import to_epoch
from freshet.core.policy import Policy
from freshet.core.types import FloatArray
from freshet.crawl.threads.next_post import NextPost, next_post
from freshet.predict.threads.forecast import exponential_forecast
from freshet.predict.threads.rate_model import RateModel
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.record.fault_isolation import isolate_faults
from freshet.record.thread_posts import ThreadPage, read_threads
from freshet.schedule.columns import NOT_FOUND
from freshet.schedule.threads.timeliness_policy import TimelinessPolicy
from freshet.schedule.threads.waiting_curves import CURVE_AGES

DAY_MINUTES, MINUTE_SECONDS = 1_440.0, 60.0
# Changes a day of a page after its last post, such as edits.
FINISHED_RATE = 0.01


def learn_threads(
    policy: Policy,
    catalog: Catalog,
    hazard: RateModel,
    page_ids: Sequence[int] | None = None,
) -> None:
    """Make a policy for posts learn the curves of some pages, or of all threads."""
    if isinstance(policy, TimelinessPolicy):
        with isolate_faults("forecasting their posts", "threads"):
            curves = list(_curves(policy, hazard, read_threads(catalog, page_ids)))
            if curves:
                pages, posts, values, waits = zip(*curves, strict=True)
                policy.learn_curves(
                    np.array(pages, np.int64), np.stack(posts), np.stack(values), np.stack(waits)
                )


@dataclass(frozen=True, slots=True)
class ThreadForecast:
    """The next post of a thread, and the chances that it has not come by several horizons."""

    next_post: NextPost
    survival: FloatArray


def forecast_threads(
    catalog: Catalog,
    hazard: RateModel,
    page_ids: Sequence[int],
    now: datetime,
    horizons: FloatArray,
) -> dict[int, ThreadForecast]:
    """Return the forecasts of the posts of those of the pages that are threads.

    The horizons are days from now.
    """
    with_posts = catalog.post_counts(page_ids)
    if not with_posts:
        return {}
    threads = [
        thread
        for thread in read_threads(catalog, list(with_posts))
        if thread.page in with_posts and not thread.is_continued
    ]
    looks = catalog.last_looks([thread.page for thread in threads], with_content=False)
    forecasts = {}
    for thread in threads:
        last_look = min(looks[thread.page].visit.time, now)
        days = (now - last_look) / timedelta(days=1) + horizons
        forecast = hazard.forecast(*known_posts(thread, to_epoch(last_look)))
        following = next_post(thread.post_times, forecast, last_look, now)
        chances = forecast.chances_within(days * DAY_MINUTES)
        forecasts[thread.page] = ThreadForecast(following, 1.0 - chances)
    return forecasts


def survival_with_posts(
    survival: FloatArray, page_ids: Sequence[int], threads: Mapping[int, ThreadForecast]
) -> FloatArray:
    """Return the chances that pages are unchanged, a row per page; a new post is a change."""
    rows = [
        np.minimum(row, threads[page].survival) if page in threads else row
        for page, row in zip(page_ids, survival, strict=True)
    ]
    return np.array(rows).reshape(survival.shape)


def post_curves(
    thread: ThreadPage, hazard: RateModel, last_look: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what a policy learns of a thread since its last look.

    These are the expected posts by each of ``CURVE_AGES``, the value of a look then in post-days,
    and the days by which the next post has come with each of ``NEXT_POST_CHANCES``. A page whose
    thread is continued on another page has few changes.
    """
    if thread.is_continued:
        waits = exponential_forecast(1.0 / FINISHED_RATE).quantiles
        return FINISHED_RATE * CURVE_AGES, FINISHED_RATE * CURVE_AGES**2 / 2, waits
    times, look = known_posts(thread, last_look)
    posts, values = hazard.visit_values(times, look, CURVE_AGES * DAY_MINUTES)
    return posts, values / DAY_MINUTES, hazard.forecast(times, look).quantiles / DAY_MINUTES


def known_posts(thread: ThreadPage, last_look: float) -> tuple[ThreadPosts, float]:
    """Return the posts that the last look found and its time, in minutes; none is later."""
    times = np.minimum(thread.post_times, last_look) / MINUTE_SECONDS
    return ThreadPosts(times), last_look / MINUTE_SECONDS


def _curves(
    policy: TimelinessPolicy, hazard: RateModel, threads: Sequence[ThreadPage]
) -> Iterator[tuple[int, FloatArray, FloatArray, FloatArray]]:
    """Yield the page of each thread that was looked at, with its curves."""
    states = policy.page_states
    rows = states.find_rows(np.array([thread.page for thread in threads], np.int64))
    for thread, row in zip(threads, rows.tolist(), strict=True):
        if row != NOT_FOUND and np.isfinite(states.last_look[row]):
            yield thread.page, *post_curves(thread, hazard, float(states.last_look[row]))
