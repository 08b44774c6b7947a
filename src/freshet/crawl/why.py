"""Explains when a page is visited next, in words and numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from freshet.archive.catalog.rows import HostState
from freshet.core.active_hours import ActiveHours
from freshet.core.clock import from_epoch
from freshet.core.humanize import change_interval_text, duration_text, percent_text, quantity_text
from freshet.core.local_time import format_to_second
from freshet.core.settings import NO_OBJECTIVE, PageSettings, planning_objective
from freshet.core.tables import FormulaEvaluation, PolicyExplanation
from freshet.core.types import Page, Visit
from freshet.crawl.change_texts import (
    SAME_CHANCE,
    has_frequent_events,
    link_rate_text,
    page_changes_text,
    publication_hours_text,
    quiet_site_text,
    shared_event_text,
    site_changes_text,
    unseen_event_text,
)
from freshet.crawl.hosts import HostSummary, host_names, summarise_host
from freshet.crawl.learned_correction import LearnedForecastStatus
from freshet.crawl.obstacles import describe_visit, obstacle_of, waits_for_start
from freshet.crawl.plan import HORIZON, CrawlPreview
from freshet.record.collection_store import CollectionStore
from freshet.record.writer_lock import running_crawl

NOT_VERIFIED = "not verified (verify_tls is false): anyone on the way could answer in its place"
MAX_PREVIEWED_VISITS = 2_000
STEADY_CLOCK_MARGIN = 0.05
FULL_READINESS = 100
# A visit that comes so much before its value is full is made because there is budget left.
LATE_DUE = timedelta(minutes=1)
BUDGET_SPENT = "today's budget is spent; the next requests go out after midnight UTC"


@dataclass(frozen=True, slots=True)
class ScheduleExplanation:
    """Everything that decides when a page is visited next.

    ``obstacles`` describe what prevents a visit now. ``expected`` is the time of the next visit,
    None if that is not within a day. ``learned`` says whether a learned model corrects the values,
    and ``learned_chance`` is the chance of a change by that model. ``failed_visits`` is the number
    of visits if none of them showed the content. ``waits_for_start`` says that the page was refused
    and no crawl is running that would try it again.
    """

    page: Page
    now: datetime
    objective: str
    policy: str
    budget: int
    spent: int
    importance: float
    obstacles: tuple[str, ...]
    host: HostSummary
    last_visit: Visit | None
    explanation: PolicyExplanation | None
    expected: datetime | None
    verify_tls: bool = True
    learned: LearnedForecastStatus | None = None
    learned_chance: float | None = None
    failed_visits: int = 0
    waits_for_start: bool = False

    @property
    def next_check(self) -> str:
        """Describe when the next visit is expected."""
        if self.page.source:
            return "never; only live pages are visited"
        if self.waits_for_start:
            return "when 'freshet run' starts"
        if self.expected is not None:
            return format_to_second(self.expected)
        has_forecast = self.explanation is not None and self.explanation.chance is not None
        if has_forecast and not self.obstacles:
            return "when there is budget left; other pages are worth more"
        return "not within a day, as far as is known now"

    @property
    def is_failing(self) -> bool:
        """Whether the last visit showed no content, so that there is no forecast."""
        return self.last_visit is not None and not self.last_visit.outcome.is_look

    def lines(self) -> Iterator[tuple[str, Any]]:
        """Yield the lines of the explanation as names and values; obstacles come first."""
        yield "page", self.page.url
        for obstacle in self.obstacles:
            yield "not now", obstacle
        yield "next check", self.next_check
        if self.page.source:
            yield "last visit", describe_visit(self.last_visit)
            return
        if self.explanation is not None:
            yield from self._policy_lines(self.explanation)
        if self.learned is not None and not self.learned.in_use:
            yield "learned model", f"not used: {self.learned.why}"
        yield "plan", f"{_objective_text(self.objective)} by {self.policy}"
        yield "budget", f"{self.budget:,} requests a day, {self.spent:,} spent today"
        yield "host", f"{self.host.host}: a request every {self.host.delay:g} s at most"
        yield "robots", self.host.robots
        if not self.verify_tls:
            yield "certificate", NOT_VERIFIED
        yield "last visit", describe_visit(self.last_visit)

    def _policy_lines(self, explanation: PolicyExplanation) -> Iterator[tuple[str, str]]:
        """Yield the forecast, the value and the data behind them."""
        if not self.is_failing:
            yield from _chance_lines(explanation.chance, self.learned_chance)
            yield from _forecast_lines(explanation, self.now)
        if self.failed_visits:
            yield "changes", _failed_visits_text(self.failed_visits)
        if not self.waits_for_start:
            yield from _value_lines(explanation, self.importance, expected=self.expected)
        yield from _data_lines(explanation, is_failing=self.is_failing)


def _objective_text(objective: str) -> str:
    return "without an objective," if objective == NO_OBJECTIVE else f"for {objective}"


def explain_page(
    collection: CollectionStore, page: Page, *, objective: str = ""
) -> ScheduleExplanation:
    """Explain when a page is visited next, by default for the objective of the crawl."""
    return explain_pages(collection, [page], objective=objective)[0]


def explain_pages(
    collection: CollectionStore, pages: Sequence[Page], *, objective: str = ""
) -> list[ScheduleExplanation]:
    """Explain when pages are visited next."""
    preview = CrawlPreview(collection, collection.planning_settings(objective))
    expected = _expected_times(preview, {page.id for page in pages})
    return [explain_with_preview(collection, page, preview, expected) for page in pages]


@dataclass(frozen=True, slots=True)
class ExpectedTimes:
    """The times of the next visits of some pages, and the time up to which visits are known."""

    by_page: Mapping[int, datetime]
    known_until: datetime


def _expected_times(preview: CrawlPreview, pages: set[int]) -> ExpectedTimes:
    """Return when pages would be visited next, those that the plan of the day has."""
    expected_times: dict[int, datetime] = {}
    for count, visit in enumerate(preview.visits(), 1):
        if visit.page.id in pages:
            expected_times[visit.page.id] = visit.expected
        if len(expected_times) == len(pages) or count == MAX_PREVIEWED_VISITS:
            return ExpectedTimes(expected_times, visit.expected)
    return ExpectedTimes(expected_times, preview.now + HORIZON)


def explain_with_preview(
    collection: CollectionStore, page: Page, preview: CrawlPreview, expected: ExpectedTimes
) -> ScheduleExplanation:
    """Explain when a page is visited next, given the preview of a crawl and its visits."""
    settings = preview.settings
    state = _host_state(collection, page)
    host = summarise_host(state, settings.politeness, preview.now)
    last = collection.catalog.last_visits([page.id]).get(page.id)
    visit = None if last is None else last.visit
    page_settings = collection.settings_for(page)
    explanation = _explanation(preview, page)
    obstacles = [
        *_exclusions(collection, page),
        *filter(None, [obstacle_of(visit)]),
        *_delays(preview, page_settings, host, explanation),
    ]
    next_visit = expected.by_page.get(page.id)
    if next_visit is None:
        next_visit = _due(preview, page, page_settings, host, explanation)
        # An earlier time is wrong: the plan up to then does not have the page.
        next_visit = next_visit if next_visit and next_visit > expected.known_until else None
    return ScheduleExplanation(
        page, preview.now, planning_objective(settings), preview.policy.name, preview.budget,
        preview.spent, page_settings.importance, tuple(obstacles), host, visit, explanation,
        next_visit, page_settings.verify_tls is not False, preview.learned,
        preview.learned_chance(page.id), _failed_visits(collection, page, explanation),
        waits_for_start(visit) and not preview.is_crawl_running,
    )  # fmt: skip


def _host_state(collection: CollectionStore, page: Page) -> HostState:
    """Return the saved state of a page's host, with the robots.txt of the page's scheme."""
    state = collection.catalog.host_state(page.host) or HostState(page.host)
    if not page.url.startswith("http:"):
        return state
    http_state = collection.catalog.host_state(host_names(page.host)[-1])
    return replace(state, robots=http_state.robots if http_state else {})


def _explanation(preview: CrawlPreview, page: Page) -> PolicyExplanation | None:
    try:
        return preview.policy.explain(page.id, preview.now)
    except KeyError:
        return None


def _failed_visits(
    collection: CollectionStore, page: Page, explanation: PolicyExplanation | None
) -> int:  # fmt: skip
    """Return the number of visits of a page whose content was never seen."""
    if explanation is None or isfinite(explanation.age_days):
        return 0
    return sum(1 for _ in collection.catalog.history(page.id))


def _exclusions(collection: CollectionStore, page: Page) -> Iterator[str]:
    """Describe what excludes a page from every plan."""
    if page.source:
        yield f"it is a history imported from {page.source}; 'freshet add' keeps it fresh"
    elif page.id in collection.catalog.inactive_pages().removed:
        yield "it was removed; 'freshet add' brings it back"
    if page.paused:
        yield "it is paused; 'freshet resume' takes it into plans again"
    is_crawl_running = bool(running_crawl(collection.archive_folder))
    if is_crawl_running and any(lease.page == page.id for lease in collection.catalog.leases()):
        yield "it is being fetched at this moment"


def _delays(
    preview: CrawlPreview,
    settings: PageSettings,
    host: HostSummary,
    explanation: PolicyExplanation | None,
) -> Iterator[str]:
    """Describe what a page waits for."""
    hours = ActiveHours.parse(settings.active_hours)
    if hours is not None and not hours.contains(preview.now):
        yield f"it is outside its active hours, {settings.active_hours}"
    if host.closed_until is not None:
        plural = "" if host.failures == 1 else "s"
        why = f"after {host.failures:,} failure{plural}" if host.failures else "as it asked"
        yield f"its host is closed until {format_to_second(host.closed_until)}, {why}"
    if explanation is not None and isfinite(explanation.not_before):
        until = from_epoch(explanation.not_before)
        if until > preview.now:
            text = format_to_second(until)
            yield f"no visit before {text}: it was just visited or has failed"
    if preview.spent >= preview.budget:
        yield BUDGET_SPENT


def _due(
    preview: CrawlPreview,
    page: Page,
    settings: PageSettings,
    host: HostSummary,
    explanation: PolicyExplanation | None,
) -> datetime | None:
    """Return when the page's value reaches the multiplier and no obstacle is left.

    None if that time is unknown or never comes.
    """
    if (
        page.paused
        or explanation is None
        or explanation.due is None
        or not isfinite(explanation.due)
    ):
        return None
    not_before = (
        from_epoch(explanation.not_before) if isfinite(explanation.not_before) else preview.now
    )
    due = max(from_epoch(explanation.due), not_before, host.closed_until or preview.now)
    hours = ActiveHours.parse(settings.active_hours)
    if hours is not None and not hours.contains(due):
        due = hours.next_start(due)
    return due if due > preview.now else None


def _failed_visits_text(visits: int) -> str:
    """Say that nothing is known of a page whose visits have all failed.

    >>> _failed_visits_text(1), _failed_visits_text(3)
    ('not known: its only visit failed', 'not known: all 3 visits failed')
    """
    return f"not known: {'its only visit' if visits == 1 else f'all {visits:,} visits'} failed"


def _chance_lines(
    chance: float | None, learned_chance: float | None
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """Yield the chance of a change; a learned model is named with what its correction changes."""
    if chance is None:
        return
    if learned_chance is None:
        yield "changed by now", f"{percent_text(chance)} likely"
        return
    yield (
        "changed by now",
        f"{percent_text(learned_chance)} likely by the learned model, "
        f"{percent_text(chance)} without it",
    )


def _forecast_lines(explanation: PolicyExplanation, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield the new posts and links, how often the page changes, and its site."""
    if explanation.waiting_posts is not None:
        yield "new posts by now", f"{explanation.waiting_posts:.2g} expected"
    yield from _link_lines(explanation)
    if changes := page_changes_text(explanation):
        yield "changes", changes
    event = explanation.shared_event
    texts = [shared_event_text(event, now)] if event is not None else []
    if has_frequent_events(explanation) and (event is None or event.is_seen):
        texts.append(site_changes_text(explanation.event_rate or 0.0))
    if explanation.host_changes == 0 and (explanation.event_hazard or 0.0) > SAME_CHANCE:
        texts = [quiet_site_text(explanation.looks, explanation.host_looks or 0, 0)]
    if any(texts):
        yield "its site", "; ".join(texts)
    if event is not None:
        yield "changed with it", unseen_event_text(event)
    if explanation.publication_hours:
        yield "its hours", publication_hours_text(explanation.publication_hours)


def _link_lines(explanation: PolicyExplanation) -> Iterator[tuple[str, str]]:
    """Yield the expected number of new links, and how often they appear."""
    if explanation.new_links is None or explanation.link_rate is None:
        return
    yield "new links by now", f"{quantity_text(explanation.new_links)} expected"
    often = link_rate_text(explanation.link_rate)
    if explanation.prior_link_rate is not None:
        often += f"; pages of its host: {link_rate_text(explanation.prior_link_rate)}"
    yield "new links", often


def _value_lines(
    explanation: PolicyExplanation, importance: float, *, expected: datetime | None
) -> Iterator[tuple[str, str]]:
    """Yield the value of a visit and what it depends on."""
    if explanation.reckoning is not None:
        yield from _formula_lines(explanation.reckoning)
    yield "value", _value_text(explanation, expected)
    if explanation.is_sentinel:
        yield "exploration", "looked at to learn whether the whole site has changed"
    yield "importance", f"{importance:g}"
    if explanation.learned_factor != 1:
        yield "learned model", _learned_text(explanation.learned_factor)
    if explanation.look_chance < 1:
        yield "visits that show it", f"{explanation.look_chance:.0%} likely"
    if isfinite(explanation.age_days):
        yield "last seen", f"{duration_text(explanation.age_days)} ago"
    if explanation.weights:
        shares = (f"{name} {share:.0%}" for name, share in explanation.weights.items())
        yield "visits chosen by", ", ".join(shares)


def _learned_text(factor: float) -> str:
    return f"finds a change {factor:.2g} times as likely as the page's own history alone"


def _value_text(explanation: PolicyExplanation, expected: datetime | None) -> str:
    """Describe the value of a visit; at 100 the page is visited now.

    With budget left over the plan has a visit before that.
    """
    if not isfinite(explanation.age_days):
        return "highest: its content was never seen"
    if explanation.readiness is None:
        return "not known yet; no visit was planned with it"
    due = explanation.due
    is_late = due is None or (expected is not None and from_epoch(due) - expected > LATE_DUE)
    if expected is not None and is_late and explanation.readiness < FULL_READINESS:
        return f"{explanation.readiness} of 100; the plan has room for a visit before it is 100"
    return f"{explanation.readiness} of 100; at 100 a visit is worth its place in the budget"


def _formula_lines(explanation: FormulaEvaluation) -> Iterator[tuple[str, str]]:
    yield "formula", explanation.formula
    if explanation.names:
        yield (
            "where",
            ", ".join(f"{name} = {value:.4g}" for name, value in explanation.names.items()),
        )
    yield "score", f"{explanation.score:.4g}"


def _data_lines(explanation: PolicyExplanation, *, is_failing: bool) -> Iterator[tuple[str, str]]:
    looks = f"changes: {explanation.changes:,} in {explanation.looks:,} compared looks"
    host_text = (
        "" if explanation.host_looks is None else f"; at its host: {explanation.host_looks:,} looks"
    )
    yield "based on", looks + host_text
    if explanation.prior_change_days is not None and not is_failing:
        yield "pages like it", f"change {change_interval_text(explanation.prior_change_days)}"
    if explanation.clock is not None and abs(explanation.clock - 1) > STEADY_CLOCK_MARGIN:
        yield "its directory", f"recently changes {explanation.clock:.2g} times as fast as usual"
