"""The order of bursts of many pages, and the samples reserved for them."""

from dataclasses import replace

import numpy as np

from freshet.core.bursts import BurstKind, BurstProgress
from freshet.core.tables import VisitTable
from freshet.schedule.bursts.burst_queue import BurstQueue
from freshet.schedule.bursts.burst_rules import (
    BURST_INTERVAL,
    FAST_OFFSETS,
    HOUR_SECONDS,
    MINUTE_SECONDS,
    BurstVisit,
)

NOW = 1_000_000.0


def any_page(page: int) -> bool:
    return True


def look(time: float, *, changed: bool = True) -> BurstVisit:
    return BurstVisit(time, is_look=True, changed=changed)


def record(queue: BurstQueue, page: int, *visits: BurstVisit) -> None:
    for visit in visits:
        queue.apply(queue.update_from_visits([(page, visit)]), visit.time)


def candidates(*pages: int, max_bursts: int = 8, now: float = NOW) -> BurstQueue:
    """Return the queue of pages that changed at each of four looks."""
    queue = BurstQueue(max_bursts)
    for page in pages:
        record(queue, page, *(look(now - n * HOUR_SECONDS) for n in (4, 3, 2, 1)))
    return queue


def past_first_burst(*pages: int, max_bursts: int = 8) -> BurstQueue:
    """Return the queue of pages past their instant bursts, with fast ones due now."""
    queue = candidates(*pages, max_bursts=max_bursts, now=NOW - BURST_INTERVAL)
    for _ in range(2):
        assert sample(queue, NOW - BURST_INTERVAL) == list(pages)
    return queue


def due(queue: BurstQueue, now: float, limit: int = 100) -> list[int]:
    return [page for page, _ in queue.due_samples(now, now, limit, any_page)]


def sample(queue: BurstQueue, now: float, *, changed: bool = True, limit: int = 100) -> list[int]:
    """Take every sample that is due."""
    samples = queue.due_samples(now, now, limit, any_page)
    for page, progress in samples:
        queue.mark_sent(page, progress, 1)
    for page, _ in samples:
        record(queue, page, look(now, changed=changed))
    return [page for page, _ in samples]


def test_only_pages_that_changed_at_four_looks_in_a_row_are_due() -> None:
    queue = candidates(1)
    record(queue, 2, *(look(NOW - n * HOUR_SECONDS) for n in (4, 3, 2)))
    record(queue, 3, *(look(NOW - n * HOUR_SECONDS, changed=n != 2) for n in (5, 4, 3, 2, 1)))
    assert due(queue, NOW) == [1]


def test_every_candidate_has_its_instant_burst_before_any_has_a_fast_one() -> None:
    queue = past_first_burst(1, 2)
    for page in (3, 4):
        record(queue, page, *(look(NOW - n * HOUR_SECONDS) for n in (4, 3, 2, 1)))
    assert due(queue, NOW, limit=7) == [3, 4]
    assert due(queue, NOW, limit=8) == [3, 4, 1]
    assert due(queue, NOW, limit=12) == [3, 4, 1, 2]


def test_instant_bursts_begin_where_there_is_no_room_for_fast_ones() -> None:
    queue = past_first_burst(1)
    record(queue, 2, *(look(NOW - n * HOUR_SECONDS) for n in (4, 3, 2, 1)))
    assert due(queue, NOW, limit=1) == []
    for limit in (2, 3):
        assert due(queue, NOW, limit=limit) == [2]


def test_an_instant_burst_cut_short_does_not_wait_behind_fast_ones_without_room() -> None:
    queue = candidates(1, 2, now=NOW - BURST_INTERVAL)
    for page, progress in queue.due_samples(
        NOW - BURST_INTERVAL, NOW - BURST_INTERVAL, 4, any_page
    ):
        queue.mark_sent(page, progress, 1)
    record(queue, 1, look(NOW - BURST_INTERVAL))
    record(queue, 2, BurstVisit(NOW - BURST_INTERVAL, is_look=False, changed=False))
    assert sample(queue, NOW - BURST_INTERVAL, limit=0) == [1]
    assert due(queue, NOW, limit=3) == [2]


def test_a_page_that_only_seemed_to_change_gets_no_fast_burst() -> None:
    queue = candidates(1, 2)
    sample(queue, NOW)
    for page, progress in queue.due_samples(NOW, NOW, 0, any_page):
        queue.mark_sent(page, progress, 1)
    both = [(1, look(NOW, changed=False)), (2, look(NOW, changed=False))]
    queue.apply(queue.update_from_visits(both, masked_pages={1}), NOW)
    assert (queue.reserved_samples, queue.active_count) == (0, 0)
    assert due(queue, NOW + BURST_INTERVAL) == [2]
    record(queue, 1, *(look(NOW + n * HOUR_SECONDS) for n in (1, 2, 3, 4)))
    assert due(queue, NOW + 4 * HOUR_SECONDS) == [1, 2]
    assert queue.progress_by_page[1].kind is BurstKind.INSTANT


def test_a_second_look_that_comes_hours_late_leaves_nothing_reserved() -> None:
    queue = candidates(1)
    sample(queue, NOW)
    assert (queue.reserved_samples, queue.active_count) == (1, 1)
    assert due(queue, NOW + 5 * HOUR_SECONDS) == []
    assert (queue.reserved_samples, queue.active_count) == (0, 0)
    assert due(queue, NOW + 5 * HOUR_SECONDS + BURST_INTERVAL) == [1]


def test_a_second_look_that_is_taken_hours_late_ends_the_burst_all_the_same() -> None:
    queue = candidates(1)
    sample(queue, NOW)
    [(page, progress)] = queue.due_samples(NOW + MINUTE_SECONDS, NOW + MINUTE_SECONDS, 0, any_page)
    queue.mark_sent(page, progress, 1)
    record(queue, 1, look(NOW + 5 * HOUR_SECONDS))
    assert (queue.reserved_samples, queue.active_count) == (0, 0)
    assert due(queue, NOW + 5 * HOUR_SECONDS + BURST_INTERVAL) == [1]


def test_two_requests_at_once_of_an_unchanged_page_are_both_counted() -> None:
    queue = candidates(1)
    [(page, progress)] = queue.due_samples(NOW, NOW, 2, any_page)
    queue.mark_sent(page, progress, 2)
    record(queue, 1, look(NOW, changed=False))
    assert (queue.reserved_samples, queue.is_sent(1)) == (0, True)
    assert queue.progress_by_page[1].kind is BurstKind.INSTANT
    record(queue, 1, replace(look(NOW, changed=False), gap_seconds=0.0))
    assert (queue.reserved_samples, queue.active_count, queue.is_sent(1)) == (0, 0, False)
    record(queue, 1, look(NOW + HOUR_SECONDS, changed=False))
    assert queue.progress_by_page[1].kind is None


def test_an_unverified_look_does_not_end_a_run_if_the_server_was_wrong_before() -> None:
    queue = BurstQueue(8)
    unverified = [
        replace(look(NOW + n * HOUR_SECONDS, changed=False), is_unverified=True) for n in range(6)
    ]
    denied = [replace(look(NOW + n * HOUR_SECONDS), is_denied_by_server=True) for n in range(6)]
    record(queue, 1, unverified[0], denied[1], unverified[2])
    assert due(queue, NOW + 2 * HOUR_SECONDS) == []
    record(queue, 1, denied[3], unverified[4])
    assert due(queue, NOW + 4 * HOUR_SECONDS) == [1]
    record(queue, 1, look(NOW + 5 * HOUR_SECONDS, changed=False), unverified[5])
    assert due(queue, NOW + 5 * HOUR_SECONDS) == []


def test_an_unverified_look_ends_a_run_if_the_server_was_never_wrong() -> None:
    queue = candidates(1)
    record(queue, 1, replace(look(NOW, changed=False), is_unverified=True))
    assert due(queue, NOW) == []


def test_an_unchanged_candidate_is_no_candidate_any_more() -> None:
    queue = candidates(1)
    record(queue, 1, look(NOW, changed=False))
    assert due(queue, NOW) == []
    record(queue, 1, *(look(NOW + n * HOUR_SECONDS) for n in range(4)))
    assert due(queue, NOW + 4 * HOUR_SECONDS) == [1]


def test_every_candidate_has_its_first_fast_burst_before_any_has_a_second() -> None:
    queue = past_first_burst(1, 2, 3)
    assert sample(queue, NOW, limit=8) == [1, 2]
    for offset in FAST_OFFSETS[1:]:
        assert sample(queue, NOW + offset, changed=False, limit=0) == [1, 2]
    assert due(queue, NOW + BURST_INTERVAL, limit=4) == [3]
    assert due(queue, NOW + BURST_INTERVAL, limit=8) == [3, 1]


def test_a_burst_begins_only_where_there_is_room_for_all_of_it() -> None:
    queue = past_first_burst(1, 2)
    assert due(queue, NOW, limit=3) == []
    assert due(queue, NOW, limit=7) == [1]
    assert due(queue, NOW, limit=8) == [1, 2]


def test_the_remaining_samples_of_active_bursts_are_reserved() -> None:
    queue = past_first_burst(1)
    assert queue.reserved_samples == 0
    [(page, progress)] = queue.due_samples(NOW, NOW, 4, any_page)
    queue.mark_sent(page, progress, 1)
    assert (queue.reserved_samples, queue.active_count) == (3, 1)
    record(queue, 1, look(NOW))
    assert (queue.reserved_samples, queue.active_count) == (3, 1)
    sample(queue, NOW + FAST_OFFSETS[1], changed=False)
    assert (queue.reserved_samples, queue.active_count) == (2, 1)
    sample(queue, NOW + FAST_OFFSETS[2], changed=False)
    sample(queue, NOW + FAST_OFFSETS[3], changed=False)
    assert (queue.reserved_samples, queue.active_count) == (0, 0)


def test_a_sample_without_a_result_is_due_again() -> None:
    queue = candidates(1)
    [(page, progress)] = queue.due_samples(NOW, NOW, 4, any_page)
    queue.mark_sent(page, progress, 1)
    assert due(queue, NOW) == []
    queue.mark_returned(page)
    assert due(queue, NOW) == [1]


def test_a_page_that_is_not_available_lets_others_go_first() -> None:
    queue = candidates(1, 2)
    samples = queue.due_samples(NOW, NOW, 4, lambda page: page != 1)
    assert [page for page, _ in samples] == [2]
    assert due(queue, NOW + 2 * MINUTE_SECONDS, limit=100) == [2, 1]


def test_an_update_has_no_effect_until_it_is_applied() -> None:
    queue = candidates(1)
    [(page, progress)] = queue.due_samples(NOW, NOW, 4, any_page)
    queue.mark_sent(page, progress, 1)
    first, second = (
        queue.update_from_visits([(1, look(NOW))]),
        queue.update_from_visits([(1, look(NOW))]),
    )
    assert first == second
    assert queue.is_sent(1)
    queue.apply(second, NOW)
    assert not queue.is_sent(1)
    assert queue.progress_by_page[1].step == 1


def test_two_at_once_are_both_awaited() -> None:
    queue = BurstQueue(8)
    queue.restore(
        {
            1: BurstProgress(
                BurstKind.INSTANT, NOW, fast_start=NOW - HOUR_SECONDS, finished_bursts=1
            )
        },
        NOW,
    )
    [(page, progress)] = queue.due_samples(NOW, NOW, 2, any_page)
    queue.mark_sent(page, progress, 2)
    assert queue.reserved_samples == 0
    record(queue, 1, look(NOW))
    assert queue.is_sent(1)
    record(queue, 1, look(NOW))
    assert not queue.is_sent(1)
    assert queue.progress_by_page[1].kind is BurstKind.FAST


def test_a_paused_page_needs_four_changed_looks_after_its_pause() -> None:
    queue = past_first_burst(1, max_bursts=1)
    sample(queue, NOW)
    for offset in FAST_OFFSETS[1:]:
        sample(queue, NOW + offset, changed=False)
    end = queue.progress_by_page[1].due
    assert queue.progress_by_page[1].kind is None
    record(queue, 1, *(look(end - n * HOUR_SECONDS) for n in (5, 4, 3, 2)))
    record(queue, 1, *(look(end + n * HOUR_SECONDS) for n in (1, 2, 3)))
    assert due(queue, end + 3 * HOUR_SECONDS) == []
    record(queue, 1, look(end + 4 * HOUR_SECONDS))
    assert due(queue, end + 4 * HOUR_SECONDS) == [1]
    assert queue.progress_by_page[1].pause_count == 1


def test_change_runs_in_histories_make_candidates_except_in_pauses() -> None:
    n = 4
    visits = VisitTable(
        np.repeat(np.array([1, 2, 3]), n), np.tile(NOW - HOUR_SECONDS * np.arange(n, 0, -1), 3),
        np.ones(3 * n, np.bool_), np.ones(3 * n, np.bool_),
        np.array([True] * 8 + [False] + [True] * 3), np.full(3 * n, -1, np.int32),
    )  # fmt: skip
    progress_by_page = {2: BurstProgress(None, NOW - 1.5 * HOUR_SECONDS, pause_count=1)}
    queue = BurstQueue(8)
    queue.count_change_runs(visits, progress_by_page)
    queue.restore(progress_by_page, NOW)
    assert due(queue, NOW) == [1]
    record(queue, 2, *(look(NOW + n * HOUR_SECONDS) for n in range(3)))
    assert due(queue, NOW + 3 * HOUR_SECONDS) == [1, 2]


def test_a_clock_that_is_set_back_ends_active_bursts() -> None:
    for queue in (candidates(1), past_first_burst(1)):
        assert sample(queue, NOW) == [1]
        assert due(queue, NOW - 10 * HOUR_SECONDS, limit=0) == []
        assert (queue.active_count, queue.reserved_samples) == (0, 0)


def test_the_next_due_time_is_that_of_the_next_sample() -> None:
    queue = past_first_burst(1)
    assert queue.next_due_time(NOW) is None
    sample(queue, NOW)
    assert queue.next_due_time(NOW) == NOW + FAST_OFFSETS[1]
