"""Host clocks: delays, closings, back-off, and their bounds."""

from datetime import timedelta
from email.utils import format_datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.catalog.rows import HostState
from freshet.core.clock import from_epoch
from freshet.core.settings import PolitenessSettings
from freshet.core.tables import NO_VISIT_LIMIT, HostCaps, hash_name
from freshet.core.types import Outcome
from freshet.crawl.hosts import HostTurns
from freshet.fetch.politeness.host_schedule import (
    FIRST_BACKOFF,
    IDLE_SECONDS,
    MAX_CLOSED_HOSTS_WITHOUT_PAGES,
    MAX_HOSTS_WITHOUT_PAGES,
    MAX_RULES_CHARS,
    MAX_RULES_CHARS_WITHOUT_PAGES,
    SHORT_RULES_CHARS,
    SWEEP_SECONDS,
    HostSchedule,
    parse_retry_after,
)
from freshet.fetch.politeness.robots_record import RobotsRecord

HOST = "a.example"
NOW = 1_700_000_000.0
DAY = 86_400.0


def clocks(**politeness: float) -> HostSchedule:
    return HostSchedule(PolitenessSettings(**politeness))


def test_an_unknown_host_is_open() -> None:
    assert clocks().open_from(HOST, NOW) == NOW


def test_a_host_waits_its_delay_after_a_request() -> None:
    hosts = clocks(delay=2.0)
    hosts.start_delay(HOST, NOW)
    assert hosts.open_from(HOST, NOW) == NOW + 2.0


def test_a_crawl_delay_counts_where_it_is_longer_and_not_absurd() -> None:
    hosts = clocks(delay=2.0, longest_delay=300.0)
    hosts.set_delay(HOST, 1.0)
    assert hosts.delay(HOST) == 2.0
    hosts.set_delay(HOST, 30.0)
    assert hosts.delay(HOST) == 30.0
    hosts.start_delay(HOST, NOW)
    assert hosts.open_from(HOST, NOW) == NOW + 30.0
    hosts.set_delay(HOST, 1e9)
    assert hosts.delay(HOST) == 300.0
    hosts.set_delay(HOST, None)
    assert hosts.delay(HOST) == 2.0


def test_failures_of_a_host_close_it_for_twice_as_long_each_time() -> None:
    hosts = clocks()
    for count in range(3):
        assert hosts.note_outcome(HOST, Outcome.TIMEOUT, None, NOW)
        assert hosts.open_from(HOST, NOW) == NOW + FIRST_BACKOFF * 2**count


def test_a_host_that_asks_for_no_pause_gets_longer_ones_all_the_same() -> None:
    hosts = clocks(delay=0.5)
    hosts.set_delay("slow.example", 10.0)
    pauses = []
    for _ in range(4):
        for host in (HOST, "slow.example"):
            hosts.note_outcome(host, Outcome.THROTTLED, 0.0, NOW)
            pauses.append(hosts.open_from(host, NOW) - NOW)
    assert pauses == [0.5, 10.0, 1.0, 20.0, 2.0, 40.0, 4.0, 80.0]


def test_a_host_is_closed_or_resting_beyond_its_delay_and_not_within_it() -> None:
    hosts = clocks(delay=2.0, longest_delay=300.0)
    hosts.set_delay(HOST, 300.0)
    hosts.start_delay(HOST, NOW)
    assert not hosts.is_resting(HOST, NOW)
    assert not hosts.is_closed(HOST, NOW)
    hosts.note_outcome("b.example", Outcome.THROTTLED, 60.0, NOW)
    assert hosts.is_resting("b.example", NOW)
    assert not hosts.is_closed("b.example", NOW)
    hosts.note_outcome("b.example", Outcome.THROTTLED, 301.0, NOW)
    assert hosts.is_closed("b.example", NOW)
    assert hosts.closed_until("b.example") == NOW + 301.0
    assert hosts.closed_until("unknown.example") < NOW


def test_an_answer_ends_the_back_off() -> None:
    hosts = clocks()
    hosts.note_outcome(HOST, Outcome.TIMEOUT, None, NOW)
    hosts.note_outcome(HOST, Outcome.OK, None, NOW + 100)
    hosts.note_outcome(HOST, Outcome.TIMEOUT, None, NOW + 200)
    assert hosts.open_from(HOST, NOW + 200) == NOW + 200 + FIRST_BACKOFF


def test_a_server_error_closes_its_host_only_where_it_is_the_second_in_a_row() -> None:
    hosts = clocks()
    assert not hosts.note_outcome(HOST, Outcome.SERVER_ERROR, None, NOW)
    assert not hosts.note_outcome(HOST, Outcome.OK, None, NOW)
    assert not hosts.note_outcome(HOST, Outcome.SERVER_ERROR, None, NOW)
    assert hosts.failures_and_closing(HOST) == (1, 0.0)
    assert hosts.open_from(HOST, NOW) == NOW
    for count in (2, 3):
        assert hosts.note_outcome(HOST, Outcome.SERVER_ERROR, None, NOW)
        until = NOW + FIRST_BACKOFF * 2 ** (count - 1)
        assert hosts.failures_and_closing(HOST) == (count, until)
        assert hosts.open_from(HOST, NOW) == until


def test_a_server_error_after_another_failure_closes_its_host() -> None:
    hosts = clocks()
    hosts.note_outcome(HOST, Outcome.TIMEOUT, None, NOW)
    assert hosts.note_outcome(HOST, Outcome.SERVER_ERROR, None, NOW)


def test_a_server_error_that_asks_for_a_pause_gets_it_at_once() -> None:
    hosts = clocks()
    assert hosts.note_outcome(HOST, Outcome.SERVER_ERROR, 600.0, NOW)
    assert hosts.open_from(HOST, NOW) == NOW + 600.0


def test_an_unknown_host_has_no_back_off() -> None:
    assert clocks().failures_and_closing(HOST) == (0, 0.0)


def test_a_missing_page_does_not_close_its_host() -> None:
    hosts = clocks()
    assert not hosts.note_outcome(HOST, Outcome.GONE, None, NOW)
    assert hosts.open_from(HOST, NOW) == NOW


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=80))
def test_no_wait_is_longer_than_the_longest(waits: list[float]) -> None:
    hosts = clocks(longest_backoff=30.0)
    for wait in waits:
        hosts.note_outcome(HOST, Outcome.THROTTLED, wait, NOW)
        hosts.note_outcome(HOST, Outcome.THROTTLED, None, NOW)
    assert hosts.open_from(HOST, NOW) <= NOW + 30 * DAY


def test_a_clock_that_is_set_back_does_not_lock_a_host() -> None:
    hosts = clocks(delay=2.0)
    hosts.start_delay(HOST, NOW)
    assert hosts.open_from(HOST, NOW - DAY) <= NOW - DAY + 2.0


def test_after_a_crash_every_host_waits_as_after_a_request() -> None:
    hosts = clocks(delay=2.0)
    hosts.set_delay("slow.example", 10.0)
    hosts.delay_all(NOW)
    assert hosts.open_from(HOST, NOW + 0.5) == NOW + 2.0
    assert hosts.open_from("slow.example", NOW + 0.5) == NOW + 10.0
    assert hosts.open_from(HOST, NOW + 3.0) == NOW + 3.0
    assert hosts.open_from(HOST, NOW - DAY) == NOW - DAY + 2.0


def test_states_outlive_a_restart() -> None:
    before, after = clocks(delay=2.0), clocks(delay=2.0)
    before.set_delay(HOST, 7.0)
    before.note_outcome(HOST, Outcome.THROTTLED, 600.0, NOW)
    before.start_delay(HOST, NOW)
    after.load(before.take_unsaved())
    assert after.open_from(HOST, NOW) == NOW + 600.0
    assert after.delay(HOST) == 7.0
    assert before.take_unsaved() == []


def test_a_restart_keeps_a_hosts_turn_its_failures_and_its_rules() -> None:
    before, after = clocks(delay=2.0), clocks(delay=2.0)
    before.start_delay("b.example", NOW)
    before.set_robots("b.example", rules(10))
    before.note_outcome(HOST, Outcome.TIMEOUT, None, NOW)
    before.note_outcome(HOST, Outcome.TIMEOUT, None, NOW)
    after.load(before.take_unsaved())
    assert after.open_from("b.example", NOW) == NOW + 2.0
    assert after.robots("b.example") == rules(10)
    after.note_outcome(HOST, Outcome.TIMEOUT, None, NOW)
    assert after.open_from(HOST, NOW) == NOW + 4 * FIRST_BACKOFF


def test_after_a_restart_only_hosts_without_pages_are_forgotten() -> None:
    hosts = clocks(delay=2.0)
    states = [HostState(host, from_epoch(NOW)) for host in (HOST, "met.example")]
    hosts.load(states, frozenset({"met.example"}))
    hosts.start_delay(HOST, NOW)
    assert sweep(hosts, NOW + DAY) == {"met.example"}


def test_states_that_could_not_be_written_are_returned_again() -> None:
    hosts = clocks()
    hosts.start_delay(HOST, NOW)
    states = hosts.take_unsaved()
    hosts.mark_unsaved(states)
    assert hosts.take_unsaved() == states != []


def test_a_closed_host_has_no_room_and_others_have_as_much_as_fits() -> None:
    hosts = clocks(delay=2.0)
    hosts.note_outcome(HOST, Outcome.THROTTLED, 600.0, NOW)
    hosts.set_delay("slow.example", 10.0)
    caps = hosts.host_caps(NOW, NOW + 4.0, {"slow.example": 1}, 1000)
    room = dict(zip(caps.hosts.tolist(), caps.limits.tolist(), strict=True))
    assert room == {hash_name(HOST): 0, hash_name("slow.example"): 0}
    assert caps.default_limit == 3


def test_a_host_without_a_delay_has_no_more_room_than_there_is_for_one() -> None:
    caps = clocks(delay=0.0).host_caps(NOW, NOW + 1.0, {HOST: 15}, 32)
    assert caps.default_limit == 32
    assert caps.limits.tolist() == [17]


@pytest.mark.parametrize(
    "text",
    [
        "Thu, 01 Jan 2026 12:01:00 +99999999999999999999",
        "Thu, 01 Jan 2026 99999999999999999999:01:00 GMT",
        "Thu, 01 Jan 99999999999999999999 12:01:00 GMT",
        "Thu, 01 Jan 2026 12:01:00 -0000",
        "Thu, 01 Jan 1998 12:01:00 GMT",
        "-1",
        "1e400",
        "soon",
        "",
    ],
)
def test_a_wait_that_cannot_be_read_is_none(text: str) -> None:
    assert parse_retry_after(text, from_epoch(NOW)) is None


def test_a_wait_until_this_very_moment_is_no_wait() -> None:
    assert parse_retry_after(format_datetime(from_epoch(NOW)), from_epoch(NOW)) == 0.0


def test_after_a_crash_a_clock_set_back_locks_no_host() -> None:
    hosts = clocks(delay=2.0)
    hosts.delay_all(NOW)
    assert hosts.open_from(HOST, NOW - DAY) == NOW - DAY + 2.0
    assert hosts.open_from(HOST, NOW - DAY + 3.0) == NOW - DAY + 3.0


@given(
    st.floats(-1e6, 1e7), st.floats(-1e6, 1e7), st.none() | st.floats(0, 300),
    st.floats(0, 60), st.floats(0, 1e5),
)  # fmt: skip
def test_a_plan_gives_a_host_the_same_room_as_the_crawl(
    free: float, closed: float, own: float | None, delay: float, span: float
) -> None:
    state = HostState(HOST, from_epoch(NOW + free), own, 0, from_epoch(NOW + closed))
    hosts = clocks(delay=delay)
    hosts.load([state])
    nobody = np.empty(0, np.int64)
    plan = HostTurns([state], hosts.politeness, NOW).host_caps(NOW, NOW + span, nobody)
    crawl = hosts.host_caps(NOW, NOW + span, {}, NO_VISIT_LIMIT)
    assert room_of(crawl, HOST) == room_of(plan, HOST)
    assert crawl.default_limit == plan.default_limit


def room_of(caps: HostCaps, host: str) -> int:
    known = dict(zip(caps.hosts.tolist(), caps.limits.tolist(), strict=True))
    return int(known.get(hash_name(host), caps.default_limit))


def test_a_host_that_comes_free_is_forgotten_by_the_caps() -> None:
    hosts = clocks(delay=2.0)
    hosts.start_delay(HOST, NOW)
    later = NOW + timedelta(minutes=1).total_seconds()
    caps = hosts.host_caps(later, later + 1, {}, 1000)
    assert len(caps.hosts) == 0
    assert caps.limits.dtype == np.int64


def rules(chars: int, until: float = NOW + DAY) -> RobotsRecord:
    return RobotsRecord(NOW, 200, "x" * chars, until)


def sweep(hosts: HostSchedule, now: float, *queued: str) -> set[str]:
    """Let unused hosts be forgotten; return those that are told of, with nothing known of them."""
    hosts.host_caps(now, now + 1, dict.fromkeys(queued, 1), 1000)
    return {state.host for state in hosts.take_unsaved() if state.is_blank}


def test_a_host_without_pages_is_dropped_when_its_delay_is_over() -> None:
    hosts = clocks(delay=2.0)
    hosts.add_page("paged.example")
    busy = ("busy.example", "busy.example:80")
    for host in ("paged.example", "paged.example:80", *busy, "met.example"):
        hosts.set_robots(host, rules(SHORT_RULES_CHARS + 1))
        hosts.start_delay(host, NOW)
    hosts.note_outcome("shut.example", Outcome.THROTTLED, 600.0, NOW)
    assert sweep(hosts, NOW + 1) == set()
    later = NOW + 2.0 + IDLE_SECONDS
    assert sweep(hosts, later - SWEEP_SECONDS, "busy.example") == set()
    assert sweep(hosts, later, "busy.example") == {"met.example"}
    assert hosts.robots("met.example") is None
    assert hosts.robots("paged.example:80") is not None
    assert hosts.open_from("shut.example", later) == NOW + 600.0
    assert sweep(hosts, NOW + 600.0 + IDLE_SECONDS) == {*busy, "shut.example"}


def test_a_host_that_a_page_comes_to_lie_on_is_kept() -> None:
    hosts = clocks(delay=2.0)
    hosts.set_robots(HOST, rules(SHORT_RULES_CHARS + 1))
    hosts.add_page(HOST)
    assert sweep(hosts, NOW + DAY) == set()
    assert hosts.robots(HOST) is not None


def test_short_rules_of_a_host_without_pages_are_kept_while_they_hold() -> None:
    hosts = clocks(delay=0.0)
    hosts.set_robots(HOST, rules(SHORT_RULES_CHARS))
    assert sweep(hosts, NOW + IDLE_SECONDS) == set()
    assert sweep(hosts, NOW + DAY) == {HOST}


def test_of_hosts_without_pages_only_so_many_are_kept() -> None:
    hosts = clocks(delay=0.0)
    for number in range(MAX_HOSTS_WITHOUT_PAGES + 10):
        hosts.set_robots(f"h{number}.example", rules(10))
    hosts.start_delay("h0.example", NOW)
    assert sweep(hosts, NOW + IDLE_SECONDS) == {f"h{number}.example" for number in range(1, 11)}


def test_of_closed_hosts_without_pages_those_that_open_last_are_kept() -> None:
    hosts = clocks()
    for number in range(MAX_CLOSED_HOSTS_WITHOUT_PAGES + 2):
        hosts.note_outcome(f"h{99_999 - number}.example", Outcome.THROTTLED, 1_000.0 + number, NOW)
    assert sweep(hosts, NOW) == {"h99999.example", "h99998.example"}


@pytest.mark.parametrize(
    ("has_pages", "most"), [(False, MAX_RULES_CHARS_WITHOUT_PAGES), (True, MAX_RULES_CHARS)]
)
def test_rules_of_all_hosts_together_are_bounded(has_pages: bool, most: int) -> None:
    hosts = clocks()
    names = [f"h{number}.example" for number in range(6)]
    for name in names:
        if has_pages:
            hosts.add_page(name)
        hosts.set_robots(name, rules(most // 4))
        hosts.robots(names[0])
    kept = [name for name in names if hosts.robots(name) is not None]
    assert kept == [names[0], *names[3:]]
    emptied = [state.host for state in hosts.take_unsaved() if not state.robots]
    assert emptied == names[1:3]


def test_rules_of_a_host_that_got_pages_or_was_forgotten_take_no_room() -> None:
    most_of_it = MAX_RULES_CHARS_WITHOUT_PAGES // 2 + 1
    hosts = clocks(delay=2.0)
    hosts.set_robots(HOST, rules(most_of_it))
    hosts.add_page(HOST)
    hosts.set_robots("met.example", rules(most_of_it))
    assert hosts.robots(HOST) is not None
    assert sweep(hosts, NOW + DAY) == {"met.example"}
    hosts.set_robots("other.example", rules(most_of_it))
    assert hosts.robots("other.example") is not None


def test_a_host_that_is_reopened_keeps_only_its_delay() -> None:
    hosts = clocks(delay=2.0)
    hosts.start_delay(HOST, NOW)
    hosts.note_outcome(HOST, Outcome.TIMEOUT, None, NOW)
    hosts.set_robots(HOST, RobotsRecord(NOW, None, "", NOW + 300, NOW, "no answer"))
    hosts.set_robots("b.example", rules(10))
    hosts.take_unsaved()
    hosts.reopen([HOST, "unknown.example", "b.example"])
    assert hosts.open_from(HOST, NOW) == NOW + 2.0
    assert hosts.robots(HOST) is None
    assert hosts.robots("b.example") is not None
    assert [(s.host, s.failures) for s in hosts.take_unsaved()] == [(HOST, 0), ("b.example", 0)]
