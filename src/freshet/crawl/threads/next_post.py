"""The next post of a thread: when it is expected, and whether it is probably there already."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from freshet.core.humanize import count_text, duration_text, percent_text
from freshet.core.types import FloatArray
from freshet.predict.threads.forecast import NextPostForecast

LOW_CHANCE, MEDIAN_CHANCE, HIGH_CHANCE = 0.1, 0.5, 0.9
PROBABLY_THERE = 0.5
DAY_MINUTES, LONGEST_WAIT_DAYS = 1_440.0, 3_650.0


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
    post_times: FloatArray, forecast: NextPostForecast, last_look: datetime, now: datetime
) -> NextPost:
    """Return when the next post is expected, by the forecast that was made at the last look."""

    def by(chance: float) -> datetime | None:
        wait = forecast.quantile(chance) / DAY_MINUTES
        return last_look + timedelta(days=wait) if wait < LONGEST_WAIT_DAYS else None

    return NextPost(
        now,
        len(post_times),
        datetime.fromtimestamp(float(post_times[-1]), now.tzinfo),
        forecast.chance_within(max(0.0, (now - last_look) / timedelta(minutes=1))),
        by(LOW_CHANCE),
        by(MEDIAN_CHANCE),
        by(HIGH_CHANCE),
    )
