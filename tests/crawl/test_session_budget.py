"""What a day's budget pays for, and what is left of it after it was lowered."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from freshet.archive.observation import NOT_BOOKED
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.tables import ChoiceTable, HostCaps
from freshet.core.types import Outcome
from freshet.crawl.fetch_job import CrawlDaySpending
from tests.crawl.crawl_samples import (
    DAY,
    NOON,
    PAGES,
    SOON,
    crawling,
    draw,
    failed,
    fetched_page,
    make_folder,
    url,
    visit_all,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "c")


def ask_for(folder: Path, clock: FixedClock, count: int) -> None:
    with Collection.open(folder, clock=clock) as beside:
        beside.check_now([beside.page(url(number)) for number in range(count)])


def test_a_budget_below_what_is_spent_draws_nothing_until_midnight(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "15/day") as session:
        assert len(visit_all(session, clock)) == 15
    ask_for(folder, clock, 3)
    with crawling(folder, clock, "4/day") as session:
        assert draw(session, clock) == ()
        assert not session.book_requests(1)
        clock.at = NOON + timedelta(hours=12, seconds=1)
        assert len(draw(session, clock)) == 4


def test_a_share_of_pages_that_were_removed_meanwhile_draws_nothing(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "50%/day") as session:
        assert len(visit_all(session, clock)) == PAGES // 2
        with Collection.open(folder, clock=clock) as beside:
            beside.remove([beside.page(url(number)) for number in range(4, PAGES)])
        ask_for(folder, clock, 2)
        assert draw(session, clock) == ()
        assert session.day_spending().budget == 2


def test_a_spider_that_asks_beyond_the_budget_leaves_the_crawl_running(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "6/day") as session:
        jobs = draw(session, clock)
        others = [fetched_page(job, clock.now()) for job in jobs]
        session.record_observations([
            replace(observation, booking=NOT_BOOKED) for observation in others
        ])
        assert session.day_spending().spent == 12
        ask_for(folder, clock, 2)
        assert draw(session, clock) == ()


def booked_requests(folder: Path) -> list[int]:
    with Collection.open(folder) as beside:
        return [beside.catalog.spending(day).requests for day in ("2026-03-01", "2026-03-02")]


def test_what_was_booked_yesterday_and_never_went_out_pays_for_nothing_today(folder: Path) -> None:
    clock = FixedClock(NOON + timedelta(hours=11, minutes=59))
    with crawling(folder, clock, "6/day") as session:
        jobs = draw(session, clock)
        clock.at += timedelta(minutes=2)
        session.return_jobs(jobs[:2])
        refused = [failed(job, clock.now(), Outcome.ROBOTS) for job in jobs[2:4]]
        session.record_observations([
            replace(item, booking=replace(item.booking, was_sent=False)) for item in refused
        ])
        session.record_observations([fetched_page(job, clock.now()) for job in jobs[4:]])
        assert booked_requests(folder) == [4, 0]
        assert len(draw(session, clock)) == 6
        assert booked_requests(folder) == [4, 6]
        assert not session.book_requests(1)


def test_a_budget_begun_late_in_the_day_is_not_squeezed_into_its_last_hours(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "240/day") as session:
        assert len(visit_all(session, clock)) == PAGES
    clock.at = NOON + timedelta(hours=10)
    with crawling(folder, clock, "240/day") as session:
        counts = [len(visit_all(session, clock))]
        for _ in range(4):
            clock.at += timedelta(minutes=30) - SOON
            counts.append(len(visit_all(session, clock)))
            clock.at += SOON
    assert counts == [1, 5, 5, 5, 5]


def test_pages_never_seen_and_requested_pages_do_not_wait_late_in_the_day(folder: Path) -> None:
    clock = FixedClock(NOON + timedelta(hours=11))
    with crawling(folder, clock, "240/day") as session:
        assert len(visit_all(session, clock)) == PAGES
        clock.at += timedelta(minutes=2)
        ask_for(folder, clock, 5)
        assert len(visit_all(session, clock)) == 5


def test_spiders_get_what_is_left_and_what_they_do_not_use_comes_back(folder: Path) -> None:
    with crawling(folder, FixedClock(NOON), "6/day") as session:
        assert session.book_up_to(10) == 6
        session.return_requests(2)
        assert session.day_spending().spent == 4
        assert session.book_up_to(10) == 2


def test_robots_txt_is_counted_apart_from_the_budget(folder: Path) -> None:
    with crawling(folder, FixedClock(NOON), "6/day") as session:
        session.book_unbudgeted(3)
        assert session.book_requests(1)
        assert session.day_spending() == CrawlDaySpending(DAY, 1, 6, 3, PAGES)


def test_a_crawl_draws_again_when_the_next_request_is_due_or_the_day_is_over(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "240/day") as session:
        visit_all(session, clock)
        again = session.draw_jobs(clock.now() + SOON, 100, HostCaps()).next_draw
        assert again == NOON + timedelta(minutes=6)
        session.book_up_to(240)
        again = session.draw_jobs(clock.now() + SOON, 100, HostCaps()).next_draw
        assert again == NOON + timedelta(hours=12)


def test_a_crawl_that_hosts_keep_waiting_draws_again_when_they_say_so(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "240/day") as session:
        assert session.draw_jobs(NOON + SOON, 100, HostCaps(default_limit=0)).next_draw is None


def test_pages_are_chosen_for_the_time_at_which_their_requests_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "20/day") as session:
        visit_all(session, clock)
        clock.at = NOON + timedelta(hours=12, minutes=1)
        first = draw(session, clock)
        chosen_for: list[datetime] = []
        choose = session.policy.choose

        def choose_and_keep_time(now: datetime, count: int, caps: HostCaps) -> ChoiceTable:
            chosen_for.append(now)
            return choose(now, count, caps)

        monkeypatch.setattr(session.policy, "choose", choose_and_keep_time)
        ahead = clock.now() + timedelta(hours=3)
        jobs = session.draw_jobs(ahead, 100, HostCaps()).jobs
    assert len(first) == 1
    assert clock.now() < jobs[0].not_before <= ahead
    assert chosen_for == [jobs[0].not_before]
