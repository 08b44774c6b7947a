"""The live crawl without the network: what is drawn, booked, leased, recorded and taken up."""

import sqlite3
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.tables import HostCaps, hash_names
from freshet.core.types import Outcome, Snapshot
from freshet.crawl.fetch_job import FetchJob
from freshet.crawl.session import CrawlSession
from tests.crawl.crawl_samples import (
    DAY,
    NOON,
    PAGES,
    SOON,
    booked,
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


def test_pages_never_seen_are_drawn_at_once_within_the_budget(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "15/day") as session:
        assert len(draw(session, clock)) == 15
        assert draw(session, clock) == ()
        assert session.day_spending().spent == 15


def test_every_errand_is_leased_and_booked(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "15/day") as session:
        jobs = draw(session, clock, room=4)
        with Collection.open(folder) as beside:
            leased_pages = {lease.page for lease in beside.catalog.leases()}
            assert leased_pages == {job.page for job in jobs}
            assert beside.catalog.spending(DAY).requests == 4


def test_a_recorded_visit_ends_its_lease_and_stays_spent(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        assert len(visit_all(session, clock)) == PAGES
        with Collection.open(folder) as beside:
            assert beside.catalog.leases() == []
            assert beside.status().counts.looks == PAGES
            assert beside.catalog.spending(DAY).requests == PAGES


def test_requests_lost_with_a_killed_crawl_are_named(folder: Path) -> None:
    clock = FixedClock(NOON)
    for lost in (4, 7):
        with crawling(folder, clock, "15/day") as session:
            draw(session, clock, room=lost)
    with crawling(folder, clock, "15/day"):
        pass
    with Collection.open(folder, clock=clock) as beside:
        today = beside.status().today
        assert (today.spent, today.lost) == (11, 11)
    with Collection.open(folder, clock=FixedClock(NOON + timedelta(days=1))) as beside:
        assert beside.status().today.lost == 0


def test_the_rest_of_the_budget_is_spread_over_the_rest_of_the_day(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, f"{PAGES + 12}/day") as session:
        visit_all(session, clock)
        counts = []
        for _ in range(12):
            clock.at += timedelta(hours=1) - SOON
            counts.append(len(visit_all(session, clock)))
            clock.at += SOON
        assert counts == [1] * 12


def test_what_never_went_out_is_given_back(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        jobs = draw(session, clock)
        session.return_jobs(jobs)
        assert session.day_spending().spent == 0
        assert {job.page for job in draw(session, clock)} == {e.page for e in jobs}


def test_a_page_closed_by_robots_costs_no_request(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        job = draw(session, clock, room=1)[0]
        observation = Observation(job.url, "", NOON, uuid4().bytes, outcome=Outcome.ROBOTS)
        session.record_observations([booked(observation, job, was_sent=False)])
        assert session.day_spending().spent == 0


def test_a_redirect_is_paid_for_and_not_followed_where_nothing_is_left(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "3/day") as session:
        draw(session, clock, room=2)
        assert session.book_requests(1)
        assert not session.book_requests(1)
        assert session.day_spending().spent == 3


def test_a_new_day_has_a_new_budget(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "5/day") as session:
        assert len(visit_all(session, clock)) == 5
        clock.at = NOON + timedelta(hours=12, seconds=1)
        assert len(visit_all(session, clock)) == 5


def test_after_a_kill_the_day_is_not_overspent(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "6/day") as session:
        draw(session, clock, room=4)
    with crawling(folder, clock, "6/day") as again:
        assert len(draw(again, clock)) == 2


def test_when_a_crawl_was_found_dead_is_known_to_all_that_come_after(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "6/day") as session:
        draw(session, clock, room=2)
    opened = Collection.open(folder, clock=clock)
    with opened as collection, collection.recording() as recorder:
        assert CrawlSession(collection, recorder).start().last_kill_time == NOON
        clock.at += timedelta(hours=1)
        assert CrawlSession(collection, recorder).start().last_kill_time == NOON


def test_an_orderly_end_is_no_death(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "6/day") as session:
        draw(session, clock, room=2)
        session.release_all()
    opened = Collection.open(folder, clock=clock)
    with opened as collection, collection.recording() as recorder:
        assert CrawlSession(collection, recorder).start().last_kill_time is None


def test_failures_cost_budget_and_back_off(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "1000/day") as session:
        jobs = draw(session, clock)
        session.record_observations([failed(job, NOON) for job in jobs])
        assert session.day_spending().spent == PAGES
        clock.at += timedelta(minutes=5)
        assert draw(session, clock) == ()


def test_a_page_added_beside_the_crawl_is_taken_up(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        visit_all(session, clock)
        with Collection.open(folder) as beside:
            beside.add("https://new.example/")
        assert [job.url for job in draw(session, clock)] == ["https://new.example/"]


def test_a_paused_or_removed_page_is_left_alone(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        with Collection.open(folder) as beside:
            beside.pause([beside.page(url(1))])
            beside.remove([beside.page(url(2))])
        urls = {job.url for job in visit_all(session, clock)}
        assert urls == {url(number) for number in range(PAGES)} - {url(1), url(2)}


def test_a_resumed_page_is_visited_again(folder: Path) -> None:
    clock = FixedClock(NOON)
    with Collection.open(folder) as beside:
        beside.pause([beside.page(url(1))])
    with crawling(folder, clock, "100/day") as session:
        visit_all(session, clock)
        with Collection.open(folder) as beside:
            beside.resume([beside.page(url(1))])
        assert [job.url for job in draw(session, clock)] == [url(1)]


def test_a_page_that_is_put_back_brings_its_past_along(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        visit_all(session, clock)
        with Collection.open(folder) as beside:
            page = beside.page(url(1))
            beside.remove([page])
            assert draw(session, clock) == ()
            with pytest.raises(KeyError):
                session.policy.explain(page.id, NOON)
            beside.add(url(1))
        assert draw(session, clock) == ()
        assert session.policy.explain(page.id, NOON).age_days == 0.0


def test_a_page_made_more_important_is_taken_up(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        visit_all(session, clock)
        clock.at += timedelta(minutes=1)
        with Collection.open(folder) as beside:
            page = beside.page(url(1))
            before = session.policy.explain(page.id, NOON + timedelta(days=1)).value
            beside.change_settings(page, [("importance", 3.0)])
        draw(session, clock)
        after = session.policy.explain(page.id, NOON + timedelta(days=1)).value
        assert after == pytest.approx(3 * before)


def test_a_requested_page_does_not_wait_for_the_pace(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        visit_all(session, clock)
        draw(session, clock)
        with Collection.open(folder) as beside:
            beside.catalog.request_visits([beside.page(url(3)).id], NOON)
        jobs = draw(session, clock)
        assert [(job.url, job.reason) for job in jobs] == [(url(3), "asked for")]
        session.record_observations([fetched_page(job, NOON) for job in jobs])
        assert draw(session, clock) == ()


def test_requested_pages_leave_other_hosts_their_turn(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        with Collection.open(folder) as beside:
            wanted = [page.id for page in beside.pages() if page.host == "h1.example"]
            beside.catalog.request_visits(wanted, NOON)
        caps = HostCaps(hash_names(["h1.example"]), np.array([2]))
        hosts = [job.host for job in session.draw_jobs(NOON + SOON, 10, caps).jobs]
        assert hosts.count("h1.example") == 2
        assert len(hosts) == 10


def test_paused_pages_do_not_keep_wanted_ones_waiting(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100/day") as session:
        visit_all(session, clock)
        with Collection.open(folder) as beside:
            beside.pause([beside.page(url(number)) for number in range(4, 12)])
            beside.catalog.request_visits([beside.page(url(3)).id], NOON)
        assert [job.url for job in draw(session, clock)] == [url(3)]


def test_a_page_sleeps_outside_its_active_hours(folder: Path) -> None:
    clock = FixedClock(NOON)
    with Collection.open(folder) as beside:
        page = beside.page(url(1))
        beside.change_settings(page, [("active_hours", "20:00-22:00")])
    with crawling(folder, clock, "100/day") as session:
        assert url(1) not in {job.url for job in visit_all(session, clock)}
        clock.at = NOON + timedelta(hours=9)
        assert url(1) in {job.url for job in draw(session, clock)}


def test_validators_are_sent_until_an_audit_is_due(folder: Path) -> None:
    clock = FixedClock(NOON)
    with crawling(folder, clock, "100000/day") as session:
        tagged = []
        for _ in range(13):
            jobs = draw(session, clock, room=100)
            tagged.append({job.etag for job in jobs if job.url == url(1)})
            session.record_observations([_tagged(job, clock.now()) for job in jobs])
            clock.at += timedelta(minutes=30)
    assert tagged[0] == {None}
    assert tagged[1:11] == [{'"1"'}] * 10
    assert tagged[11] == {None}
    assert tagged[12] == {'"1"'}


def _tagged(job: FetchJob, now: datetime) -> Observation:
    if job.etag:
        observation = Observation(
            job.url, "", now, uuid4().bytes, outcome=Outcome.NOT_MODIFIED, status=304
        )
        return booked(observation, job)
    headers = (("content-type", "text/html"), ("etag", '"1"'))
    snapshot = Snapshot(job.url, b"<p>the same words</p>", 200, headers)
    return booked(Observation(job.url, "", now, uuid4().bytes, snapshot), job)


def test_a_crawl_that_catches_up_visits_no_page_twice(folder: Path) -> None:
    clock = FixedClock(NOON)
    with (folder / "freshet.toml").open("a") as file:
        file.write("[politeness]\npage_interval = 0.0\n")
    with crawling(folder, clock, "100000/day", once=True) as session:
        assert len(visit_all(session, clock)) == PAGES
        clock.at += timedelta(hours=1)
        with Collection.open(folder) as beside:
            beside.add("https://new.example/")
            beside.check_now([beside.page(url(0))])
        assert [job.url for job in draw(session, clock)] == ["https://new.example/"]
    with crawling(folder, clock, "100000/day", once=True) as session:
        assert len(draw(session, clock)) > 1


def test_settings_that_cannot_be_read_cost_their_page_an_outcome_only(folder: Path) -> None:
    clock = FixedClock(NOON)
    connection = sqlite3.connect(folder / "catalog.db")
    damage = "UPDATE pages SET settings = '{nojson' WHERE url = ?"
    connection.execute(damage, (url(0),))
    connection.commit()
    connection.close()
    with crawling(folder, clock, "100/day") as session:
        batch = session.draw_jobs(clock.now() + SOON, 100, HostCaps())
        assert len(batch.jobs) == PAGES - 1
        [unfetched] = batch.failures
        session.record_observations([
            *batch.failures,
            *(fetched_page(job, NOON) for job in batch.jobs),
        ])
    assert unfetched.url == url(0)
    assert "its tags, cannot be read" in unfetched.why
    with Collection.open(folder) as collection:
        [problem] = collection.check().problems
        assert str(problem) == (
            f"catalog.db: the settings of {url(0)} cannot be read; "
            "set them again with 'freshet set'"
        )
        page = collection.page(url(0))
        assert collection.change_settings(page, [("importance", 2.0)]) == {"importance": 2.0}
        assert collection.check().is_sound
