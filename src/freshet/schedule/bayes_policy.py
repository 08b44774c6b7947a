"""The default policy: a posterior over every page's change rate, turned into values and choices.

A crawl in cycles scores all pages at every plan. In continuous time the prior and the clocks are
learnt hourly and all pages scored then; in between only visited pages and pages falling due are,
since every other page's value is known to stay below a multiplier. That is the value of the last
page of a reserve, so that the best pages are always among those that are due.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

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
from freshet.core.types import FloatArray, Forecast
from freshet.schedule.cadence import RATE_COUNT, CrawlCadence
from freshet.schedule.columns import NOT_FOUND, ColumnSpec, row_blocks
from freshet.schedule.explanation import explain_page
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.objectives import (
    OBJECTIVES,
    ObjectiveName,
    PageScores,
    concatenate_scores,
    days_below_multiplier,
)
from freshet.schedule.states import PageStates, RevisitDelays
from freshet.schedule.top_k import RowPositions, tie_breaker

HOUR_SECONDS = 3_600.0
SMALLEST_RESERVE, RESERVE_SHARE = 1024, 256
SAMPLE = 1 << 16
SMOOTHING = 100


class BayesPolicy:
    """Visits the pages whose looks are worth most, by what all looks so far have shown."""

    def __init__(
        self,
        name: str,
        *,
        objective: ObjectiveName,
        cadence: CrawlCadence,
        seed: int = 0,
        waits: RevisitDelays | None = None,
    ) -> None:
        self.name = name
        self.objective = OBJECTIVES[objective]
        self.cadence = cadence
        self.seed = seed
        self.multiplier = 0.0
        columns = {
            "likelihood": ColumnSpec(np.float32, width=RATE_COUNT),
            "due": ColumnSpec(np.float64, -np.inf),
        }
        self.page_states = PageStates(waits, columns)
        self._forecasts = ForecastModel(self.page_states, self.objective, cadence, seed)
        self._threshold = 0.0
        self._planned = np.nan

    @property
    def nbytes(self) -> int:
        """Return the memory of everything learnt."""
        return self.page_states.nbytes + self._forecasts.nbytes

    def add(self, pages: PageTable) -> None:
        """Take pages into account; the importance of known ones is taken over."""
        self._forecasts.add(self.page_states.add(pages))
        self._wake(self.page_states.known_rows(pages.ids))

    def forget(self, pages: PageIdArray) -> None:
        """Leave pages out from now on."""
        self._forecasts.keep_rows(self.page_states.forget(pages))

    def learn(self, visits: VisitTable) -> None:
        """Take in what visits found."""
        looks = self.page_states.add_visits(visits)
        self._forecasts.learn(looks)
        self._wake(looks.rows)

    def release(self, pages: PageIdArray) -> None:
        """Take back pages that were chosen and not visited."""
        self.page_states.release(pages)

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen."""
        moment = self.page_states.next_time(to_epoch(now))
        return None if moment is None else from_epoch(moment)

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages worth most, within every host's room, and make them pending."""
        moment = to_epoch(now)
        self._plan(moment)
        reserve = k + max(SMALLEST_RESERVE, len(self.page_states) // RESERVE_SHARE)
        rows, scores, chosen = self._best(moment, k, caps, reserve)
        if len(chosen) < k and len(chosen) < self._most(moment, caps):
            self._threshold = 0.0
            self._wake(slice(None))
            rows, scores, chosen = self._best(moment, k, caps, len(self.page_states))
        self._follow(scores.values[chosen])
        chosen = self._in_order(scores, chosen)
        self.page_states.mark_pending(rows[chosen])
        return ChoiceTable(
            self.page_states.ids[rows[chosen]],
            scores.values[chosen],
            scores.chances[chosen],
            self.page_states.days_since_look(rows[chosen], moment),
        )

    def forecast(self, pages: PageIdArray, now: datetime, horizons: FloatArray) -> Forecast:
        """Return the chance that known pages still are as last seen, so many days from now.

        Pages that were never seen count from now.
        """
        moment = to_epoch(now)
        self._plan(moment)
        rows = self.page_states.known_rows(pages)
        survival = self._forecasts.survival(rows, moment, horizons)
        return Forecast(self.page_states.ids[rows].astype(np.int32), horizons, survival)

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Say why a page stands where it stands."""
        row = int(self.page_states.find_rows(np.array([page], np.int64))[0])
        if row == NOT_FOUND:
            raise KeyError(page)
        if np.isnan(self._planned):
            self._plan(to_epoch(now))
        return explain_page(self._forecasts, row, to_epoch(now), (self.name, self.multiplier))

    def state(self) -> Mapping[str, Any]:
        """Return everything learnt."""
        plan = {
            "multiplier": self.multiplier,
            "threshold": self._threshold,
            "planned": self._planned,
        }
        return self.page_states.state() | self._forecasts.state() | plan

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        self.page_states.restore(state)
        self._forecasts.restore(state)
        self.multiplier = float(state["multiplier"])
        self._threshold = float(state["threshold"])
        self._planned = float(state["planned"])

    def _plan(self, moment: float) -> None:
        """Learn prior and clocks when it is time to, and let all pages be scored again."""
        period = moment if self.cadence.in_cycles else moment // HOUR_SECONDS
        if period != self._planned:
            self._forecasts.refit(moment)
            self._planned, self._threshold = period, 0.0
            self._wake(slice(None))

    def _best(
        self, moment: float, k: int, caps: HostCaps, reserve: int
    ) -> tuple[NDArray[np.intp], PageScores, RowPositions]:
        """Return the rows that may be chosen, their scores, and the places of the best."""
        due = np.flatnonzero(self.page_states.column("due") <= moment)
        rows = self.page_states.eligible_rows(moment, caps, candidates=due)
        if self.cadence.in_cycles:
            scores = self._forecasts.page_scores(rows, moment)
        else:
            self._raise_threshold(rows, moment, reserve)
            rows, scores = self._reaching(rows, moment)
        draw = tie_breaker(self.seed, moment)
        return rows, scores, self.page_states.select_top_k(rows, scores.values, k, caps, draw)

    def _raise_threshold(self, rows: NDArray[np.intp], moment: float, reserve: int) -> None:
        """Let about as many pages as the reserve holds reach the threshold, where far more do."""
        if len(rows) <= 2 * reserve:
            return
        sample = np.ascontiguousarray(rows[:: 1 + len(rows) // SAMPLE])
        values = self._forecasts.page_scores(sample, moment).values
        rank = max(1, reserve * len(sample) // len(rows))
        self._threshold = max(self._threshold, float(np.partition(values, -rank)[-rank]))

    def _reaching(
        self, rows: NDArray[np.intp], moment: float
    ) -> tuple[NDArray[np.intp], PageScores]:
        """Return the rows that reach the threshold; the others are due when they may do so."""
        parts, found = [], []
        for part in row_blocks(rows):
            scores = self._forecasts.page_scores(part, moment)
            reaching = scores.values >= self._threshold
            self._wake(part[reaching])
            waits = days_below_multiplier(scores[~reaching], self._threshold, self.objective)
            self.page_states.column("due")[part[~reaching]] = moment + DAY_SECONDS * waits
            parts.append(part[reaching])
            found.append(scores[reaching])
        return np.concatenate(parts), concatenate_scores(found)

    def _most(self, moment: float, caps: HostCaps) -> int:
        """Return how many pages could be chosen at most."""
        hosts = self.page_states.host[self.page_states.eligible_rows(moment, caps)]
        pages = np.bincount(hosts, minlength=len(self.page_states.hosts))
        return int(np.minimum(pages, self.page_states.host_limits(caps)).sum())

    def _follow(self, values: FloatArray) -> None:
        """Let the multiplier follow the value of the last pages that were worth a visit."""
        values = values[np.isfinite(values)]
        if not len(values):
            return
        share = 1.0 if self.cadence.in_cycles else min(1.0, len(values) / SMOOTHING)
        share = share if self.multiplier else 1.0
        self.multiplier += share * (float(values.min()) - self.multiplier)

    def _in_order(self, scores: PageScores, chosen: RowPositions) -> RowPositions:
        """Put chosen pages that were never seen first, then the likeliest to have changed."""
        if self.objective.name == "changes":
            return chosen
        likely = np.nan_to_num(scores.chances[chosen], nan=np.inf)
        return chosen[np.argsort(-likely, kind="stable")]

    def _wake(self, rows: Any) -> None:
        """Let pages be scored at the next choice."""
        self.page_states.column("due")[rows] = -np.inf
