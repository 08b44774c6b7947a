"""The interface of scheduling policies, which the live crawl and the backtests drive."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from freshet.core.tables import (
    ChoiceTable,
    HostCaps,
    PageIdArray,
    PageTable,
    PolicyExplanation,
    VisitTable,
)


class Policy(Protocol):
    """Decides which pages to visit.

    A chosen page is pending until its visit is learned or it is released.
    """

    name: str

    def add(self, pages: PageTable) -> None:
        """Add pages; for pages that are already there, the importance is updated."""
        ...

    def forget(self, pages: PageIdArray) -> None:
        """Remove pages; unknown ones are ignored."""
        ...

    def learn(self, visits: VisitTable) -> None:
        """Update the state with the results of visits; visits of unknown pages are ignored."""
        ...

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return at most k pages worth a visit now, best first; they become pending."""
        ...

    def release(self, pages: PageIdArray) -> None:
        """Take back pages that were chosen and not visited."""
        ...

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen: now if one can, None if none ever will."""
        ...

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Explain the place of a page in the plan; KeyError if the page is unknown."""
        ...

    def state(self) -> Mapping[str, Any]:
        """Return the whole state, as plain arrays, numbers and texts."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Replace the state by one that ``state`` returned."""
        ...
