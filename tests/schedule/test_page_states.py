"""The state of pages that all policies share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.schedule.columns import NOT_FOUND, ColumnSpec
from freshet.schedule.page_states import PageStates, RevisitDelays
from freshet.schedule.top_k import tie_breaker
from tests.schedule.bayes_samples import pages, visits

HOUR = 3_600.0


def page_states(
    *ids: int, delays: RevisitDelays | None = None, since_day: float = float("nan")
) -> PageStates:
    states = PageStates(delays)
    states.add(pages(ids, since_day=since_day))
    return states


def test_the_first_look_of_a_live_page_is_only_its_reference() -> None:
    states = page_states(7)
    looks = states.add_visits(visits([7, 7], [0.0, 2.0], True))
    assert looks.measured.tolist() == [False, True]
    assert np.isnan(looks.gap_days[0])
    assert looks.gap_days[1] == 2.0
    assert (states.measured_looks[0], states.changes[0]) == (1, 1)


def test_the_first_look_of_a_trace_is_measured_from_its_start() -> None:
    states = page_states(7, since_day=-1.0)
    assert states.add_visits(visits([7], 0.0, True)).gap_days.tolist() == [1.0]
    assert (states.measured_looks[0], states.changes[0]) == (1, 1)


def test_a_visit_that_is_no_look_leaves_the_age_running() -> None:
    states = page_states(7, since_day=0.0)
    assert len(states.add_visits(visits([7], 1.0, looks=False))) == 0
    assert states.days_since_look(np.array([0]), 3 * DAY_SECONDS).tolist() == [3.0]
    assert states.measured_looks[0] == 0


def test_failures_double_the_wait_up_to_the_longest_and_a_look_ends_it() -> None:
    states = page_states(7, delays=RevisitDelays(longest_backoff_seconds=5 * HOUR))
    waits = []
    for _ in range(5):
        states.add_visits(visits([7], 1.0, looks=False))
        waits.append((states.not_before[0] - DAY_SECONDS) / HOUR)
    assert waits == [1, 2, 4, 5, 5]
    states.add_visits(visits([7], 1.0))
    assert states.not_before[0] == -np.inf
    states.add_visits(visits([7], 1.0, looks=False))
    assert states.not_before[0] == DAY_SECONDS + HOUR


def test_a_failure_waits_no_shorter_than_the_interval_between_visits() -> None:
    states = page_states(7, delays=RevisitDelays(page_interval_seconds=7 * HOUR))
    states.add_visits(visits([7], 1.0, looks=False))
    assert states.not_before[0] == DAY_SECONDS + 7 * HOUR


def test_the_chance_of_a_look_follows_the_recent_visits() -> None:
    states, row = page_states(7), np.array([0])
    assert states.look_chances(row).tolist() == [1.0]
    states.add_visits(visits([7] * 40, 1.0, looks=False))
    assert states.look_chances(row)[0] == pytest.approx(1 / 11, abs=0.01)
    states.add_visits(visits([7] * 40, 1.0))
    assert states.look_chances(row)[0] == pytest.approx(1.0, abs=0.02)


def test_clocks_that_jump_back_make_no_negative_age() -> None:
    states = page_states(7, since_day=5.0)
    looks = states.add_visits(visits([7, 7], [4.0, 6.0]))
    assert looks.gap_days.tolist() == [0.0, 2.0]
    assert states.days_since_look(np.array([0]), 5 * DAY_SECONDS).tolist() == [0.0]


def test_pages_keep_their_columns_when_others_are_forgotten() -> None:
    states = PageStates(policy_columns={"mark": ColumnSpec(np.int64)})
    states.add(pages([5, 3, 9, 1]))
    states.column("mark")[states.find_rows(np.array([5, 3, 9, 1]))] = [50, 30, 90, 10]
    states.forget(np.array([3, 77, 1]))
    assert states.find_rows(np.array([3, 1, 77])).tolist() == [NOT_FOUND] * 3
    assert states.column("mark")[states.find_rows(np.array([9, 5]))].tolist() == [90, 50]
    states.add(pages([3]))
    assert states.column("mark")[states.find_rows(np.array([3, 9]))].tolist() == [0, 90]


def test_looks_are_split_into_batches_without_repeated_pages() -> None:
    states = page_states(1, 2, since_day=0.0)
    looks = states.add_visits(visits([1, 2, 1, 1], [1.0, 1.0, 2.0, 4.0]))
    batches = [
        (batch.rows.tolist(), batch.gap_days.tolist()) for batch in looks.split_repeated_pages()
    ]
    assert batches == [([0, 1], [1.0, 1.0]), ([0], [1.0]), ([0], [2.0])]


def plain_choice(
    hosts: list[int],
    scores: list[float],
    tie_breaks: list[int],
    k: int,
    limit_by_host: dict[int, int],
) -> list[int]:
    """Choose the best pages one by one, as long as their hosts are below their limits."""
    chosen: list[int] = []
    limit_by_host = dict(limit_by_host)
    for position in sorted(
        range(len(scores)), key=lambda position: (-scores[position], tie_breaks[position])
    ):
        if len(chosen) < k and limit_by_host[hosts[position]] > 0:
            limit_by_host[hosts[position]] -= 1
            chosen.append(position)
    return chosen


@settings(deadline=None)
@given(
    scores=st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, float("inf")]), max_size=24),
    k=st.integers(0, 24),
    limits=st.lists(st.integers(0, 5), min_size=3, max_size=3),
    default_limit=st.integers(0, 4),
)
def test_a_choice_is_the_greedy_one_within_host_limits(
    scores: list[float], k: int, limits: list[int], default_limit: int
) -> None:
    states = page_states(*range(len(scores)))
    caps = HostCaps(np.arange(3, dtype=np.uint64), np.array(limits, np.int64), default_limit)
    limit_by_host = {host: limits[host] if host < 3 else default_limit for host in range(7)}
    break_ties = tie_breaker(3, 1.0)
    rows = np.arange(len(scores))
    positions = states.select_top_k(rows, np.array(scores, np.float64), k, caps, break_ties)
    hosts = [page // 4 for page in range(len(scores))]
    tie_breaks = break_ties(states.ids).tolist()
    assert positions.tolist() == plain_choice(hosts, scores, tie_breaks, k, limit_by_host)


def test_pages_are_eligible_unless_pending_excluded_backed_off_or_over_a_limit() -> None:
    states = page_states(0, 1, 2, 3, 4, since_day=0.0)
    states.mark_pending(np.array([0]))
    states.add_visits(visits([1], 1.0, looks=False))
    caps = HostCaps(np.array([1], np.uint64), np.array([0]), excluded_pages=np.array([2, 99]))
    assert states.eligible_rows(DAY_SECONDS, caps).tolist() == [3]
    assert states.eligible_rows(DAY_SECONDS, HostCaps(default_limit=0)).tolist() == []
    states.release(np.array([0]))
    assert states.eligible_rows(DAY_SECONDS + HOUR, HostCaps()).tolist() == [0, 1, 2, 3, 4]


def test_the_next_time_is_that_of_the_first_page_to_be_free_again() -> None:
    states = page_states(0, 1, since_day=0.0)
    states.add_visits(visits([0, 1, 1], 1.0, looks=False))
    assert states.next_time(DAY_SECONDS) == DAY_SECONDS + HOUR
    states.mark_pending(np.array([0]))
    assert states.next_time(DAY_SECONDS) == DAY_SECONDS + 2 * HOUR
    states.mark_pending(np.array([1]))
    assert states.next_time(DAY_SECONDS) is None


def test_a_restored_state_is_the_same_page_by_page() -> None:
    states = page_states(9, 4, 6, since_day=0.0)
    states.add_visits(
        visits([4, 6, 4], [1.0, 1.5, 2.0], [True, False, True], looks=[True, False, True])
    )
    restored = PageStates()
    restored.restore(states.state())
    assert restored.ids.tolist() == states.ids.tolist()
    for name, column in states.state().items():
        assert np.array_equal(restored.state()[name], column, equal_nan=name == "last_look")
    assert (
        restored.find_rows(np.array([6, 9])).tolist() == states.find_rows(np.array([6, 9])).tolist()
    )


def test_a_clock_that_is_set_back_makes_no_page_wait_out_the_jump() -> None:
    states = PageStates(RevisitDelays(page_interval_seconds=60.0))
    states.add(pages([1]))
    states.add_visits(visits([1], 1.0))
    assert len(states.eligible_rows(DAY_SECONDS + 30.0, HostCaps())) == 0
    assert len(states.eligible_rows(30.0, HostCaps())) == 1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=6))
def test_limits_of_some_hosts_are_those_of_all_hosts(named: list[tuple[int, int]]) -> None:
    states = PageStates()
    states.add(pages(range(24), host_pages=4))
    hosts, limits = np.array(named, np.int64).reshape(-1, 2).T
    caps = HostCaps(hosts.astype(np.uint64), limits, default_limit=3)
    some = np.array([5, 0, 3, 3], np.int32)
    assert states.limits_of_hosts(some, caps).tolist() == states.host_limits(caps)[some].tolist()
