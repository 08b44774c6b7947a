"""Rankings over the page states of another policy, from candidates that are renewed every hour.

They make the choices of round-robin and of adaptive intervals without page states of their own, and
without ranking all pages at each choice.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import HOUR_SECONDS, HostCaps
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import row_blocks
from freshet.schedule.page_states import PageStates
from freshet.schedule.top_k import tie_breaker, unordered_top_k

MIN_CANDIDATES, CANDIDATE_DIVISOR = 4_096, 1_024

# Returns the scores of rows at a time; a page without a look has the score infinity.
ScoreFunction = Callable[[PageStates, NDArray[np.intp], float], FloatArray]


class CandidateRanking:
    """Ranks pages by a score; other pages than the candidates wait.

    The candidates are the best pages, one in 1,024. They are renewed every hour, and earlier if
    half of them were chosen.
    """

    def __init__(self, page_states: PageStates, score: ScoreFunction, seed: int) -> None:
        self._page_states = page_states
        self._score = score
        self._seed = seed
        self._candidates = np.empty(0, np.int32)
        self._period = np.nan
        self._chosen_count = 0

    def reset(self) -> None:
        """Forget the candidates, whose rows may have moved."""
        self._period = np.nan

    def choose_rows(self, now: float, k: int, caps: HostCaps) -> NDArray[np.intp]:
        """Return the rows of the k best pages within host limits, and count them as chosen."""
        rows = self.best_rows(now, k, caps)
        self._chosen_count += len(rows)
        return rows

    def best_rows(self, now: float, k: int, caps: HostCaps) -> NDArray[np.intp]:
        """Return the rows of the k best pages within host limits, best first."""
        period = now // HOUR_SECONDS
        if period != self._period or 2 * self._chosen_count > len(self._candidates):
            self._candidates = self._find_candidates(now, caps)
            self._period, self._chosen_count = period, 0
        states = self._page_states
        rows = states.eligible_rows(now, caps, candidates=self._candidates)
        values = self._score(states, rows, now) * states.look_chances(rows)
        positions = states.select_top_k(rows, values, k, caps, tie_breaker(self._seed, now))
        best_rows: NDArray[np.intp] = rows[positions]
        return best_rows

    def _find_candidates(self, now: float, caps: HostCaps) -> IndexArray:
        """Return the rows of the candidates: all rows if they are few."""
        states = self._page_states
        count = max(MIN_CANDIDATES, len(states) // CANDIDATE_DIVISOR)
        if count >= len(states):
            return np.arange(len(states), dtype=np.int32)
        rows = states.eligible_rows(now, caps)
        if count < len(rows):
            scores = [self._score(states, block, now) for block in row_blocks(rows)]
            draw = tie_breaker(self._seed, now)
            best = unordered_top_k(
                np.concatenate(scores), count, lambda tied: draw(states.ids[rows[tied]])
            )
            rows = np.sort(rows[best])
        return rows.astype(np.int32)
