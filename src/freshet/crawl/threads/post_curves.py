"""Forecasts of posts: what a policy learns of threads, and when the next post is expected."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import to_epoch
from freshet.core.policy import Policy
from freshet.core.types import FloatArray
from freshet.crawl.threads.next_post import NextPost, next_post
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
                pages, posts, values = zip(*curves, strict=True)
                policy.learn_curves(np.array(pages, np.int64), np.stack(posts), np.stack(values))


@dataclass(frozen=True, slots=True)
class ThreadForecast:
    """The next post of a thread, and how many are expected by horizons in days from now."""

    next_post: NextPost
    expected_posts: FloatArray


def forecast_threads(
    catalog: Catalog,
    hazard: RateModel,
    page_ids: Sequence[int],
    now: datetime,
    horizons: FloatArray,
) -> dict[int, ThreadForecast]:
    """Return the forecasts of the posts of those of the pages that are threads."""
    threads = [
        thread
        for thread in read_threads(catalog, page_ids)
        if thread.page in page_ids and not thread.is_continued
    ]
    looks = catalog.last_looks([thread.page for thread in threads], with_content=False)
    forecasts = {}
    for thread in threads:
        last_look = min(looks[thread.page].visit.time, now)
        posts, _ = post_curves(thread, hazard, to_epoch(last_look))
        days = (now - last_look) / timedelta(days=1) + horizons
        expected = np.interp(days, CURVE_AGES, posts, left=0.0)
        times, look = known_posts(thread, to_epoch(last_look))
        forecast = hazard.forecast(times, look)
        following = next_post(thread.post_times, forecast, last_look, now)
        forecasts[thread.page] = ThreadForecast(following, expected)
    return forecasts


def post_curves(
    thread: ThreadPage, hazard: RateModel, last_look: float
) -> tuple[FloatArray, FloatArray]:
    """Return the expected posts by each of ``CURVE_AGES``, and the value of a look in post-days.

    A page whose thread is continued on another page has few changes.
    """
    if thread.is_continued:
        return FINISHED_RATE * CURVE_AGES, FINISHED_RATE * CURVE_AGES**2 / 2
    times, look = known_posts(thread, last_look)
    posts, values = hazard.visit_values(times, look, CURVE_AGES * DAY_MINUTES)
    return posts, values / DAY_MINUTES


def known_posts(thread: ThreadPage, last_look: float) -> tuple[ThreadPosts, float]:
    """Return the posts that the last look found and its time, in minutes; none is later."""
    times = np.minimum(thread.post_times, last_look) / MINUTE_SECONDS
    return ThreadPosts(times), last_look / MINUTE_SECONDS


def _curves(
    policy: TimelinessPolicy, hazard: RateModel, threads: Sequence[ThreadPage]
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Yield the page of each thread that was looked at, with its curves."""
    states = policy.page_states
    rows = states.find_rows(np.array([thread.page for thread in threads], np.int64))
    for thread, row in zip(threads, rows.tolist(), strict=True):
        if row != NOT_FOUND and np.isfinite(states.last_look[row]):
            yield thread.page, *post_curves(thread, hazard, float(states.last_look[row]))
