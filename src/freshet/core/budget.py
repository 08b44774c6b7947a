"""How many page requests may be made in a UTC day, and when the next of them may."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from freshet.core.errors import SettingsError

BUDGET_FORMS = (
    "a number of requests such as 500/day or 20/hour, or a share of the pages such as 5%/day"
)
MAX_REQUESTS_PER_DAY = 1_000_000_000
HOURS_PER_DAY = 24

_FORM = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*(?:/\s*(day|hour))?\s*")


@dataclass(frozen=True, slots=True)
class Budget:
    """An allowance of requests a day: a number of them, or a share of the pages.

    >>> Budget.parse("20/hour").requests_per_day(pages=7), Budget.parse("5%").requests_per_day(pages=7)
    (480, 1)
    """

    amount: float
    is_share: bool = False

    @classmethod
    def parse(cls, text: str) -> "Budget":
        """Read a budget; without a unit it is a day's."""
        form = _FORM.fullmatch(text)
        if form is None:
            raise SettingsError(f"budget {text!r} is none; give {BUDGET_FORMS}")
        number, percent, unit = form.groups()
        amount = float(number) * (HOURS_PER_DAY if unit == "hour" else 1) / (100 if percent else 1)
        if amount <= 0:
            raise SettingsError(f"budget {text!r} allows nothing; give {BUDGET_FORMS}")
        if amount > MAX_REQUESTS_PER_DAY:
            raise SettingsError(
                f"budget {text!r} is above {MAX_REQUESTS_PER_DAY:,} a day; give less"
            )
        return cls(amount, bool(percent))

    def requests_per_day(self, pages: int) -> int:
        """Return the requests of a day for a collection of that many pages, at least one."""
        requests = int(self.amount * pages if self.is_share else self.amount)
        return min(max(1, requests), MAX_REQUESTS_PER_DAY)


def utc_day(now: datetime) -> str:
    """Return the UTC day of a time, as its ISO text."""
    return now.date().isoformat()


def next_midnight(now: datetime) -> datetime:
    """Return when the UTC day of a time ends."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RequestPace:
    """A day's budget, spread evenly over its 24 hours; requests are due from a moment on.

    What the hours before that moment did not use is not made up. Where they used more than their
    share, the rest is spread evenly to the end of the UTC day.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> RequestPace(noon, spent=0, total=48).due_time(1).minute, RequestPace(noon, spent=36, total=48).due_time(37).hour
    (30, 13)
    """

    start: datetime
    spent: int
    total: int

    def due_time(self, number: int) -> datetime:
        """Return when the request of that number, counted from 0 in the day, is due."""
        return self.start + max(0, number - self.spent) * self._step

    def allowed_by(self, moment: datetime) -> int:
        """Return how many requests of the day may have been made by a moment."""
        if moment < self.start or self.total <= self.spent:
            return min(self.spent, self.total)
        return min(self.total, self.spent + 1 + int((moment - self.start) / self._step))

    def restart_at(self, now: datetime, spent: int) -> "RequestPace":
        """Return the pace of what is left after requests out of turn, the next one a step away."""
        left = next_midnight(now) - now
        step = max(self._share, left / (max(0, self.total - spent) + 1))
        return RequestPace(min(now + step, next_midnight(now)), spent, self.total)

    def add_spent(self, requests: int) -> "RequestPace":
        """Return the pace of what is left where requests are made beside it: none is put off."""
        return RequestPace(self.start, self.spent + requests, self.total)

    @property
    def _step(self) -> timedelta:
        rest = next_midnight(self.start) - self.start
        return max(self._share, rest / max(1, self.total - self.spent))

    @property
    def _share(self) -> timedelta:
        """Return the time between two requests that the whole budget leaves in a day."""
        return max(timedelta.resolution, timedelta(days=1) / max(1, self.total))
