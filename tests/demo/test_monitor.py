"""What there is to see while the demonstration runs."""

from collections.abc import Sequence
from datetime import timedelta
from queue import SimpleQueue
from threading import Event
from uuid import uuid4

import pytest

from freshet.core.clock import FixedClock, from_epoch, to_epoch
from freshet.core.types import Change, Outcome, Visit
from freshet.crawl.fetch_job import DaySpending
from freshet.demo.demo_collection import DemoCollection
from freshet.demo.hosts import LoggedRequest, RequestLog
from freshet.demo.monitor import CrawlMonitor, LiveStatus
from freshet.demo.scoreboard import DemoScoreboard
from freshet.fetch.event_dispatcher import CrawlEvent
from freshet.fetch.politeness.request_queue import QueueStatus
from freshet.schedule.policies import make_policy
from tests.demo.conftest import DAYS, START

QUIET = QueueStatus(0, 0, ())
SPENDING = DaySpending("2026-03-02", 3, 100)
END = START + timedelta(days=DAYS)


@pytest.fixture
def watch(stage: DemoCollection) -> CrawlMonitor:
    policy = make_policy("bayes-freshness", live=True)
    policy.add(stage.page_table)
    race = DemoScoreboard(stage, START, END, 100)
    return CrawlMonitor(stage, race, policy, RequestLog(), (START, END), page_count=3)


def page_of_kind(stage: DemoCollection, kind: str) -> int:
    return next(page for page in stage.web_indices if stage.kind(page) == kind)


def tell(
    watch: CrawlMonitor, page: int, sent: float, outcome: Outcome, change: Change | None = None
) -> None:
    """Let the crawl tell of a visit that its host answered a minute later."""
    place = watch.demo_collection.web_indices[page]
    watch.log.add(LoggedRequest(sent + 60, 0, "/", 200, place, shows_content=outcome is Outcome.OK))
    visit = Visit(uuid4().bytes, page, from_epoch(sent), outcome)
    watch.on_event(CrawlEvent([(visit, change)], SPENDING, queue=QUIET, recording_seconds=0.01))


def test_visits_that_began_late_are_counted(watch: CrawlMonitor) -> None:
    watch.late_seconds = 0.2
    watch.on_event(
        CrawlEvent([], SPENDING, queue=QueueStatus(0, 0, (0.0, 0.1, 0.3)), recording_seconds=0.01)
    )
    watch.on_event(
        CrawlEvent([], SPENDING, queue=QueueStatus(0, 0, (0.4,)), recording_seconds=0.01)
    )
    assert watch.status(START).late_visits == 2


def whats(sight: LiveStatus) -> Sequence[str]:
    return [find.text for find in sight.findings]


def test_what_was_heard_is_in_the_next_picture(watch: CrawlMonitor, stage: DemoCollection) -> None:
    page = page_of_kind(stage, "static")
    tell(watch, page, to_epoch(START), Outcome.OK)
    tell(watch, page, to_epoch(START) + 3600, Outcome.NOT_MODIFIED, Change(False))
    sight = watch.status(START + timedelta(hours=2))
    assert sight.outcomes == {"ok": 1, "not-modified": 1}
    assert sight.visits == sight.scores[0].visits == 2
    assert sight.spending == SPENDING
    assert sight.elapsed_share == pytest.approx(2 / (24 * DAYS))
    assert whats(sight) == []


def test_real_changes_are_told_from_what_differs_at_every_visit(
    watch: CrawlMonitor, stage: DemoCollection
) -> None:
    news, status = page_of_kind(stage, "news"), page_of_kind(stage, "status")
    changed = float(stage.web.change_times(stage.web_indices[news])[0])
    change = Change(True, words=12, new_internal=2, new_external=0)
    for page in (news, status):
        tell(watch, page, changed - 3600, Outcome.OK)
        tell(watch, page, changed + 3600, Outcome.OK, change)
    sight = watch.status(from_epoch(changed + 7200))
    assert sorted(whats(sight)) == [
        "changed, but only in what differs at every visit",
        "words changed: 12, new links: 2",
    ]
    assert sight.scores[0].changes_found == 1


def test_a_visit_without_content_is_told_and_takes_no_copy(
    watch: CrawlMonitor, stage: DemoCollection
) -> None:
    page = page_of_kind(stage, "guarded")
    tell(watch, page, to_epoch(START), Outcome.CAPTCHA)
    sight = watch.status(START + timedelta(hours=1))
    assert whats(sight) == ["captcha: no content, no change"]
    assert sight.scores[0].fresh_now == 0.0


def test_a_page_that_is_none_of_the_web_counts_for_outcomes_alone(
    watch: CrawlMonitor, stage: DemoCollection
) -> None:
    visit = Visit(uuid4().bytes, stage.forbidden_page, START, Outcome.ROBOTS)
    watch.on_event(CrawlEvent([(visit, None)], SPENDING, queue=QUIET, recording_seconds=0.01))
    sight = watch.status(START + timedelta(hours=1))
    assert sight.outcomes == {"robots": 1}
    assert sight.scores[0].visits == 0


def test_pages_are_shown_with_what_is_expected_of_them(
    watch: CrawlMonitor, stage: DemoCollection
) -> None:
    page = stage.pages_to_show(3)[0]
    start = to_epoch(START)
    tell(watch, page, start, Outcome.OK)
    tell(watch, page, start + 86_400, Outcome.OK, Change(True, words=3))
    sight = watch.status(START + timedelta(days=2))
    shown = sight.pages[0]
    assert len(sight.pages) == 3
    assert (shown.name, shown.kind) == (stage.name(page), stage.kind(page))
    assert (shown.looks, shown.changes) == (1, 1)
    assert shown.last_change == START + timedelta(days=1)
    assert shown.rate_low is not None
    assert shown.rate is not None
    assert shown.rate_high is not None
    assert shown.rate_low < shown.rate < shown.rate_high
    assert shown.chance is not None
    assert 0 < shown.chance < 1


def test_pictures_come_until_the_watch_is_over(watch: CrawlMonitor) -> None:
    seen: SimpleQueue[LiveStatus] = SimpleQueue()
    with watch.showing_status(FixedClock(START), seen.put):
        assert seen.get(timeout=30).now == START


def test_a_fault_while_showing_is_not_hidden(watch: CrawlMonitor) -> None:
    tried = Event()

    def fail(_sight: LiveStatus) -> None:
        tried.set()
        raise ValueError("no room on the screen")

    def watch_until_tried() -> None:
        with watch.showing_status(FixedClock(START), fail):
            assert tried.wait(timeout=30)

    with pytest.raises(ValueError, match="no room"):
        watch_until_tried()
