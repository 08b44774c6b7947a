"""A policy that ranks pages by a formula of the paper's variables."""

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
from freshet.schedule.page_states import RevisitDelays
from freshet.schedule.rules.ranking_rule import RowArray
from freshet.schedule.rules.rate_rules import VariableRule

# A page that was never seen comes before every value that a formula can have.
NEVER_SEEN_SCORE = 1e6 * LARGEST_VALUE


class FormulaPolicy(VariableRule):
    """Ranks pages by the value of a formula; a cycle is a day."""

    def __init__(
        self,
        name: str,
        formula: Formula,
        *,
        clock: WeightClock = "visit",
        seed: int = 0,
        delays: RevisitDelays | None = None,
        policy_columns: Mapping[str, ColumnSpec] | None = None,
    ) -> None:
        variables = variable_set(formula.variables, clock)
        super().__init__(name, variables, seed=seed, delays=delays, policy_columns=policy_columns)
        self.formula = formula
        self._program = compile_formula(formula)
        self._purpose = f"{formula}, by {clock}"

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the value of the formula."""
        return self._program.evaluate(self.variable_values(rows, now), len(rows))

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Return the figures behind a page's value, with the formula's variables and score."""
        explanation = super().explain(page, now)
        row = self.page_states.find_rows(np.array([page], np.int64))
        columns = self.variable_values(row, to_epoch(now))
        values = {name: float(columns[name][0]) for name in sorted(self.formula.variables)}
        score = float(self._program.evaluate(columns, 1)[0])
        evaluation = FormulaEvaluation(str(self.formula), values, score)
        return replace(explanation, reckoning=evaluation)

    def state(self) -> Mapping[str, Any]:
        """Return everything learned, and the formula, which decides what is learned."""
        return {**super().state(), "learnt for": self._purpose}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned; the state of another formula is refused."""
        if state.get("learnt for") != self._purpose:
            raise UsageError(
                f"a state learned for {state.get('learnt for', 'another policy')} cannot be used "
                f"for {self._purpose}; learn from the visits again"
            )
        super().restore(state)

    def _values(self, rows: RowArray, now: float) -> FloatArray:
        """Return scores, lowered for pages whose visits fail, also if the score is negative."""
        scores, look_chances = self.score(rows, now), self.page_states.look_chances(rows)
        weighted = np.where(scores < 0, scores / look_chances, scores * look_chances)
        is_unseen = np.isnan(self.page_states.last_look[rows])
        return np.where(is_unseen, NEVER_SEEN_SCORE * look_chances, weighted)
