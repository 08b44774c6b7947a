"""Forecasts: how likely a page has changed by a time, given the time of its last look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import exp, expm1

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.posts import ThreadNote
from freshet.core.clock import to_epoch
from freshet.core.errors import OwnClassError, UsageError
from freshet.core.humanize import change_interval_text, count_text, percent_text
from freshet.core.policy import Policy
from freshet.core.settings import Settings
from freshet.core.tables import DAY_SECONDS, PageIdArray, PolicyExplanation, SharedEventReport
from freshet.core.types import FloatArray, Page, Visit
from freshet.crawl.change_texts import (
    SAME_CHANCE,
    quiet_site_text,
    regular_interval_text,
    shared_event_text,
    site_changes_text,
)
from freshet.crawl.learned_correction import SWITCHED_OFF, is_switched_off
from freshet.crawl.learned_forecast import LearnedForecast, ModelChoice, choose_model
from freshet.crawl.link_forecast import forecast_links
from freshet.crawl.live_policy import build_fitted_policy
from freshet.crawl.obstacles import obstacle_of
from freshet.crawl.threads.next_post import NextPost
from freshet.crawl.threads.post_curves import (
    ThreadForecast,
    forecast_threads,
    survival_with_posts,
)
from freshet.crawl.threads.post_model import choose_post_model
from freshet.record.collection_reader import CollectionReader
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.kernels.change_processes import regular_survival
from freshet.schedule.links.link_policy import LinkPolicy
from freshet.schedule.mixture.guarded_policy import GuardedPolicy
from freshet.schedule.policies import FORECASTING_POLICIES

HORIZONS_DAYS = (0.0, 1 / 24, 0.25, 1.0, 7.0, 30.0)
TOMORROW_DAYS = 1.0
FEW_LOOKS = 4
DEFAULT_FORECAST_POLICY = "bayes-freshness"
LINK_OBJECTIVE = "links"

ForecastingPolicy = BayesPolicy | GuardedPolicy


@dataclass(frozen=True, slots=True)
class ForecastHorizon:
    """The probability that a page differs from its last look by a time.

    ``new_links`` is the number of links that a look then is expected to find and that the page
    never had before.
    """

    days: float
    by: datetime
    changed: float
    new_links: float = 0.0


@dataclass(frozen=True, slots=True)
class PageForecast:
    """The forecast of one page, and the data behind it.

    Rates are changes a day, with the bounds of their 90 % interval. ``last_look`` is None for a
    page without looks: its horizons count from now. ``change_days`` is the time after a look by
    which a change of the page's own is 63 % likely, ``prior_change_days`` the same for similar
    pages; both come from the distribution of the horizons, without shared events of the site.
    ``is_regular`` says whether the page changes regularly. ``event_hazard`` is the expected number
    of shared events since the last look, ``event_rate`` that of a day, and ``shared_event`` the
    last one. ``host_looks`` and ``host_changes`` count the compared looks at all pages of the host
    and their changes, and ``publication_hours`` are the hours (UTC) at which they mostly change.
    ``obstacle`` describes a last visit without content; such a page has no forecast in
    words. ``model`` names the learned model that the horizons come from, empty for the policy's own
    forecast; ``problem`` says why a model that is there is not used. ``link_rate`` is the expected
    number of new links a day, ``link_model`` names the learned model that it comes from, and
    ``link_problem`` says why one that is there is not used. ``next_post`` is the forecast of a
    thread's next post; ``thread_note`` says why a page is taken for a thread or not, empty if no
    posts were looked for. ``thread_continued_at`` is the last page of a thread that is continued.
    ``post_model`` names the learned model of posts, and ``post_problem`` says why one that is there
    is not used.
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
    is_regular: bool = False
    event_hazard: float = 0.0
    event_rate: float = 0.0
    shared_event: SharedEventReport | None = None
    host_looks: int = 0
    host_changes: int = 0
    publication_hours: tuple[int, ...] = ()
    model: str = ""
    problem: str = ""
    link_rate: float | None = None
    link_model: str = ""
    link_problem: str = ""
    next_post: NextPost | None = None
    thread_note: str = ""
    thread_continued_at: str = ""
    post_model: str = ""
    post_problem: str = ""

    @property
    def sentence(self) -> str:
        """Describe how often the page and its site change, and how likely that is by tomorrow."""
        if self.obstacle:
            return f"none; {self.obstacle}"
        likely = f"{percent_text(self.tomorrow)} likely to have changed by tomorrow"
        if self.next_post is not None:
            return f"{self.next_post.sentence}; {likely}"
        if not self.looks:
            return f"not known yet; by pages like it, {likely}"
        return "; ".join(filter(None, (self.how_often, self.site_changes, likely)))

    @property
    def thread_text(self) -> str:
        """Describe the posts of the page, or say that it has none; empty if none were wanted."""
        if self.next_post is not None:
            return f"posts: {self.next_post.sentence}"
        if self.thread_continued_at:
            return f"posts: new ones are on {self.thread_continued_at}"
        return f"no posts: {self.thread_note}" if self.thread_note else ""

    @property
    def tomorrow(self) -> float:
        """Return the probability that the page has changed by tomorrow."""
        return next(item.changed for item in self.horizons if item.days == TOMORROW_DAYS)

    @property
    def how_often(self) -> str:
        """Describe how often the page changes, by its own looks.

        An interval is named only if it agrees with the probability of a change of the page's own by
        tomorrow. With few looks the two can be far apart. Without a change seen none is named.
        """
        if not self.looks or self.change_days is None:
            return ""
        if not self.changes:
            return f"no change seen in {count_text(self.looks, 'compared look')}"
        often = self._own_interval if self._agrees(self.change_days) else ""
        if self.looks < FEW_LOOKS:
            looks = "1 comparison" if self.looks == 1 else f"{self.looks} comparisons"
            return f"not well known yet, {often} by {looks}" if often else "not well known yet"
        return f"changes {often}" if often else ""

    @property
    def site_changes(self) -> str:
        """Describe the shared events of the site, if they make a change by tomorrow likelier.

        A site without any change has had none: their chance is that of other sites.
        """
        if self._site_tomorrow <= SAME_CHANCE:
            return ""
        if not self.host_changes:
            return quiet_site_text(self.looks, self.host_looks, self.host_changes)
        if self.shared_event is not None and not self.shared_event.is_seen:
            return shared_event_text(self.shared_event, self.made)
        return site_changes_text(self.event_rate, self.publication_hours)

    @property
    def _site_tomorrow(self) -> float:
        """Return how much of the probability of a change by tomorrow shared events add."""
        if self.model:
            return -expm1(-self._events_by_tomorrow)
        return self.tomorrow - self._own_tomorrow

    @property
    def _events_by_tomorrow(self) -> float:
        return self.event_hazard + TOMORROW_DAYS * self.event_rate

    @property
    def _own_tomorrow(self) -> float:
        """Return the probability of a change by tomorrow without shared events."""
        return max(0.0, 1.0 - (1.0 - self.tomorrow) * exp(self._events_by_tomorrow))

    @property
    def _own_interval(self) -> str:
        by_itself = " by itself" if self.site_changes else ""
        if self.is_regular and self.rate:
            return regular_interval_text(self.rate) + by_itself
        return change_interval_text(self.change_days or 0.0) + by_itself

    def _agrees(self, change_days: float) -> bool:
        """Whether a change interval agrees with the probability of a change by tomorrow."""
        age = self.made - self.last_look if self.last_look else timedelta(0)
        days = TOMORROW_DAYS + age / timedelta(days=1)
        if self.is_regular and self.rate:
            by_interval = 1.0 - regular_survival(days * self.rate)
        else:
            by_interval = -expm1(-days / change_days)
        return abs(self._own_tomorrow - by_interval) <= SAME_CHANCE


def forecast(collection: CollectionReader, page: Page) -> PageForecast:
    """Return the forecast of a live page."""
    require_live([page])
    return forecasts(collection, [page], collection.clock.now())[0]


def expected_links(
    collection: CollectionReader, pages: Sequence[Page], by: datetime
) -> list[float]:
    """Return how many never-seen links a look at each live page is expected to find at a time."""
    require_live(pages)
    now = collection.clock.now()
    horizons = np.array([max(0.0, (by - now) / timedelta(days=1))])
    expected = forecast_links(collection, [page.id for page in pages], now, horizons)
    return [row[0] for row in expected.new_links.tolist()]


def require_live(pages: Sequence[Page]) -> None:
    """Raise UsageError if one of the pages is imported, so that it has no forecast."""
    for page in pages:
        if page.source:
            raise UsageError(
                f"{page.url} is a history imported from {page.source}; "
                f"only live pages have forecasts: 'freshet add {page.url}' makes it one"
            )


def forecast_policy(
    collection: CollectionReader, now: datetime, *, planning_policy: Policy | None = None
) -> ForecastingPolicy:
    """Return the fitted policy that forecasts come from.

    ``planning_policy``, the fitted policy of a plan, is used if it makes forecasts.
    """
    settings = _with_forecasting_policy(collection.settings)
    if settings is collection.settings and planning_policy is not None:
        policy = planning_policy
    else:
        policy = build_fitted_policy(collection.catalog, settings, now=now)
    if not isinstance(policy, BayesPolicy | GuardedPolicy):
        raise TypeError(f"{policy.name} makes no forecasts")
    return policy


def forecasts(
    collection: CollectionReader,
    pages: Sequence[Page],
    now: datetime,
    *,
    policy: ForecastingPolicy | None = None,
    link_policy: LinkPolicy | None = None,
) -> list[PageForecast]:
    """Return the forecasts of live pages, by the learned model if the collection has one.

    A model is used only if it is valid, was better than the default forecast when it was learned,
    and no crawl has found it worse since. ``policy`` and ``link_policy`` are those of
    ``forecast_policy`` and ``link_forecast_policy``, if they were built before.
    """
    catalog, policy = collection.catalog, policy or forecast_policy(collection, now)
    ids = np.array([page.id for page in pages], np.int64)
    survival = policy.forecast(ids, now, np.array(HORIZONS_DAYS)).survival
    choice = choose_model(collection.models_folder)
    if choice.model is not None and is_switched_off(catalog, choice.model):
        choice = ModelChoice(problem=SWITCHED_OFF)
    if choice.usable is not None:
        learned = LearnedForecast(choice.usable, catalog)
        try:
            survival = _learned_survival(learned, policy, ids, now, survival)
        except OwnClassError as error:
            choice = ModelChoice(problem=str(error))
    post_model = choose_post_model(collection.models_folder)
    horizons = np.array(HORIZONS_DAYS)
    threads = forecast_threads(catalog, post_model.hazard, ids.tolist(), now, horizons)
    survival = survival_with_posts(survival, ids.tolist(), threads)
    last_visits = catalog.last_visits([page.id for page in pages])
    visits = [last_visits[page.id].visit if page.id in last_visits else None for page in pages]
    links = forecast_links(
        collection, ids.tolist(), now, np.array(HORIZONS_DAYS), policy=link_policy
    )
    plain_forecasts = [
        _with_links(_forecast(page, visit, policy.explain(page.id, now), now, row.tolist()), *rows)
        for page, visit, row, *rows in zip(
            pages, visits, survival, links.new_links.tolist(), links.rates, strict=True
        )
    ]
    notes = {page: _thread_note(catalog, page) for page in ids.tolist()}
    name = "" if choice.model is None else choice.model.title
    return [
        replace(
            page_forecast,
            model=name if page_forecast.looks else "",
            problem=choice.problem,
            link_model=link_model,
            link_problem=links.problem,
            next_post=_next_post(threads, page_forecast.page.id),
            thread_note=notes[page_forecast.page.id].reason,
            thread_continued_at=notes[page_forecast.page.id].next_page or "",
            post_model=post_model.title if page_forecast.page.id in threads else "",
            post_problem=post_model.problem if page_forecast.page.id in threads else "",
        )
        for page_forecast, link_model in zip(plain_forecasts, links.models, strict=True)
    ]


def _next_post(threads: Mapping[int, ThreadForecast], page_id: int) -> NextPost | None:
    return threads[page_id].next_post if page_id in threads else None


def _thread_note(catalog: Catalog, page_id: int) -> ThreadNote:
    return catalog.thread_note(page_id) or ThreadNote("", None)


def _with_links(
    page_forecast: PageForecast, new_links: Sequence[float], rate: float
) -> PageForecast:
    """Return a forecast with the expected number of new links by each horizon."""
    horizons = (
        replace(horizon, new_links=links)
        for horizon, links in zip(page_forecast.horizons, new_links, strict=True)
    )
    return replace(page_forecast, horizons=tuple(horizons), link_rate=rate)


def _learned_survival(
    learned: LearnedForecast,
    policy: ForecastingPolicy,
    ids: PageIdArray,
    now: datetime,
    survival: FloatArray,
) -> FloatArray:
    """Return the chances by the learned model that pages are unchanged, a column per horizon.

    A later horizon never has the higher chance. Pages that were never looked at keep theirs.
    """
    chances = np.stack(
        [
            learned.change_chances(
                policy, ids, np.full(len(ids), to_epoch(now) + days * DAY_SECONDS)
            )
            for days in HORIZONS_DAYS
        ],
        axis=1,
    )
    unchanged = np.minimum.accumulate(1.0 - chances, axis=1)
    return np.where(np.isnan(unchanged), survival, unchanged)


def _with_forecasting_policy(settings: Settings) -> Settings:
    """Return settings with a policy that makes forecasts; classic rules and formulas make none."""
    is_default = not settings.policy and settings.objective != LINK_OBJECTIVE
    if is_default or settings.policy in FORECASTING_POLICIES:
        return settings
    return replace(settings, policy=DEFAULT_FORECAST_POLICY)


def _forecast(
    page: Page,
    last_visit: Visit | None,
    explanation: PolicyExplanation,
    now: datetime,
    survival: Sequence[float],
) -> PageForecast:
    horizons = (
        ForecastHorizon(days, now + timedelta(days=days), max(0.0, 1.0 - unchanged))
        for days, unchanged in zip(HORIZONS_DAYS, survival, strict=True)
    )
    return PageForecast(
        page, now, _last_look(explanation, now), explanation.looks, explanation.changes,
        explanation.rate, explanation.rate_low, explanation.rate_high, tuple(horizons),
        explanation.change_days, explanation.prior_change_days, obstacle_of(last_visit),
        explanation.is_regular, explanation.event_hazard or 0.0, explanation.event_rate or 0.0,
        explanation.shared_event, explanation.host_looks or 0, explanation.host_changes or 0,
        explanation.publication_hours,
    )  # fmt: skip


def _last_look(explanation: PolicyExplanation, now: datetime) -> datetime | None:
    if explanation.age_days == float("inf"):
        return None
    return now - timedelta(seconds=explanation.age_days * DAY_SECONDS)
