"""The published ranking rules; they ignore the importance of pages.

A rule is a small class with a score and the columns that it computes the score from;
``RankingRule`` implements the rest of a policy. Scores are computed again at each choice.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from freshet.core.clock import from_epoch, to_epoch
from freshet.core.hashing import TIE_BREAK_RANGE
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
from freshet.formula.variables import SUM_COUNT, VariableSet, WeightClock, variable_set
from freshet.schedule.columns import NOT_FOUND, ColumnSpec
from freshet.schedule.page_states import LookBatch, PageStates, RevisitDelays
from freshet.schedule.top_k import tie_breaker

RowArray = NDArray[Any]
FIRST_LOOK_VALUE = 1e12
INTERVAL_COLUMN = "interval"


class RankingRule(ABC):
    """A policy that ranks pages by a score, which subclasses define.

    A page without a look comes before all others. Failures lower the value of a page, as in every
    policy.
    """

    columns: ClassVar[Mapping[str, ColumnSpec]] = {}

    def __init__(
        self,
        name: str,
        *,
        seed: int = 0,
        delays: RevisitDelays | None = None,
        columns: Mapping[str, ColumnSpec] | None = None,
    ) -> None:
        self.name = name
        self.page_states = PageStates(delays, self.columns if columns is None else columns)
        self._seed = seed
        self._multiplier = 0.0

    def add(self, pages: PageTable) -> None:
        """Add pages."""
        self.page_states.add(pages)

    def forget(self, pages: PageIdArray) -> None:
        """Remove pages."""
        self.page_states.forget(pages)

    def learn(self, visits: VisitTable) -> None:
        """Learn from visits."""
        for looks in self.page_states.add_visits(visits).split_repeated_pages():
            self.update_columns(looks)

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest value, best first, and mark them pending."""
        seconds = to_epoch(now)
        rows = self.page_states.eligible_rows(seconds, caps)
        values = self._values(rows, seconds)
        positions = self.page_states.select_top_k(
            rows, values, k, caps, tie_breaker(self._seed, seconds)
        )
        chosen = rows[positions]
        self.page_states.mark_pending(chosen)
        if len(positions):
            self._multiplier = float(values[positions[-1]])
        return ChoiceTable(
            self.page_states.ids[chosen],
            values[positions],
            self.change_chances(chosen, seconds),
            self.page_states.days_since_look(chosen, seconds),
        )

    def release(self, pages: PageIdArray) -> None:
        """Make pages that were chosen and not visited available again."""
        self.page_states.release(pages)

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen."""
        seconds = self.page_states.next_time(to_epoch(now))
        return None if seconds is None else from_epoch(seconds)

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Return the figures behind a page's value; the multiplier is the last value chosen."""
        rows = self.page_states.find_rows(np.array([page], np.int64))
        if rows[0] == NOT_FOUND:
            raise KeyError(page)
        seconds = to_epoch(now)
        chance = float(self.change_chances(rows, seconds)[0])
        return PolicyExplanation(
            page=page,
            policy=self.name,
            looks=int(self.page_states.measured_looks[rows[0]]),
            changes=int(self.page_states.changes[rows[0]]),
            value=float(self._values(rows, seconds)[0]),
            multiplier=self._multiplier,
            age_days=float(self.page_states.days_since_look(rows, seconds)[0]),
            look_chance=float(self.page_states.look_chances(rows)[0]),
            not_before=float(self.page_states.not_before[rows[0]]),
            chance=None if np.isnan(chance) else chance,
        )

    def state(self) -> Mapping[str, Any]:
        """Return everything learned, as plain arrays and numbers."""
        return self.page_states.state() | {"multiplier": self._multiplier}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self.page_states.restore(state)
        self._multiplier = float(state["multiplier"])

    def update_columns(self, looks: LookBatch) -> None:
        """Update the rule's columns by looks, in which no page occurs twice."""
        return

    @abstractmethod
    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the scores by which the rule ranks pages."""

    def change_chances(self, rows: RowArray, now: float) -> FloatArray:
        """Return the chance that each page has changed, NaN if the rule does not estimate it."""
        return np.full(len(rows), np.nan)

    def _values(self, rows: RowArray, now: float) -> FloatArray:
        is_unseen = np.isnan(self.page_states.last_look[rows])
        scores = np.where(is_unseen, FIRST_LOOK_VALUE, self.score(rows, now))
        return scores * self.page_states.look_chances(rows)


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


class VariableRule(RankingRule):
    """A rule that keeps the running sums behind some variables of formulas."""

    def __init__(
        self,
        name: str,
        variables: VariableSet,
        *,
        seed: int = 0,
        delays: RevisitDelays | None = None,
        policy_columns: Mapping[str, ColumnSpec] | None = None,
    ) -> None:
        columns = {"sums": ColumnSpec(np.float64, width=SUM_COUNT), **(policy_columns or {})}
        super().__init__(name, seed=seed, delays=delays, columns=columns)
        self._variables = variables

    def update_columns(self, looks: LookBatch) -> None:
        """Add measured looks to the running sums."""
        measured = looks[np.flatnonzero(looks.measured)]
        sums = self.page_states.column("sums")
        sums[measured.rows] = self._variables.rows_after_looks(
            sums[measured.rows], measured.gap_days, measured.changed
        )

    def variable_values(self, rows: RowArray, now: float) -> Mapping[str, FloatArray]:
        """Return the values of the variables now; rates are 0 before the first look."""
        sums = self.page_states.column("sums")[rows]
        return self._variables.values(sums, self.page_states.days_since_look(rows, now, never=0.0))


class ChangeRateRule(VariableRule):
    """Ranks by the change rate alone (Cho and Garcia-Molina 2003, section 4.2).

    The rate is in changes per visit, whatever the time between visits.
    """

    def __init__(self, name: str, *, seed: int = 0, delays: RevisitDelays | None = None) -> None:
        super().__init__(name, variable_set(["CG"]), seed=seed, delays=delays)

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the estimated rate."""
        return self.variable_values(rows, now)["CG"]


class WeightedEstimateRule(VariableRule):
    """Ranks by 1 - exp(-rate * age), where the rate is a weighted mean of the changes seen so far.

    The weights are uniform (NAD), all on the last look (SAD), growing by one (AAD) or doubling
    (GAD): Santos et al. 2015, section 5.1. They depend on the number of the look, as in the paper,
    or on that of the cycle (``clock="cycle"``), as in its authors' program.
    """

    def __init__(
        self,
        name: str,
        *,
        estimate: str,
        clock: WeightClock = "visit",
        seed: int = 0,
        delays: RevisitDelays | None = None,
    ) -> None:
        super().__init__(name, variable_set([estimate], clock), seed=seed, delays=delays)
        self._estimate = estimate

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the chance that each page has changed since its last look."""
        rates = self.variable_values(rows, now)[self._estimate]
        return -np.expm1(-rates * self.page_states.days_since_look(rows, now, never=0.0))

    def change_chances(self, rows: RowArray, now: float) -> FloatArray:
        """Return the score, which is a chance."""
        return self.score(rows, now)


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
