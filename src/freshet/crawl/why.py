"""Why a page stands where it stands in the plan, in words and numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import isfinite
from typing import Any

from freshet.archive.catalog.rows import HostState
from freshet.archive.warc.lock import ArchiveLock
from freshet.core.active_hours import ActiveHours
from freshet.core.clock import from_epoch
from freshet.core.humanize import change_interval_text, duration_text, percent_text
from freshet.core.local_time import format_to_second
from freshet.core.settings import NO_OBJECTIVE, PageSettings, planning_objective
from freshet.core.tables import FormulaEvaluation, PolicyExplanation
from freshet.core.types import Page, Visit
from freshet.crawl.hosts import HostView, host_names, host_view
from freshet.crawl.obstacles import describe_visit, obstacle_of
from freshet.crawl.plan import CrawlPreview
from freshet.record.archive_writer import is_crawl
from freshet.record.store import CollectionStore

NOT_VERIFIED = "not verified (verify_tls is false): anyone on the way could answer in its place"
MAX_PREVIEWED_VISITS = 2_000
STEADY_CLOCK_MARGIN = 0.05
BUDGET_SPENT = "today's budget is spent; the next requests go out after midnight UTC"


@dataclass(frozen=True, slots=True)
class ScheduleExplanation:
    """Everything that decides when a page is visited next.

    ``obstacles`` are what keeps it from being visited now, in words; ``expected`` is when its next
    visit would be, None where that is not within a day.
    """

    page: Page
    now: datetime
    objective: str
    policy: str
    budget: int
    spent: int
    importance: float
    obstacles: tuple[str, ...]
    host: HostView
    last_visit: Visit | None
    explanation: PolicyExplanation | None
    expected: datetime | None
    verify_tls: bool = True

    @property
    def next_check(self) -> str:
        """Say when the next check is to be expected."""
        if self.expected is not None:
            return format_to_second(self.expected)
        found = self.explanation
        is_worth_less = found is not None and found.chance is not None and found.due is None
        if is_worth_less and not self.obstacles:
            return "when there is budget left; other pages are worth more"
        return "not within a day, by what is known now"

    @property
    def is_failing(self) -> bool:
        """Whether the last visit showed no content, so that nothing is forecast."""
        return self.last_visit is not None and not self.last_visit.outcome.is_look

    def lines(self) -> Iterator[tuple[str, Any]]:
        """Yield what there is to say, a name and a value a line; obstacles come first."""
        yield "page", self.page.url
        for obstacle in self.obstacles:
            yield "not now", obstacle
        yield "next check", self.next_check
        if self.explanation is not None:
            yield from _reckoning(self.explanation, self.importance, fails=self.is_failing)
        yield "plan", f"{_aim(self.objective)} by {self.policy}"
        yield "budget", f"{self.budget:,} requests a day, {self.spent:,} spent today"
        yield "host", f"{self.host.host}: a request every {self.host.delay:g} s at most"
        yield "robots", self.host.robots
        if not self.verify_tls:
            yield "certificate", NOT_VERIFIED
        yield "last visit", describe_visit(self.last_visit)


def _aim(objective: str) -> str:
    return "for no objective," if objective == NO_OBJECTIVE else f"for {objective}"


def explain_page(collection: CollectionStore, page: Page) -> ScheduleExplanation:
    """Explain a page's place in the plan."""
    return explain_pages(collection, [page])[0]


def explain_pages(collection: CollectionStore, pages: Sequence[Page]) -> list[ScheduleExplanation]:
    """Explain the places of pages in the plan."""
    ahead = CrawlPreview(collection, collection.settings)
    expected = _expected(ahead, {page.id for page in pages})
    return [_why(collection, page, ahead, expected.get(page.id)) for page in pages]


def _expected(ahead: CrawlPreview, pages: set[int]) -> dict[int, datetime]:
    """Return when pages would be visited next, those that come among the next visits."""
    found: dict[int, datetime] = {}
    for visit in ahead.visits(MAX_PREVIEWED_VISITS):
        if visit.page.id in pages:
            found[visit.page.id] = visit.expected
        if len(found) == len(pages):
            break
    return found


def _why(
    collection: CollectionStore, page: Page, ahead: CrawlPreview, expected: datetime | None
) -> ScheduleExplanation:  # fmt: skip
    settings = collection.settings
    state = _host_state(collection, page)
    host = host_view(state, settings.politeness, ahead.now)
    last = collection.catalog.last_visits([page.id]).get(page.id)
    visit = None if last is None else last.visit
    own = collection.settings_for(page)
    found = _explanation(ahead, page)
    obstacles = [
        *_standing(collection, page),
        *filter(None, [obstacle_of(visit)]),
        *_waits(ahead, own, host, found),
    ]
    return ScheduleExplanation(
        page, ahead.now, planning_objective(settings), ahead.policy.name, ahead.budget, ahead.spent,
        own.importance, tuple(obstacles), host, visit, found,
        expected or _due(ahead, page, own, host, found), own.verify_tls is not False,
    )  # fmt: skip


def _host_state(collection: CollectionStore, page: Page) -> HostState:
    """Return what is remembered of a page's host, with the robots.txt of the page's scheme."""
    state = collection.catalog.host_state(page.host) or HostState(page.host)
    if not page.url.startswith("http:"):
        return state
    plain = collection.catalog.host_state(host_names(page.host)[-1])
    return replace(state, robots=plain.robots if plain else {})


def _explanation(ahead: CrawlPreview, page: Page) -> PolicyExplanation | None:
    try:
        return ahead.policy.explain(page.id, ahead.now)
    except KeyError:
        return None


def _standing(collection: CollectionStore, page: Page) -> Iterator[str]:
    """Say what keeps a page out of every plan."""
    if page.source:
        yield f"it is a history imported from {page.source}; 'freshet add' keeps it fresh"
    elif page.id in collection.catalog.inactive_pages().removed:
        yield "it was removed; 'freshet add' brings it back"
    if page.paused:
        yield "it is paused; 'freshet resume' takes it into plans again"
    runs = is_crawl(ArchiveLock(collection.archive_folder).holder())
    if runs and any(lease.page == page.id for lease in collection.catalog.leases()):
        yield "it is being fetched at this moment"


def _waits(
    ahead: CrawlPreview, settings: PageSettings, host: HostView, found: PolicyExplanation | None
) -> Iterator[str]:
    """Say what it waits for."""
    hours = ActiveHours.parse(settings.active_hours)
    if hours is not None and not hours.contains(ahead.now):
        yield f"it is outside its active hours, {settings.active_hours}"
    if host.closed_until is not None:
        plural = "" if host.failures == 1 else "s"
        why = f"after {host.failures:,} failure{plural}" if host.failures else "as it asked"
        yield f"its host is closed until {format_to_second(host.closed_until)}, {why}"
    if found is not None and isfinite(found.not_before):
        until = from_epoch(found.not_before)
        if until > ahead.now:
            yield f"it is left alone until {format_to_second(until)}, as it was just visited or has failed"
    if ahead.spent >= ahead.budget:
        yield BUDGET_SPENT


def _due(
    ahead: CrawlPreview,
    page: Page,
    settings: PageSettings,
    host: HostView,
    found: PolicyExplanation | None,
) -> datetime | None:
    """Return when the page's value reaches the multiplier and nothing is in its way any more.

    None where that is not known, or not to come.
    """
    if page.paused or found is None or found.due is None or not isfinite(found.due):
        return None
    left_alone = from_epoch(found.not_before) if isfinite(found.not_before) else ahead.now
    due = max(from_epoch(found.due), left_alone, host.closed_until or ahead.now)
    hours = ActiveHours.parse(settings.active_hours)
    if hours is not None and not hours.contains(due):
        due = hours.next_start(due)
    return due if due > ahead.now else None


def _reckoning(
    found: PolicyExplanation, importance: float, *, fails: bool
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """Yield the numbers behind a page's place, from what is expected to what it rests on."""
    if found.chance is not None and not fails:
        yield "changed by now", f"{percent_text(found.chance)} likely"
    if not fails:
        yield from _how_often(found)
    if found.reckoning is not None:
        yield from _by_formula(found.reckoning)
    yield "value", _value(found)
    yield "importance", f"{importance:g}"
    if found.look_chance < 1:
        yield "visits that show it", f"{found.look_chance:.0%} likely"
    if isfinite(found.age_days):
        yield "last seen", f"{duration_text(found.age_days)} ago"
    yield from _basis(found, fails=fails)


def _how_often(found: PolicyExplanation) -> Iterator[tuple[str, str]]:
    """Say how often the page changes, as far as that is known."""
    if found.change_days is None:
        return
    if found.looks:
        yield "changes", f"{change_interval_text(found.change_days)}{_between(found)}"
    else:
        yield "changes", "not known yet"


def _value(found: PolicyExplanation) -> str:
    """Say what a visit is worth, where 100 is enough for a visit now."""
    if not isfinite(found.age_days):
        return "first of all, nothing was seen of it yet"
    if found.readiness is None:
        return "not known yet; no visit was planned by it so far"
    return f"{found.readiness} of 100; at 100 a visit is worth its place in the budget"


def _by_formula(found: FormulaEvaluation) -> Iterator[tuple[str, str]]:
    yield "formula", found.formula
    if found.names:
        yield "where", ", ".join(f"{name} = {value:.4g}" for name, value in found.names.items())
    yield "score", f"{found.score:.4g}"


def _basis(found: PolicyExplanation, *, fails: bool) -> Iterator[tuple[str, str]]:
    looks = f"changes: {found.changes:,} in {found.looks:,} compared looks"
    others = "" if found.host_looks is None else f"; at its host: {found.host_looks:,} looks"
    yield "rests on", looks + others
    if found.prior_change_days is not None and not fails:
        yield "pages like it", f"change {change_interval_text(found.prior_change_days)}"
    if found.clock is not None and abs(found.clock - 1) > STEADY_CLOCK_MARGIN:
        yield "its directory", f"changes {found.clock:.2g} times as fast as usual of late"


def _between(found: PolicyExplanation) -> str:
    if not found.rate_low or not found.rate_high:
        return ""
    return f" (90 %: {duration_text(1 / found.rate_high)} to {duration_text(1 / found.rate_low)})"
