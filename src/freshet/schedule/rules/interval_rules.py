"""The rules of Apache Nutch and StormCrawler: an interval for each page, adapted at each look."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import FloatArray
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.page_states import LookBatch, PageStates, RevisitDelays
from freshet.schedule.rules.ranking_rule import RankingRule, RowArray

INTERVAL_COLUMN = "interval"


@dataclass(frozen=True, slots=True)
class IntervalSteps:
    """How an adaptive rule changes a page's interval after a look, and the interval's bounds."""

    unchanged_factor: float
    changed_factor: float
    shortest_seconds: float
    longest_seconds: float


NUTCH_STEPS = IntervalSteps(
    unchanged_factor=1.4,
    changed_factor=0.8,
    shortest_seconds=60.0,
    longest_seconds=365 * DAY_SECONDS,
)
STORMCRAWLER_STEPS = IntervalSteps(
    unchanged_factor=1.5,
    changed_factor=0.5,
    shortest_seconds=3_600.0,
    longest_seconds=14 * DAY_SECONDS,
)


def share_of_interval(page_states: PageStates, rows: RowArray, now: float) -> FloatArray:
    """Return the time since the last look as a share of the interval, infinite without a look."""
    intervals: FloatArray = page_states.column(INTERVAL_COLUMN)[rows] / DAY_SECONDS
    return page_states.days_since_look(rows, now) / intervals


class AdaptiveIntervalRule(RankingRule):
    """Gives each page an interval that shrinks after a change and grows otherwise.

    Apache Nutch's AdaptiveFetchSchedule and StormCrawler's AdaptiveScheduler fetch a page when its
    interval is over. Under a budget, pages rank by the share of their interval that has passed.
    """

    weighs_importance = True
    columns: ClassVar[Mapping[str, ColumnSpec]] = {
        INTERVAL_COLUMN: ColumnSpec(np.float64, DAY_SECONDS)
    }

    def __init__(
        self, name: str, steps: IntervalSteps, *, seed: int = 0, delays: RevisitDelays | None = None
    ) -> None:
        super().__init__(name, seed=seed, delays=delays)
        self._steps = steps

    def update_columns(self, looks: LookBatch) -> None:
        """Change the interval of every page with a measured look."""
        rows, changed = looks.rows[looks.measured], looks.changed[looks.measured]
        steps, intervals = self._steps, self.page_states.column(INTERVAL_COLUMN)
        factors = np.where(changed, steps.changed_factor, steps.unchanged_factor)
        intervals[rows] = np.clip(
            intervals[rows] * factors, steps.shortest_seconds, steps.longest_seconds
        )

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the time since the last look as a share of the interval."""
        return share_of_interval(self.page_states, rows, now)
