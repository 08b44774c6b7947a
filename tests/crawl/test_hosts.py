"""How hosts are shown, when they come free, and the names under which they are remembered."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from freshet.archive.catalog.rows import HostState
from freshet.core.clock import to_epoch
from freshet.core.settings import PolitenessSettings
from freshet.core.tables import HostCaps, hash_name, hash_names
from freshet.crawl.hosts import (
    HostSummary,
    HostTurns,
    closed_hosts,
    host_names,
    pages_within_caps,
    summarise_host,
    turns_within,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW = to_epoch(NOON)
SOON = NOON + timedelta(minutes=5)
POLITE = PolitenessSettings(delay=2.0)


def closed(host: str, until: datetime) -> HostState:
    return HostState(host, backoff_until=until)


def test_a_host_is_shown_as_it_is_treated() -> None:
    robots = {"fetched": NOW, "status": 200}
    state = HostState("a.example", NOON, 10.0, 3, SOON, robots)
    host = HostSummary("a.example", 10.0, NOON, SOON, 3, "robots.txt read 2026-03-01 12:00 UTC")
    assert summarise_host(state, POLITE, NOON) == host


def test_a_host_of_which_nothing_is_remembered_is_open() -> None:
    host = HostSummary("a.example", 2.0, robots="robots.txt not requested yet")
    assert summarise_host(HostState("a.example"), POLITE, NOON) == host


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        ({"status": 404}, "no robots.txt (status 404, 2026-03-01 12:00 UTC)"),
        ({"failing_since": NOW}, "robots.txt is unavailable (no answer, 2026-03-01 12:00 UTC)"),
        ({"failing_since": NOW, "why": "timeout"}, "robots.txt is unavailable (timeout, "),
    ],
)
def test_the_result_of_requesting_robots_txt_is_described(kept: dict[str, Any], text: str) -> None:
    state = HostState("a.example", robots={"fetched": NOW, **kept})
    assert summarise_host(state, POLITE, NOON).robots.startswith(text)


def test_a_host_is_open_from_the_moment_at_which_its_pause_ends() -> None:
    assert summarise_host(closed("a.example", NOON), POLITE, NOON).closed_until is None
    assert summarise_host(closed("a.example", NOON), POLITE, SOON).closed_until is None


def test_closed_hosts_are_listed_by_when_they_open_the_last_first() -> None:
    later = SOON + timedelta(minutes=1)
    states = [
        closed("a.example", SOON), closed("b.example", later), closed("open.example", NOON),
        HostState("never.example"), closed("c.example", SOON),
    ]  # fmt: skip
    names = [host.host for host in closed_hosts(states, POLITE, NOON)]
    assert names == ["b.example", "a.example", "c.example"]


def test_a_host_that_comes_free_at_a_moment_is_free_then() -> None:
    turns = HostTurns([closed("a.example", SOON)], POLITE, NOW)
    assert turns.next_opening(NOW) == to_epoch(SOON)
    assert turns.next_opening(to_epoch(SOON)) is None


def test_an_ipv6_host_has_a_port_only_behind_its_brackets() -> None:
    assert host_names("[2001:db8::1]:8080") == ("[2001:db8::1]:8080",)
    assert host_names("[2001:db8::1]") == ("[2001:db8::1]", "[2001:db8::1]:80")


def test_a_delay_below_a_second_gives_a_host_several_turns_a_second() -> None:
    assert turns_within(1.0, 0.5) == 3


def test_no_more_pages_are_chosen_than_requested_or_than_their_hosts_allow() -> None:
    caps = HostCaps(hash_names(["a.example"]), np.array([1]), 2)
    names = ["a.example"] * 2 + ["b.example"] * 3 + ["c.example"]
    pages = dict(enumerate(names))
    assert pages_within_caps(pages, 2, caps)[0] == [0, 2]
    chosen, left = pages_within_caps(pages, 9, caps)
    assert chosen == [0, 2, 3, 5]
    room = dict(zip(left.hosts.tolist(), left.limits.tolist(), strict=True))
    assert room == {hash_name("a.example"): 0, hash_name("b.example"): 0, hash_name("c.example"): 1}


def test_room_is_counted_in_the_same_numbers_where_no_host_is_known() -> None:
    nobody = np.empty(0, np.int64)
    planned = HostTurns([], POLITE, NOW).host_caps(NOW, NOW + 1, nobody)
    for caps in (planned, pages_within_caps({}, 1, planned)[1]):
        assert (caps.hosts.dtype, caps.limits.dtype) == (np.uint64, np.int64)
