"""The rules of bursts: which pages get them, and when each sample is due."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.bursts import BurstKind, BurstProgress
from freshet.core.tables import DAY_SECONDS, VisitTable
from freshet.schedule.bursts.burst_rules import (
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

MAX_BURSTS = 8
NOW = 1_000_000.0


def changed(time: float) -> BurstVisit:
    return BurstVisit(time, is_look=True, changed=True)


def unchanged(time: float, gap: float = HOUR_SECONDS) -> BurstVisit:
    return BurstVisit(time, is_look=True, changed=False, gap_seconds=gap)


def failed(time: float) -> BurstVisit:
    return BurstVisit(time, is_look=False, changed=False)


def instant_burst(progress: BurstProgress) -> BurstProgress:
    """Take both samples of an instant burst of a page that changes."""
    progress = progress_after_sample(progress, changed(progress.due), MAX_BURSTS)
    return progress_after_sample(progress, changed(progress.due), MAX_BURSTS)


def past_first_burst(now: float) -> BurstProgress:
    """Return the progress of a page past its first instant burst, with a fast one due now."""
    return instant_burst(start_series(now - BURST_INTERVAL))


def full_fast_burst(progress: BurstProgress, *, quick: bool = False) -> BurstProgress:
    """Take every sample of a fast burst when it is due."""
    progress = progress_after_sample(progress, changed(progress.due), MAX_BURSTS)
    progress = progress_after_sample(
        progress, changed(progress.due) if quick else unchanged(progress.due), MAX_BURSTS
    )
    progress = progress_after_sample(progress, unchanged(progress.due), MAX_BURSTS)
    return progress_after_sample(progress, unchanged(progress.due), MAX_BURSTS)


def table(pages: list[int], looks: list[bool], changes: list[bool]) -> VisitTable:
    n = len(pages)
    return VisitTable(
        np.array(pages, np.int64), np.arange(n, dtype=np.float64), np.array(looks, np.bool_),
        np.ones(n, np.bool_), np.array(changes, np.bool_), np.full(n, -1, np.int32),
    )  # fmt: skip


def test_a_series_begins_with_two_looks_at_once() -> None:
    progress = start_series(NOW)
    assert (progress.kind, progress.step, progress.due) == (BurstKind.INSTANT, 0, NOW)
    progress = progress_after_sample(progress, changed(NOW + 1), MAX_BURSTS)
    assert (progress.kind, progress.step, progress.due) == (BurstKind.INSTANT, 1, NOW + 1)
    progress = progress_after_sample(progress, changed(NOW + 2), MAX_BURSTS)
    assert (progress.kind, progress.step, progress.finished_bursts) == (BurstKind.FAST, 0, 0)
    assert progress.due == NOW + 2 + BURST_INTERVAL


def test_a_page_unchanged_at_once_gets_fast_bursts_too() -> None:
    progress = progress_after_sample(start_series(NOW), changed(NOW), MAX_BURSTS)
    progress = progress_after_sample(progress, unchanged(NOW, gap=0.0), MAX_BURSTS)
    assert (progress.kind, progress.due) == (BurstKind.FAST, NOW + BURST_INTERVAL)


def test_a_page_that_is_unchanged_after_its_instant_burst_gets_no_fast_one() -> None:
    seen, sampled = (
        progress_after_look(past_first_burst(NOW), unchanged(NOW - HOUR_SECONDS)),
        progress_after_sample(past_first_burst(NOW), unchanged(NOW), MAX_BURSTS),
    )
    assert (seen.kind, sampled.kind) == (None, None)
    assert (seen.pause_count, sampled.pause_count) == (1, 1)


def test_a_page_that_is_unchanged_when_its_series_begins_pauses() -> None:
    first = progress_after_sample(start_series(NOW), unchanged(NOW), MAX_BURSTS)
    assert first == pause_series(start_series(NOW), NOW)
    assert progress_after_sample(first, unchanged(NOW, gap=0.0), MAX_BURSTS) == first
    assert progress_after_sample(first, failed(NOW), MAX_BURSTS) == first


def test_a_first_instant_burst_that_fails_is_tried_again_as_often_as_there_are_bursts() -> None:
    progress = start_series(NOW)
    dues = []
    while progress.kind is not None:
        assert is_before_first_burst(progress)
        assert burst_priority(progress) == -1
        dues.append(progress.due)
        progress = progress_after_sample(progress, failed(progress.due), MAX_BURSTS)
    assert dues == [NOW + n * BURST_INTERVAL for n in range(MAX_BURSTS)]
    assert progress.pause_count == 1


def test_pages_without_their_instant_burst_come_before_all_others() -> None:
    quick = full_fast_burst(past_first_burst(NOW), quick=True)
    later = full_fast_burst(past_first_burst(NOW))
    assert [
        burst_priority(progress)
        for progress in (start_series(NOW), past_first_burst(NOW), quick, later)
    ] == [
        -1,
        0,
        0,
        1,
    ]


def test_samples_are_due_two_sixteen_and_thirty_two_minutes_after_the_first() -> None:
    progress = past_first_burst(NOW)
    dues = []
    for make_visit in (changed, unchanged, unchanged, unchanged):
        dues.append(progress.due - NOW)
        progress = progress_after_sample(progress, make_visit(progress.due), MAX_BURSTS)
    assert dues == list(FAST_OFFSETS)


def test_the_next_burst_begins_four_hours_after_this_one_began() -> None:
    progress = full_fast_burst(past_first_burst(NOW))
    assert (progress.kind, progress.step, progress.finished_bursts) == (BurstKind.FAST, 0, 1)
    assert progress.due == NOW + BURST_INTERVAL


def test_a_late_first_sample_shifts_those_that_follow() -> None:
    progress = progress_after_sample(past_first_burst(NOW), changed(NOW + 50.0), MAX_BURSTS)
    assert progress.due == NOW + 50.0 + FAST_OFFSETS[1]


def test_a_page_that_changed_within_two_minutes_gets_an_instant_burst() -> None:
    progress = full_fast_burst(past_first_burst(NOW), quick=True)
    assert (progress.kind, remaining_samples(progress), progress.due) == (
        BurstKind.INSTANT,
        2,
        NOW + FAST_OFFSETS[-1],
    )
    progress = progress_after_sample(progress, unchanged(progress.due), MAX_BURSTS)
    assert (progress.kind, remaining_samples(progress), progress.due) == (
        BurstKind.INSTANT,
        1,
        NOW + FAST_OFFSETS[-1],
    )
    progress = progress_after_sample(progress, changed(progress.due), MAX_BURSTS)
    assert (progress.kind, progress.due, progress.finished_bursts) == (
        BurstKind.FAST,
        NOW + BURST_INTERVAL,
        1,
    )


def test_a_second_sample_that_is_delayed_is_no_change_within_two_minutes() -> None:
    progress = progress_after_sample(past_first_burst(NOW), changed(NOW), MAX_BURSTS)
    assert not progress_after_sample(
        progress, changed(NOW + 5 * MINUTE_SECONDS), MAX_BURSTS
    ).changed_quickly
    assert progress_after_sample(
        progress, changed(NOW + 3 * MINUTE_SECONDS), MAX_BURSTS
    ).changed_quickly


def test_after_eight_bursts_a_page_pauses_and_each_time_twice_as_long() -> None:
    progress, pauses = past_first_burst(NOW), []
    for _ in range(3):
        for _ in range(MAX_BURSTS):
            progress = full_fast_burst(progress)
        assert progress.kind is None
        pauses.append(progress.pause_count)
        progress = instant_burst(start_series(progress.due, progress))
    assert pauses == [1, 2, 3]
    assert pause_series(BurstProgress(None, 0.0, pause_count=60), 0.0).due == 2**7 * 2 * DAY_SECONDS


def test_a_page_that_is_unchanged_when_a_burst_begins_gets_no_more() -> None:
    progress = progress_after_sample(
        full_fast_burst(past_first_burst(NOW)), unchanged(NOW + BURST_INTERVAL), MAX_BURSTS
    )
    assert progress.kind is None


def test_a_page_that_was_seen_just_before_a_burst_may_be_unchanged_when_it_begins() -> None:
    started = progress_after_sample(
        past_first_burst(NOW), unchanged(NOW, gap=MINUTE_SECONDS), MAX_BURSTS
    )
    assert (started.kind, started.step, started.fast_start) == (BurstKind.FAST, 1, NOW)


def test_an_unchanged_look_ends_a_series() -> None:
    progress = full_fast_burst(past_first_burst(NOW))
    assert progress_after_look(progress, unchanged(NOW + 2 * HOUR_SECONDS)).kind is None
    assert progress_after_look(progress, changed(NOW + 2 * HOUR_SECONDS)) == progress
    assert progress_after_look(progress, failed(NOW + 2 * HOUR_SECONDS)) == progress
    assert (
        progress_after_look(progress, unchanged(NOW + 2 * HOUR_SECONDS, gap=HOUR_SECONDS - 1))
        == progress
    )


def test_a_page_that_never_had_a_burst_needs_no_pause() -> None:
    progress = progress_after_look(start_series(NOW), unchanged(NOW + HOUR_SECONDS))
    assert (progress.kind, progress.due, progress.pause_count) == (None, NOW + HOUR_SECONDS, 0)


def test_a_failed_sample_ends_its_burst() -> None:
    started = progress_after_sample(past_first_burst(NOW), changed(NOW), MAX_BURSTS)
    for progress in (past_first_burst(NOW), started):
        after = progress_after_sample(progress, failed(NOW + 1), MAX_BURSTS)
        assert (after.kind, after.step, after.finished_bursts) == (BurstKind.FAST, 0, 1)
        assert after.due >= NOW + BURST_INTERVAL


def test_samples_whose_time_is_over_are_skipped() -> None:
    started = progress_after_sample(past_first_burst(NOW), changed(NOW), MAX_BURSTS)
    assert skip_missed_samples(started, NOW + 1 * MINUTE_SECONDS, MAX_BURSTS) == started
    assert skip_missed_samples(started, NOW + 10 * MINUTE_SECONDS, MAX_BURSTS) == started
    assert skip_missed_samples(started, NOW + 20 * MINUTE_SECONDS, MAX_BURSTS).step == 2
    assert skip_missed_samples(started, NOW + 40 * MINUTE_SECONDS, MAX_BURSTS).step == 3
    over = skip_missed_samples(started, NOW + FAST_OFFSETS[-1] + MAX_DELAY + 1, MAX_BURSTS)
    assert (over.step, over.finished_bursts, over.due) == (0, 1, NOW + BURST_INTERVAL)


def test_a_clock_that_was_set_back_ends_a_burst() -> None:
    for progress in (start_series(NOW), past_first_burst(NOW)):
        started = progress_after_sample(progress, changed(NOW), MAX_BURSTS)
        assert skip_missed_samples(started, NOW - HOUR_SECONDS, MAX_BURSTS).step == 0


def test_a_second_look_at_once_that_comes_too_late_is_skipped() -> None:
    progress = progress_after_sample(
        full_fast_burst(past_first_burst(NOW), quick=True),
        unchanged(NOW + HOUR_SECONDS),
        MAX_BURSTS,
    )
    assert (
        skip_missed_samples(progress, NOW + HOUR_SECONDS + MAX_SECOND_LOOK_DELAY, MAX_BURSTS)
        == progress
    )
    assert (
        skip_missed_samples(
            progress, NOW + HOUR_SECONDS + MAX_SECOND_LOOK_DELAY + 1, MAX_BURSTS
        ).kind
        is BurstKind.FAST
    )


def test_a_first_instant_burst_whose_second_look_comes_too_late_is_tried_again() -> None:
    progress = progress_after_sample(start_series(NOW), changed(NOW), MAX_BURSTS)
    assert skip_missed_samples(progress, NOW + MAX_SECOND_LOOK_DELAY, MAX_BURSTS) == progress
    again = skip_missed_samples(progress, NOW + MAX_SECOND_LOOK_DELAY + 1, MAX_BURSTS)
    assert (again.kind, again.step, again.finished_bursts) == (BurstKind.INSTANT, 0, 1)
    assert again.due == NOW + MAX_SECOND_LOOK_DELAY + 1 + BURST_INTERVAL


def test_a_change_that_the_server_denies_counts_as_two() -> None:
    denied = replace(changed(NOW), is_denied_by_server=True)
    assert [change_run_after(2, visit) for visit in (changed(NOW), denied, unchanged(NOW))] == [
        3,
        4,
        0,
    ]


def test_runs_count_the_looks_in_a_row_that_found_a_change() -> None:
    pages = [1, 1, 1, 2, 2, 2, 3, 4, 4]
    looks = [True, True, True, True, True, False, True, True, True]
    changes = [False, True, True, True, True, False, False, True, False]
    run_pages, lengths = change_runs(table(pages, looks, changes))
    assert dict(zip(run_pages.tolist(), lengths.tolist(), strict=True)) == {1: 2, 2: 2}


def test_no_visits_make_no_runs() -> None:
    run_pages, lengths = change_runs(table([], [], []))
    assert (len(run_pages), len(lengths)) == (0, 0)


@given(st.lists(st.tuples(st.integers(1, 4), st.booleans(), st.booleans())))
def test_runs_equal_a_count_visit_by_visit(visits: list[tuple[int, bool, bool]]) -> None:
    visits = sorted(visits, key=lambda visit: visit[0])
    counted: dict[int, int] = {}
    for page, is_look, is_changed in visits:
        if is_look:
            counted[page] = counted.get(page, 0) + 1 if is_changed else 0
    pages, looks, changes = ([visit[column] for visit in visits] for column in range(3))
    run_pages, lengths = change_runs(table(pages, looks, changes))
    expected = {page: run for page, run in counted.items() if run}
    assert dict(zip(run_pages.tolist(), lengths.tolist(), strict=True)) == expected


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
def test_the_share_becomes_available_as_the_day_passes(
    share: int, spent: int, reserved: int, passed: float, room: int
) -> None:
    assert room_for_samples(share, spent, reserved, passed) == room


@given(
    st.lists(st.tuples(st.sampled_from(["changed", "unchanged", "failed"]), st.floats(0, 90_000))),
    st.integers(1, 10),
)
def test_progress_stays_valid_after_any_visits(
    steps: list[tuple[str, float]], max_bursts: int
) -> None:
    progress, now = start_series(NOW), NOW
    kinds = {"changed": changed, "unchanged": unchanged, "failed": failed}
    for kind, wait in steps:
        now += wait
        progress = skip_missed_samples(progress, now, max_bursts)
        if progress.kind is None:
            progress = start_series(max(now, progress.due), progress)
        progress = progress_after_sample(progress, kinds[kind](now), max_bursts)
        assert 0 <= progress.finished_bursts <= max_bursts
        assert progress.kind is None or 0 < remaining_samples(progress) <= len(FAST_OFFSETS)
        assert progress.kind is not None or progress.due > now
