"""The next post of a thread: when it is expected, and whether it is probably there already."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import expm1, log

import numpy as np

from freshet.core.humanize import count_text, duration_text, percent_text
from freshet.core.types import FloatArray
from freshet.schedule.threads.waiting_curves import CURVE_AGES

LOW_CHANCE, MEDIAN_CHANCE, HIGH_CHANCE = 0.1, 0.5, 0.9
PROBABLY_THERE = 0.5


@dataclass(frozen=True, slots=True)
class NextPost:
    """The forecast of a thread's next post that no look has found yet.

    ``there`` is the chance that it has been posted by now. ``median`` is the time by which it is
    as likely as not, ``low`` and ``high`` those of 10 and 90 %; None if that takes ten years.
    """

    made: datetime
    posts: int
    last_post: datetime
    there: float
    low: datetime | None
    median: datetime | None
    high: datetime | None

    @property
    def sentence(self) -> str:
        """Describe the posts and when the next one is expected."""
        known = f"{count_text(self.posts, 'post')}, the last one {self._wait(self.last_post)} ago"
        return f"{known}; {self._next}"

    @property
    def _next(self) -> str:
        if self.there >= PROBABLY_THERE:
            return f"a new one is {percent_text(self.there)} likely to be there already"
        if self.median is None:
            return "no more are expected"
        expected = f"the next one is expected in {self._wait(self.median)}"
        if self.low is None or self.high is None:
            return expected
        early = "now" if self.low <= self.made else f"in {self._wait(self.low)}"
        return f"{expected} (80 %: {early} to {self._wait(self.high)})"

    def _wait(self, time: datetime) -> str:
        """Return how long before or after the forecast a time is."""
        return duration_text(abs(time - self.made) / timedelta(days=1))


def next_post(
    post_times: FloatArray, expected_posts: FloatArray, last_look: datetime, now: datetime
) -> NextPost:
    """Return when the next post is expected, given how many are by each of ``CURVE_AGES``."""
    ages, posts_by_age = np.append(0.0, CURVE_AGES), np.append(0.0, expected_posts)
    age_days = max(0.0, (now - last_look) / timedelta(days=1))
    by_now = float(np.interp(age_days, ages, posts_by_age))

    def by(chance: float) -> datetime | None:
        posts = -log(1.0 - chance)
        if expected_posts[-1] < posts:
            return None
        return last_look + timedelta(days=float(np.interp(posts, posts_by_age, ages)))

    return NextPost(
        now,
        len(post_times),
        datetime.fromtimestamp(float(post_times[-1]), now.tzinfo),
        -expm1(-by_now),
        by(LOW_CHANCE),
        by(MEDIAN_CHANCE),
        by(HIGH_CHANCE),
    )
