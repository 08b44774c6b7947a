"""The score of a replayed crawl, on small examples worked out by hand."""

import pytest
from experiments.wild.page_history import PageHistory
from experiments.wild.replay_score import (
    PageScore,
    ServedRequest,
    count_changes,
    round_robin_requests,
    round_robin_score,
    score_pages,
    total_score,
)

DAY = 86_400.0
# The text is a until 2.0, b until 3.0, and a again from 4.0; at 3.0 only the markup changes.
PAGE = PageHistory("site", "page", (-DAY, 2 * DAY, 3 * DAY, 4 * DAY), ("a", "b", "b", "a"))
STILL = PageHistory("site", "still", (-DAY,), ("x",))


def visit(day: float, page: int = 0, history: PageHistory = PAGE) -> ServedRequest:
    return ServedRequest(day * DAY, page, history.version_at(day * DAY))


def scores(*requests: ServedRequest, end: float = 5.0) -> list[PageScore]:
    return score_pages([PAGE, STILL], requests, 0.0, end * DAY)


def test_a_copy_is_fresh_while_its_text_equals_the_pages_text() -> None:
    # Of days 1 to 5 the copy of day 0 is fresh until 2 and again from 4.
    assert scores(visit(0.0))[0] == PageScore(0.5, 0, 1)


def test_a_page_without_a_copy_is_not_fresh() -> None:
    assert scores()[0] == PageScore(0.0, 0, 0)
    assert scores(visit(3.0, 1, STILL))[1] == PageScore(0.5, 0, 1)


def test_a_visit_finds_a_change_if_the_text_differs_from_the_visit_before() -> None:
    # b is seen at 2.5 and a at 4.5: fresh in 1 to 2, 2.5 to 4 and 4.5 to 5.
    assert scores(visit(0.5), visit(2.5), visit(3.5), visit(4.5))[0] == PageScore(0.75, 2, 4)


def test_a_change_that_was_undone_between_two_visits_is_not_found() -> None:
    assert scores(visit(1.5), visit(4.5))[0].changes_found == 0


def test_requests_at_the_end_or_later_do_not_count() -> None:
    assert scores(visit(0.0), visit(2.0), end=2.0)[0] == PageScore(1.0, 0, 1)


def test_the_order_of_the_log_does_not_matter() -> None:
    assert scores(visit(2.5), visit(0.5)) == scores(visit(0.5), visit(2.5))


def test_the_total_is_the_mean_freshness_and_the_sums() -> None:
    total = total_score([PageScore(0.5, 1, 4), PageScore(1.0, 0, 2)])
    assert (total.freshness, total.changes_found, total.requests) == (0.75, 1, 6)


def test_true_changes_are_those_of_the_text_after_the_first_day() -> None:
    assert count_changes([PAGE, STILL], 0.0, 5 * DAY) == 2
    assert count_changes([PAGE, STILL], 1.5 * DAY, 5 * DAY) == 1


def test_round_robin_visits_all_pages_in_turn_at_an_even_pace() -> None:
    requests = round_robin_requests([PAGE, STILL], [0, 1], 4, 0.0, 4 * DAY)
    assert [(request.time / DAY, request.page) for request in requests] == [
        (0.0, 0), (1.0, 1), (2.0, 0), (3.0, 1),
    ]  # fmt: skip
    assert [request.version for request in requests] == [0, 0, 1, 0]


def test_the_score_of_round_robin_is_a_mean_over_orders() -> None:
    score = round_robin_score([PAGE, STILL], 4, 0.0, 4 * DAY)
    orders = [
        round_robin_requests([PAGE, STILL], order, 4, 0.0, 4 * DAY) for order in ([0, 1], [1, 0])
    ]
    first, second = (
        total_score(score_pages([PAGE, STILL], order, 0.0, 4 * DAY)) for order in orders
    )
    assert first.freshness <= score.freshness <= second.freshness or (
        second.freshness <= score.freshness <= first.freshness
    )
    assert score.requests == 4


@pytest.mark.parametrize(("day", "version"), [(-2.0, 0), (1.9, 0), (2.0, 1), (9.0, 3)])
def test_the_version_served_is_the_last_that_appeared(day: float, version: int) -> None:
    assert PAGE.version_at(day * DAY) == version
