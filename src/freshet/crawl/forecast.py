"""How likely a page is to have changed by when, given how long its last look is ago."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import expm1

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import Clock
from freshet.core.errors import UsageError
from freshet.core.humanize import change_interval_text, percent_text
from freshet.core.settings import Settings
from freshet.core.tables import DAY_SECONDS, PolicyExplanation
from freshet.core.types import Page, Visit
from freshet.crawl.live_policy import build_live_policy
from freshet.crawl.obstacles import obstacle_of
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.policies import BAYES_POLICIES

HORIZONS_DAYS = (0.0, 1 / 24, 0.25, 1.0, 7.0, 30.0)
TOMORROW_DAYS = 1.0
FEW_LOOKS = 4
SAME_CHANCE = 0.1
DEFAULT_FORECAST_POLICY = "bayes-freshness"


@dataclass(frozen=True, slots=True)
class ForecastHorizon:
    """How likely the page differs, by a time, from what its last look showed."""

    days: float
    by: datetime
    changed: float


@dataclass(frozen=True, slots=True)
class PageForecast:
    """What is expected of one page, and what that rests on.

    Rates are changes a day, with the bounds of 90 % of their probability. ``last_look`` is None for
    a page that was never seen: its horizons count from now. ``change_days`` is the time after a
    look by which a change is 63 % likely, and ``prior_change_days`` that of pages like it: both
    come from the distribution that gives the horizons. ``obstacle`` says what the last visit met
    where it showed no content; such a page has no forecast in words.
    """

    page: Page
    made: datetime
    last_look: datetime | None
    looks: int
    changes: int
    rate: float | None
    rate_low: float | None
    rate_high: float | None
    horizons: tuple[ForecastHorizon, ...]
    change_days: float | None = None
    prior_change_days: float | None = None
    obstacle: str = ""

    @property
    def sentence(self) -> str:
        """Say how often the page changes, and how likely it has by tomorrow."""
        if self.obstacle:
            return f"none; {self.obstacle}"
        likely = f"{percent_text(self.tomorrow)} likely to have changed by tomorrow"
        if not self.looks:
            return f"not known yet; by pages like it, {likely}"
        return f"{self.how_often}; {likely}" if self.how_often else likely

    @property
    def tomorrow(self) -> float:
        """Return how likely the page has changed by tomorrow."""
        return next(item.changed for item in self.horizons if item.days == TOMORROW_DAYS)

    @property
    def how_often(self) -> str:
        """Say how often the page changes, as far as its own looks tell.

        An interval is named only where the chance of a change by tomorrow is about that of a page
        that changes so often: while little is known, the two can be far apart.
        """
        if not self.looks or self.change_days is None:
            return ""
        often = change_interval_text(self.change_days) if self._agrees(self.change_days) else ""
        if self.looks < FEW_LOOKS:
            looks = "1 comparison" if self.looks == 1 else f"{self.looks} comparisons"
            return f"not well known yet, {often} by {looks}" if often else "not well known yet"
        return f"changes {often}" if often else ""

    def _agrees(self, change_days: float) -> bool:
        """Whether a page that changes so often is about as likely to have changed by tomorrow."""
        age = self.made - self.last_look if self.last_look else timedelta(0)
        days = TOMORROW_DAYS + age / timedelta(days=1)
        return abs(self.tomorrow + expm1(-days / change_days)) <= SAME_CHANCE


def forecast(catalog: Catalog, settings: Settings, page: Page, clock: Clock) -> PageForecast:
    """Return what is expected of a live page."""
    if page.source:
        raise UsageError(
            f"{page.url} is a history imported from {page.source}; "
            f"only live pages have forecasts: 'freshet add {page.url}' makes it one"
        )
    return forecasts(catalog, settings, [page], clock.now())[0]


def forecasts(
    catalog: Catalog, settings: Settings, pages: Sequence[Page], now: datetime
) -> list[PageForecast]:
    """Return what is expected of live pages."""
    policy = build_live_policy(catalog, _forecasting(settings))
    if not isinstance(policy, BayesPolicy):
        raise TypeError(f"{policy.name} makes no forecasts")
    ids = np.array([page.id for page in pages], np.int64)
    survival = policy.forecast(ids, now, np.array(HORIZONS_DAYS)).survival
    last_visits = catalog.last_visits([page.id for page in pages])
    visits = [last_visits[page.id].visit if page.id in last_visits else None for page in pages]
    return [
        _forecast(page, visit, policy.explain(page.id, now), (now, row.tolist()))
        for page, visit, row in zip(pages, visits, survival, strict=True)
    ]


def _forecasting(settings: Settings) -> Settings:
    """Return settings whose policy forecasts, as neither classic rules nor formulas do."""
    return (
        replace(settings, policy=DEFAULT_FORECAST_POLICY)
        if settings.policy not in ("", *BAYES_POLICIES)
        else settings
    )


def _forecast(
    page: Page,
    last_visit: Visit | None,
    found: PolicyExplanation,
    at: tuple[datetime, Sequence[float]],
) -> PageForecast:
    now, survival = at
    horizons = (
        ForecastHorizon(days, now + timedelta(days=days), max(0.0, 1.0 - still))
        for days, still in zip(HORIZONS_DAYS, survival, strict=True)
    )
    return PageForecast(
        page, now, _last_look(found, now), found.looks, found.changes, found.rate, found.rate_low,
        found.rate_high, tuple(horizons), found.change_days, found.prior_change_days,
        obstacle_of(last_visit),
    )  # fmt: skip


def _last_look(found: PolicyExplanation, now: datetime) -> datetime | None:
    if found.age_days == float("inf"):
        return None
    return now - timedelta(seconds=found.age_days * DAY_SECONDS)
