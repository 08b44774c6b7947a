"""Growable columns, and the index from keys to rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.schedule.columns import NOT_FOUND, ColumnSpec, GrowableColumns, KeyIndex

batches = st.lists(st.lists(st.integers(-(2**62), 2**62), max_size=8), max_size=6)


def test_new_rows_have_initial_values_and_old_ones_stay() -> None:
    columns = GrowableColumns({
        "age": ColumnSpec(np.float64, np.nan),
        "grid": ColumnSpec(np.float32, 1, width=3),
    })
    columns.append_rows(2)
    columns["age"][:] = [1, 2]
    columns.append_rows(1)
    assert columns["age"][:2].tolist() == [1, 2]
    assert np.isnan(columns["age"][2])
    assert columns["grid"].tolist() == [[1, 1, 1]] * 3


def test_growing_row_by_row_copies_rarely_and_wastes_little_memory() -> None:
    columns = GrowableColumns({"value": ColumnSpec(np.int64)})
    addresses = set()
    for _ in range(5_000):
        columns.append_rows(1)
        addresses.add(columns["value"].__array_interface__["data"][0])
    assert len(addresses) < 200
    assert columns.nbytes < 1.07 * 5_000 * 8


def test_removed_rows_leave_no_gap() -> None:
    columns = GrowableColumns({"value": ColumnSpec(np.int64)})
    columns.append_rows(4)
    columns["value"][:] = [5, 6, 7, 8]
    columns.keep_rows(np.array([True, False, False, True]))
    assert (len(columns), columns["value"].tolist()) == (2, [5, 8])


@given(batches)
def test_every_key_keeps_one_row_in_whatever_order_keys_arrive(batches: list[list[int]]) -> None:
    index, rows = KeyIndex(np.int64), dict[int, int]()
    for batch in batches:
        new_rows = index.add(np.array(batch, np.int64))
        for key, row in zip(batch, new_rows.tolist(), strict=True):
            assert rows.setdefault(key, row) == row
    assert sorted(rows.values()) == list(range(len(index)))
    assert index.keys[index.sorted_rows()].tolist() == sorted(rows)
    for key, row in rows.items():
        assert index.find(np.array([key])).tolist() == [row]


@given(batches, st.data())
def test_removed_keys_are_not_found(batches: list[list[int]], data: st.DataObject) -> None:
    index = KeyIndex(np.int64)
    for batch in batches:
        index.add(np.array(batch, np.int64))
    size = len(index)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)
    keys = index.keys.copy()
    index.keep_rows(mask)
    rows = np.where(mask, np.cumsum(mask) - 1, NOT_FOUND)
    assert index.find(keys).tolist() == rows.tolist()
    restored = KeyIndex(np.int64)
    restored.restore(index.keys)
    assert restored.find(keys).tolist() == rows.tolist()


def test_keys_in_ascending_order_need_no_sort_order() -> None:
    index = KeyIndex(np.uint64)
    index.add(np.arange(1_000, dtype=np.uint64))
    assert index.nbytes == 8_000


@given(st.sets(st.integers(0, 30)), st.sampled_from([0, 2**63 - 10, 2**64 - 40]))
def test_sorted_keys_are_found_whether_or_not_some_are_missing(
    numbers: set[int], offset: int
) -> None:
    keys = np.array(sorted(numbers), np.uint64) + np.uint64(offset)
    index = KeyIndex(np.uint64)
    index.add(keys)
    wanted = np.arange(40, dtype=np.uint64) + np.uint64(offset)
    rows = {key: row for row, key in enumerate(keys.tolist())}
    assert index.find(wanted).tolist() == [rows.get(key, NOT_FOUND) for key in wanted.tolist()]
