"""What every scheduling policy and every forecaster can do; live crawl and simulator drive both."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from freshet.core.types import Change, Choice, Floats, Forecast, Indices, Page, Visit

Allowed = Callable[[int], bool]
Learnt = tuple[Visit, Change | None]


class Policy(Protocol):
    """Decides which pages to visit; a chosen page is pending until it is learnt or released."""

    def add(self, pages: Sequence[Page]) -> None:
        """Take pages into account from now on."""
        ...

    def forget(self, pages: Sequence[int]) -> None:
        """Leave pages out from now on."""
        ...

    def learn(self, visits: Sequence[Learnt]) -> None:
        """Take in what visits found."""
        ...

    def choose(self, now: datetime, k: int, allowed: Allowed) -> Sequence[Choice]:
        """Return at most k allowed pages worth a visit now, best first."""
        ...

    def release(self, pages: Sequence[int]) -> None:
        """Take back pages that were chosen and not visited."""
        ...

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page will next be worth a visit."""
        ...

    def state(self) -> Mapping[str, Any]:
        """Return everything learnt, as plain arrays and numbers."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        ...


class Forecaster(Protocol):
    """Says how likely pages are to have changed by given horizons."""

    def fit(self, visits: Sequence[Learnt]) -> "Forecaster":
        """Learn from visits; nothing after the last of them is known."""
        ...

    def forecast(self, pages: Indices, now: datetime, horizons: Floats) -> Forecast:
        """Return survival and expected new links, a row per page and a column per horizon."""
        ...
