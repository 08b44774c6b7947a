"""The requests a crawl may make in a UTC day: how many are booked, and when the next is due."""

from collections.abc import Callable
from datetime import datetime, timedelta

from freshet.archive.catalog.catalog import Catalog
from freshet.core.budget import Budget, Pace, day_of, next_midnight


class DayBudget:
    """The budget of the present day; it begins anew with each day.

    ``began`` is when the crawl began to spend it: requests are due from then on.

    ``count_pages`` says how many pages there are, for budgets that are a share of them. With
    ``catch_up`` what the day so far has not used is available at once.
    """

    def __init__(
        self, catalog: Catalog, budget: Budget, count_pages: Callable[[], int], *, catch_up: bool
    ) -> None:
        self._catalog = catalog
        self._budget = budget
        self._count_pages = count_pages
        self._catch_up = catch_up
        self._pace: Pace | None = None
        self.day = ""
        self.spent = 0
        self.began: datetime | None = None

    def pace(self, now: datetime) -> Pace:
        """Return the pace of the day, begun anew with the day and when the budget changes."""
        total = self._budget.per_day(self._count_pages())
        if self._pace is None or day_of(now) != self.day:
            start = next_midnight(now) - timedelta(days=1) if self._catch_up else now
            self.day, self.began = day_of(now), start
            self.read()
            self._pace = Pace(start, 0 if self._catch_up else self.spent, total)
        elif total != self._pace.total:
            self._pace = Pace(now, self.spent, total)
        return self._pace

    def left(self, now: datetime) -> int:
        """Return how many requests the day has left."""
        return max(0, self.pace(now).total - self.spent)

    def allowed_by(self, until: datetime, now: datetime) -> int:
        """Return how many more requests may be made by a time of this day."""
        return max(0, self.pace(now).count_by(min(until, next_midnight(now))) - self.spent)

    def book(self, requests: int, now: datetime) -> int:
        """Book requests, as many as the day has left, and return how many."""
        granted = min(requests, self.left(now))
        if granted:
            self.add(granted, now)
        return granted

    def add(self, requests: int, now: datetime, *, samples: int = 0) -> None:
        """Book requests whatever is left; less than nothing gives back."""
        self.pace(now)
        self._catalog.book(self.day, requests, samples=samples)
        self.spent += requests

    def read(self) -> None:
        """Read what is booked of the day, as after bookings were given back."""
        self.spent = self._catalog.spending(self.day).requests

    def resume(self, now: datetime) -> None:
        """Spread what is left after requests that did not wait for the pace."""
        self._pace = self.pace(now).resumed(now, self.spent)

    def go_beside(self, requests: int, now: datetime) -> None:
        """Leave the pace as it is though requests were made beside it."""
        self._pace = self.pace(now).beside(requests)
