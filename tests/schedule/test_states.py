"""What all policies remember of pages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.schedule.columns import NOT_FOUND, ColumnSpec
from freshet.schedule.states import PageStates, RevisitDelays
from freshet.schedule.top_k import tie_breaker
from tests.schedule.bayes_samples import pages, visits

HOUR = 3_600.0


def states(
    *ids: int, waits: RevisitDelays | None = None, since_day: float = float("nan")
) -> PageStates:
    made = PageStates(waits)
    made.add(pages(ids, since_day=since_day))
    return made


def test_the_first_look_of_a_live_page_is_only_its_reference() -> None:
    held = states(7)
    looks = held.add_visits(visits([7, 7], [0.0, 2.0], True))
    assert looks.measured.tolist() == [False, True]
    assert np.isnan(looks.gap_days[0])
    assert looks.gap_days[1] == 2.0
    assert (held.measured[0], held.changes[0]) == (1, 1)


def test_the_first_look_of_a_trace_is_measured_from_its_start() -> None:
    held = states(7, since_day=-1.0)
    assert held.add_visits(visits([7], 0.0, True)).gap_days.tolist() == [1.0]
    assert (held.measured[0], held.changes[0]) == (1, 1)


def test_a_visit_that_is_no_look_leaves_the_age_running() -> None:
    held = states(7, since_day=0.0)
    assert len(held.add_visits(visits([7], 1.0, looks=False))) == 0
    assert held.days_since_look(np.array([0]), 3 * DAY_SECONDS).tolist() == [3.0]
    assert held.measured[0] == 0


def test_failures_double_the_wait_up_to_the_longest_and_a_look_ends_it() -> None:
    held = states(7, waits=RevisitDelays(longest_backoff_seconds=5 * HOUR))
    waited = []
    for _ in range(5):
        held.add_visits(visits([7], 1.0, looks=False))
        waited.append((held.not_before[0] - DAY_SECONDS) / HOUR)
    assert waited == [1, 2, 4, 5, 5]
    held.add_visits(visits([7], 1.0))
    assert held.not_before[0] == -np.inf
    held.add_visits(visits([7], 1.0, looks=False))
    assert held.not_before[0] == DAY_SECONDS + HOUR


def test_a_failure_waits_no_shorter_than_the_interval_between_visits() -> None:
    held = states(7, waits=RevisitDelays(page_interval_seconds=7 * HOUR))
    held.add_visits(visits([7], 1.0, looks=False))
    assert held.not_before[0] == DAY_SECONDS + 7 * HOUR


def test_the_chance_of_a_look_follows_the_recent_visits() -> None:
    held, row = states(7), np.array([0])
    assert held.look_chances(row).tolist() == [1.0]
    held.add_visits(visits([7] * 40, 1.0, looks=False))
    assert held.look_chances(row)[0] == pytest.approx(1 / 11, abs=0.01)
    held.add_visits(visits([7] * 40, 1.0))
    assert held.look_chances(row)[0] == pytest.approx(1.0, abs=0.02)


def test_clocks_that_jump_back_make_no_negative_age() -> None:
    held = states(7, since_day=5.0)
    looks = held.add_visits(visits([7, 7], [4.0, 6.0]))
    assert looks.gap_days.tolist() == [0.0, 2.0]
    assert held.days_since_look(np.array([0]), 5 * DAY_SECONDS).tolist() == [0.0]


def test_pages_keep_their_columns_when_others_are_forgotten() -> None:
    held = PageStates(extra={"mark": ColumnSpec(np.int64)})
    held.add(pages([5, 3, 9, 1]))
    held.column("mark")[held.find_rows(np.array([5, 3, 9, 1]))] = [50, 30, 90, 10]
    held.forget(np.array([3, 77, 1]))
    assert held.find_rows(np.array([3, 1, 77])).tolist() == [NOT_FOUND] * 3
    assert held.column("mark")[held.find_rows(np.array([9, 5]))].tolist() == [90, 50]
    held.add(pages([3]))
    assert held.column("mark")[held.find_rows(np.array([3, 9]))].tolist() == [0, 90]


def test_looks_come_in_rounds_without_a_page_twice() -> None:
    held = states(1, 2, since_day=0.0)
    looks = held.add_visits(visits([1, 2, 1, 1], [1.0, 1.0, 2.0, 4.0]))
    rounds = [(part.rows.tolist(), part.gap_days.tolist()) for part in looks.split_repeated_pages()]
    assert rounds == [([0, 1], [1.0, 1.0]), ([0], [1.0]), ([0], [2.0])]


def plain_choice(
    hosts: list[int], scores: list[float], lots: list[int], k: int, room: dict[int, int]
) -> list[int]:
    """Take the best page after the other as long as its host has room."""
    chosen: list[int] = []
    room = dict(room)
    for place in sorted(range(len(scores)), key=lambda place: (-scores[place], lots[place])):
        if len(chosen) < k and room[hosts[place]] > 0:
            room[hosts[place]] -= 1
            chosen.append(place)
    return chosen


@settings(deadline=None)
@given(
    scores=st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, float("inf")]), max_size=24),
    k=st.integers(0, 24),
    rooms=st.lists(st.integers(0, 5), min_size=3, max_size=3),
    otherwise=st.integers(0, 4),
)
def test_a_choice_is_the_greedy_one_within_every_hosts_room(
    scores: list[float], k: int, rooms: list[int], otherwise: int
) -> None:
    held = states(*range(len(scores)))
    caps = HostCaps(np.arange(3, dtype=np.uint64), np.array(rooms, np.int64), otherwise)
    room = {host: rooms[host] if host < 3 else otherwise for host in range(7)}
    draw = tie_breaker(3, 1.0)
    rows = np.arange(len(scores))
    found = held.select_top_k(rows, np.array(scores, np.float64), k, caps, draw)
    hosts = [page // 4 for page in range(len(scores))]
    lots = draw(held.ids).tolist()
    assert found.tolist() == plain_choice(hosts, scores, lots, k, room)


def test_pages_are_eligible_unless_pending_barred_backed_off_or_without_room() -> None:
    held = states(0, 1, 2, 3, 4, since_day=0.0)
    held.mark_pending(np.array([0]))
    held.add_visits(visits([1], 1.0, looks=False))
    caps = HostCaps(np.array([1], np.uint64), np.array([0]), excluded_pages=np.array([2, 99]))
    assert held.eligible_rows(DAY_SECONDS, caps).tolist() == [3]
    assert held.eligible_rows(DAY_SECONDS, HostCaps(default_limit=0)).tolist() == []
    held.release(np.array([0]))
    assert held.eligible_rows(DAY_SECONDS + HOUR, HostCaps()).tolist() == [0, 1, 2, 3, 4]


def test_the_next_time_is_that_of_the_first_page_to_be_free_again() -> None:
    held = states(0, 1, since_day=0.0)
    held.add_visits(visits([0, 1, 1], 1.0, looks=False))
    assert held.next_time(DAY_SECONDS) == DAY_SECONDS + HOUR
    held.mark_pending(np.array([0]))
    assert held.next_time(DAY_SECONDS) == DAY_SECONDS + 2 * HOUR
    held.mark_pending(np.array([1]))
    assert held.next_time(DAY_SECONDS) is None


def test_a_restored_state_is_the_same_page_by_page() -> None:
    held = states(9, 4, 6, since_day=0.0)
    held.add_visits(
        visits([4, 6, 4], [1.0, 1.5, 2.0], [True, False, True], looks=[True, False, True])
    )
    other = PageStates()
    other.restore(held.state())
    assert other.ids.tolist() == held.ids.tolist()
    for name, column in held.state().items():
        assert np.array_equal(other.state()[name], column, equal_nan=name == "last")
    assert other.find_rows(np.array([6, 9])).tolist() == held.find_rows(np.array([6, 9])).tolist()


def test_a_clock_that_is_set_back_makes_no_page_wait_out_the_jump() -> None:
    held = PageStates(RevisitDelays(page_interval_seconds=60.0))
    held.add(pages([1]))
    held.add_visits(visits([1], 1.0))
    assert len(held.eligible_rows(DAY_SECONDS + 30.0, HostCaps())) == 0
    assert len(held.eligible_rows(30.0, HostCaps())) == 1
