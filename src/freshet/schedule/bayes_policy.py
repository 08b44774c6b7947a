"""The default policy: it values a visit by the posterior over the page's change rate.

A crawl in cycles scores all pages at every plan. A crawl in continuous time refits the prior and
the shared events every hour and scores all pages then. In between it scores only pages that
were visited or fall due: every other page's value is known to stay below a threshold
(``value_threshold``).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.clock import from_epoch, to_epoch
from freshet.core.policy import PolicyReport
from freshet.core.tables import (
    HOUR_SECONDS,
    ChoiceTable,
    HostCaps,
    PageIdArray,
    PageTable,
    PolicyExplanation,
    VisitTable,
)
from freshet.core.types import FloatArray, Forecast
from freshet.schedule.cadence import CELL_COUNT, CrawlCadence
from freshet.schedule.columns import NOT_FOUND, ColumnSpec
from freshet.schedule.due_pages import DUE_COLUMN, DUE_TIMES, DuePages
from freshet.schedule.explanation import explain_page_value
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.kernels.due_pages import rows_without
from freshet.schedule.objectives import (
    OBJECTIVES,
    ObjectiveName,
    PageScores,
    concatenate_scores,
)
from freshet.schedule.page_states import LookBatch, PageStates, RevisitDelays
from freshet.schedule.prior import MAX_FEW_PAGES
from freshet.schedule.sentinels import Sentinels
from freshet.schedule.top_k import RowPositions, kth_highest, tie_breaker
from freshet.schedule.value_threshold import ValueThreshold

SMOOTHING_VISITS = 100
# The prior is fitted again within an hour when looks have grown by so much: few pages soon differ.
FEW_PAGES_GROWTH, MANY_PAGES_GROWTH = 1.25, 2.0


class BayesPolicy:
    """Visits the pages with the highest expected value of a look, given all looks so far.

    ``columns`` are further columns of the page states, for a policy that shares them.
    """

    def __init__(
        self,
        name: str,
        *,
        objective: ObjectiveName,
        cadence: CrawlCadence,
        seed: int = 0,
        delays: RevisitDelays | None = None,
        columns: Mapping[str, ColumnSpec] | None = None,
    ) -> None:
        self.name = name
        self.objective = OBJECTIVES[objective]
        self.cadence = cadence
        self.seed = seed
        self.multiplier = 0.0
        own_columns = {
            "likelihood": ColumnSpec(np.float32, width=CELL_COUNT),
            DUE_COLUMN: DUE_TIMES,
        }
        self.page_states = PageStates(delays, own_columns | dict(columns or {}))
        self._model = self._make_model(self.page_states)
        self.forecast_model = self._model
        self._sentinels = Sentinels(self._model)
        self._due_pages = DuePages(self.page_states)
        self._threshold = ValueThreshold(self._model, self._due_pages, self._sentinels)
        self._fitted_period = np.nan
        self._look_count = self._fitted_look_count = 0

    @property
    def nbytes(self) -> int:
        """Return the memory of everything learned, in bytes."""
        parts = (self.page_states, self._model, self._sentinels, self._due_pages)
        return sum(part.nbytes for part in parts)

    def add(self, pages: PageTable) -> None:
        """Add pages, and update the importance of known ones."""
        self._model.add(self.page_states.add(pages))
        self._due_pages.mark(self.page_states.known_rows(pages.ids))
        self._sentinels.add_hosts()
        self._sentinels.forget_bounds(slice(None))

    def forget(self, pages: PageIdArray) -> None:
        """Remove pages."""
        kept = self.page_states.forget(pages)
        self._model.keep_rows(kept)
        self._sentinels.keep_rows(kept)
        self._due_pages.reset()

    def learn(self, visits: VisitTable) -> None:
        """Learn from visits."""
        self.learn_looks(self.page_states.add_visits(visits))

    def learn_looks(self, looks: LookBatch) -> None:
        """Learn from looks that the page states hold already."""
        self._model.learn(looks)
        self._due_pages.mark(looks.rows)
        self._look_count += len(looks)

    def release(self, pages: PageIdArray) -> None:
        """Make pages that were chosen and not visited available again."""
        self.page_states.release(pages)

    def next_time(self, now: datetime) -> datetime | None:
        """Return when a page can next be chosen."""
        seconds = self.page_states.next_time(to_epoch(now))
        return None if seconds is None else from_epoch(seconds)

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return the k pages of the highest value within host limits, and mark them pending."""
        seconds = to_epoch(now)
        self._refit_if_due(seconds)
        rows, scores, chosen = self._choose_best(seconds, k, caps, self._threshold.reserve(k))
        for reserve in (self._threshold.reserve(k), len(self.page_states)):
            # Pages below the threshold are needed: the reserve is used up, or hosts have no room.
            if len(chosen) < k and self._threshold.fall_back():
                rows, scores, chosen = self._choose_best(seconds, k, caps, reserve)
        if len(chosen) < k and len(chosen) < self.page_states.max_choices(seconds, caps):
            self._threshold.reset()
            rows, scores, chosen = self._choose_best(seconds, k, caps, len(self.page_states))
        values, lowest_value = scores.values[chosen], self._lowest_own_value(rows, scores, k, caps)
        exploratory = self._sentinels.exploratory(rows[chosen], values, lowest_value)
        others = values[~self._sentinels.below_others(rows[chosen], values)]
        self._move_multiplier(others if len(others) else np.full(len(values), lowest_value))
        order = self._order(scores, chosen)
        chosen, exploratory = chosen[order], exploratory[order]
        self._sentinels.await_looks(rows[chosen], seconds)
        self.page_states.mark_pending(rows[chosen])
        if not self.cadence.in_cycles:
            self._threshold.settle((self._fitted_period + 1) * HOUR_SECONDS)
        return ChoiceTable(
            self.page_states.ids[rows[chosen]],
            scores.values[chosen],
            scores.chances[chosen],
            self.page_states.days_since_look(rows[chosen], seconds),
            exploratory,
        )

    def page_scores(self, rows: NDArray[Any], seconds: float) -> PageScores:
        """Return ages, chances of a change and values of the pages in some rows."""
        return self._model.page_scores(rows, seconds)

    def forecast(self, pages: PageIdArray, now: datetime, horizons: FloatArray) -> Forecast:
        """Return the chance that known pages are unchanged after each horizon, in days from now.

        The time since the last look counts too; pages that were never seen count from now.
        """
        seconds = to_epoch(now)
        self._refit_if_due(seconds)
        rows = self.page_states.known_rows(pages)
        survival = self._model.survival(rows, seconds, horizons)
        return Forecast(self.page_states.ids[rows].astype(np.int32), horizons, survival)

    def change_chances(self, pages: PageIdArray, times: FloatArray) -> FloatArray:
        """Return the chance that pages have changed since their last look, by given times.

        It is NaN for pages that were never looked at or are unknown. Value factors do not matter
        to it.
        """
        rows = self.page_states.find_rows(pages)
        is_known = rows != NOT_FOUND
        chances = np.full(len(pages), np.nan)
        chances[is_known] = self._model.change_chances(rows[is_known], times[is_known])
        return chances

    def set_value_factors(self, pages: PageIdArray, factors: FloatArray) -> None:
        """Multiply the values of pages by factors from now on; unknown pages are ignored."""
        rows = self.page_states.find_rows(pages)
        is_known = rows != NOT_FOUND
        rows = rows[is_known]
        self.page_states.value_factor[rows] = factors[is_known]
        self._due_pages.mark(rows)
        self._sentinels.forget_bounds(slice(None))

    def reset_value_factors(self) -> None:
        """Set all factors to 1."""
        is_changed = self.page_states.value_factor != 1
        ids = self.page_states.ids[is_changed]
        self.set_value_factors(ids, np.ones(len(ids)))

    def explain(self, page: int, now: datetime) -> PolicyExplanation:
        """Return the figures behind a page's value."""
        row = int(self.page_states.find_rows(np.array([page], np.int64))[0])
        if row == NOT_FOUND:
            raise KeyError(page)
        if np.isnan(self._fitted_period):
            self._refit_if_due(to_epoch(now))
        plan, rows = (self.name, self.multiplier), np.array([row])
        explanation = explain_page_value(self._model, row, to_epoch(now), plan)
        bonuses = self._sentinels.bonuses(rows, to_epoch(now), self.multiplier)
        return replace(explanation, exploration_value=float(bonuses[0]))

    def refit(self, now: datetime) -> None:
        """Fit the prior and the shared events to all looks, unless the last fit of the hour did."""
        self._refit_if_due(to_epoch(now), growth=1.0)

    def report(self) -> PolicyReport:
        """Return the multiplier, which cannot be learned again from visits."""
        return PolicyReport(self.name, {}, {"multiplier": self.multiplier})

    def resume(self, report: PolicyReport) -> None:
        """Continue with the multiplier of a report."""
        multiplier = report.memory.get("multiplier", 0.0)
        self.multiplier = multiplier if 0.0 < multiplier < np.inf else self.multiplier

    def state(self) -> Mapping[str, Any]:
        """Return everything learned, as plain arrays and numbers."""
        plan = {
            "multiplier": self.multiplier,
            "threshold": self._threshold.value,
            "moved_hosts": self._threshold.moved_hosts,
            "planned": self._fitted_period,
            "look_count": self._look_count,
            "fitted_look_count": self._fitted_look_count,
        }
        return self.page_states.state() | self._model.state() | self._sentinels.state() | plan

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self.page_states.restore(state)
        self._model.restore(state)
        self._sentinels.restore(state)
        self.multiplier = float(state["multiplier"])
        self._due_pages.reset()
        self._threshold.restore(float(state["threshold"]), state["moved_hosts"])
        self._fitted_period = float(state["planned"])
        self._look_count = int(state["look_count"])
        self._fitted_look_count = int(state["fitted_look_count"])

    def _make_model(self, page_states: PageStates) -> ForecastModel:
        return ForecastModel(page_states, self.objective, self.cadence, self.seed)

    def _refit_if_due(self, seconds: float, growth: float | None = None) -> None:
        """Refit once per period and when looks have grown, and mark all pages for scoring."""
        if growth is None:
            has_few_pages = len(self.page_states) <= MAX_FEW_PAGES
            growth = FEW_PAGES_GROWTH if has_few_pages else MANY_PAGES_GROWTH
        period = seconds if self.cadence.in_cycles else seconds // HOUR_SECONDS
        if period != self._fitted_period or self._look_count > growth * self._fitted_look_count:
            self.page_states.bound_times(seconds)
            self._model.refit(seconds)
            self._fitted_period, self._fitted_look_count = period, self._look_count
            self._threshold.reset()
            self._sentinels.reset()
        elif len(hosts := self._model.refit_events(seconds, all_moved=False)):
            self._threshold.mark_hosts(hosts)
            self._sentinels.forget_bounds(hosts)

    def _choose_best(
        self, seconds: float, k: int, caps: HostCaps, reserve: int
    ) -> tuple[NDArray[np.intp], PageScores, RowPositions]:
        """Return the rows that may be chosen, their scores, and the positions of the k best."""
        bounds = self._threshold.value_moved_hosts(seconds, caps, reserve)
        rows, scores, chosen = self._choose_rows(seconds, k, caps, reserve)
        lowest_value = self._lowest_own_value(rows, scores, k, caps)
        if self._threshold.lower_levels(rows[chosen], lowest_value, caps):
            self._threshold.value_moved_hosts(seconds, caps, reserve, bounds)
            rows, scores, chosen = self._choose_rows(seconds, k, caps, reserve)
        return rows, scores, chosen

    def _choose_rows(
        self, seconds: float, k: int, caps: HostCaps, reserve: int
    ) -> tuple[NDArray[np.intp], PageScores, RowPositions]:
        """Return the rows above the threshold, their scores, and the positions of the k best."""
        due = self._due_pages.rows(seconds)
        rows = self.page_states.eligible_rows(seconds, caps, candidates=due)
        if self.cadence.in_cycles:
            scores = self._model.page_scores(rows, seconds)
            self._sentinels.consider(rows, scores.values)
        else:
            rows, scores = self._threshold.rows_above(rows, seconds, reserve)
        draw = tie_breaker(self.seed, seconds)
        ranks = self._ranks(rows, scores, seconds)
        chosen = self.page_states.select_top_k(rows, ranks, k, caps, draw)
        threshold = self._threshold.value
        lowest = float(ranks[chosen].min(initial=np.inf)) if len(chosen) == k else threshold
        sentinels = self._sentinels.worth(lowest, self._threshold.highest, self.multiplier)
        candidates = self.page_states.eligible_rows(seconds, caps, candidates=sentinels)
        added = rows_without(candidates, rows)
        if not len(added):
            return rows, scores, chosen
        rows = np.concatenate((rows, added))
        scores = concatenate_scores([scores, self._model.page_scores(added, seconds)])
        ranks = self._ranks(rows, scores, seconds)
        is_above = ranks >= threshold
        rows, scores, ranks = rows[is_above], scores[is_above], ranks[is_above]
        return rows, scores, self.page_states.select_top_k(rows, ranks, k, caps, draw)

    def _ranks(self, rows: NDArray[np.intp], scores: PageScores, seconds: float) -> FloatArray:
        """Return values with the bonuses of sentinels, whose bounds are set."""
        self._sentinels.set_bounds(rows, scores, seconds)
        return scores.values + self._sentinels.bonuses(rows, seconds, self.multiplier)

    def _lowest_own_value(
        self, rows: NDArray[np.intp], scores: PageScores, k: int, caps: HostCaps
    ) -> float:
        """Return the lowest value among the k pages of the highest own value within host limits.

        It is minus infinity if there are fewer pages.
        """
        if self.page_states.are_unlimited(caps, k):
            return kth_highest(scores.values, k)
        best = self.page_states.select_top_k(rows, scores.values, k, caps, tie_breaker(self.seed))
        return float(scores.values[best].min()) if 0 < k == len(best) else -np.inf

    def _move_multiplier(self, values: FloatArray) -> None:
        """Move the multiplier towards the lowest value among the chosen pages."""
        values = values[np.isfinite(values)]
        if not len(values):
            return
        weight = 1.0 if self.cadence.in_cycles else min(1.0, len(values) / SMOOTHING_VISITS)
        weight = weight if self.multiplier else 1.0
        self.multiplier += weight * (float(values.min()) - self.multiplier)

    def _order(self, scores: PageScores, chosen: RowPositions) -> RowPositions:
        """Return the order of chosen pages: never seen ones, then by the chance of a change."""
        likely = np.nan_to_num(scores.chances[chosen], nan=np.inf)
        return np.argsort(-likely, kind="stable")
