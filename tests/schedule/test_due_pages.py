"""The pages that are scored at a choice."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.schedule.due_pages import DUE_COLUMN, DUE_TIMES, DuePages
from freshet.schedule.kernels import due_pages as kernels
from freshet.schedule.page_states import PageStates
from tests.schedule.bayes_samples import pages


def due_pages(count: int, host_pages: int = 10) -> tuple[PageStates, DuePages]:
    states = PageStates(None, {DUE_COLUMN: DUE_TIMES})
    states.add(pages(range(count), host_pages=host_pages))
    return states, DuePages(states)


NO_HOSTS = np.empty(0, np.int32)
some_rows = st.sets(st.integers(0, 40)).map(lambda rows: np.array(sorted(rows), np.intp))


@given(some_rows, some_rows)
def test_merged_rows_are_the_sorted_union(rows: np.ndarray, others: np.ndarray) -> None:
    assert kernels.merge_rows(rows, others).tolist() == np.union1d(rows, others).tolist()
    assert kernels.rows_without(rows, others).tolist() == np.setdiff1d(rows, others).tolist()


@given(st.data())
def test_due_rows_are_those_of_a_scan_of_all_pages(data: st.DataObject) -> None:
    states, due = due_pages(30)
    row_lists = st.lists(st.integers(0, 29), max_size=20)
    hosts, now = st.lists(st.integers(0, 2), max_size=1), 0.0
    for _ in range(data.draw(st.integers(1, 4), label="choices")):
        now += 1
        deferred = np.array(sorted(set(data.draw(row_lists, label="deferred"))), np.intp)
        due.defer(deferred, now + np.arange(len(deferred)) / 4)
        due.mark(np.array(data.draw(row_lists, label="marked"), np.int32))
        due.mark_hosts(np.array(data.draw(hosts, label="hosts"), np.intp))
        scan = np.flatnonzero(states.column("due") <= now)
        assert due.rows(now).tolist() == scan.tolist()
        due.settle(5.0, NO_HOSTS)


def test_only_pages_that_fall_due_in_the_period_are_candidates() -> None:
    _, due = due_pages(100)
    due.defer(np.arange(100), np.arange(100.0))
    due.settle(10.0, NO_HOSTS)
    assert due.rows(1e9).tolist() == list(range(11))
    due.mark(np.array([50]))
    assert due.rows(5.0).tolist() == [0, 1, 2, 3, 4, 5, 50]
    due.mark_all()
    assert len(due.rows(0.0)) == 100


def test_pages_of_hosts_are_marked_and_so_are_pages_added_later() -> None:
    states, due = due_pages(100)
    due.defer(np.arange(100), np.full(100, 9.0))
    due.settle(1.0, NO_HOSTS)
    due.mark_hosts(np.array([3, 1]))
    assert due.rows(0.0).tolist() == [*range(10, 20), *range(30, 40)]
    states.add(pages([100, 101, 35_000]))
    due.defer(np.arange(103), np.full(103, 9.0))
    due.settle(1.0, NO_HOSTS)
    due.mark_hosts(np.array([states.host[100]]))
    assert due.rows(0.0).tolist() == [100, 101]
    assert due.nbytes > 100 * 4
