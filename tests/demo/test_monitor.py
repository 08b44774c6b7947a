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
from freshet.demo.demo_collection import Stage
from freshet.demo.hosts import Asked, Log
from freshet.demo.monitor import Sight, Watch
from freshet.demo.scoreboard import Race
from freshet.fetch.politeness.request_queue import Queue
from freshet.fetch.recording_loop import Tidings
from freshet.schedule.policies import make
from tests.demo.conftest import DAYS, START

QUIET = Queue(0, 0, ())
SPENDING = DaySpending("2026-03-02", 3, 100)
END = START + timedelta(days=DAYS)


@pytest.fixture
def watch(stage: Stage) -> Watch:
    policy = make("bayes-freshness", live=True)
    policy.add(stage.table)
    race = Race(stage, START, END, 100)
    return Watch(stage, race, policy, Log(), (START, END), shown=3)


def page_of_kind(stage: Stage, kind: str) -> int:
    return next(page for page in stage.pages if stage.kind(page) == kind)


def tell(
    watch: Watch, page: int, sent: float, outcome: Outcome, change: Change | None = None
) -> None:
    """Let the crawl tell of a visit that its host answered a minute later."""
    place = watch.stage.pages[page]
    watch.log.note(Asked(sent + 60, 0, "/", 200, place, shows=outcome is Outcome.OK))
    visit = Visit(uuid4().bytes, page, from_epoch(sent), outcome)
    watch.hear(Tidings([(visit, change)], SPENDING, queue=QUIET, seconds=0.01))


def test_visits_that_began_late_are_counted(watch: Watch) -> None:
    watch.late_seconds = 0.2
    watch.hear(Tidings([], SPENDING, queue=Queue(0, 0, (0.0, 0.1, 0.3)), seconds=0.01))
    watch.hear(Tidings([], SPENDING, queue=Queue(0, 0, (0.4,)), seconds=0.01))
    assert watch.look(START).late == 2


def whats(sight: Sight) -> Sequence[str]:
    return [find.what for find in sight.finds]


def test_what_was_heard_is_in_the_next_picture(watch: Watch, stage: Stage) -> None:
    page = page_of_kind(stage, "static")
    tell(watch, page, to_epoch(START), Outcome.OK)
    tell(watch, page, to_epoch(START) + 3600, Outcome.NOT_MODIFIED, Change(False))
    sight = watch.look(START + timedelta(hours=2))
    assert sight.outcomes == {"ok": 1, "not-modified": 1}
    assert sight.visits == sight.standings[0].visits == 2
    assert sight.spending == SPENDING
    assert sight.share == pytest.approx(2 / (24 * DAYS))
    assert whats(sight) == []


def test_real_changes_are_told_from_what_differs_at_every_visit(watch: Watch, stage: Stage) -> None:
    news, status = page_of_kind(stage, "news"), page_of_kind(stage, "status")
    changed = float(stage.web.change_times(stage.pages[news])[0])
    change = Change(True, words=12, new_internal=2, new_external=0)
    for page in (news, status):
        tell(watch, page, changed - 3600, Outcome.OK)
        tell(watch, page, changed + 3600, Outcome.OK, change)
    sight = watch.look(from_epoch(changed + 7200))
    assert sorted(whats(sight)) == [
        "changed, but only in what differs at every visit",
        "words changed: 12, new links: 2",
    ]
    assert sight.standings[0].changes_found == 1


def test_a_visit_without_content_is_told_and_takes_no_copy(watch: Watch, stage: Stage) -> None:
    page = page_of_kind(stage, "guarded")
    tell(watch, page, to_epoch(START), Outcome.CAPTCHA)
    sight = watch.look(START + timedelta(hours=1))
    assert whats(sight) == ["captcha: no content, no change"]
    assert sight.standings[0].fresh_now == 0.0


def test_a_page_that_is_none_of_the_web_counts_for_outcomes_alone(
    watch: Watch, stage: Stage
) -> None:
    visit = Visit(uuid4().bytes, stage.forbidden, START, Outcome.ROBOTS)
    watch.hear(Tidings([(visit, None)], SPENDING, queue=QUIET, seconds=0.01))
    sight = watch.look(START + timedelta(hours=1))
    assert sight.outcomes == {"robots": 1}
    assert sight.standings[0].visits == 0


def test_pages_are_shown_with_what_is_expected_of_them(watch: Watch, stage: Stage) -> None:
    page = stage.foremost(3)[0]
    start = to_epoch(START)
    tell(watch, page, start, Outcome.OK)
    tell(watch, page, start + 86_400, Outcome.OK, Change(True, words=3))
    sight = watch.look(START + timedelta(days=2))
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


def test_pictures_come_until_the_watch_is_over(watch: Watch) -> None:
    seen: SimpleQueue[Sight] = SimpleQueue()
    with watch.showing(FixedClock(START), seen.put):
        assert seen.get(timeout=30).now == START


def test_a_fault_while_showing_is_not_hidden(watch: Watch) -> None:
    tried = Event()

    def fail(_sight: Sight) -> None:
        tried.set()
        raise ValueError("no room on the screen")

    def watch_until_tried() -> None:
        with watch.showing(FixedClock(START), fail):
            assert tried.wait(timeout=30)

    with pytest.raises(ValueError, match="no room"):
        watch_until_tried()
