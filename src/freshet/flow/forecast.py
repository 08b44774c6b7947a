"""How likely a page is to have changed by when, given how long its last look is ago."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from freshet.archive.catalog.base import Catalog
from freshet.core.clock import Clock
from freshet.core.errors import UsageError
from freshet.core.settings import Settings
from freshet.core.tables import DAY_SECONDS, Explanation
from freshet.core.types import Page
from freshet.flow.planning import informed_policy
from freshet.schedule.bayes import BayesPolicy
from freshet.schedule.policies import BAYES

HORIZONS_DAYS = (0.0, 1 / 24, 0.25, 1.0, 7.0, 30.0)
USUAL = "bayes-freshness"


@dataclass(frozen=True, slots=True)
class Horizon:
    """How likely the page differs, by a time, from what its last look showed."""

    days: float
    by: datetime
    changed: float


@dataclass(frozen=True, slots=True)
class PageForecast:
    """What is expected of one page, and what that rests on.

    Rates are changes a day, with the bounds of 90 % of their probability. ``last_look`` is None for
    a page that was never seen: its horizons count from now.
    """

    page: Page
    made: datetime
    last_look: datetime | None
    looks: int
    changes: int
    rate: float | None
    rate_low: float | None
    rate_high: float | None
    horizons: tuple[Horizon, ...]


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
    policy = informed_policy(catalog, _forecasting(settings))
    if not isinstance(policy, BayesPolicy):
        raise TypeError(f"{policy.name} makes no forecasts")
    ids = np.array([page.id for page in pages], np.int64)
    survival = policy.forecast(ids, now, np.array(HORIZONS_DAYS)).survival
    return [
        _forecast(page, now, policy.explain(page.id, now), row.tolist())
        for page, row in zip(pages, survival, strict=True)
    ]


def _forecasting(settings: Settings) -> Settings:
    """Return settings whose policy forecasts, as neither classic rules nor formulas do."""
    return replace(settings, policy=USUAL) if settings.policy not in ("", *BAYES) else settings


def _forecast(
    page: Page, now: datetime, found: Explanation, survival: Sequence[float]
) -> PageForecast:  # fmt: skip
    horizons = (
        Horizon(days, now + timedelta(days=days), max(0.0, 1.0 - still))
        for days, still in zip(HORIZONS_DAYS, survival, strict=True)
    )
    return PageForecast(
        page, now, _last_look(found, now), found.looks, found.changes, found.rate, found.rate_low,
        found.rate_high, tuple(horizons),
    )  # fmt: skip


def _last_look(found: Explanation, now: datetime) -> datetime | None:
    if found.age_days == float("inf"):
        return None
    return now - timedelta(seconds=found.age_days * DAY_SECONDS)
