"""Rules without estimates: random order and round-robin."""

from freshet.core.hashing import TIE_BREAK_RANGE
from freshet.core.types import FloatArray
from freshet.schedule.rules.ranking_rule import RankingRule, RowArray
from freshet.schedule.top_k import tie_breaker


class RandomRule(RankingRule):
    """Visits pages in random order, a new one at each choice."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return a pseudo-random number from 0 to 1 for each page and moment."""
        return tie_breaker(self._seed, now)(self.page_states.ids[rows]) / TIE_BREAK_RANGE


class AgeRule(RankingRule):
    """Visits the page with the oldest last look first: round-robin."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the days since the last look."""
        return self.page_states.days_since_look(rows, now)
