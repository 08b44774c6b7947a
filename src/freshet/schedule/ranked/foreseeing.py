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
    Caps,
    Choices,
    Explanation,
    PageIds,
    PageTable,
    VisitTable,
)
from freshet.core.types import Floats
from freshet.formula.expression import Formula
from freshet.formula.variables import ALL, Clock
from freshet.schedule.cadence import RATES, Cadence
from freshet.schedule.columns import Column
from freshet.schedule.ranked.foresight import Foresight
from freshet.schedule.ranked.plain import Ranked
from freshet.schedule.ranking_rules import Rows
from freshet.schedule.states import Looks, Waits

FORECAST = ("rate", "chance", "around")
SEEN = ("quiet", "weekday")
FORESEEN = (*FORECAST, *SEEN)
WEEK = 7


class Foreseeing(Ranked):
    """Ranks by a formula of what was seen of a page and what is expected of it."""

    def __init__(
        self,
        name: str,
        formula: Formula,
        *,
        cadence: Cadence,
        clock: Clock = "visit",
        seed: int = 0,
        waits: Waits | None = None,
    ) -> None:
        super().__init__(
            name,
            formula,
            clock=clock,
            seed=seed,
            waits=waits,
            more={
                "likelihood": Column(np.float32, width=RATES),
                "still_since": Column(np.float64, np.nan),
                "week": Column(np.float64, width=2),
            },
        )
        self._asked = formula.names
        self._asks_for_sums = not self._asked.isdisjoint(ALL)
        looks_around = "around" in self._asked
        self.foresight = Foresight(self.states, cadence, seed, looks_around=looks_around)

    def add(self, pages: PageTable) -> None:
        """Take pages into account from now on."""
        self.foresight.add(self.states.add(pages))

    def forget(self, pages: PageIds) -> None:
        """Leave pages out from now on."""
        self.foresight.forget(self.states.forget(pages))

    def learn(self, visits: VisitTable) -> None:
        """Take in what visits found."""
        looks = self.states.learn(visits)
        self.foresight.learn(looks)
        for each in looks.rounds():
            self.remember(each)

    def remember(self, looks: Looks) -> None:
        """Let what is known of pages grow by looks, no page twice among them."""
        if self._asks_for_sums:
            super().remember(looks)
        changed = looks.changed & looks.measured
        if "quiet" in self._asked:
            since = self.states.column("still_since")
            begins = changed | np.isnan(since[looks.rows])
            since[looks.rows[begins]] = looks.times[begins]
        if "weekday" in self._asked:
            week = self.states.column("week")
            week[looks.rows[changed]] += _weekdays(looks.times[changed])

    def choose(self, now: datetime, k: int, caps: Caps) -> Choices:
        """Return the k pages of the highest value, best first; they are pending from here on."""
        self.foresight.plan(to_epoch(now))
        return super().choose(now, k, caps)

    def told(self, rows: Rows, now: float) -> Mapping[str, Floats]:
        """Return what every name of the formula stands for at a moment."""
        told = dict(super().told(rows, now)) if self._asks_for_sums else {}
        if "chance" in self._asked or "rate" in self._asked:
            told["chance"], told["rate"] = self.chances_and_rates(rows, now)
        if "around" in self._asked:
            told["around"] = self.foresight.effective_ages(rows, now)
        if "quiet" in self._asked:
            days = (now - self.states.column("still_since")[rows]) / DAY_SECONDS
            told["quiet"] = np.maximum(0.0, np.nan_to_num(days))
        if "weekday" in self._asked:
            week, today = self.states.column("week")[rows], _weekdays(np.array([now]))[0]
            agreeing = week[:, 0] * today[0] + week[:, 1] * today[1]
            told["weekday"] = agreeing / np.maximum(1, self.states.changes[rows])
        return told

    def chances_and_rates(self, rows: Rows, now: float) -> tuple[Floats, Floats]:
        """Return each page's chance to have changed since its last look, and its changes a day."""
        return self.foresight.chances_and_rates(rows, now)

    def chances(self, rows: Rows, now: float) -> Floats:
        """Return the chance that each page has changed, NaN where it was never seen."""
        chances, _ = self.foresight.chances_and_rates(rows, now)
        return np.where(np.isnan(self.states.last[rows]), np.nan, chances)

    def explain(self, page: int, now: datetime) -> Explanation:
        """Say why a page stands where it stands, and what is expected of it."""
        found = super().explain(page, now)
        row = int(self.states.rows(np.array([page], np.int64))[0])
        return replace(
            self.foresight.explained(found, row, to_epoch(now)), reckoning=found.reckoning
        )

    def state(self) -> Mapping[str, Any]:
        """Return everything learnt, as plain arrays, numbers and texts."""
        return {**super().state(), **self.foresight.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        super().restore(state)
        self.foresight.restore(state)


def _weekdays(times: Floats) -> Floats:
    """Return the day of the week of each time as a point of the circle.

    >>> _weekdays(np.array([0.0, 1.9, 8.0]) * DAY_SECONDS).round(3).tolist()
    [[1.0, 0.0], [0.623, 0.782], [0.623, 0.782]]
    """
    angles = tau / WEEK * np.floor(times / DAY_SECONDS)
    return np.column_stack((np.cos(angles), np.sin(angles)))
