"""Shared events of hosts, beside plain loops."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import IndexArray
from freshet.schedule.hosts import shared_events as module
from freshet.schedule.hosts.hazard_corrections import HazardCorrections
from freshet.schedule.hosts.kernels import event_fits, event_looks
from freshet.schedule.hosts.kernels import shared_events as kernels
from freshet.schedule.hosts.kernels.shared_events import BIN_COUNT
from freshet.schedule.hosts.publication_times import PublicationTimes
from freshet.schedule.hosts.shared_events import SharedEvents
from freshet.schedule.page_states import PageStates
from tests.schedule.bayes_samples import pages, visits

EVENT_RATE, EVENT_DAYS = 0.02, 30.0
PER_BIN = EVENT_RATE / 2
HOST = np.zeros(1, np.int32)


@dataclass(frozen=True, slots=True)
class BinLook:
    """A look with its times in bins from the start of the window."""

    begin: float
    gap: float
    changed: bool
    rate: float

    @property
    def end(self) -> float:
        return self.begin + self.gap

    def overlaps(self) -> list[float]:
        """Return the part of every bin that the look covers."""
        return [
            max(0.0, min(self.end, number + 1) - max(self.begin, number))
            for number in range(BIN_COUNT)
        ]


some_looks = st.lists(
    st.builds(
        BinLook,
        begin=st.floats(-30, BIN_COUNT + 4),
        gap=st.floats(0.01, 40),
        changed=st.booleans(),
        rate=st.sampled_from([0.001, 0.1, 3.0]),
    ),
    max_size=8,
)


def as_columns(looks: list[BinLook]) -> kernels.HostLooks:
    return (
        np.array([look.begin for look in looks], np.float64),
        np.array([look.end for look in looks], np.float64),
        np.array([look.changed for look in looks], np.bool_),
        np.array([look.rate * look.gap / 2 for look in looks], np.float64),
    )


def plain_events(looks: list[BinLook], hazards: list[float]) -> list[float]:
    """Return the expected shared events of every bin."""
    events = [0.0] * BIN_COUNT
    for look in looks:
        if look.changed:
            overlaps = look.overlaps()
            outside = look.gap - sum(overlaps)
            shared = sum(map(math.prod, zip(hazards, overlaps, strict=True))) + outside * PER_BIN
            chance = -math.expm1(-max(1e-9, look.rate * look.gap / 2 + shared))
            for number in range(BIN_COUNT):
                events[number] += hazards[number] * overlaps[number] / chance
    return events


def plain_fit(looks: list[BinLook], steps: int) -> list[float]:
    """Return the hazard of every bin after some steps of expectation maximisation."""
    hazards, all_overlaps = [PER_BIN] * BIN_COUNT, [look.overlaps() for look in looks]
    for _ in range(steps):
        events = plain_events(looks, hazards)
        for number in range(BIN_COUNT):
            exposure = sum(overlaps[number] for overlaps in all_overlaps)
            hazards[number] = (0.3 * PER_BIN + events[number]) / (0.3 + exposure)
    return hazards


def mean_tables() -> tuple[np.ndarray, np.ndarray]:
    """Return a cumulative hazard and an unconfirmed one, nothing learned."""
    cumulative = (np.arange(BIN_COUNT + 1) * PER_BIN).astype(np.float32)
    return cumulative, cumulative.copy()


def nothing_carried() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(BIN_COUNT, np.float32), np.zeros(BIN_COUNT, np.float32)


@settings(deadline=None, max_examples=40)
@given(some_looks, st.integers(1, 4))
def test_hazards_are_fitted_as_by_plain_loops(looks: list[BinLook], steps: int) -> None:
    tables = mean_tables()
    kernels.fit_hazards(as_columns(looks), nothing_carried(), tables, EVENT_RATE, steps)
    hazards = plain_fit(looks, steps)
    assert np.diff(tables[0]) == pytest.approx(hazards, rel=1e-3, abs=1e-5)
    exposure = np.sum([np.zeros(BIN_COUNT), *(look.overlaps() for look in looks)], axis=0)
    unconfirmed = np.array(hazards) * 0.3 / (0.3 + exposure)
    assert np.diff(tables[1]) == pytest.approx(unconfirmed, rel=1e-3, abs=1e-5)


@settings(deadline=None, max_examples=40)
@given(some_looks, some_looks)
def test_carried_looks_count_as_stored_ones(older: list[BinLook], newer: list[BinLook]) -> None:
    """A step after carrying looks gives what a step with all looks gives."""
    tables, carried = mean_tables(), nothing_carried()
    kernels.carry_looks(as_columns(older), carried, tables[0], EVENT_RATE)
    kernels.fit_hazards(as_columns(newer), carried, tables, EVENT_RATE, 1)
    assert np.diff(tables[0]) == pytest.approx(plain_fit(older + newer, 1), rel=1e-3, abs=1e-5)


@given(st.floats(-50, 150), st.floats(0, 100))
def test_a_hazard_between_two_times_is_that_of_the_bins_it_covers(begin: float, gap: float) -> None:
    hazards = np.random.default_rng(4).uniform(0, 0.5, BIN_COUNT)
    cumulative = np.append(0.0, np.cumsum(hazards)).astype(np.float32)[np.newaxis]
    tables = (np.array([0], np.int32), np.array([700.0]), cumulative)
    begin_day, end_day = (700 + begin) / 2, (700 + begin + gap) / 2
    (hazard,) = kernels.hazards_between(
        np.array([begin_day]),
        np.array([end_day]),
        HOST,
        tables,
        (np.array([EVENT_RATE], np.float32), np.array([EVENT_DAYS], np.float32)),
    )
    overlaps = BinLook(begin, gap, False, 0.0).overlaps()
    bins_before = max(0.0, min(0.0, begin + gap) - begin)
    days_ahead = [max(0.0, position - BIN_COUNT) / 2 for position in (begin, begin + gap)]
    ahead = [EVENT_RATE * EVENT_DAYS * math.log1p(days / EVENT_DAYS) for days in days_ahead]
    expected = hazards @ overlaps + bins_before * PER_BIN + ahead[1] - ahead[0]
    assert hazard == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("bins", [1, 7, BIN_COUNT, BIN_COUNT + 50])
def test_a_window_that_moves_keeps_what_it_still_covers(bins: int) -> None:
    rng = np.random.default_rng(bins)
    hazards = rng.uniform(0, 0.5, (2, BIN_COUNT))
    tables = tuple(np.append(0.0, np.cumsum(row)).astype(np.float32) for row in hazards)
    carried = tuple(rng.uniform(0, 9, BIN_COUNT).astype(np.float32) for _ in range(2))
    before = [column.tolist() for column in carried]
    kernels.shift_table(tables, carried, bins, PER_BIN)
    new_bins = min(bins, BIN_COUNT)
    for table, row in zip(tables, hazards.tolist(), strict=True):
        assert table[0] == 0
        assert np.diff(table) == pytest.approx([*row[bins:], *[PER_BIN] * new_bins], abs=1e-5)
    for column, values in zip(carried, before, strict=True):
        assert column.tolist() == [*values[bins:], *[0.0] * new_bins]


@given(st.data())
def test_later_gaps_are_those_of_later_looks_at_the_same_page(data: st.DataObject) -> None:
    looks = data.draw(
        st.lists(st.tuples(st.integers(0, 3), st.floats(0, 3)), max_size=12), label="row and gap"
    )
    rows, gaps = np.array([x[0] for x in looks], np.int32), np.array([x[1] for x in looks])
    times = np.array(data.draw(st.permutations(range(len(looks)))), np.float64)
    later = kernels.later_gaps(rows, np.lexsort((times, rows)), gaps)
    for number, (row, _) in enumerate(looks):
        expected = sum(
            min(1.0, gap)
            for other, (other_row, gap) in enumerate(looks)
            if other_row == row and times[other] > times[number]
        )
        assert later[number] == pytest.approx(expected)


class EventHost:
    """Shared events of hosts of ten pages, and a plain list of the looks at each."""

    def __init__(self, count: int = 10, publication_times: PublicationTimes | None = None) -> None:
        self.states = PageStates()
        self.publication_times = publication_times or PublicationTimes()
        self.events = SharedEvents(self.publication_times)
        self.add(range(count))

    def add(self, ids: range) -> None:
        new_rows = self.states.add(pages(ids, host_pages=10))
        self.events.add(self.states, new_rows)
        self.publication_times.add_hosts(len(self.states.hosts))

    def learn(self, ids: list[int], day: float, changed: list[bool] | bool = False) -> None:
        looks = self.states.add_visits(visits(ids, day, changed))
        self.events.learn(self.states.host[looks.rows], looks, np.zeros(len(looks)))

    def fit(self, day: float, host: int = 0, rate: float = 1e-3) -> HazardCorrections:
        hosts = np.array([host])
        (corrections,) = self.events.fit(hosts, day, lambda rows, gaps: rate * gaps)
        return corrections

    def forget(self, ids: list[int]) -> None:
        mask = self.states.forget(np.array(ids))
        self.events.keep_rows(self.states, mask)

    def hazard(self, begin: float, end: float, host: int = 0) -> float:
        hosts = np.array([host], np.int32)
        return float(self.events.hazards(hosts, np.array([begin]), np.array([end]))[0])

    def stored(self, host: int = 0) -> list[tuple[int, float]]:
        """Return the page and the day of every stored look at a host, newest first."""
        looks = self.events.recent_looks(host, -math.inf)
        ids = self.states.ids[looks.rows].tolist()
        return list(zip(ids, (looks.times / DAY_SECONDS).tolist(), strict=True))


def event_on_day_10() -> EventHost:
    """Return a host whose pages were unchanged for ten days, and nine of which then changed."""
    host = EventHost()
    for day in range(11):
        host.learn(list(range(10)), float(day), [day == 10 and page < 9 for page in range(10)])
    host.fit(10.0)
    return host


@pytest.mark.parametrize("looks_at_once", [1, 50, 1_000])
def test_hosts_fitted_together_are_fitted_as_one_by_one(
    looks_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MIN_STORED_LOOKS", 25)
    monkeypatch.setattr(module, "LOOKS_AT_ONCE", looks_at_once)
    together, one_by_one = EventHost(50), EventHost(50)
    rng = np.random.default_rng(3)
    for day in range(9):
        ids = sorted(rng.choice(50, 30, replace=False).tolist())
        changed = (rng.random(30) < 0.4).tolist()
        for host in (together, one_by_one):
            host.learn(ids, float(day), changed)
        if day % 3 == 2:
            hosts = together.events.hosts_to_fit(all_moved=True)
            assert len(hosts) == 5
            parts = list(together.events.fit(hosts, day, lambda rows, gaps: 0.01 * gaps))
            singles = [one_by_one.fit(day, host=int(host), rate=0.01) for host in hosts]
            for name in HazardCorrections.__slots__:
                expected = np.concatenate([getattr(part, name) for part in singles])
                actual = np.concatenate([getattr(part, name) for part in parts])
                assert len(actual)
                assert actual.tolist() == expected.tolist()
    states = (together.events.state(), one_by_one.events.state())
    assert len(states[0]["event_carried_events"])
    for name, column in states[0].items():
        assert np.array_equal(column, states[1][name]), name


def test_hosts_with_the_most_new_looks_are_fitted_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_FITTED_LOOKS", 45)
    host = EventHost(30)
    for day in (0.0, 1.0, 2.0):
        host.learn(list(range(30)), day)
    for number in (0, 1, 2):
        host.fit(2.0, host=number)
    host.learn([0, 10, 11, 20, 21, 22], 3.0)
    assert host.events.hosts_to_fit(all_moved=True).tolist() == [1, 2]
    host.fit(3.0, host=1)
    assert host.events.hosts_to_fit(all_moved=True).tolist() == [0, 2]


def test_hosts_that_wait_for_the_next_hour_are_fitted_sooner_after_another_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_FITTED_LOOKS", 3)
    host = EventHost(20)
    host.learn(list(range(20)), 0.0)
    host.learn([*range(10), 10, 11, 12], 1.0, True)
    assert host.events.hosts_to_fit(all_moved=True).tolist() == [1]
    assert host.events.hosts_to_fit(all_moved=False).tolist() == []
    host.learn([0], 2.0, True)
    assert host.events.hosts_to_fit(all_moved=False).tolist() == [0]


def test_only_the_largest_hosts_have_shared_events_where_memory_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = EventHost(19)
    for day in (0.0, 1.0):
        host.learn(list(range(19)), day, True)
    for number in (0, 1):
        host.fit(1.0, host=number)
    assert (host.events.table_rows >= 0).tolist() == [True, True]
    hazard = host.hazard(0.0, 1.0)
    monkeypatch.setattr(module, "MIN_EVENT_BYTES", 4_000)
    host.add(range(40, 45))
    assert (host.events.table_rows >= 0).tolist() == [True, False, False]
    assert (host.hazard(0.0, 1.0), host.hazard(0.0, 1.0, host=1)) == (hazard, 0.0)
    assert len(host.stored()) == 10
    assert not host.stored(1)
    host.learn(list(range(19)), 2.0, True)
    assert host.events.hosts_to_fit(all_moved=True).tolist() == [0]
    monkeypatch.undo()
    host.forget([44])
    host.learn(list(range(19)), 3.0, True)
    assert host.events.hosts_to_fit(all_moved=True).tolist() == [0, 1]


def test_pages_that_change_together_are_a_shared_event() -> None:
    host = event_on_day_10()
    assert host.hazard(9.0, 10.0) > 1.5
    assert host.hazard(0.0, 9.0) < 0.02
    (rate,) = host.events.event_rates(HOST)
    observed = host.hazard(0.0, 10.0)
    assert rate == pytest.approx((30 * 0.01 + observed) / (30 + 10), rel=1e-3)


def test_changes_that_the_pages_own_rates_explain_are_no_shared_event() -> None:
    host = EventHost()
    for day in range(11):
        host.learn(list(range(10)), float(day), [day == 10 and page < 9 for page in range(10)])
    host.fit(10.0, rate=5.0)
    assert host.hazard(9.0, 10.0) < 0.1


def test_earlier_looks_are_corrected_only_if_events_make_them_clearly_likelier() -> None:
    host = EventHost()
    host.learn(list(range(10)), 0.0)
    host.learn(list(range(10)), 1.0, True)
    ambiguous = host.fit(1.0, rate=2.0)
    assert host.hazard(0.0, 1.0) > 0.01
    assert len(ambiguous.rows) == 0
    clear = host.fit(1.0, rate=0.01)
    assert len(clear.rows) == 10
    assert (clear.old_hazards == 0).all()


@given(looks=some_looks)
def test_the_gain_of_events_is_that_of_plain_loops(looks: list[BinLook]) -> None:
    columns, (cumulative, _) = as_columns(looks), mean_tables()
    gain = kernels.log_likelihood_gain(columns, cumulative, PER_BIN)
    plain = 0.0
    for look, own in zip(looks, columns[3].tolist(), strict=True):
        shared = PER_BIN * look.gap
        changed = math.log(math.expm1(-own - shared) / math.expm1(-own))
        plain += changed if look.changed else -shared
    assert gain == pytest.approx(plain, rel=1e-3, abs=1e-4)


def test_a_host_of_few_pages_has_no_shared_events() -> None:
    host = EventHost(7)
    for day in (0.0, 1.0):
        host.learn(list(range(7)), day, True)
    assert host.events.hosts_to_fit(all_moved=True).tolist() == []
    assert host.hazard(0.0, 1.0) == 0
    assert host.events.event_rates(HOST).tolist() == [0]
    host.add(range(7, 10))
    host.learn(list(range(10)), 2.0, True)
    assert host.events.hosts_to_fit(all_moved=True).tolist() == [0]


def test_hosts_are_fitted_once_they_have_new_looks_and_at_once_after_a_change() -> None:
    host = EventHost(20)
    host.learn(list(range(20)), 0.0)
    assert host.events.hosts_to_fit(all_moved=True).tolist() == []
    host.learn([1, 12, 13], 1.0, [False, True, False])
    assert host.events.hosts_to_fit(all_moved=True).tolist() == [0, 1]
    assert host.events.hosts_to_fit(all_moved=False).tolist() == [1]
    host.fit(1.0, host=1)
    assert host.events.hosts_to_fit(all_moved=True).tolist() == [0]
    assert host.events.hosts_to_fit(all_moved=False).tolist() == []


def test_a_large_host_waits_for_a_share_of_new_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROMPT_FIT_LOOKS", 5)
    monkeypatch.setattr(module, "PROMPT_FIT_SHARE", 4)
    host = EventHost()
    for day in (0.0, 1.0, 2.0):
        host.learn(list(range(10)), day)
    host.fit(2.0)
    host.learn(list(range(4)), 3.0, True)
    assert host.events.hosts_to_fit(all_moved=False).tolist() == []
    host.learn([4, 5, 6], 3.0)
    assert host.events.hosts_to_fit(all_moved=False).tolist() == [0]


def test_a_hazard_stays_where_it_is_while_time_passes() -> None:
    host = event_on_day_10()
    before = [host.hazard(day, day + 1.0) for day in range(10)]
    host.learn([9], 20.0)
    host.fit(20.0)
    after = [host.hazard(day, day + 1.0) for day in range(10)]
    assert after[:9] == pytest.approx(before[:9], abs=2e-3)
    assert after[9] == pytest.approx(before[9], rel=0.1)
    host.learn([9], 70.0)
    host.fit(70.0)
    (rate,) = host.events.event_rates(HOST)
    assert host.hazard(9.0, 10.0) == pytest.approx(rate, rel=0.2)


def test_a_look_across_an_event_that_found_no_change_lowers_its_hazard() -> None:
    host = event_on_day_10()
    before = host.hazard(9.0, 10.0)
    host.learn([9], 10.5)
    host.fit(10.5)
    assert host.hazard(9.0, 10.0) == pytest.approx(before, rel=0.05)
    host.states.last_look[:] = 8.9 * DAY_SECONDS
    host.learn(list(range(10)), 11.0)
    host.fit(11.0)
    assert host.hazard(9.0, 10.0) < 0.8 * before


def test_older_looks_are_carried_and_no_longer_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_STORED_LOOKS", 25)
    everything, bounded = EventHost(), EventHost()
    for day in range(1, 12):
        for host in (everything, bounded):
            host.learn(list(range(10)), float(day), [day == 6 and page < 9 for page in range(10)])
        bounded.fit(float(day))
    monkeypatch.setattr(module, "MIN_STORED_LOOKS", 1_000)
    everything.fit(11.0)
    assert len(everything.stored()) == 100
    newest = [(page, float(day)) for day in (11, 10) for page in range(9, -1, -1)]
    assert bounded.stored() == [*newest, *((page, 9.0) for page in range(9, 4, -1))]
    for day in range(1, 11):
        hazards = [host.hazard(float(day), day + 1.0) for host in (bounded, everything)]
        assert hazards[0] == pytest.approx(hazards[1], rel=0.3, abs=5e-3)


def test_the_newest_looks_of_a_history_learned_page_by_page_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MIN_STORED_LOOKS", 20)
    host = EventHost()
    ids, days = np.repeat(np.arange(10), 12), np.tile(np.arange(12.0), 10)
    looks = host.states.add_visits(visits(ids, days))
    host.events.learn(host.states.host[looks.rows], looks, np.zeros(len(looks)))
    host.fit(12.0)
    assert host.stored() == [(page, day) for day in (11.0, 10.0) for page in range(9, -1, -1)]


def test_dropped_looks_are_freed_once_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_STORED_LOOKS", 25)
    monkeypatch.setattr(module, "DROPPED_SHARE", 2)
    host = EventHost(20)
    host.learn(list(range(20)), 0.0)
    for day in (1.0, 2.0, 3.0):
        host.learn(list(range(20)), day)
    host.fit(3.0)
    host.events.compact()
    state = host.events.state()
    assert len(state["event_looks_row"]) == 60
    assert np.count_nonzero(state["event_looks_row"] == -1) == 5
    stored = [host.stored(0), host.stored(1)]
    assert [len(looks) for looks in stored] == [25, 25]
    for day in (4.0, 5.0, 6.0):
        host.learn(list(range(10)), day)
    host.fit(6.0)
    host.fit(6.0, host=1)
    host.events.compact()
    assert len(host.events.state()["event_looks_row"]) == 90
    for day in (7.0, 8.0):
        host.learn(list(range(10)), day)
    host.fit(8.0)
    host.events.compact()
    assert len(host.events.state()["event_looks_row"]) == 50
    assert host.stored(1) == stored[1]
    assert host.stored(0)[0] == (9, 8.0)


def test_forgotten_pages_take_their_looks_along_and_dropped_looks_never_return(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MIN_STORED_LOOKS", 25)
    host = EventHost(20)
    for day in range(4):
        host.learn(list(range(20)), float(day))
    host.fit(3.0)
    host.forget([0, 5, 11])
    assert host.stored(0) == [
        (page, float(day))
        for day in (3, 2, 1)
        for page in range(9, -1, -1)
        if page not in (0, 5) and not (day == 1 and page < 5)
    ]
    assert len(host.events.state()["event_looks_row"]) == 20 + 27
    monkeypatch.setattr(module, "MIN_STORED_LOOKS", 64)
    assert len(host.stored(1)) == 27
    assert host.events.page_counts(np.arange(2)).tolist() == [8, 9]


def test_a_host_whose_pages_are_all_forgotten_can_be_fitted_and_filled_again() -> None:
    host = event_on_day_10()
    host.learn(list(range(10)), 11.0, True)
    host.forget(list(range(10)))
    assert host.stored() == []
    corrections = host.fit(12.0)
    assert len(corrections.rows) == 0
    host.add(range(10))
    for day in (13.0, 14.0):
        host.learn(list(range(10)), day)
    host.fit(14.0)
    assert len(host.stored()) == 10
    assert np.isfinite(host.hazard(0.0, 20.0))


def walked(
    lists: tuple[IndexArray, IndexArray], previous: IndexArray, limit: int
) -> list[tuple[list[int], list[int]]]:
    """Return the newest looks of each host within a limit, and the older ones."""
    hosts = np.arange(len(lists[0]))
    limits = np.full(len(hosts), limit, np.int32)
    kept, kept_starts, older, older_starts = event_fits.walk_hosts(hosts, limits, lists, previous)
    parts = (np.split(kept, kept_starts[1:-1]), np.split(older, older_starts[1:-1]))
    return [(new.tolist(), old.tolist()) for new, old in zip(*parts, strict=True)]


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=15),
    st.lists(st.booleans(), min_size=15, max_size=15),
)
def test_linked_lists_are_those_of_plain_python(hosts: list[int], kept: list[bool]) -> None:
    count = len(hosts)
    previous = np.full(count, -1, np.int32)
    newest, stored, new_looks = (
        np.full(4, -1, np.int32),
        np.zeros(4, np.int32),
        np.zeros(4, np.int32),
    )
    has_change = np.zeros(4, np.bool_)
    changed = np.array([number % 5 == 0 for number in range(count)])
    rows, nothing = np.arange(count, dtype=np.int32), np.zeros(count)
    single = [np.zeros(count, np.float32) for _ in range(3)]
    event_looks.store_looks(
        (np.array(hosts, np.int32), rows, nothing, nothing, changed, nothing),
        (np.arange(count), 0),
        (rows.copy(), single[0], single[1], changed.copy(), single[2]),
        previous,
        (newest, stored, new_looks),
        has_change,
    )
    plain = {host: [n for n in reversed(range(count)) if hosts[n] == host] for host in range(4)}
    lists = (newest, stored)
    assert walked(lists, previous, 99) == [(plain[host], []) for host in range(4)]
    assert walked(lists, previous, 2) == [(plain[host][:2], plain[host][2:]) for host in range(4)]
    for host in range(4):
        assert stored[host] == new_looks[host] == len(plain[host])
        assert has_change[host] == any(changed[look] for look in plain[host])
    mask = np.array(kept[:count])
    kernels.unlink_looks(mask, previous, (newest, stored))
    numbers = np.cumsum(mask) - 1
    remaining = [[int(numbers[look]) for look in plain[host] if mask[look]] for host in range(4)]
    assert stored.tolist() == list(map(len, remaining))
    assert walked(lists, previous[mask], 99) == [(looks, []) for looks in remaining]


def test_a_clock_that_is_set_back_begins_the_window_anew() -> None:
    host = event_on_day_10()
    host.learn([3, 4], 4_000.0, True)
    host.fit(4_000.0)
    host.learn([5], 11.0, True)
    host.fit(11.0)
    (rate,) = host.events.event_rates(HOST)
    assert 0 < rate < 0.2
    assert host.hazard(9.0, 10.0) > 1.0
    assert np.isfinite(host.hazard(0.0, 5_000.0))


def test_a_clock_set_back_by_hours_keeps_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_FIT_STEPS", 0)
    host = EventHost()
    for day in (9.0, 10.0):
        host.learn(list(range(10)), day, day == 10.0)
    host.fit(10.0)
    host.fit(10.0)
    before = host.hazard(9.0, 10.0)
    host.fit(9.4)
    assert host.hazard(9.0, 10.0) >= before > 0.02


def test_restored_events_go_on_as_the_first_would() -> None:
    first, second = event_on_day_10(), EventHost(0)
    second.states.restore(first.states.state())
    second.events.restore(first.events.state())
    for host in (first, second):
        host.learn([2, 9], 12.0, True)
        host.fit(12.0)
    assert first.stored() == second.stored()
    state, other = first.events.state(), second.events.state()
    assert all(np.array_equal(state[name], other[name]) for name in state)
    assert first.events.nbytes > 0


def test_recent_looks_are_those_since_a_day() -> None:
    host = event_on_day_10()
    looks = host.events.recent_looks(0, 9.5)
    assert (len(looks), int(looks.changed.sum())) == (10, 9)
    assert looks.gap_days.tolist() == [1.0] * 10


def test_a_host_whose_pages_change_at_every_look_has_a_bounded_event_rate() -> None:
    host = EventHost()
    for day in range(60):
        host.learn(list(range(10)), float(day), True)
        host.fit(float(day), rate=1e-3)
    assert 0.5 < host.events.event_rates(HOST)[0] < 20
    assert np.isfinite(host.hazard(-100.0, 200.0))


class HalfDays(PublicationTimes):
    """Half of the days pass by a host that publishes in the other half of the week."""

    def host_days(self, hosts: np.ndarray, times: np.ndarray) -> np.ndarray:
        return times / 2

    def elapsed_days(self, hosts: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
        return (ends - begins) / 2


def test_a_site_without_events_is_forecast_fewer_the_longer_it_was_quiet() -> None:
    host, rates = EventHost(), []
    for day in range(120):
        host.learn(list(range(10)), float(day))
        if day in (40, 119):
            rates.append(float(host.events.event_rates(HOST)[0]))
        host.fit(float(day))
    assert rates[1] < 0.6 * rates[0]
    soon, late = host.hazard(119.0, 120.0), host.hazard(119.0, 319.0)
    assert late < 0.7 * 200 * soon


def test_evidence_fades_by_the_publication_times_of_the_host() -> None:
    host, everyone = EventHost(publication_times=HalfDays()), list(range(10))
    for day in range(11):
        host.learn(everyone, float(day), [day == 10 and page < 9 for page in everyone])
    host.learn(everyone, 10.5)
    corrections = host.fit(10.5)
    assert sorted(corrections.rows.tolist()) == everyone[:9]
    assert set(corrections.gap_days.tolist()) == {0.5}
    assert set(corrections.faded_days.tolist()) == {0.25}
