from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.measure.dynamics.structure.column_table import (
    ColumnAggregate,
    ColumnTable,
    maximum_of,
    minimum_of,
    rank_in_group,
    reduce_rows,
    sort_rows,
    sum_of,
)

Row = tuple[int, int, int]
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 9)), max_size=40)
PIECES = {"low": minimum_of("c"), "high": maximum_of("c"), "sum": sum_of("c")}


def table_of(rows: list[Row], kind: type = np.int32) -> ColumnTable:
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return ColumnTable({
        name: column.astype(kind) for name, column in zip("abc", columns, strict=True)
    })


def rows_of(table: ColumnTable) -> list[Row]:
    return list(zip(*(table[name].tolist() for name in "abc"), strict=True))


@given(ROWS)
def test_sorting_agrees_with_a_plain_sort_for_small_numbers_and_for_hashes(rows: list[Row]):
    expected = sorted(rows, key=lambda row: (row[1], row[0]))
    assert rows_of(sort_rows(table_of(rows), "b", "a")) == expected
    assert rows_of(sort_rows(table_of(rows, np.uint64), "b", "a")) == expected


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=30))
def test_numbers_too_large_or_negative_to_count_are_sorted_all_the_same(values: list[int]):
    table = ColumnTable({"a": np.array(values, np.int32)})
    assert sort_rows(table, "a")["a"].tolist() == sorted(values)


@given(ROWS)
def test_reducing_agrees_with_a_plain_loop(rows: list[Row]):
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for a, b, c in rows:
        groups[a, b].append(c)
    expected = [(a, b, min(c), max(c), sum(c)) for (a, b), c in sorted(groups.items())]
    reduced = reduce_rows(sort_rows(table_of(rows), "a", "b"), ["a", "b"], PIECES)
    names = ("a", "b", "low", "high", "sum")
    assert list(zip(*(reduced[name].tolist() for name in names), strict=True)) == expected


@given(ROWS, st.integers(0, 40), st.integers(0, 40))
def test_parts_reduced_apart_and_then_again_give_the_whole(
    rows: list[Row], cut: int, second_cut: int
):
    first, second = sorted((cut, second_cut))
    parts = [
        table_of(rows_of_part) for rows_of_part in (rows[:first], rows[first:second], rows[second:])
    ]
    apart = [reduce_rows(sort_rows(rows_of_part, "a"), ["a"], PIECES) for rows_of_part in parts]
    reduced = reduce_rows(sort_rows(table_of(rows), "a"), ["a"], PIECES)
    names = ("a", *PIECES)
    again = {name: ColumnAggregate(piece.ufunc, name) for name, piece in PIECES.items()}
    for order in (apart, apart[::-1]):
        joined = ColumnTable({
            name: np.concatenate([rows_of_part[name] for rows_of_part in order]) for name in names
        })
        combined = reduce_rows(sort_rows(joined, "a"), ["a"], again)
        assert all((combined[name] == reduced[name]).all() for name in names)
        assert len(combined) == len(reduced)


def test_reducing_gathers_only_what_stands_together():
    table = ColumnTable({"a": np.array([1, 2, 1]), "c": np.array([5, 6, 7])})
    assert reduce_rows(table, ["a"], {"sum": sum_of("c")})["sum"].tolist() == [5, 6, 7]


def test_a_table_without_rows_gives_one_without_rows():
    nothing = table_of([])
    assert len(reduce_rows(sort_rows(nothing, "a", "b"), ["a"], PIECES)) == 0
    assert len(rank_in_group(nothing, "a")) == 0
