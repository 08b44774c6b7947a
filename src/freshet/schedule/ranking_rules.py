"""The classic rules: what others rank pages by, as published; they know no importance.

A rule is a small class that says what it remembers of a look and what it ranks by; ``RankingRule`` does
the rest. Scores are computed anew at each choice.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from freshet.core.clock import from_epoch, to_epoch
from freshet.core.tables import (
    DAY_SECONDS,
    ChoiceTable,
    HostCaps,
    PageIdArray,
    PageTable,
    PolicyExplanation,
    VisitTable,
)
from freshet.core.tie_break import TIE_BREAK_RANGE
from freshet.core.types import FloatArray
from freshet.formula.variables import SUM_COUNT, VariableSet, WeightClock, variable_set
from freshet.schedule.columns import NOT_FOUND, ColumnSpec
from freshet.schedule.states import LookBatch, PageStates, RevisitDelays
from freshet.schedule.top_k import tie_breaker

RowArray = NDArray[Any]
FIRST_LOOK_VALUE = 1e12


class RankingRule(ABC):
    """A policy that ranks pages by a score; subclasses say which.

    A page without a look comes before all others. Failing pages count for less, as with every
    policy.
    """

    columns: ClassVar[Mapping[str, ColumnSpec]] = {}

    def __init__(
        self,
        name: str,
        *,
        seed: int = 0,
        waits: RevisitDelays | None = None,
        columns: Mapping[str, ColumnSpec] | None = None,
    ) -> None:
        self.name = name
        self.page_states = PageStates(waits, self.columns if columns is None else columns)
        self._seed = seed
        self._multiplier = 0.0

    def add(self, pages: PageTable) -> None:
        """Take pages into account from now on."""
        self.page_states.add(pages)

    def forget(self, pages: PageIdArray) -> None:
        """Leave pages out from now on."""
        self.page_states.forget(pages)

    def learn(self, visits: VisitTable) -> None:
        """Take in what visits found."""
        for looks in self.page_states.add_visits(visits).split_repeated_pages():
            self.update_columns(looks)

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest value, best first; they are pending from here on."""
        seconds = to_epoch(now)
        rows = self.page_states.eligible_rows(seconds, caps)
        values = self._values(rows, seconds)
        places = self.page_states.select_top_k(
            rows, values, k, caps, tie_breaker(self._seed, seconds)
        )
        chosen = rows[places]
        self.page_states.mark_pending(chosen)
        if len(places):
            self._multiplier = float(values[places[-1]])
        return ChoiceTable(
            self.page_states.ids[chosen],
            values[places],
            self.change_chances(chosen, seconds),
            self.page_states.days_since_look(chosen, seconds),
        )

    def release(self, pages: PageIdArray) -> None:
        """Take back pages that were chosen and not visited."""
        self.page_states.release(pages)

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen."""
        seconds = self.page_states.next_time(to_epoch(now))
        return None if seconds is None else from_epoch(seconds)

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Say why a page stands where it stands; the multiplier is the last value chosen."""
        rows = self.page_states.find_rows(np.array([page], np.int64))
        if rows[0] == NOT_FOUND:
            raise KeyError(page)
        seconds = to_epoch(now)
        chance = float(self.change_chances(rows, seconds)[0])
        return PolicyExplanation(
            page=page,
            policy=self.name,
            looks=int(self.page_states.measured[rows[0]]),
            changes=int(self.page_states.changes[rows[0]]),
            value=float(self._values(rows, seconds)[0]),
            multiplier=self._multiplier,
            age_days=float(self.page_states.days_since_look(rows, seconds)[0]),
            look_chance=float(self.page_states.look_chances(rows)[0]),
            not_before=float(self.page_states.not_before[rows[0]]),
            chance=None if np.isnan(chance) else chance,
        )

    def state(self) -> Mapping[str, Any]:
        """Return everything learnt, as plain arrays and numbers."""
        return self.page_states.state() | {"multiplier": self._multiplier}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        self.page_states.restore(state)
        self._multiplier = float(state["multiplier"])

    def update_columns(self, looks: LookBatch) -> None:
        """Keep what the rule needs of looks, no page twice among them: nothing, but for some."""
        return

    @abstractmethod
    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return what the rule ranks by."""

    def change_chances(self, rows: RowArray, now: float) -> FloatArray:
        """Return the chance that each page has changed, NaN where the rule knows none."""
        return np.full(len(rows), np.nan)

    def _values(self, rows: RowArray, now: float) -> FloatArray:
        unseen = np.isnan(self.page_states.last[rows])
        scores = np.where(unseen, FIRST_LOOK_VALUE, self.score(rows, now))
        return scores * self.page_states.look_chances(rows)


class RandomRule(RankingRule):
    """Visits pages at random, each choice anew."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return a number from 0 to 1, drawn for each page and moment."""
        return tie_breaker(self._seed, now)(self.page_states.ids[rows]) / TIE_BREAK_RANGE


class AgeRule(RankingRule):
    """Visits the page that was not seen for longest: round-robin."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the days since the last look."""
        return self.page_states.days_since_look(rows, now)


class VariableRule(RankingRule):
    """Keeps the running sums behind the names of core.ranking that it asks for."""

    def __init__(
        self,
        name: str,
        known: VariableSet,
        *,
        seed: int = 0,
        waits: RevisitDelays | None = None,
        more: Mapping[str, ColumnSpec] | None = None,
    ) -> None:
        kinds = {"known": ColumnSpec(np.float64, width=SUM_COUNT), **(more or {})}
        super().__init__(name, seed=seed, waits=waits, columns=kinds)
        self._known = known

    def update_columns(self, looks: LookBatch) -> None:
        """Let what is known of pages grow by looks that were compared."""
        seen = looks[np.flatnonzero(looks.measured)]
        known = self.page_states.column("known")
        known[seen.rows] = self._known.rows_after_looks(
            known[seen.rows], seen.gap_days, seen.changed
        )

    def variable_values(self, rows: RowArray, now: float) -> Mapping[str, FloatArray]:
        """Return what every name stands for at a moment, a rate 0 before the first look."""
        known = self.page_states.column("known")[rows]
        return self._known.values(known, self.page_states.days_since_look(rows, now, never=0.0))


class ChangeRateRule(VariableRule):
    """Ranks by the rate of change alone (Cho and Garcia-Molina 2003, section 4.2).

    It counts changes a visit, whatever the time between visits.
    """

    def __init__(self, name: str, *, seed: int = 0, waits: RevisitDelays | None = None) -> None:
        super().__init__(name, variable_set(["CG"]), seed=seed, waits=waits)

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the estimated rate."""
        return self.variable_values(rows, now)["CG"]


class WeightedEstimateRule(VariableRule):
    """Ranks by 1 - exp(-rate * age), the rate a weighted mean of the changes seen so far.

    The weights are uniform (NAD), all on the last look (SAD), growing by one (AAD) or doubling
    (GAD): Santos et al. 2015, section 5.1. They go by the number of the look, as in the paper, or
    by that of the cycle (``clock="cycle"``), as in its authors' program.
    """

    def __init__(
        self,
        name: str,
        *,
        estimate: str,
        clock: WeightClock = "visit",
        seed: int = 0,
        waits: RevisitDelays | None = None,
    ) -> None:
        super().__init__(name, variable_set([estimate], clock), seed=seed, waits=waits)
        self._estimate = estimate

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the chance that each page has changed since its last look."""
        rates = self.variable_values(rows, now)[self._estimate]
        return -np.expm1(-rates * self.page_states.days_since_look(rows, now, never=0.0))

    def change_chances(self, rows: RowArray, now: float) -> FloatArray:
        """Return what the rule ranks by, which is a chance."""
        return self.score(rows, now)


@dataclass(frozen=True, slots=True)
class IntervalSteps:
    """How an adaptive rule moves a page's interval after a look, and its bounds in seconds."""

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


class AdaptiveIntervalRule(RankingRule):
    """Gives each page an interval that shrinks after a change and grows otherwise.

    Apache Nutch's AdaptiveFetchSchedule and StormCrawler's AdaptiveScheduler fetch a page when its
    interval is over; with a budget, pages rank by the share of their interval that has passed.
    """

    columns: ClassVar[Mapping[str, ColumnSpec]] = {"interval": ColumnSpec(np.float64, DAY_SECONDS)}

    def __init__(
        self, name: str, steps: IntervalSteps, *, seed: int = 0, waits: RevisitDelays | None = None
    ) -> None:
        super().__init__(name, seed=seed, waits=waits)
        self._steps = steps

    def update_columns(self, looks: LookBatch) -> None:
        """Move the interval of every page that was compared with its look before."""
        rows, changed = looks.rows[looks.measured], looks.changed[looks.measured]
        intervals = self.page_states.column("interval")
        moved = intervals[rows] * np.where(
            changed, self._steps.changed_factor, self._steps.unchanged_factor
        )
        intervals[rows] = np.clip(moved, self._steps.shortest_seconds, self._steps.longest_seconds)

    def score(self, rows: RowArray, now: float) -> FloatArray:
        """Return the time since the last look as a share of the interval."""
        intervals: FloatArray = self.page_states.column("interval")[rows] / DAY_SECONDS
        return self.page_states.days_since_look(rows, now) / intervals
