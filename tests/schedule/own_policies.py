"""Policies as a user writes them."""

from freshet.core.types import FloatArray
from freshet.schedule.rules.ranking_rule import RankingRule, RowArray


class NewestFirst(RankingRule):
    """Visits the page added last first, among those seen equally long ago."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        return self.page_states.days_since_look(rows, now) + 1e-9 * self.page_states.ids[rows]


class Unmakeable(NewestFirst):
    """A policy whose constructor takes no seed."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
