"""The default policy: it values a visit by the posterior over the page's change rate.

A crawl in cycles scores all pages at every plan. A crawl in continuous time refits the prior and
the shared events every hour and scores all pages then. In between it scores only pages that
were visited or fall due: every other page's value is known to stay below a threshold. The threshold
is the value of the last page of a small reserve, so that the best pages are always among those due.
When the reserve is used up, the candidates of the hour are scored again: a larger reserve, found at
the first choice of the hour.
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
    DAY_SECONDS,
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
from freshet.schedule.columns import NOT_FOUND, ColumnSpec, row_blocks
from freshet.schedule.due_pages import DuePages
from freshet.schedule.explanation import explain_page_value
from freshet.schedule.forecast_model import ForecastModel
from freshet.schedule.host_bounds import host_bounds
from freshet.schedule.kernels.due_pages import rows_without
from freshet.schedule.objectives import (
    OBJECTIVES,
    ObjectiveName,
    PageScores,
    concatenate_scores,
    days_below_multiplier,
)
from freshet.schedule.page_states import LookBatch, PageStates, RevisitDelays
from freshet.schedule.sentinels import Sentinels
from freshet.schedule.top_k import RowPositions, kth_highest, tie_breaker

MIN_RESERVE, RESERVE_SHARE, MAX_RESERVE_RATIO = 1024, 256, 1.25
# The pages of a host with so many pages are scored after an event only if a bound allows it.
MIN_BOUNDED_PAGES = 4096
MAX_THRESHOLD_SAMPLE, MAX_ROWS_SCORED_AT_ONCE = 1 << 16, 1 << 18
SMOOTHING_VISITS = 100


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
            "due": ColumnSpec(np.float64, -np.inf),
        }
        self.page_states = PageStates(delays, own_columns | dict(columns or {}))
        self._model = ForecastModel(self.page_states, self.objective, cadence, seed)
        self._sentinels = Sentinels(self._model)
        self._due_pages = DuePages(self.page_states)
        self._threshold, self._reserve_threshold = 0.0, 0.0
        self._moved_hosts: list[int] = []
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
        self._defer_pages_of_moved_hosts(seconds, caps)
        rows, scores, chosen = self._choose_rows(seconds, k, caps, self._reserve(k))
        for reserve in (self._reserve(k), len(self.page_states)):
            # Pages below the threshold are needed: the reserve is used up, or hosts have no room.
            if len(chosen) < k and self._threshold > self._reserve_threshold:
                self._threshold = self._reserve_threshold
                self._due_pages.mark_candidates()
                rows, scores, chosen = self._choose_rows(seconds, k, caps, reserve)
        if len(chosen) < k and len(chosen) < self.page_states.max_choices(seconds, caps):
            self._threshold = 0.0
            self._due_pages.mark_all()
            rows, scores, chosen = self._choose_rows(seconds, k, caps, len(self.page_states))
        values, lowest_value = scores.values[chosen], self._lowest_own_value(rows, scores, k, caps)
        exploratory = self._sentinels.exploratory(rows[chosen], values, lowest_value)
        others = values[~self._sentinels.below_others(rows[chosen], values)]
        self._move_multiplier(others if len(others) else np.full(len(values), lowest_value))
        order = self._order(scores, chosen)
        chosen, exploratory = chosen[order], exploratory[order]
        self._sentinels.await_looks(rows[chosen], seconds)
        self.page_states.mark_pending(rows[chosen])
        if not self.cadence.in_cycles:
            self._settle()
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

    def days_to_first_change(self, rows: NDArray[Any], gap_days: FloatArray) -> FloatArray:
        """Return the expected days from a look to the first change, if it came within a gap."""
        return self._model.days_to_first_change(rows, gap_days)

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
        """Fit the prior and the shared events, unless that was done in the same hour before."""
        self._refit_if_due(to_epoch(now))

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
            "threshold": self._threshold,
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
        self._threshold = float(state["threshold"])
        self._fitted_period = float(state["planned"])
        self._look_count = int(state["look_count"])
        self._fitted_look_count = int(state["fitted_look_count"])

    def _refit_if_due(self, seconds: float) -> None:
        """Refit once per period and when looks have doubled, and mark all pages for scoring."""
        period = seconds if self.cadence.in_cycles else seconds // HOUR_SECONDS
        if period != self._fitted_period or self._look_count > 2 * self._fitted_look_count:
            self.page_states.bound_times(seconds)
            self._model.refit(seconds)
            self._fitted_period, self._threshold = period, 0.0
            self._fitted_look_count = self._look_count
            self._due_pages.mark_all()
            self._sentinels.reset()
        elif len(hosts := self._model.refit_events(seconds, all_moved=False)):
            self._due_pages.mark_hosts(hosts)
            self._sentinels.forget_bounds(hosts)
            self._moved_hosts += self._model.large_hosts(hosts, MIN_BOUNDED_PAGES).tolist()

    def _reserve(self, k: int) -> int:
        """Return how many pages reach the threshold: more at the first choice of a period."""
        pages = len(self.page_states) // RESERVE_SHARE if self._due_pages.are_all else 0
        return k + max(MIN_RESERVE, pages)

    def _settle(self) -> None:
        """Find the candidates of the period after its first choice."""
        if self._due_pages.are_all:
            self._due_pages.settle((self._fitted_period + 1) * HOUR_SECONDS)
            self._reserve_threshold = self._threshold

    def _defer_pages_of_moved_hosts(self, seconds: float, caps: HostCaps) -> None:
        """Defer pages of large hosts whose events moved and whose value has a low bound.

        The threshold is raised if very many pages of the host may be among the best. Pages that may
        be the best of their host are not deferred, because one of them is its sentinel.
        """
        hosts, self._moved_hosts = set(self._moved_hosts), []
        if self._due_pages.are_all or self.cadence.in_cycles:
            return
        limits = self.page_states.host_limits(caps)
        for host in sorted(hosts):
            rows = self._due_pages.rows_of_hosts(np.array([host]))
            bounds = host_bounds(self._model, host, rows, seconds)
            if bounds is None:
                continue
            if limits[host] > 0:
                self._threshold = max(self._threshold, bounds.level_of(2 * MIN_RESERVE))
            best = self._model.page_scores(bounds.best_rows, seconds).values
            limit = min(self._threshold, float(best.min(initial=np.inf)))
            bounds.defer(self._model, limit, self._threshold, seconds)

    def _defer(self, rows: NDArray[np.intp], scores: PageScores, seconds: float) -> None:
        """Set when pages below the threshold may reach it, if nothing else is learned."""
        scores = replace(scores, ages=self._model.growth_days(rows, scores.ages, seconds))
        days = days_below_multiplier(scores, self._threshold)
        self._due_pages.defer(rows, seconds + DAY_SECONDS * days)

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
            rows, scores = self._rows_above_threshold(rows, seconds, reserve)
        draw = tie_breaker(self.seed, seconds)
        ranks = self._ranks(rows, scores, seconds)
        chosen = self.page_states.select_top_k(rows, ranks, k, caps, draw)
        lowest = float(ranks[chosen].min(initial=np.inf)) if len(chosen) == k else self._threshold
        sentinels = self._sentinels.worth(lowest, self._threshold, self.multiplier)
        candidates = self.page_states.eligible_rows(seconds, caps, candidates=sentinels)
        added = rows_without(candidates, rows)
        if not len(added):
            return rows, scores, chosen
        rows = np.concatenate((rows, added))
        scores = concatenate_scores([scores, self._model.page_scores(added, seconds)])
        ranks = self._ranks(rows, scores, seconds)
        is_above = ranks >= self._threshold
        rows, scores, ranks = rows[is_above], scores[is_above], ranks[is_above]
        return rows, scores, self.page_states.select_top_k(rows, ranks, k, caps, draw)

    def _ranks(self, rows: NDArray[np.intp], scores: PageScores, seconds: float) -> FloatArray:
        """Return values with the bonuses of sentinels, whose bounds are set."""
        self._sentinels.set_bounds(rows, scores, seconds)
        return scores.values + self._sentinels.bonuses(rows, seconds, self.multiplier)

    def _rows_above_threshold(
        self, rows: NDArray[np.intp], seconds: float, reserve: int
    ) -> tuple[NDArray[np.intp], PageScores]:
        """Return the rows that reach the threshold; the others fall due when they may reach it.

        The threshold is raised so that about ``reserve`` pages reach it, if far more do now. Of
        very many rows a sample is scored for that first.
        """
        blocks = [rows]
        if len(rows) > MAX_ROWS_SCORED_AT_ONCE:
            sample = np.ascontiguousarray(rows[:: 1 + len(rows) // MAX_THRESHOLD_SAMPLE])
            values = self._model.page_scores(sample, seconds).values
            self._raise_threshold(values, reserve * len(sample) // len(rows))
            blocks = list(row_blocks(rows))
        row_parts, score_parts = [], []
        for block in blocks:
            scores = self._model.page_scores(block, seconds)
            self._sentinels.consider(block, scores.values)
            if len(blocks) == 1:
                self._raise_threshold(scores.values, reserve)
            is_above = scores.values >= self._threshold
            self._due_pages.defer(block[is_above], -np.inf)
            self._defer(block[~is_above], scores[~is_above], seconds)
            row_parts.append(block[is_above])
            score_parts.append(scores[is_above])
        return np.concatenate(row_parts), concatenate_scores(score_parts)

    def _raise_threshold(self, values: FloatArray, reserve: int) -> None:
        """Raise the threshold to the value of the last page of the reserve, if it is exceeded."""
        if len(values) > MAX_RESERVE_RATIO * reserve:
            rank = max(1, reserve)
            self._threshold = max(self._threshold, float(np.partition(values, -rank)[-rank]))

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
