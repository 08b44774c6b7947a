"""The outlook of a collection: forecasts, plan and explanations, all from one policy.

A command builds a policy for each question. A server answers many questions, so it keeps one and
builds it again from time to time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

import numpy as np

from freshet.core.settings import planning_objective
from freshet.core.tables import DAY_SECONDS, BoolArray, PageIdArray
from freshet.core.types import FloatArray, Page, PlannedVisit
from freshet.crawl.forecast import PageForecast, forecast_policy, forecasts, require_live
from freshet.crawl.link_forecast import link_forecast_policy
from freshet.crawl.plan import HORIZON, CrawlPreview, with_scores
from freshet.crawl.threads.post_curves import forecast_threads, survival_with_posts
from freshet.crawl.why import (
    MAX_PREVIEWED_VISITS,
    ExpectedTimes,
    ScheduleExplanation,
    explain_with_preview,
)
from freshet.record.collection_store import CollectionStore
from freshet.schedule.mixture.guarded_policy import GuardedPolicy

LOW_CHANCE, MEDIAN_CHANCE, HIGH_CHANCE = 0.1, 0.5, 0.9
# From a minute to ten years after the moment of the forecast.
HORIZONS_DAYS = np.concatenate([[0.0], np.geomspace(1 / 1440, 3652.5, 96)])


@dataclass(frozen=True, slots=True)
class NextChange:
    """When a page is expected to differ from its last look.

    ``now`` is the chance that it differs already. ``median`` is the time by which that is as likely
    as not, ``low`` and ``high`` those of 10 and 90 %: the 80 % interval. A time is None if it is
    more than ten years away.
    """

    page: int
    now: float
    low: datetime | None
    median: datetime | None
    high: datetime | None


class CrawlOutlook:
    """What a crawl of a collection expects and would do, as of the moment ``made``.

    ``freshness`` is the mean chance that the last look at a live page still shows it as it is; a
    page never seen is not fresh, and without pages it is None. ``planned`` are the next visits in
    the order of time.
    """

    def __init__(self, collection: CollectionStore) -> None:
        self._collection = collection
        batches = collection.catalog.live_page_columns()
        self._ids = np.array([page_id for batch in batches for page_id in batch.ids], np.int64)
        self._preview = CrawlPreview(collection, collection.planning_settings())
        self.made = self._preview.now
        self.budget = self._preview.budget
        self.policy = self._preview.policy.name
        self.objective = planning_objective(self._preview.settings)
        self._forecast_policy = forecast_policy(
            collection, self.made, planning_policy=self._preview.policy
        )
        self._link_policy = link_forecast_policy(collection, self.made)
        self.freshness = self._mean_freshness()
        visits = list(islice(self._preview.visits(), MAX_PREVIEWED_VISITS))
        self.planned: Sequence[PlannedVisit] = with_scores(
            sorted(visits, key=lambda visit: visit.expected)
        )
        self.planned_by_page = {visit.page.id: visit for visit in self.planned}
        is_cut = len(visits) == MAX_PREVIEWED_VISITS
        self._expected_times = ExpectedTimes(
            {visit.page.id: visit.expected for visit in visits},
            visits[-1].expected if is_cut else self.made + HORIZON,
        )

    def knows(self, page: Page) -> bool:
        """Whether a page is live, and was when the outlook was made."""
        return bool(self._is_known(np.array([page.id], np.int64))[0])

    def why(self, page: Page) -> ScheduleExplanation:
        """Explain when and why a page is visited next."""
        return explain_with_preview(self._collection, page, self._preview, self._expected_times)

    def forecast(self, page: Page) -> PageForecast:
        """Return the forecast of a live page."""
        require_live([page])
        return forecasts(
            self._collection,
            [page],
            self.made,
            policy=self._forecast_policy,
            link_policy=self._link_policy,
        )[0]

    def next_changes(self, pages: Sequence[Page]) -> dict[int, NextChange]:
        """Return when live pages are expected to change, by page id.

        A new post of a thread is a change. A learned model of changes is not used. Pages that were
        added after the outlook was made are left out.
        """
        ids = np.array([page.id for page in pages], np.int64)
        ids = ids[self._is_known(ids)]
        if not len(ids):
            return {}
        page_ids, hazard = ids.tolist(), self._preview.post_model.hazard
        survival = self._forecast_policy.forecast(ids, self.made, HORIZONS_DAYS).survival
        threads = forecast_threads(
            self._collection.catalog, hazard, page_ids, self.made, HORIZONS_DAYS
        )
        chances = 1.0 - survival_with_posts(survival, page_ids, threads)
        return {
            page_id: self._next_change(page_id, np.maximum.accumulate(row))
            for page_id, row in zip(page_ids, chances, strict=True)
        }

    def _is_known(self, ids: PageIdArray) -> BoolArray:
        """Return which ids are those of live pages; the search does not read all of them."""
        if not len(self._ids):
            return np.zeros(len(ids), np.bool_)
        rows = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        is_known: BoolArray = self._ids[rows] == ids
        return is_known

    def _mean_freshness(self) -> float | None:
        """Return the mean chance that the last look at a live page still shows it as it is."""
        if not len(self._ids):
            return None
        policy = self._forecast_policy
        states = (policy.default if isinstance(policy, GuardedPolicy) else policy).page_states
        is_seen = np.isfinite(states.last_look[states.find_rows(self._ids)])
        survival = policy.forecast(self._ids, self.made, np.zeros(1)).survival[:, 0]
        return float(np.where(is_seen, survival, 0.0).mean())

    def _next_change(self, page_id: int, chances: FloatArray) -> NextChange:
        low, median, high = (
            self._time_of_chance(chances, chance)
            for chance in (LOW_CHANCE, MEDIAN_CHANCE, HIGH_CHANCE)
        )
        return NextChange(page_id, float(chances[0]), low, median, high)

    def _time_of_chance(self, chances: FloatArray, chance: float) -> datetime | None:
        """Return when a chance that grows with the horizons reaches a value."""
        if not chances[-1] >= chance:
            return None
        days = float(np.interp(chance, chances, HORIZONS_DAYS)) if chances[0] < chance else 0.0
        return self.made + timedelta(seconds=days * DAY_SECONDS)
