"""What every scheduling policy and every forecaster can do; live crawl and simulator drive both."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from freshet.core.tables import Caps, Choices, Explanation, PageIds, PageTable, VisitTable
from freshet.core.types import Floats, Forecast, Indices


class Policy(Protocol):
    """Decides which pages to visit; a chosen page is pending until it is learnt or released."""

    name: str

    def add(self, pages: PageTable) -> None:
        """Take pages into account from now on; the importance of known ones is taken over."""
        ...

    def forget(self, pages: PageIds) -> None:
        """Leave pages out from now on; unknown ones are passed over."""
        ...

    def learn(self, visits: VisitTable) -> None:
        """Take in what visits found; visits of pages that are not known are passed over."""
        ...

    def choose(self, now: datetime, k: int, caps: Caps) -> Choices:
        """Return at most k pages worth a visit now, best first; they are pending from here on."""
        ...

    def release(self, pages: PageIds) -> None:
        """Take back pages that were chosen and not visited."""
        ...

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen: now where one can, None where none ever will."""
        ...

    def explain(self, page: int, now: datetime) -> Explanation:
        """Say why a page stands where it stands; KeyError where it is not known."""
        ...

    def state(self) -> Mapping[str, Any]:
        """Return everything learnt, as plain arrays, numbers and texts."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        ...


class Forecaster(Protocol):
    """Says how likely pages are to have changed by given horizons."""

    def fit(self, visits: VisitTable) -> "Forecaster":
        """Learn from visits; nothing after the last of them is known."""
        ...

    def forecast(self, pages: Indices, now: datetime, horizons: Floats) -> Forecast:
        """Return survival and expected new links, a row per page and a column per horizon."""
        ...
