"""The live status of the demonstration."""

from collections.abc import Sequence
from datetime import timedelta
from queue import SimpleQueue
from threading import Event
from uuid import uuid4

import pytest

from freshet.core.clock import FixedClock, from_epoch, to_epoch
from freshet.core.types import Change, Outcome, Visit
from freshet.crawl.fetch_job import CrawlDaySpending
from freshet.demo.demo_collection import DemoCollection
from freshet.demo.hosts import LoggedRequest, RequestLog
from freshet.demo.monitor import CrawlMonitor, LiveStatus
from freshet.demo.scoreboard import DemoScoreboard
from freshet.fetch.event_dispatcher import CrawlEvent
from freshet.fetch.politeness.request_queue import QueueStatus
from freshet.schedule.policies import make_policy
from tests.demo.conftest import DAYS, START

QUIET = QueueStatus(0, 0, ())
SPENDING = CrawlDaySpending("2026-03-02", 3, 100)
END = START + timedelta(days=DAYS)


@pytest.fixture
def monitor(demo_collection: DemoCollection) -> CrawlMonitor:
    policy = make_policy("bayes-freshness", live=True)
    policy.add(demo_collection.page_table)
    scoreboard = DemoScoreboard(demo_collection, START, END, 100)
    return CrawlMonitor(
        demo_collection, scoreboard, policy, RequestLog(), (START, END), page_count=3
    )


def page_of_kind(demo_collection: DemoCollection, kind: str) -> int:
    return next(page for page in demo_collection.web_indices if demo_collection.kind(page) == kind)


def add_visit(
    monitor: CrawlMonitor, page: int, sent: float, outcome: Outcome, change: Change | None = None
) -> None:
    """Let the crawl tell of a visit that its host answered a minute later."""
    web_index = monitor.demo_collection.web_indices[page]
    monitor.log.add(
        LoggedRequest(sent + 60, 0, "/", 200, web_index, shows_content=outcome is Outcome.OK)
    )
    visit = Visit(uuid4().bytes, page, from_epoch(sent), outcome)
    monitor.on_event(CrawlEvent([(visit, change)], SPENDING, queue=QUIET, recording_seconds=0.01))


def test_visits_that_began_late_are_counted(monitor: CrawlMonitor) -> None:
    monitor.late_seconds = 0.2
    monitor.on_event(
        CrawlEvent([], SPENDING, queue=QueueStatus(0, 0, (0.0, 0.1, 0.3)), recording_seconds=0.01)
    )
    monitor.on_event(
        CrawlEvent([], SPENDING, queue=QueueStatus(0, 0, (0.4,)), recording_seconds=0.01)
    )
    assert monitor.status(START).late_visits == 2


def whats(status: LiveStatus) -> Sequence[str]:
    return [find.text for find in status.findings]


def test_queued_events_are_in_the_next_status(
    monitor: CrawlMonitor, demo_collection: DemoCollection
) -> None:
    page = page_of_kind(demo_collection, "static")
    add_visit(monitor, page, to_epoch(START), Outcome.OK)
    add_visit(monitor, page, to_epoch(START) + 3600, Outcome.NOT_MODIFIED, Change(False))
    status = monitor.status(START + timedelta(hours=2))
    assert status.outcomes == {"ok": 1, "not-modified": 1}
    assert status.visits == status.scores[0].visits == 2
    assert status.spending == SPENDING
    assert status.elapsed_share == pytest.approx(2 / (24 * DAYS))
    assert whats(status) == []


def test_real_changes_are_distinguished_from_noise(
    monitor: CrawlMonitor, demo_collection: DemoCollection
) -> None:
    news, status = page_of_kind(demo_collection, "news"), page_of_kind(demo_collection, "status")
    changed = float(demo_collection.web.change_times(demo_collection.web_indices[news])[0])
    change = Change(True, words=12, new_internal=2, new_external=0)
    for page in (news, status):
        add_visit(monitor, page, changed - 3600, Outcome.OK)
        add_visit(monitor, page, changed + 3600, Outcome.OK, change)
    status = monitor.status(from_epoch(changed + 7200))
    assert sorted(whats(status)) == [
        "changed, but only by noise",
        "words changed: 12, new links: 2",
    ]
    assert status.scores[0].changes_found == 1


def test_a_visit_without_content_is_reported_and_refreshes_no_copy(
    monitor: CrawlMonitor, demo_collection: DemoCollection
) -> None:
    page = page_of_kind(demo_collection, "guarded")
    add_visit(monitor, page, to_epoch(START), Outcome.CAPTCHA)
    status = monitor.status(START + timedelta(hours=1))
    assert whats(status) == ["captcha: no content, no change"]
    assert status.scores[0].fresh_now == 0.0


def test_a_page_outside_the_web_counts_only_for_outcomes(
    monitor: CrawlMonitor, demo_collection: DemoCollection
) -> None:
    visit = Visit(uuid4().bytes, demo_collection.forbidden_page, START, Outcome.ROBOTS)
    monitor.on_event(CrawlEvent([(visit, None)], SPENDING, queue=QUIET, recording_seconds=0.01))
    status = monitor.status(START + timedelta(hours=1))
    assert status.outcomes == {"robots": 1}
    assert status.scores[0].visits == 0


def test_pages_are_shown_with_their_forecasts(
    monitor: CrawlMonitor, demo_collection: DemoCollection
) -> None:
    page = demo_collection.pages_to_show(3)[0]
    start = to_epoch(START)
    add_visit(monitor, page, start, Outcome.OK)
    add_visit(monitor, page, start + 86_400, Outcome.OK, Change(True, words=3))
    status = monitor.status(START + timedelta(days=2))
    shown = status.pages[0]
    assert len(status.pages) == 3
    assert (shown.name, shown.kind) == (demo_collection.name(page), demo_collection.kind(page))
    assert (shown.looks, shown.changes) == (1, 1)
    assert shown.last_change == START + timedelta(days=1)
    assert shown.rate_low is not None
    assert shown.rate is not None
    assert shown.rate_high is not None
    assert shown.rate_low < shown.rate < shown.rate_high
    assert shown.chance is not None
    assert 0 < shown.chance < 1


def test_the_status_is_shown_until_the_context_ends(monitor: CrawlMonitor) -> None:
    statuses: SimpleQueue[LiveStatus] = SimpleQueue()
    with monitor.showing_status(FixedClock(START), statuses.put):
        assert statuses.get(timeout=30).now == START


def test_a_fault_while_showing_is_not_hidden(monitor: CrawlMonitor) -> None:
    tried = Event()

    def fail(_sight: LiveStatus) -> None:
        tried.set()
        raise ValueError("no room on the screen")

    def show_until_tried() -> None:
        with monitor.showing_status(FixedClock(START), fail):
            assert tried.wait(timeout=30)

    with pytest.raises(ValueError, match="no room"):
        show_until_tried()
