"""Which pages a crawl visits: by coins with forecast chances, or by a policy of Freshet."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from experiments.content_change.crawl_log import CrawlLog, chance_since, labels_of_looks
from experiments.content_change.pooled import LOOK_FEATURES, PooledSettings, chance_of_change
from experiments.content_change.protocol import (
    NO_SELECTION,
    SELECTIONS,
    ForecastTask,
    forecast_methods,
    forecast_own,
)
from freshet.backtest.cycle_crawl import build_visit_table
from freshet.core.clock import from_epoch
from freshet.core.content.content_grid import ContentGrid, changed_steps
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.tables import HostCaps, PageTable
from freshet.core.types import FloatArray, IndexArray
from freshet.features.look_patterns import LookPatterns
from freshet.features.visit_features import FeatureArray, VisitFeatures
from freshet.predict.expert_problem import SlidingSettings
from freshet.predict.pooled_forecaster import PooledForecaster
from freshet.predict.sliding_window import ForecastMethod
from freshet.schedule.policies import make_policy

EQUAL_CHANCE, LEAST_COIN_CHANCE, LEAST_RATE = 0.5, 0.01, 0.001
CRAWL_PENALTIES = (0.03,)


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """Visits a day as a share of the pages, and when methods are trained.

    In the first steps, before the first training, all pages have the same chance.
    """

    budget_share: float = 0.1
    steps_between_trainings: int = 20
    experts: int = 20
    sliding: SlidingSettings = field(
        default_factory=lambda: SlidingSettings(penalties=CRAWL_PENALTIES)
    )

    def is_training_step(self, step: int) -> bool:
        """Say whether methods are trained at a step."""
        return step > 0 and step % self.steps_between_trainings == 0


class PageChooser(Protocol):
    """Chooses the pages to visit, and learns from the visits."""

    def choose(self, log: CrawlLog, step: int, count: int) -> IndexArray:
        """Return the pages to visit at a step."""

    def learn(self, looks: MeasuredLooks) -> None:
        """Learn what looks have found."""


class ChanceForecast(Protocol):
    """Forecasts the chance of a change of each page."""

    def chances(self, log: CrawlLog, step: int) -> FloatArray:
        """Return the chances at a step, by what the crawl saw before."""

    def learn(self, looks: MeasuredLooks) -> None:
        """Learn what looks have found."""


class CoinChooser:
    """Visits a page if a coin with its chance shows heads (section 8.3).

    If there are more heads than visits, they are chosen at random among them; if there are fewer,
    coins are thrown again for the other pages.
    """

    def __init__(self, forecast: ChanceForecast, seed: int) -> None:
        self._forecast = forecast
        self._rng = np.random.default_rng(seed)

    def choose(self, log: CrawlLog, step: int, count: int) -> IndexArray:
        """Return the pages to visit at a step."""
        return throw_coins(self._forecast.chances(log, step), count, self._rng)

    def learn(self, looks: MeasuredLooks) -> None:
        """Learn what looks have found."""
        self._forecast.learn(looks)


def throw_coins(chances: FloatArray, count: int, rng: np.random.Generator) -> IndexArray:
    """Return ``count`` different pages whose coins showed heads, in random order."""
    bounded = np.clip(chances, LEAST_COIN_CHANCE, 1.0)
    waiting = rng.permutation(len(chances)).astype(np.int32)
    chosen = waiting[:0]
    while len(chosen) < min(count, len(chances)):
        is_head = rng.random(len(waiting)) < bounded[waiting]
        chosen = np.concatenate([chosen, waiting[is_head]])[:count]
        waiting = waiting[~is_head]
    return chosen


class WindowForecast:
    """The daily chances of a method that slides over the steps, trained now and then.

    Days without a look have the version before. With ``since_last_look`` the coin has the chance
    of a change since the last look; the paper takes that of one day.
    """

    def __init__(
        self,
        method: ForecastMethod,
        settings: CrawlSettings,
        *,
        selection: str = NO_SELECTION,
        since_last_look: bool = False,
    ) -> None:
        self._method, self._selection = method, selection
        self._settings = settings
        self._since_last_look = since_last_look
        self._daily: FloatArray = np.empty(0)

    def chances(self, log: CrawlLog, step: int) -> FloatArray:
        """Return the chances at a step, by what the crawl saw before."""
        if self._settings.is_training_step(step):
            self._daily = self._forecast(log.known_grid(step))
        if not len(self._daily):
            return np.full(log.recorded.page_count, EQUAL_CHANCE)
        if not self._since_last_look:
            return self._daily
        return chance_since(self._daily, step - log.last_looks)

    def learn(self, looks: MeasuredLooks) -> None:
        """Do nothing: the log has all looks."""

    def _forecast(self, grid: ContentGrid) -> FloatArray:
        """Return the chances of the last label of a grid, which is not known."""
        labels = labels_of_looks(grid.versions, grid.text_hashes)
        pages = np.arange(grid.page_count, dtype=np.int32)
        task = ForecastTask(grid, labels, pages, self._settings.sliding)
        if self._selection:
            related = SELECTIONS[self._selection].related(grid, self._settings.experts)
            forecasts = forecast_methods(task, related, (self._method,), self._selection)
        else:
            forecasts = forecast_own(task, (self._method,))
        return forecasts[0].probabilities[:, -1]


class PooledForecast:
    """The chance that a look finds a change, by one model over all looks of the crawl."""

    def __init__(self, grid: ContentGrid, settings: CrawlSettings) -> None:
        _, hosts = np.unique(grid.hosts, return_inverse=True)
        self._visits = VisitFeatures(hosts.astype(np.int32))
        self._patterns = LookPatterns(grid.page_count)
        self._settings = settings
        self._rows: list[FeatureArray] = []
        self._labels: list[IndexArray] = []
        self._model: PooledForecaster | None = None

    def chances(self, log: CrawlLog, step: int) -> FloatArray:
        """Return the chances at a step, by what the crawl saw before."""
        if self._settings.is_training_step(step):
            labels = np.concatenate(self._labels)
            model = PooledSettings().make_model(LOOK_FEATURES)
            self._model = model.fit(np.concatenate(self._rows), labels)
        pages = np.arange(log.recorded.page_count, dtype=np.int32)
        if self._model is None:
            return np.full(len(pages), EQUAL_CHANCE)
        times = np.full(len(pages), log.recorded.times[step])
        rows = np.concatenate([self._visits.at(pages, times), self._patterns.at(pages)], axis=1)
        return chance_of_change(self._model, self._model.predict_proba(rows))

    def learn(self, looks: MeasuredLooks) -> None:
        """Learn what looks have found."""
        rows = np.concatenate(
            [self._visits.add_looks(looks), self._patterns.add_looks(looks)], axis=1
        )
        self._rows.append(rows[looks.measured])
        self._labels.append(looks.changed[looks.measured].astype(np.int32))


class KnownRateChooser:
    """Visits by the true daily rate of change of each page, which no crawl knows.

    The value of a visit is Whittle's index for freshness of a page that changes on any day with
    the same chance. A page with a low rate has a high value only when it is old.
    """

    def __init__(self, grid: ContentGrid) -> None:
        labels = changed_steps(grid)
        known = np.maximum((labels >= 0).sum(axis=1), 1)
        self._rates = np.clip((labels == 1).sum(axis=1) / known, LEAST_RATE, 1 - LEAST_RATE)

    def choose(self, log: CrawlLog, step: int, count: int) -> IndexArray:
        """Return the pages to visit at a step."""
        ages = step - log.last_looks
        fresh_chances = (1 - self._rates) ** ages
        values = (1 - fresh_chances) / self._rates - ages * fresh_chances
        return np.argsort(-values, kind="stable")[:count].astype(np.int32)

    def learn(self, looks: MeasuredLooks) -> None:
        """Do nothing: the rates are known."""


class PolicyChooser:
    """Visits what a policy of Freshet chooses."""

    def __init__(self, grid: ContentGrid, name: str, seed: int) -> None:
        self.policy = make_policy(name, seed=seed)
        self.policy.add(page_table(grid))

    def choose(self, log: CrawlLog, step: int, count: int) -> IndexArray:
        """Return the pages to visit at a step."""
        now = from_epoch(float(log.recorded.times[step]))
        return self.policy.choose(now, count, HostCaps()).pages.astype(np.int32)

    def learn(self, looks: MeasuredLooks) -> None:
        """Learn what looks have found."""
        pages = looks.pages.astype(np.int64)
        visits = build_visit_table(
            pages, float(looks.times[0]), looks.changed, measured=looks.measured
        )
        self.policy.learn(visits)


def page_table(grid: ContentGrid) -> PageTable:
    """Return the pages of a grid as the table that a policy takes; their ids are their rows."""
    ids = np.arange(grid.page_count, dtype=np.int64)
    unknown = np.full(len(ids), np.nan)
    return PageTable(ids, grid.hosts, grid.hosts, grid.hosts, np.ones(len(ids)), unknown)
