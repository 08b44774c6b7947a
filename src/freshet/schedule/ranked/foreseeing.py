"""A policy whose formula may also ask for what the default policy's forecast knows of a page.

``rate`` is the mean of the posterior over change rates, in changes a day, and ``chance`` the chance
by it that the page has changed since its last look. ``around`` is the age in days of usual pace, by
the look-around clock of the page's directory; ``quiet`` the days since the last change seen, or
since the first look where none was; ``weekday`` the mean over the changes seen of the cosine
between the day of the week on which each was found and the day that is now. A cycle is a day.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from math import tau
from typing import Any

import numpy as np

from freshet.core.clock import to_epoch
from freshet.core.tables import (
    DAY_SECONDS,
    ChoiceTable,
    HostCaps,
    PageIdArray,
    PageTable,
    PolicyExplanation,
    VisitTable,
)
from freshet.core.types import FloatArray
from freshet.formula.expression import Formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock
from freshet.schedule.cadence import RATE_COUNT, CrawlCadence
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.ranked.foresight import FormulaForecast
from freshet.schedule.ranked.plain import FormulaPolicy
from freshet.schedule.ranking_rules import RowArray
from freshet.schedule.states import LookBatch, RevisitDelays

FORECAST_VARIABLES = ("rate", "chance", "around")
HISTORY_VARIABLES = ("quiet", "weekday")
EXTENDED_VARIABLES = (*FORECAST_VARIABLES, *HISTORY_VARIABLES)
WEEK_DAYS = 7


class ExtendedFormulaPolicy(FormulaPolicy):
    """Ranks by a formula of what was seen of a page and what is expected of it."""

    def __init__(
        self,
        name: str,
        formula: Formula,
        *,
        cadence: CrawlCadence,
        clock: WeightClock = "visit",
        seed: int = 0,
        waits: RevisitDelays | None = None,
    ) -> None:
        super().__init__(
            name,
            formula,
            clock=clock,
            seed=seed,
            waits=waits,
            more={
                "likelihood": ColumnSpec(np.float32, width=RATE_COUNT),
                "still_since": ColumnSpec(np.float64, np.nan),
                "week": ColumnSpec(np.float64, width=2),
            },
        )
        self._asked = formula.variables
        self._asks_for_sums = not self._asked.isdisjoint(PAPER_VARIABLES)
        looks_around = "around" in self._asked
        self.forecast = FormulaForecast(self.page_states, cadence, seed, looks_around=looks_around)

    def add(self, pages: PageTable) -> None:
        """Take pages into account from now on."""
        self.forecast.add(self.page_states.add(pages))

    def forget(self, pages: PageIdArray) -> None:
        """Leave pages out from now on."""
        self.forecast.keep_rows(self.page_states.forget(pages))

    def learn(self, visits: VisitTable) -> None:
        """Take in what visits found."""
        looks = self.page_states.add_visits(visits)
        self.forecast.learn(looks)
        for each in looks.split_repeated_pages():
            self.update_columns(each)

    def update_columns(self, looks: LookBatch) -> None:
        """Let what is known of pages grow by looks, no page twice among them."""
        if self._asks_for_sums:
            super().update_columns(looks)
        changed = looks.changed & looks.measured
        if "quiet" in self._asked:
            since = self.page_states.column("still_since")
            begins = changed | np.isnan(since[looks.rows])
            since[looks.rows[begins]] = looks.times[begins]
        if "weekday" in self._asked:
            week = self.page_states.column("week")
            week[looks.rows[changed]] += _weekdays(looks.times[changed])

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest value, best first; they are pending from here on."""
        self.forecast.refit_if_due(to_epoch(now))
        return super().choose(now, k, caps)

    def variable_values(self, rows: RowArray, now: float) -> Mapping[str, FloatArray]:
        """Return what every name of the formula stands for at a moment."""
        told = dict(super().variable_values(rows, now)) if self._asks_for_sums else {}
        if "chance" in self._asked or "rate" in self._asked:
            told["chance"], told["rate"] = self.change_chances_and_rates(rows, now)
        if "around" in self._asked:
            told["around"] = self.forecast.effective_ages(rows, now)
        if "quiet" in self._asked:
            days = (now - self.page_states.column("still_since")[rows]) / DAY_SECONDS
            told["quiet"] = np.maximum(0.0, np.nan_to_num(days))
        if "weekday" in self._asked:
            week, today = self.page_states.column("week")[rows], _weekdays(np.array([now]))[0]
            agreeing = week[:, 0] * today[0] + week[:, 1] * today[1]
            told["weekday"] = agreeing / np.maximum(1, self.page_states.changes[rows])
        return told

    def change_chances_and_rates(self, rows: RowArray, now: float) -> tuple[FloatArray, FloatArray]:
        """Return each page's chance to have changed since its last look, and its changes a day."""
        return self.forecast.change_chances_and_rates(rows, now)

    def change_chances(self, rows: RowArray, now: float) -> FloatArray:
        """Return the chance that each page has changed, NaN where it was never seen."""
        chances, _ = self.forecast.change_chances_and_rates(rows, now)
        return np.where(np.isnan(self.page_states.last[rows]), np.nan, chances)

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Say why a page stands where it stands, and what is expected of it."""
        found = super().explain(page, now)
        row = int(self.page_states.find_rows(np.array([page], np.int64))[0])
        return replace(
            self.forecast.add_explanation(found, row, to_epoch(now)), reckoning=found.reckoning
        )

    def state(self) -> Mapping[str, Any]:
        """Return everything learnt, as plain arrays, numbers and texts."""
        return {**super().state(), **self.forecast.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        super().restore(state)
        self.forecast.restore(state)


def _weekdays(times: FloatArray) -> FloatArray:
    """Return the day of the week of each time as a point of the circle.

    >>> _weekdays(np.array([0.0, 1.9, 8.0]) * DAY_SECONDS).round(3).tolist()
    [[1.0, 0.0], [0.623, 0.782], [0.623, 0.782]]
    """
    angles = tau / WEEK_DAYS * np.floor(times / DAY_SECONDS)
    return np.column_stack((np.cos(angles), np.sin(angles)))
