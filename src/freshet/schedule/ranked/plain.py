"""A policy that ranks pages by a formula of the paper's names."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from freshet.core.clock import to_epoch
from freshet.core.errors import UsageError
from freshet.core.tables import Explanation, Reckoning
from freshet.core.types import Floats
from freshet.formula.expression import LARGEST, Formula
from freshet.formula.program import program
from freshet.formula.variables import Clock, known_for
from freshet.schedule.columns import Column
from freshet.schedule.ranking_rules import Knowing, Rows
from freshet.schedule.states import Waits

# A page that was never seen comes before whatever a formula can give.
FIRST_OF_ALL = 1e6 * LARGEST


class Ranked(Knowing):
    """Ranks by the value of a formula of what is known of a page; a cycle is a day."""

    def __init__(
        self,
        name: str,
        formula: Formula,
        *,
        clock: Clock = "visit",
        seed: int = 0,
        waits: Waits | None = None,
        more: Mapping[str, Column] | None = None,
    ) -> None:
        known = known_for(formula.names, clock)
        super().__init__(name, known, seed=seed, waits=waits, more=more)
        self.formula = formula
        self._program = program(formula)
        self._learns_for = f"{formula}, by {clock}"

    def score(self, rows: Rows, now: float) -> Floats:
        """Return the value of the formula."""
        return self._program.values(self.told(rows, now), len(rows))

    def explain(self, page: int, now: datetime) -> Explanation:
        """Say why a page stands where it stands, and how the formula comes to its score."""
        found = super().explain(page, now)
        told = self.told(self.states.rows(np.array([page], np.int64)), to_epoch(now))
        names = {name: float(told[name][0]) for name in sorted(self.formula.names)}
        score = float(self._program.values(told, 1)[0])
        return replace(found, reckoning=Reckoning(str(self.formula), names, score))

    def state(self) -> Mapping[str, Any]:
        """Return everything learnt, and for which formula: what is kept differs between them."""
        return {**super().state(), "learnt for": self._learns_for}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes; what was learnt for another formula is refused."""
        if state.get("learnt for") != self._learns_for:
            raise UsageError(
                f"what was learnt for {state.get('learnt for', 'another policy')} cannot serve "
                f"{self._learns_for}; let it learn the visits anew"
            )
        super().restore(state)

    def _values(self, rows: Rows, now: float) -> Floats:
        """Return scores, worse for pages whose visits fail, also where a score is below 0."""
        scores, chances = self.score(rows, now), self.states.look_chances(rows)
        weighed = np.where(scores < 0, scores / chances, scores * chances)
        return np.where(np.isnan(self.states.last[rows]), FIRST_OF_ALL * chances, weighed)
