"""The audit of a crawl of the simulated web."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from freshet.archive.catalog.rows import HistoryRow
from freshet.backtest.continuous.crawler import CrawlerScore
from freshet.core.clock import to_epoch
from freshet.core.types import Change, Outcome, Visit
from freshet.demo.audit import (
    CrawlEvidence,
    copies_were_as_fresh_as_round_robin,
    every_page_was_visited,
    host_delays_were_kept,
    no_visit_is_lost_or_doubled,
    noise_was_recognised,
    retry_after_was_kept,
    robots_were_obeyed,
    the_budget_was_kept,
    the_budget_was_spent,
    troubles_are_no_changes,
    unchanged_pages_were_not_sent_again,
    visits_match_requests,
)
from freshet.demo.demo_collection import DemoCollection
from freshet.demo.hosts import ROBOTS_PATH, LoggedRequest, RequestLog
from tests.demo.conftest import START

MINUTE = 60.0


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def row(
    page: int, minutes: float, outcome: Outcome = Outcome.OK, change: Change | None = None
) -> HistoryRow:
    return HistoryRow(Visit(uuid4().bytes, page, at(minutes), outcome), change)


def request(
    demo_collection: DemoCollection, page: int, minutes: float, status: int = 200, **more: float
) -> LoggedRequest:
    web_index = demo_collection.web_indices[page]
    shown = demo_collection.web.pages[web_index]
    shows = status == 200
    return LoggedRequest(
        to_epoch(at(minutes)), shown.host, shown.path, status, web_index, shows_content=shows,
        retry_after=more.get("wait"),
    )  # fmt: skip


def robots(host: int, minutes: float) -> LoggedRequest:
    return LoggedRequest(to_epoch(at(minutes)), host, ROBOTS_PATH, 200)


def evidence(
    demo_collection: DemoCollection,
    visits: Sequence[HistoryRow],
    requests: Sequence[LoggedRequest],
    **booked: int,
) -> CrawlEvidence:
    histories: dict[int, list[HistoryRow]] = {
        page: [] for page in [*demo_collection.web_indices, demo_collection.forbidden_page]
    }
    for history_row in visits:
        histories[history_row.visit.page].append(history_row)
    log = RequestLog()
    for request in requests:
        log.add(request)
    return CrawlEvidence(
        demo_collection, log, histories, booked or {"day": len(visits)}, budget=10, speed=1.0
    )


@pytest.fixture
def page(demo_collection: DemoCollection) -> int:
    return next(iter(demo_collection.web_indices))


@pytest.fixture
def sound(demo_collection: DemoCollection, page: int) -> CrawlEvidence:
    """One page, visited every hour, and a page that robots.txt forbids."""
    visits = [row(page, 60 * hour) for hour in range(3)]
    requests = [request(demo_collection, page, 60 * hour + 1) for hour in range(3)]
    forbidden = row(demo_collection.forbidden_page, 5, Outcome.ROBOTS)
    return replace(
        evidence(demo_collection, [*visits, forbidden], [robots(0, -30), *requests]),
        booked_requests={"day": 3},
    )


def test_a_sound_crawl_keeps_every_promise_that_it_had_occasion_to_keep(
    sound: CrawlEvidence,
) -> None:
    for promise in (
        no_visit_is_lost_or_doubled,
        the_budget_was_kept,
        host_delays_were_kept,
        robots_were_obeyed,
    ):
        verdict = promise(sound)
        assert verdict.kept, verdict


def test_a_page_that_was_never_visited_is_named(
    sound: CrawlEvidence, demo_collection: DemoCollection
) -> None:
    verdict = every_page_was_visited(sound)
    assert not verdict.kept
    assert demo_collection.name(list(demo_collection.web_indices)[1]) in verdict.figures


def test_visits_match_requests_only_one_by_one(demo_collection: DemoCollection, page: int) -> None:
    visits = [row(page, 0), row(page, 60)]
    answers = [request(demo_collection, page, 1), request(demo_collection, page, 61)]
    assert visits_match_requests(visits, answers)
    assert visits_match_requests([*visits, row(page, 90, Outcome.ROBOTS)], answers)
    assert not visits_match_requests(visits, answers[:1])
    assert not visits_match_requests(visits[:1], answers)
    assert not visits_match_requests(
        visits, [request(demo_collection, page, 1), request(demo_collection, page, 2)]
    )


def test_a_lost_visit_is_named_by_its_page(demo_collection: DemoCollection, page: int) -> None:
    verdict = no_visit_is_lost_or_doubled(
        evidence(demo_collection, [], [request(demo_collection, page, 1)])
    )
    assert not verdict.kept
    assert demo_collection.name(page) in verdict.figures


def test_a_day_above_its_budget_breaks_the_promise(sound: CrawlEvidence) -> None:
    assert not the_budget_was_kept(replace(sound, budget=2)).kept


def test_a_request_that_was_not_booked_breaks_the_promise(sound: CrawlEvidence) -> None:
    assert not the_budget_was_kept(replace(sound, booked_requests={"day": 2})).kept


def test_requests_not_sent_at_the_end_may_stay_booked(sound: CrawlEvidence) -> None:
    assert the_budget_was_kept(replace(sound, booked_requests={"day": 4})).kept
    assert not the_budget_was_kept(replace(sound, booked_requests={"one": 10, "two": 10})).kept


def test_the_last_day_need_not_be_spent_whole(sound: CrawlEvidence) -> None:
    days = {"2026-03-02": 10, "2026-03-03": 10, "2026-03-04": 2, "2026-03-05": 0}
    assert the_budget_was_spent(replace(sound, booked_requests=days)).kept
    assert not the_budget_was_spent(replace(sound, booked_requests=days | {"2026-03-03": 7})).kept


def test_a_request_before_the_host_delay_breaks_the_promise(
    demo_collection: DemoCollection,
) -> None:
    page = next(
        page for page in demo_collection.web_indices if demo_collection.kind(page) == "thread"
    )
    visits = [row(page, 0), row(page, 29)]
    requests = [request(demo_collection, page, 1), request(demo_collection, page, 29.5)]
    verdict = host_delays_were_kept(evidence(demo_collection, visits, requests))
    assert not verdict.kept
    assert "after 1770 s" in verdict.figures


def test_a_crawl_delay_is_longer_than_our_own(demo_collection: DemoCollection) -> None:
    forum = next(i for i, host in enumerate(demo_collection.web.hosts) if host.crawl_delay)
    delay = demo_collection.web.hosts[forum].crawl_delay / MINUTE
    page = next(
        p
        for p, web_index in demo_collection.web_indices.items()
        if demo_collection.web.pages[web_index].host == forum
    )
    for pause, kept in ((delay - 1, False), (delay + 1, True)):
        visits = [row(page, 0), row(page, pause)]
        requests = [request(demo_collection, page, 0.5), request(demo_collection, page, pause)]
        assert host_delays_were_kept(evidence(demo_collection, visits, requests)).kept is kept


@pytest.mark.parametrize(("pause", "kept"), [(29, False), (31, True)])
def test_retry_after_is_exact_to_the_second(
    demo_collection: DemoCollection, page: int, pause: float, kept: bool
) -> None:
    throttled = request(demo_collection, page, 0, 429, wait=30 * MINUTE)
    again = request(demo_collection, page, pause)
    assert retry_after_was_kept(evidence(demo_collection, [], [throttled, again])).kept is kept


def test_a_page_request_before_robots_txt_breaks_the_promise(
    sound: CrawlEvidence, demo_collection: DemoCollection, page: int
) -> None:
    log = RequestLog()
    log.add(request(demo_collection, page, 1))
    assert not robots_were_obeyed(replace(sound, log=log)).kept


def test_a_request_to_a_forbidden_address_breaks_the_promise(sound: CrawlEvidence) -> None:
    sound.log.add(LoggedRequest(to_epoch(at(300)), 0, "/suggested/1", 404))
    verdict = robots_were_obeyed(sound)
    assert not verdict.kept
    assert "/suggested/1" in verdict.figures


def test_an_error_that_was_taken_for_a_change_breaks_the_promise(
    demo_collection: DemoCollection, page: int
) -> None:
    answer = request(demo_collection, page, 1, 404)
    gone = evidence(demo_collection, [row(page, 0, Outcome.GONE)], [answer])
    assert troubles_are_no_changes(gone).kept
    assert "1 gone" in troubles_are_no_changes(gone).figures
    for wrong in (row(page, 0), row(page, 0, Outcome.GONE, Change(True))):
        assert not troubles_are_no_changes(evidence(demo_collection, [wrong], [answer])).kept


def test_answers_of_304_are_counted(
    demo_collection: DemoCollection, page: int, sound: CrawlEvidence
) -> None:
    assert not unchanged_pages_were_not_sent_again(sound).kept
    sound.log.add(request(demo_collection, page, 500, 304))
    assert unchanged_pages_were_not_sent_again(sound).kept


@pytest.mark.parametrize(("ours", "kept"), [(0.76, True), (0.73, True), (0.72, False)])
def test_copies_are_compared_with_those_of_round_robin(ours: float, kept: bool) -> None:
    baselines = (CrawlerScore("age", 0, 0, 0.73, 0.0), CrawlerScore("nutch", 0, 0, 0.5, 0.0))
    verdict = copies_were_as_fresh_as_round_robin((
        CrawlerScore("freshet", 0, 0, ours, 0.0),
        *baselines,
    ))
    assert verdict.promise == "copies were at least as fresh as by round-robin"
    assert verdict.kept is kept
    assert verdict.figures.startswith(f"fresh {ours:.1%} of the time")


def test_two_looks_at_once_match_and_a_third_does_not(
    demo_collection: DemoCollection, page: int
) -> None:
    two = [row(page, 0), row(page, 0.1), row(page, 9)]
    answers = [request(demo_collection, page, minutes) for minutes in (1, 1.1, 10)]
    assert visits_match_requests(two, answers)
    assert not visits_match_requests([row(page, 0), row(page, 0.1), row(page, 0.2)], answers)


def test_a_request_sent_before_retry_after_is_no_violation(
    demo_collection: DemoCollection, page: int
) -> None:
    throttled = [
        request(demo_collection, page, 1, 429, wait=3600.0),
        request(demo_collection, page, 1.5),
    ]
    assert retry_after_was_kept(
        evidence(demo_collection, [row(page, 0), row(page, 0.5)], throttled)
    ).kept
    later = evidence(demo_collection, [row(page, 0), row(page, 1.2)], throttled)
    assert not retry_after_was_kept(later).kept


def looks_at(
    demo_collection: DemoCollection, page: int, changed_flags: Sequence[bool]
) -> list[HistoryRow]:
    """Return looks an hour apart at a page, all of other text, and what was said of each."""
    return [
        row(page, 60 * hour, change=Change(changed, text=True))
        for hour, changed in enumerate(changed_flags)
    ]


def noisy_page(demo_collection: DemoCollection) -> int:
    """Return a page whose every version differs by noise alone."""
    return next(
        page for page in demo_collection.web_indices if demo_collection.kind(page) == "status"
    )


def test_noise_counts_once_ten_looks_have_been_learnt_from(demo_collection: DemoCollection) -> None:
    page = noisy_page(demo_collection)
    visits = looks_at(demo_collection, page, [True] * 10 + [False] * 20)
    log = [request(demo_collection, page, 60 * hour) for hour in range(30)]
    verdict = noise_was_recognised(evidence(demo_collection, visits, log))
    assert verdict.kept
    assert verdict.figures == "20 of 20 noisy versions recognised, 0 of 0 changes hidden"


def test_noise_that_is_taken_for_change_is_noticed(demo_collection: DemoCollection) -> None:
    page = noisy_page(demo_collection)
    visits = looks_at(demo_collection, page, [False] * 10 + [True, True] + [False] * 18)
    log = [request(demo_collection, page, 60 * hour) for hour in range(30)]
    verdict = noise_was_recognised(evidence(demo_collection, visits, log))
    assert (verdict.kept, verdict.figures[:8]) == (False, "18 of 20")


def test_changes_that_are_hidden_are_noticed(demo_collection: DemoCollection) -> None:
    busy = next(
        page for page in demo_collection.web_indices if demo_collection.kind(page) == "news"
    )
    visits = looks_at(demo_collection, busy, [True] * 10 + [False] * 20)
    log = [request(demo_collection, busy, 60 * hour) for hour in range(30)]
    verdict = noise_was_recognised(evidence(demo_collection, visits, log))
    assert not verdict.kept
    assert "0 changes hidden" not in verdict.figures
