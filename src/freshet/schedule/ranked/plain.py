"""A policy that ranks pages by a formula of the paper's names."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from freshet.core.clock import to_epoch
from freshet.core.errors import UsageError
from freshet.core.tables import FormulaEvaluation, PolicyExplanation
from freshet.core.types import FloatArray
from freshet.formula.expression import LARGEST_VALUE, Formula
from freshet.formula.program import compile_formula
from freshet.formula.variables import WeightClock, variable_set
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.ranking_rules import RowArray, VariableRule
from freshet.schedule.states import RevisitDelays

# A page that was never seen comes before whatever a formula can give.
NEVER_SEEN_SCORE = 1e6 * LARGEST_VALUE


class FormulaPolicy(VariableRule):
    """Ranks by the value of a formula of what is known of a page; a cycle is a day."""

    def __init__(
        self,
        name: str,
        formula: Formula,
        *,
        clock: WeightClock = "visit",
        seed: int = 0,
        waits: RevisitDelays | None = None,
        more: Mapping[str, ColumnSpec] | None = None,
    ) -> None:
        known = variable_set(formula.variables, clock)
        super().__init__(name, known, seed=seed, waits=waits, more=more)
        self.formula = formula
        self._program = compile_formula(formula)
        self._learns_for = f"{formula}, by {clock}"

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the value of the formula."""
        return self._program.evaluate(self.variable_values(rows, now), len(rows))

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Say why a page stands where it stands, and how the formula comes to its score."""
        found = super().explain(page, now)
        told = self.variable_values(
            self.page_states.find_rows(np.array([page], np.int64)), to_epoch(now)
        )
        names = {name: float(told[name][0]) for name in sorted(self.formula.variables)}
        score = float(self._program.evaluate(told, 1)[0])
        return replace(found, reckoning=FormulaEvaluation(str(self.formula), names, score))

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

    def _values(self, rows: RowArray, now: float) -> FloatArray:
        """Return scores, worse for pages whose visits fail, also where a score is below 0."""
        scores, chances = self.score(rows, now), self.page_states.look_chances(rows)
        weighed = np.where(scores < 0, scores / chances, scores * chances)
        return np.where(np.isnan(self.page_states.last[rows]), NEVER_SEEN_SCORE * chances, weighed)
