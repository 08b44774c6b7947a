"""The requests that a crawl may send in a UTC day: how many are booked, and their pace."""

from collections.abc import Callable
from datetime import datetime, timedelta

from freshet.archive.catalog.catalog import Catalog
from freshet.core.budget import Budget, RequestPace, next_midnight, utc_day


class DayBudget:
    """The budget of the current day; it restarts every day.

    ``spending_since`` is when the crawl started to spend it: requests are due from then on.

    ``count_pages`` returns the number of pages, for budgets that are a share of them. With
    ``catch_up`` the unused budget of the day so far is available at once.
    """

    def __init__(
        self, catalog: Catalog, budget: Budget, count_pages: Callable[[], int], *, catch_up: bool
    ) -> None:
        self._catalog = catalog
        self._budget = budget
        self._count_pages = count_pages
        self._catch_up = catch_up
        self._pace: RequestPace | None = None
        self.day = ""
        self.spent = 0
        self.spending_since: datetime | None = None

    def pace(self, now: datetime) -> RequestPace:
        """Return the pace of the day; it restarts with the day and when the budget changes."""
        total = self._budget.requests_per_day(self._count_pages())
        if self._pace is None or utc_day(now) != self.day:
            start = next_midnight(now) - timedelta(days=1) if self._catch_up else now
            self.day, self.spending_since = utc_day(now), start
            self.reload()
            self._pace = RequestPace(start, 0 if self._catch_up else self.spent, total)
        elif total != self._pace.total:
            self._pace = RequestPace(now, self.spent, total)
        return self._pace

    def remaining(self, now: datetime) -> int:
        """Return the number of requests that the day has left."""
        return max(0, self.pace(now).total - self.spent)

    def allowed_until(self, until: datetime, now: datetime) -> int:
        """Return how many more requests may be sent by a time of this day."""
        return max(0, self.pace(now).allowed_by(min(until, next_midnight(now))) - self.spent)

    def book(self, requests: int, now: datetime) -> int:
        """Book requests, at most as many as the day has left; return how many."""
        granted = min(requests, self.remaining(now))
        if granted:
            self.add(granted, now)
        return granted

    def add(self, requests: int, now: datetime, *, samples: int = 0, exploratory: int = 0) -> None:
        """Book requests beyond the budget if need be; a negative number returns bookings."""
        self.pace(now)
        self._catalog.book_requests(
            self.day, requests, burst_requests=samples, exploratory_requests=exploratory
        )
        self.spent += requests

    def reload(self) -> None:
        """Read the bookings of the day, as after some were returned."""
        self.spent = self._catalog.spending(self.day).requests

    def restart_pace(self, now: datetime) -> None:
        """Spread the remaining requests, after some that did not wait for the pace."""
        self._pace = self.pace(now).restart_at(now, self.spent)

    def skip_in_pace(self, requests: int, now: datetime) -> None:
        """Exclude further bookings from the pace."""
        self._pace = self.pace(now).add_spent(requests)
