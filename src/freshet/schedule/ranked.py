"""A policy that ranks pages by a formula, given as text or learnt from a trace."""

from typing import Literal

import numpy as np

from freshet.core.formula import Formula
from freshet.core.types import Floats
from freshet.schedule.columns import Column
from freshet.schedule.evolve.known import known_for
from freshet.schedule.rules import Rows, Rule
from freshet.schedule.states import Looks, Waits


class Ranked(Rule):
    """Ranks by the value of a formula of what is known of a page; a cycle is a day."""

    def __init__(
        self,
        name: str,
        formula: Formula,
        *,
        clock: Literal["visit", "cycle"] = "visit",
        seed: int = 0,
        waits: Waits | None = None,
    ) -> None:
        self._formula = formula
        self._known = known_for(formula.names, clock)
        self._kept = tuple(f"known {place}" for place in range(self._known.width))
        kinds = {column: Column(np.float64) for column in self._kept}
        super().__init__(name, seed=seed, waits=waits, columns=kinds)

    def remember(self, looks: Looks) -> None:
        """Let what is known of pages grow by looks that were compared."""
        seen = looks[np.flatnonzero(looks.measured)]
        after = self._known.after(self._rows(seen.rows), seen.gaps, seen.changed)
        for column, values in zip(self._kept, after.T, strict=True):
            self.states.column(column)[seen.rows] = values

    def score(self, rows: Rows, now: float) -> Floats:
        """Return the value of the formula."""
        ages = np.nan_to_num(self.states.ages(rows, now), posinf=0.0)
        return self._formula.values(self._known.told(self._rows(rows), ages), len(rows))

    def _rows(self, rows: Rows) -> Floats:
        return np.stack([self.states.column(column)[rows] for column in self._kept], axis=1)
