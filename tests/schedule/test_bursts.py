"""Which pages get rounds, and when each sample is due."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.bursts import BurstKind, BurstProgress
from freshet.core.tables import DAY_SECONDS, VisitTable
from freshet.schedule.bursts import (
    BURST_INTERVAL,
    FAST_OFFSETS,
    HOUR_SECONDS,
    MAX_DELAY,
    MAX_SECOND_LOOK_DELAY,
    MINUTE_SECONDS,
    BurstVisit,
    burst_priority,
    change_run_after,
    change_runs,
    is_before_first_burst,
    pause_series,
    progress_after_look,
    progress_after_sample,
    remaining_samples,
    room_for_samples,
    skip_missed_samples,
    start_series,
)

MOST = 8
NOW = 1_000_000.0


def changed(time: float) -> BurstVisit:
    return BurstVisit(time, is_look=True, changed=True)


def same(time: float, gap: float = HOUR_SECONDS) -> BurstVisit:
    return BurstVisit(time, is_look=True, changed=False, gap_seconds=gap)


def failed(time: float) -> BurstVisit:
    return BurstVisit(time, is_look=False, changed=False)


def instant_round(course: BurstProgress) -> BurstProgress:
    """Look twice at once, when it is due, at a page that changed."""
    course = progress_after_sample(course, changed(course.due), MOST)
    return progress_after_sample(course, changed(course.due), MOST)


def told(now: float) -> BurstProgress:
    """Return the course of a page past its first instant round, with a fast one due now."""
    return instant_round(start_series(now - BURST_INTERVAL))


def whole_round(course: BurstProgress, *, quick: bool = False) -> BurstProgress:
    """Take every sample of a fast round when it is due."""
    course = progress_after_sample(course, changed(course.due), MOST)
    course = progress_after_sample(course, changed(course.due) if quick else same(course.due), MOST)
    course = progress_after_sample(course, same(course.due), MOST)
    return progress_after_sample(course, same(course.due), MOST)


def table(pages: list[int], looks: list[bool], found: list[bool]) -> VisitTable:
    n = len(pages)
    return VisitTable(
        np.array(pages, np.int64), np.arange(n, dtype=np.float64), np.array(looks, np.bool_),
        np.ones(n, np.bool_), np.array(found, np.bool_), np.full(n, -1, np.int32),
    )  # fmt: skip


def test_a_series_begins_with_two_looks_at_once() -> None:
    course = start_series(NOW)
    assert (course.kind, course.step, course.due) == (BurstKind.INSTANT, 0, NOW)
    course = progress_after_sample(course, changed(NOW + 1), MOST)
    assert (course.kind, course.step, course.due) == (BurstKind.INSTANT, 1, NOW + 1)
    course = progress_after_sample(course, changed(NOW + 2), MOST)
    assert (course.kind, course.step, course.finished) == (BurstKind.FAST, 0, 0)
    assert course.due == NOW + 2 + BURST_INTERVAL


def test_a_page_the_same_at_once_gets_fast_rounds_too() -> None:
    course = progress_after_sample(start_series(NOW), changed(NOW), MOST)
    course = progress_after_sample(course, same(NOW, gap=0.0), MOST)
    assert (course.kind, course.due) == (BurstKind.FAST, NOW + BURST_INTERVAL)


def test_a_page_that_stands_still_after_its_instant_round_gets_no_fast_one() -> None:
    seen, sampled = (
        progress_after_look(told(NOW), same(NOW - HOUR_SECONDS)),
        progress_after_sample(told(NOW), same(NOW), MOST),
    )
    assert (seen.kind, sampled.kind) == (None, None)
    assert (seen.pauses, sampled.pauses) == (1, 1)


def test_a_page_that_stands_still_when_its_series_begins_rests() -> None:
    first = progress_after_sample(start_series(NOW), same(NOW), MOST)
    assert first == pause_series(start_series(NOW), NOW)
    assert progress_after_sample(first, same(NOW, gap=0.0), MOST) == first
    assert progress_after_sample(first, failed(NOW), MOST) == first


def test_a_first_instant_round_that_fails_is_tried_again_as_often_as_there_are_rounds() -> None:
    course = start_series(NOW)
    dues = []
    while course.kind is not None:
        assert is_before_first_burst(course)
        assert burst_priority(course) == -1
        dues.append(course.due)
        course = progress_after_sample(course, failed(course.due), MOST)
    assert dues == [NOW + n * BURST_INTERVAL for n in range(MOST)]
    assert course.pauses == 1


def test_pages_without_their_instant_round_come_before_all_others() -> None:
    quick = whole_round(told(NOW), quick=True)
    later = whole_round(told(NOW))
    assert [burst_priority(course) for course in (start_series(NOW), told(NOW), quick, later)] == [
        -1,
        0,
        0,
        1,
    ]


def test_samples_are_due_two_sixteen_and_thirty_two_minutes_after_the_first() -> None:
    course = told(NOW)
    dues = []
    for glance in (changed, same, same, same):
        dues.append(course.due - NOW)
        course = progress_after_sample(course, glance(course.due), MOST)
    assert dues == list(FAST_OFFSETS)


def test_the_next_round_begins_four_hours_after_this_one_began() -> None:
    course = whole_round(told(NOW))
    assert (course.kind, course.step, course.finished) == (BurstKind.FAST, 0, 1)
    assert course.due == NOW + BURST_INTERVAL


def test_a_late_first_sample_shifts_those_that_follow() -> None:
    course = progress_after_sample(told(NOW), changed(NOW + 50.0), MOST)
    assert course.due == NOW + 50.0 + FAST_OFFSETS[1]


def test_a_page_that_changed_within_two_minutes_gets_an_instant_round() -> None:
    course = whole_round(told(NOW), quick=True)
    assert (course.kind, remaining_samples(course), course.due) == (
        BurstKind.INSTANT,
        2,
        NOW + FAST_OFFSETS[-1],
    )
    course = progress_after_sample(course, same(course.due), MOST)
    assert (course.kind, remaining_samples(course), course.due) == (
        BurstKind.INSTANT,
        1,
        NOW + FAST_OFFSETS[-1],
    )
    course = progress_after_sample(course, changed(course.due), MOST)
    assert (course.kind, course.due, course.finished) == (BurstKind.FAST, NOW + BURST_INTERVAL, 1)


def test_a_second_sample_that_was_held_back_long_says_nothing_of_two_minutes() -> None:
    course = progress_after_sample(told(NOW), changed(NOW), MOST)
    assert not progress_after_sample(course, changed(NOW + 5 * MINUTE_SECONDS), MOST).is_quick
    assert progress_after_sample(course, changed(NOW + 3 * MINUTE_SECONDS), MOST).is_quick


def test_after_eight_rounds_a_page_rests_and_each_time_twice_as_long() -> None:
    course, pauses = told(NOW), []
    for _ in range(3):
        for _ in range(MOST):
            course = whole_round(course)
        assert course.kind is None
        pauses.append(course.pauses)
        course = instant_round(start_series(course.due, course))
    assert pauses == [1, 2, 3]
    assert pause_series(BurstProgress(None, 0.0, pauses=60), 0.0).due == 2**7 * 2 * DAY_SECONDS


def test_a_page_that_stands_still_when_a_round_begins_gets_no_more() -> None:
    course = progress_after_sample(whole_round(told(NOW)), same(NOW + BURST_INTERVAL), MOST)
    assert course.kind is None


def test_a_page_that_was_seen_just_before_a_round_may_stand_still_when_it_begins() -> None:
    begun = progress_after_sample(told(NOW), same(NOW, gap=MINUTE_SECONDS), MOST)
    assert (begun.kind, begun.step, begun.began) == (BurstKind.FAST, 1, NOW)


def test_a_look_that_finds_a_page_the_same_ends_its_series() -> None:
    course = whole_round(told(NOW))
    assert progress_after_look(course, same(NOW + 2 * HOUR_SECONDS)).kind is None
    assert progress_after_look(course, changed(NOW + 2 * HOUR_SECONDS)) == course
    assert progress_after_look(course, failed(NOW + 2 * HOUR_SECONDS)) == course
    assert progress_after_look(course, same(NOW + 2 * HOUR_SECONDS, gap=HOUR_SECONDS - 1)) == course


def test_a_page_that_never_had_a_round_needs_no_rest() -> None:
    course = progress_after_look(start_series(NOW), same(NOW + HOUR_SECONDS))
    assert (course.kind, course.due, course.pauses) == (None, NOW + HOUR_SECONDS, 0)


def test_a_failed_sample_ends_its_round() -> None:
    begun = progress_after_sample(told(NOW), changed(NOW), MOST)
    for course in (told(NOW), begun):
        after = progress_after_sample(course, failed(NOW + 1), MOST)
        assert (after.kind, after.step, after.finished) == (BurstKind.FAST, 0, 1)
        assert after.due >= NOW + BURST_INTERVAL


def test_samples_whose_time_is_over_are_left_out() -> None:
    begun = progress_after_sample(told(NOW), changed(NOW), MOST)
    assert skip_missed_samples(begun, NOW + 1 * MINUTE_SECONDS, MOST) == begun
    assert skip_missed_samples(begun, NOW + 10 * MINUTE_SECONDS, MOST) == begun
    assert skip_missed_samples(begun, NOW + 20 * MINUTE_SECONDS, MOST).step == 2
    assert skip_missed_samples(begun, NOW + 40 * MINUTE_SECONDS, MOST).step == 3
    over = skip_missed_samples(begun, NOW + FAST_OFFSETS[-1] + MAX_DELAY + 1, MOST)
    assert (over.step, over.finished, over.due) == (0, 1, NOW + BURST_INTERVAL)


def test_a_clock_that_was_set_back_ends_a_round() -> None:
    for course in (start_series(NOW), told(NOW)):
        begun = progress_after_sample(course, changed(NOW), MOST)
        assert skip_missed_samples(begun, NOW - HOUR_SECONDS, MOST).step == 0


def test_a_second_look_at_once_that_comes_too_late_is_left_out() -> None:
    course = progress_after_sample(
        whole_round(told(NOW), quick=True), same(NOW + HOUR_SECONDS), MOST
    )
    assert skip_missed_samples(course, NOW + HOUR_SECONDS + MAX_SECOND_LOOK_DELAY, MOST) == course
    assert (
        skip_missed_samples(course, NOW + HOUR_SECONDS + MAX_SECOND_LOOK_DELAY + 1, MOST).kind
        is BurstKind.FAST
    )


def test_a_first_instant_round_whose_second_look_comes_too_late_is_tried_again() -> None:
    course = progress_after_sample(start_series(NOW), changed(NOW), MOST)
    assert skip_missed_samples(course, NOW + MAX_SECOND_LOOK_DELAY, MOST) == course
    again = skip_missed_samples(course, NOW + MAX_SECOND_LOOK_DELAY + 1, MOST)
    assert (again.kind, again.step, again.finished) == (BurstKind.INSTANT, 0, 1)
    assert again.due == NOW + MAX_SECOND_LOOK_DELAY + 1 + BURST_INTERVAL


def test_a_change_that_the_server_denies_counts_as_two() -> None:
    denied = replace(changed(NOW), is_denied_by_server=True)
    assert [change_run_after(2, glance) for glance in (changed(NOW), denied, same(NOW))] == [
        3,
        4,
        0,
    ]


def test_runs_count_the_looks_in_a_row_that_found_a_change() -> None:
    pages = [1, 1, 1, 2, 2, 2, 3, 4, 4]
    looks = [True, True, True, True, True, False, True, True, True]
    found = [False, True, True, True, True, False, False, True, False]
    who, lengths = change_runs(table(pages, looks, found))
    assert dict(zip(who.tolist(), lengths.tolist(), strict=True)) == {1: 2, 2: 2}


def test_no_visits_make_no_runs() -> None:
    who, lengths = change_runs(table([], [], []))
    assert (len(who), len(lengths)) == (0, 0)


@given(st.lists(st.tuples(st.integers(1, 4), st.booleans(), st.booleans())))
def test_runs_are_what_counting_one_by_one_gives(visits: list[tuple[int, bool, bool]]) -> None:
    visits = sorted(visits, key=lambda visit: visit[0])
    counted: dict[int, int] = {}
    for page, is_look, is_changed in visits:
        if is_look:
            counted[page] = counted.get(page, 0) + 1 if is_changed else 0
    pages, looks, found = ([visit[place] for visit in visits] for place in range(3))
    who, lengths = change_runs(table(pages, looks, found))
    expected = {page: run for page, run in counted.items() if run}
    assert dict(zip(who.tolist(), lengths.tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    ("share", "spent", "reserved", "passed", "room"),
    [
        (3, 0, 0, 0.5, 3),
        (50, 0, 0, 0.0, 4),
        (50, 4, 0, 0.0, 0),
        (50, 4, 3, 0.5, 18),
        (50, 50, 3, 1.0, 0),
        (0, 0, 0, 1.0, 0),
    ],
)
def test_the_share_comes_free_as_the_day_passes(
    share: int, spent: int, reserved: int, passed: float, room: int
) -> None:
    assert room_for_samples(share, spent, reserved, passed) == room


@given(
    st.lists(st.tuples(st.sampled_from(["changed", "same", "failed"]), st.floats(0, 90_000))),
    st.integers(1, 10),
)
def test_a_course_goes_on_whatever_comes(steps: list[tuple[str, float]], most: int) -> None:
    course, now = start_series(NOW), NOW
    kinds = {"changed": changed, "same": same, "failed": failed}
    for kind, wait in steps:
        now += wait
        course = skip_missed_samples(course, now, most)
        if course.kind is None:
            course = start_series(max(now, course.due), course)
        course = progress_after_sample(course, kinds[kind](now), most)
        assert 0 <= course.finished <= most
        assert course.kind is None or 0 < remaining_samples(course) <= len(FAST_OFFSETS)
        assert course.kind is not None or course.due > now
