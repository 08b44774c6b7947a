"""The classic rules: what others rank pages by, as published; they know no importance.

A rule is a small class that says what it remembers of a look and what it ranks by; ``Rule`` does
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
    Caps,
    Choices,
    Explanation,
    PageIds,
    PageTable,
    VisitTable,
)
from freshet.core.tie_break import LOTS
from freshet.core.types import Floats
from freshet.formula.variables import WIDTH, Clock, Known, known_for
from freshet.schedule.columns import NOWHERE, Column
from freshet.schedule.states import Looks, PageStates, Waits
from freshet.schedule.top_k import lottery

Rows = NDArray[Any]
FIRST_LOOK = 1e12


class Rule(ABC):
    """A policy that ranks pages by a score; subclasses say which.

    A page without a look comes before all others. Failing pages count for less, as with every
    policy.
    """

    columns: ClassVar[Mapping[str, Column]] = {}

    def __init__(
        self,
        name: str,
        *,
        seed: int = 0,
        waits: Waits | None = None,
        columns: Mapping[str, Column] | None = None,
    ) -> None:
        self.name = name
        self.states = PageStates(waits, self.columns if columns is None else columns)
        self._seed = seed
        self._multiplier = 0.0

    def add(self, pages: PageTable) -> None:
        """Take pages into account from now on."""
        self.states.add(pages)

    def forget(self, pages: PageIds) -> None:
        """Leave pages out from now on."""
        self.states.forget(pages)

    def learn(self, visits: VisitTable) -> None:
        """Take in what visits found."""
        for looks in self.states.learn(visits).rounds():
            self.remember(looks)

    def choose(self, now: datetime, k: int, caps: Caps) -> Choices:
        """Return the k pages of the highest value, best first; they are pending from here on."""
        seconds = to_epoch(now)
        rows = self.states.eligible(seconds, caps)
        values = self._values(rows, seconds)
        places = self.states.select(rows, values, k, caps, lottery(self._seed, seconds))
        chosen = rows[places]
        self.states.hold(chosen)
        if len(places):
            self._multiplier = float(values[places[-1]])
        return Choices(
            self.states.ids[chosen],
            values[places],
            self.chances(chosen, seconds),
            self.states.ages(chosen, seconds),
        )

    def release(self, pages: PageIds) -> None:
        """Take back pages that were chosen and not visited."""
        self.states.release(pages)

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen."""
        seconds = self.states.next_time(to_epoch(now))
        return None if seconds is None else from_epoch(seconds)

    def explain(self, page: int, now: datetime) -> Explanation:
        """Say why a page stands where it stands; the multiplier is the last value chosen."""
        rows = self.states.rows(np.array([page], np.int64))
        if rows[0] == NOWHERE:
            raise KeyError(page)
        seconds = to_epoch(now)
        chance = float(self.chances(rows, seconds)[0])
        return Explanation(
            page=page,
            policy=self.name,
            looks=int(self.states.measured[rows[0]]),
            changes=int(self.states.changes[rows[0]]),
            value=float(self._values(rows, seconds)[0]),
            multiplier=self._multiplier,
            age_days=float(self.states.ages(rows, seconds)[0]),
            look_chance=float(self.states.look_chances(rows)[0]),
            not_before=float(self.states.not_before[rows[0]]),
            chance=None if np.isnan(chance) else chance,
        )

    def state(self) -> Mapping[str, Any]:
        """Return everything learnt, as plain arrays and numbers."""
        return self.states.state() | {"multiplier": self._multiplier}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        self.states.restore(state)
        self._multiplier = float(state["multiplier"])

    def remember(self, looks: Looks) -> None:
        """Keep what the rule needs of looks, no page twice among them: nothing, but for some."""
        return

    @abstractmethod
    def score(self, rows: Rows, now: float) -> Floats:
        """Return what the rule ranks by."""

    def chances(self, rows: Rows, now: float) -> Floats:
        """Return the chance that each page has changed, NaN where the rule knows none."""
        return np.full(len(rows), np.nan)

    def _values(self, rows: Rows, now: float) -> Floats:
        unseen = np.isnan(self.states.last[rows])
        scores = np.where(unseen, FIRST_LOOK, self.score(rows, now))
        return scores * self.states.look_chances(rows)


class Rand(Rule):
    """Visits pages at random, each choice anew."""

    def score(self, rows: Rows, now: float) -> Floats:
        """Return a number from 0 to 1, drawn for each page and moment."""
        return lottery(self._seed, now)(self.states.ids[rows]) / LOTS


class Age(Rule):
    """Visits the page that was not seen for longest: round-robin."""

    def score(self, rows: Rows, now: float) -> Floats:
        """Return the days since the last look."""
        return self.states.ages(rows, now)


class Knowing(Rule):
    """Keeps the running sums behind the names of core.ranking that it asks for."""

    def __init__(
        self,
        name: str,
        known: Known,
        *,
        seed: int = 0,
        waits: Waits | None = None,
        more: Mapping[str, Column] | None = None,
    ) -> None:
        kinds = {"known": Column(np.float64, width=WIDTH), **(more or {})}
        super().__init__(name, seed=seed, waits=waits, columns=kinds)
        self._known = known

    def remember(self, looks: Looks) -> None:
        """Let what is known of pages grow by looks that were compared."""
        seen = looks[np.flatnonzero(looks.measured)]
        known = self.states.column("known")
        known[seen.rows] = self._known.after(known[seen.rows], seen.gaps, seen.changed)

    def told(self, rows: Rows, now: float) -> Mapping[str, Floats]:
        """Return what every name stands for at a moment, a rate 0 before the first look."""
        known = self.states.column("known")[rows]
        return self._known.told(known, self.states.ages(rows, now, never=0.0))


class Cho(Knowing):
    """Ranks by the rate of change alone (Cho and Garcia-Molina 2003, section 4.2).

    It counts changes a visit, whatever the time between visits.
    """

    def __init__(self, name: str, *, seed: int = 0, waits: Waits | None = None) -> None:
        super().__init__(name, known_for(["CG"]), seed=seed, waits=waits)

    def score(self, rows: Rows, now: float) -> Floats:
        """Return the estimated rate."""
        return self.told(rows, now)["CG"]


class Weighted(Knowing):
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
        clock: Clock = "visit",
        seed: int = 0,
        waits: Waits | None = None,
    ) -> None:
        super().__init__(name, known_for([estimate], clock), seed=seed, waits=waits)
        self._estimate = estimate

    def score(self, rows: Rows, now: float) -> Floats:
        """Return the chance that each page has changed since its last look."""
        rates = self.told(rows, now)[self._estimate]
        return -np.expm1(-rates * self.states.ages(rows, now, never=0.0))

    def chances(self, rows: Rows, now: float) -> Floats:
        """Return what the rule ranks by, which is a chance."""
        return self.score(rows, now)


@dataclass(frozen=True, slots=True)
class Steps:
    """How an adaptive rule moves a page's interval after a look, and its bounds in seconds."""

    unchanged: float
    changed: float
    shortest: float
    longest: float


NUTCH = Steps(unchanged=1.4, changed=0.8, shortest=60.0, longest=365 * DAY_SECONDS)
STORMCRAWLER = Steps(unchanged=1.5, changed=0.5, shortest=3_600.0, longest=14 * DAY_SECONDS)


class Adaptive(Rule):
    """Gives each page an interval that shrinks after a change and grows otherwise.

    Apache Nutch's AdaptiveFetchSchedule and StormCrawler's AdaptiveScheduler fetch a page when its
    interval is over; with a budget, pages rank by the share of their interval that has passed.
    """

    columns: ClassVar[Mapping[str, Column]] = {"interval": Column(np.float64, DAY_SECONDS)}

    def __init__(
        self, name: str, steps: Steps, *, seed: int = 0, waits: Waits | None = None
    ) -> None:
        super().__init__(name, seed=seed, waits=waits)
        self._steps = steps

    def remember(self, looks: Looks) -> None:
        """Move the interval of every page that was compared with its look before."""
        rows, changed = looks.rows[looks.measured], looks.changed[looks.measured]
        intervals = self.states.column("interval")
        moved = intervals[rows] * np.where(changed, self._steps.changed, self._steps.unchanged)
        intervals[rows] = np.clip(moved, self._steps.shortest, self._steps.longest)

    def score(self, rows: Rows, now: float) -> Floats:
        """Return the time since the last look as a share of the interval."""
        intervals: Floats = self.states.column("interval")[rows] / DAY_SECONDS
        return self.states.ages(rows, now) / intervals
