"""The rounds of many pages: who comes first, and what is reserved for whom."""

from dataclasses import replace

import numpy as np

from freshet.core.bursts import BurstKind, BurstProgress
from freshet.core.tables import VisitTable
from freshet.schedule.burst_queue import BurstQueue
from freshet.schedule.bursts import (
    BURST_INTERVAL,
    FAST_OFFSETS,
    HOUR_SECONDS,
    MINUTE_SECONDS,
    BurstVisit,
)

NOW = 1_000_000.0


def anyone(page: int) -> bool:
    return True


def look(time: float, *, changed: bool = True) -> BurstVisit:
    return BurstVisit(time, is_look=True, changed=changed)


def tell(agenda: BurstQueue, page: int, *glances: BurstVisit) -> None:
    for glance in glances:
        agenda.apply(agenda.update_from_visits([(page, glance)]), glance.time)


def candidates(*pages: int, most: int = 8, now: float = NOW) -> BurstQueue:
    """Return the agenda of pages that changed at each of four looks."""
    agenda = BurstQueue(most)
    for page in pages:
        tell(agenda, page, *(look(now - n * HOUR_SECONDS) for n in (4, 3, 2, 1)))
    return agenda


def told(*pages: int, most: int = 8) -> BurstQueue:
    """Return the agenda of pages past their instant rounds, with fast ones due now."""
    agenda = candidates(*pages, most=most, now=NOW - BURST_INTERVAL)
    for _ in range(2):
        assert sample(agenda, NOW - BURST_INTERVAL) == list(pages)
    return agenda


def due(agenda: BurstQueue, now: float, room: int = 100) -> list[int]:
    return [page for page, _ in agenda.due_samples(now, now, room, anyone)]


def sample(agenda: BurstQueue, now: float, *, changed: bool = True, room: int = 100) -> list[int]:
    """Take every sample that is due."""
    found = agenda.due_samples(now, now, room, anyone)
    for page, course in found:
        agenda.mark_sent(page, course, 1)
    for page, _ in found:
        tell(agenda, page, look(now, changed=changed))
    return [page for page, _ in found]


def test_only_pages_that_changed_at_four_looks_in_a_row_are_due() -> None:
    agenda = candidates(1)
    tell(agenda, 2, *(look(NOW - n * HOUR_SECONDS) for n in (4, 3, 2)))
    tell(agenda, 3, *(look(NOW - n * HOUR_SECONDS, changed=n != 2) for n in (5, 4, 3, 2, 1)))
    assert due(agenda, NOW) == [1]


def test_every_candidate_has_its_instant_round_before_any_has_a_fast_one() -> None:
    agenda = told(1, 2)
    for page in (3, 4):
        tell(agenda, page, *(look(NOW - n * HOUR_SECONDS) for n in (4, 3, 2, 1)))
    assert due(agenda, NOW, room=7) == [3, 4]
    assert due(agenda, NOW, room=8) == [3, 4, 1]
    assert due(agenda, NOW, room=12) == [3, 4, 1, 2]


def test_instant_rounds_begin_where_there_is_no_room_for_fast_ones() -> None:
    agenda = told(1)
    tell(agenda, 2, *(look(NOW - n * HOUR_SECONDS) for n in (4, 3, 2, 1)))
    assert due(agenda, NOW, room=1) == []
    for room in (2, 3):
        assert due(agenda, NOW, room=room) == [2]


def test_an_instant_round_cut_short_does_not_wait_behind_fast_ones_without_room() -> None:
    agenda = candidates(1, 2, now=NOW - BURST_INTERVAL)
    for page, course in agenda.due_samples(NOW - BURST_INTERVAL, NOW - BURST_INTERVAL, 4, anyone):
        agenda.mark_sent(page, course, 1)
    tell(agenda, 1, look(NOW - BURST_INTERVAL))
    tell(agenda, 2, BurstVisit(NOW - BURST_INTERVAL, is_look=False, changed=False))
    assert sample(agenda, NOW - BURST_INTERVAL, room=0) == [1]
    assert due(agenda, NOW, room=3) == [2]


def test_a_page_that_only_seemed_to_change_gets_no_fast_round() -> None:
    agenda = candidates(1, 2)
    sample(agenda, NOW)
    for page, course in agenda.due_samples(NOW, NOW, 0, anyone):
        agenda.mark_sent(page, course, 1)
    both = [(1, look(NOW, changed=False)), (2, look(NOW, changed=False))]
    agenda.apply(agenda.update_from_visits(both, seeming={1}), NOW)
    assert (agenda.reserved_samples, agenda.active_count) == (0, 0)
    assert due(agenda, NOW + BURST_INTERVAL) == [2]
    tell(agenda, 1, *(look(NOW + n * HOUR_SECONDS) for n in (1, 2, 3, 4)))
    assert due(agenda, NOW + 4 * HOUR_SECONDS) == [1, 2]
    assert agenda.progress_by_page[1].kind is BurstKind.INSTANT


def test_a_second_look_that_comes_hours_late_leaves_nothing_reserved() -> None:
    agenda = candidates(1)
    sample(agenda, NOW)
    assert (agenda.reserved_samples, agenda.active_count) == (1, 1)
    assert due(agenda, NOW + 5 * HOUR_SECONDS) == []
    assert (agenda.reserved_samples, agenda.active_count) == (0, 0)
    assert due(agenda, NOW + 5 * HOUR_SECONDS + BURST_INTERVAL) == [1]


def test_a_second_look_that_is_taken_hours_late_ends_the_round_all_the_same() -> None:
    agenda = candidates(1)
    sample(agenda, NOW)
    [(page, course)] = agenda.due_samples(NOW + MINUTE_SECONDS, NOW + MINUTE_SECONDS, 0, anyone)
    agenda.mark_sent(page, course, 1)
    tell(agenda, 1, look(NOW + 5 * HOUR_SECONDS))
    assert (agenda.reserved_samples, agenda.active_count) == (0, 0)
    assert due(agenda, NOW + 5 * HOUR_SECONDS + BURST_INTERVAL) == [1]


def test_two_at_once_of_a_page_that_stands_still_make_no_room_for_others() -> None:
    agenda = candidates(1)
    [(page, course)] = agenda.due_samples(NOW, NOW, 2, anyone)
    agenda.mark_sent(page, course, 2)
    tell(agenda, 1, look(NOW, changed=False))
    assert (agenda.reserved_samples, agenda.is_sent(1)) == (0, True)
    assert agenda.progress_by_page[1].kind is BurstKind.INSTANT
    tell(agenda, 1, replace(look(NOW, changed=False), gap_seconds=0.0))
    assert (agenda.reserved_samples, agenda.active_count, agenda.is_sent(1)) == (0, 0, False)
    tell(agenda, 1, look(NOW + HOUR_SECONDS, changed=False))
    assert agenda.progress_by_page[1].kind is None


def test_looks_that_servers_belie_make_no_page_stand_still() -> None:
    agenda = BurstQueue(8)
    hearsay = [
        replace(look(NOW + n * HOUR_SECONDS, changed=False), is_unverified=True) for n in range(6)
    ]
    denied = [replace(look(NOW + n * HOUR_SECONDS), is_denied_by_server=True) for n in range(6)]
    tell(agenda, 1, hearsay[0], denied[1], hearsay[2])
    assert due(agenda, NOW + 2 * HOUR_SECONDS) == []
    tell(agenda, 1, denied[3], hearsay[4])
    assert due(agenda, NOW + 4 * HOUR_SECONDS) == [1]
    tell(agenda, 1, look(NOW + 5 * HOUR_SECONDS, changed=False), hearsay[5])
    assert due(agenda, NOW + 5 * HOUR_SECONDS) == []


def test_an_honest_server_is_believed_that_a_page_is_the_same() -> None:
    agenda = candidates(1)
    tell(agenda, 1, replace(look(NOW, changed=False), is_unverified=True))
    assert due(agenda, NOW) == []


def test_a_candidate_that_stands_still_before_its_round_is_none_any_more() -> None:
    agenda = candidates(1)
    tell(agenda, 1, look(NOW, changed=False))
    assert due(agenda, NOW) == []
    tell(agenda, 1, *(look(NOW + n * HOUR_SECONDS) for n in range(4)))
    assert due(agenda, NOW + 4 * HOUR_SECONDS) == [1]


def test_every_candidate_has_its_first_fast_round_before_any_has_a_second() -> None:
    agenda = told(1, 2, 3)
    assert sample(agenda, NOW, room=8) == [1, 2]
    for offset in FAST_OFFSETS[1:]:
        assert sample(agenda, NOW + offset, changed=False, room=0) == [1, 2]
    assert due(agenda, NOW + BURST_INTERVAL, room=4) == [3]
    assert due(agenda, NOW + BURST_INTERVAL, room=8) == [3, 1]


def test_a_round_begins_only_where_there_is_room_for_all_of_it() -> None:
    agenda = told(1, 2)
    assert due(agenda, NOW, room=3) == []
    assert due(agenda, NOW, room=7) == [1]
    assert due(agenda, NOW, room=8) == [1, 2]


def test_what_rounds_under_way_still_need_is_reserved() -> None:
    agenda = told(1)
    assert agenda.reserved_samples == 0
    [(page, course)] = agenda.due_samples(NOW, NOW, 4, anyone)
    agenda.mark_sent(page, course, 1)
    assert (agenda.reserved_samples, agenda.active_count) == (3, 1)
    tell(agenda, 1, look(NOW))
    assert (agenda.reserved_samples, agenda.active_count) == (3, 1)
    sample(agenda, NOW + FAST_OFFSETS[1], changed=False)
    assert (agenda.reserved_samples, agenda.active_count) == (2, 1)
    sample(agenda, NOW + FAST_OFFSETS[2], changed=False)
    sample(agenda, NOW + FAST_OFFSETS[3], changed=False)
    assert (agenda.reserved_samples, agenda.active_count) == (0, 0)


def test_a_sample_that_came_to_nothing_is_due_again() -> None:
    agenda = candidates(1)
    [(page, course)] = agenda.due_samples(NOW, NOW, 4, anyone)
    agenda.mark_sent(page, course, 1)
    assert due(agenda, NOW) == []
    agenda.mark_returned(page)
    assert due(agenda, NOW) == [1]


def test_a_page_that_cannot_be_asked_leaves_others_its_turn() -> None:
    agenda = candidates(1, 2)
    found = agenda.due_samples(NOW, NOW, 4, lambda page: page != 1)
    assert [page for page, _ in found] == [2]
    assert due(agenda, NOW + 2 * MINUTE_SECONDS, room=100) == [2, 1]


def test_nothing_is_taken_over_before_it_is_said_so() -> None:
    agenda = candidates(1)
    [(page, course)] = agenda.due_samples(NOW, NOW, 4, anyone)
    agenda.mark_sent(page, course, 1)
    once, twice = (
        agenda.update_from_visits([(1, look(NOW))]),
        agenda.update_from_visits([(1, look(NOW))]),
    )
    assert once == twice
    assert agenda.is_sent(1)
    agenda.apply(twice, NOW)
    assert not agenda.is_sent(1)
    assert agenda.progress_by_page[1].step == 1


def test_two_at_once_are_both_awaited() -> None:
    agenda = BurstQueue(8)
    agenda.restore(
        {1: BurstProgress(BurstKind.INSTANT, NOW, began=NOW - HOUR_SECONDS, finished=1)}, NOW
    )
    [(page, course)] = agenda.due_samples(NOW, NOW, 2, anyone)
    agenda.mark_sent(page, course, 2)
    assert agenda.reserved_samples == 0
    tell(agenda, 1, look(NOW))
    assert agenda.is_sent(1)
    tell(agenda, 1, look(NOW))
    assert not agenda.is_sent(1)
    assert agenda.progress_by_page[1].kind is BurstKind.FAST


def test_a_page_that_rests_needs_four_changed_looks_after_its_rest() -> None:
    agenda = told(1, most=1)
    sample(agenda, NOW)
    for offset in FAST_OFFSETS[1:]:
        sample(agenda, NOW + offset, changed=False)
    end = agenda.progress_by_page[1].due
    assert agenda.progress_by_page[1].kind is None
    tell(agenda, 1, *(look(end - n * HOUR_SECONDS) for n in (5, 4, 3, 2)))
    tell(agenda, 1, *(look(end + n * HOUR_SECONDS) for n in (1, 2, 3)))
    assert due(agenda, end + 3 * HOUR_SECONDS) == []
    tell(agenda, 1, look(end + 4 * HOUR_SECONDS))
    assert due(agenda, end + 4 * HOUR_SECONDS) == [1]
    assert agenda.progress_by_page[1].pauses == 1


def test_histories_that_are_read_make_candidates_but_for_rests() -> None:
    n = 4
    visits = VisitTable(
        np.repeat(np.array([1, 2, 3]), n), np.tile(NOW - HOUR_SECONDS * np.arange(n, 0, -1), 3),
        np.ones(3 * n, np.bool_), np.ones(3 * n, np.bool_),
        np.array([True] * 8 + [False] + [True] * 3), np.full(3 * n, -1, np.int32),
    )  # fmt: skip
    courses = {2: BurstProgress(None, NOW - 1.5 * HOUR_SECONDS, pauses=1)}
    agenda = BurstQueue(8)
    agenda.count_change_runs(visits, courses)
    agenda.restore(courses, NOW)
    assert due(agenda, NOW) == [1]
    tell(agenda, 2, *(look(NOW + n * HOUR_SECONDS) for n in range(3)))
    assert due(agenda, NOW + 3 * HOUR_SECONDS) == [1, 2]


def test_a_clock_that_is_set_back_leaves_no_round_under_way() -> None:
    for agenda in (candidates(1), told(1)):
        assert sample(agenda, NOW) == [1]
        assert due(agenda, NOW - 10 * HOUR_SECONDS, room=0) == []
        assert (agenda.active_count, agenda.reserved_samples) == (0, 0)


def test_the_next_time_that_anything_is_due_is_told() -> None:
    agenda = told(1)
    assert agenda.next_due_time(NOW) is None
    sample(agenda, NOW)
    assert agenda.next_due_time(NOW) == NOW + FAST_OFFSETS[1]
