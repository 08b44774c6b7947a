"""What every scheduling policy and every forecaster can do; live crawl and simulator drive both."""

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
from freshet.core.types import FloatArray, Forecast, IndexArray


class Policy(Protocol):
    """Decides which pages to visit; a chosen page is pending until it is learnt or released."""

    name: str

    def add(self, pages: PageTable) -> None:
        """Take pages into account from now on; the importance of known ones is taken over."""
        ...

    def forget(self, pages: PageIdArray) -> None:
        """Leave pages out from now on; unknown ones are passed over."""
        ...

    def learn(self, visits: VisitTable) -> None:
        """Take in what visits found; visits of pages that are not known are passed over."""
        ...

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return at most k pages worth a visit now, best first; they are pending from here on."""
        ...

    def release(self, pages: PageIdArray) -> None:
        """Take back pages that were chosen and not visited."""
        ...

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen: now where one can, None where none ever will."""
        ...

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
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

    def forecast(self, pages: IndexArray, now: datetime, horizons: FloatArray) -> Forecast:
        """Return survival and expected new links, a row per page and a column per horizon."""
        ...
