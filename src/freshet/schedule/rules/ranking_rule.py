"""The base of ranking rules: policies that rank pages by a score.

A rule is a small class with a score and the columns that it computes the score from;
``RankingRule`` implements the rest of a policy. Scores are computed again at each choice.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from freshet.core.clock import from_epoch, to_epoch
from freshet.core.tables import (
    ChoiceTable,
    HostCaps,
    PageIdArray,
    PageTable,
    PolicyExplanation,
    VisitTable,
)
from freshet.core.types import FloatArray
from freshet.schedule.columns import NOT_FOUND, ColumnSpec
from freshet.schedule.page_states import LookBatch, PageStates, RevisitDelays
from freshet.schedule.top_k import tie_breaker

RowArray = NDArray[Any]
FIRST_LOOK_VALUE = 1e12


class RankingRule(ABC):
    """A policy that ranks pages by a score, which subclasses define.

    A page without a look comes before all others. Failures lower the value of a page, as in every
    policy. A rule that ``weighs_importance`` multiplies its scores, which are not negative, by the
    importance of the page.
    """

    weighs_importance: ClassVar[bool] = False
    columns: ClassVar[Mapping[str, ColumnSpec]] = {}

    def __init__(
        self,
        name: str,
        *,
        seed: int = 0,
        delays: RevisitDelays | None = None,
        columns: Mapping[str, ColumnSpec] | None = None,
    ) -> None:
        self.name = name
        self.page_states = PageStates(delays, self.columns if columns is None else columns)
        self._seed = seed
        self._multiplier = 0.0

    def add(self, pages: PageTable) -> None:
        """Add pages."""
        self.page_states.add(pages)

    def forget(self, pages: PageIdArray) -> None:
        """Remove pages."""
        self.page_states.forget(pages)

    def learn(self, visits: VisitTable) -> None:
        """Learn from visits."""
        for looks in self.page_states.add_visits(visits).split_repeated_pages():
            self.update_columns(looks)

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest value, best first, and mark them pending."""
        seconds = to_epoch(now)
        rows = self.page_states.eligible_rows(seconds, caps)
        values = self._values(rows, seconds)
        positions = self.page_states.select_top_k(
            rows, values, k, caps, tie_breaker(self._seed, seconds)
        )
        chosen = rows[positions]
        self.page_states.mark_pending(chosen)
        if len(positions):
            self._multiplier = float(values[positions[-1]])
        return ChoiceTable(
            self.page_states.ids[chosen],
            values[positions],
            self.change_chances(chosen, seconds),
            self.page_states.days_since_look(chosen, seconds),
        )

    def release(self, pages: PageIdArray) -> None:
        """Make pages that were chosen and not visited available again."""
        self.page_states.release(pages)

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen."""
        seconds = self.page_states.next_time(to_epoch(now))
        return None if seconds is None else from_epoch(seconds)

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Return the figures behind a page's value; the multiplier is the last value chosen."""
        rows = self.page_states.find_rows(np.array([page], np.int64))
        if rows[0] == NOT_FOUND:
            raise KeyError(page)
        seconds = to_epoch(now)
        chance = float(self.change_chances(rows, seconds)[0])
        return PolicyExplanation(
            page=page,
            policy=self.name,
            looks=int(self.page_states.measured_looks[rows[0]]),
            changes=int(self.page_states.changes[rows[0]]),
            value=float(self._values(rows, seconds)[0]),
            multiplier=self._multiplier,
            age_days=float(self.page_states.days_since_look(rows, seconds)[0]),
            look_chance=float(self.page_states.look_chances(rows)[0]),
            not_before=float(self.page_states.not_before[rows[0]]),
            chance=None if np.isnan(chance) else chance,
        )

    def state(self) -> Mapping[str, Any]:
        """Return everything learned, as plain arrays and numbers."""
        return self.page_states.state() | {"multiplier": self._multiplier}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self.page_states.restore(state)
        self._multiplier = float(state["multiplier"])

    def update_columns(self, looks: LookBatch) -> None:
        """Update the rule's columns by looks, in which no page occurs twice."""
        return

    @abstractmethod
    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the scores by which the rule ranks pages."""

    def change_chances(self, rows: RowArray, now: float) -> FloatArray:
        """Return the chance that each page has changed, NaN if the rule does not estimate it."""
        return np.full(len(rows), np.nan)

    def _values(self, rows: RowArray, now: float) -> FloatArray:
        is_unseen = np.isnan(self.page_states.last_look[rows])
        scores = np.where(is_unseen, FIRST_LOOK_VALUE, self.score(rows, now))
        weights = self.page_states.look_chances(rows)
        if self.weighs_importance:
            weights = weights * self.page_states.importance[rows]
        return scores * weights
