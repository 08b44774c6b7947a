"""The request budget of a UTC day, and when each request of the day is due."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from freshet.core.errors import SettingsError

BUDGET_FORMS = (
    "a number of requests such as 500/day or 20/hour, or a share of the pages such as 5%/day"
)
MAX_REQUESTS_PER_DAY = 1_000_000_000
HOURS_PER_DAY = 24

_BUDGET_PATTERN = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*(?:/\s*(day|hour))?\s*")


@dataclass(frozen=True, slots=True)
class Budget:
    """An allowance of requests a day: a number, or a share of the pages.

    >>> Budget.parse("20/hour").requests_per_day(pages=7)
    480
    >>> Budget.parse("5%").requests_per_day(pages=7)
    1
    """

    amount: float
    is_share: bool = False

    @classmethod
    def parse(cls, text: str) -> "Budget":
        """Parse a budget; one without a unit is per day."""
        match = _BUDGET_PATTERN.fullmatch(text)
        if match is None:
            raise SettingsError(f"budget {text!r} is not valid; give {BUDGET_FORMS}")
        number, percent, unit = match.groups()
        amount = float(number) * (HOURS_PER_DAY if unit == "hour" else 1) / (100 if percent else 1)
        if amount <= 0:
            raise SettingsError(f"budget {text!r} allows nothing; give {BUDGET_FORMS}")
        if amount > MAX_REQUESTS_PER_DAY:
            raise SettingsError(
                f"budget {text!r} is above {MAX_REQUESTS_PER_DAY:,} a day; give less"
            )
        return cls(amount, bool(percent))

    def requests_per_day(self, pages: int) -> int:
        """Return the requests a day for a collection of that many pages, at least one."""
        requests = int(self.amount * pages if self.is_share else self.amount)
        return min(max(1, requests), MAX_REQUESTS_PER_DAY)


def utc_day(now: datetime) -> str:
    """Return the UTC day of a time as ISO text."""
    return now.date().isoformat()


def next_midnight(now: datetime) -> datetime:
    """Return when the UTC day of a time ends."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RequestPace:
    """Spreads a day's budget evenly over 24 hours; requests are due from ``start`` on.

    Requests that were not made before ``start`` are not made up for. If more than their share were
    made, the remaining ones are spread evenly to the end of the UTC day.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> RequestPace(noon, spent=0, total=48).due_time(1).minute
    30
    >>> RequestPace(noon, spent=36, total=48).due_time(37).hour
    13
    """

    start: datetime
    spent: int
    total: int

    def due_time(self, number: int) -> datetime:
        """Return when a request is due, given its number in the day, counted from 0."""
        return self.start + max(0, number - self.spent) * self._step

    def allowed_by(self, time: datetime) -> int:
        """Return how many requests of the day may have been made by a time."""
        if time < self.start or self.total <= self.spent:
            return min(self.spent, self.total)
        return min(self.total, self.spent + 1 + int((time - self.start) / self._step))

    def restart_at(self, now: datetime, spent: int) -> "RequestPace":
        """Return the pace after requests out of turn; the next request is due one step later."""
        remaining_time = next_midnight(now) - now
        step = max(self._even_step, remaining_time / (max(0, self.total - spent) + 1))
        return RequestPace(min(now + step, next_midnight(now)), spent, self.total)

    def add_spent(self, requests: int) -> "RequestPace":
        """Return the pace after requests out of turn that delay no other request."""
        return RequestPace(self.start, self.spent + requests, self.total)

    @property
    def _step(self) -> timedelta:
        remaining_time = next_midnight(self.start) - self.start
        return max(self._even_step, remaining_time / max(1, self.total - self.spent))

    @property
    def _even_step(self) -> timedelta:
        """Return the time between two requests if the whole budget is spread over a day."""
        return max(timedelta.resolution, timedelta(days=1) / max(1, self.total))
