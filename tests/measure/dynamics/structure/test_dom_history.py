import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import DomRows
from freshet.core.version_series import VersionSeries, build_series
from freshet.measure.dynamics.structure.column_table import reduce_rows, sort_rows, sum_of
from freshet.measure.dynamics.structure.dom_history import dom_history, look_timeline
from tests.measure.dynamics.structure.trees import (
    DAY,
    HOUR,
    dom_of,
    history,
    spell,
    structure_of,
    text_hash,
)

FOO = {"/a[0]": "foo", "/a[0]/b[0]": "bar"}
BAZ = {"/a[0]": "foo", "/a[0]/b[0]": "baz"}


def test_the_papers_example_gives_its_four_rows():
    structure = structure_of([FOO, BAZ])
    rows = structure.rows
    table_rows = [
        (spell(*structure.locate(row)), *structure.texts[[own, all_]].tolist(), version)
        for row, own, all_, version in zip(
            rows["place"].tolist(), rows["node_hash"].tolist(), rows["subtree_hash"].tolist(),
            rows["version"].tolist(), strict=True,
        )
    ]  # fmt: skip
    assert table_rows == [
        ("/a[0]", text_hash("foo"), text_hash("foo bar"), 0),
        ("/a[0]/b[0]", text_hash("bar"), text_hash("bar"), 0),
        ("/a[0]", text_hash("foo"), text_hash("foo baz"), 1),
        ("/a[0]/b[0]", text_hash("baz"), text_hash("baz"), 1),
    ]


def test_the_papers_sort_and_reduce_group_by_path_and_by_version():
    rows = structure_of([FOO, BAZ]).rows.with_columns(one=np.ones(4, np.int32))
    paths = reduce_rows(
        sort_rows(rows, "full_path", "version"), ["full_path"], {"rows": sum_of("one")}
    )
    versions = reduce_rows(sort_rows(rows, "version"), ["version"], {"rows": sum_of("one")})
    assert paths["rows"].tolist() == versions["rows"].tolist() == [2, 2]


def test_every_row_knows_the_path_and_the_row_above_it():
    rows = structure_of([FOO, BAZ]).rows
    assert rows["above"].tolist() == [-1, 0, -1, 2]
    assert rows["parent"].tolist() == [2, 0, 2, 0]


def test_equal_looks_are_one_stay_and_a_return_is_another():
    dom, other_dom = dom_of(FOO), dom_of(BAZ)
    series = build_series([0, HOUR, 2 * HOUR, 3 * HOUR], [0, 0, 1, 0], [], [dom, other_dom])
    timeline = look_timeline(series)
    assert timeline.versions.tolist() == [0, 1, 0]
    assert timeline.looks.tolist() == [2, 1, 1]
    assert timeline.seconds.tolist() == [2 * HOUR, HOUR, 0]


def test_a_gap_of_a_year_is_time_of_which_nothing_is_known():
    times = [0.0, DAY, 400 * DAY, 401 * DAY]
    series = build_series(times, [0, 0, 0, 0], [], [dom_of(FOO)])
    timeline = look_timeline(series)
    assert timeline.versions.tolist() == [0, 0]
    assert timeline.stay_at(200 * DAY) is None
    assert timeline.stay_at(DAY) == 0
    assert timeline.stay_at(400.5 * DAY) == 1
    assert timeline.seconds.sum() <= 7 * DAY


def test_a_page_that_turns_into_a_pdf_is_unknown_while_it_is_one():
    timeline = look_timeline(history([FOO, None, BAZ]))
    assert timeline.versions.tolist() == [0, 2]
    assert timeline.start.tolist() == [0, 2 * HOUR]


def test_no_looks_or_no_rows_at_all_make_an_empty_table():
    for series in (build_series([], [], []), build_series([1.0, 2.0], [0, 1], []), history([None])):
        structure = dom_history(series, look_timeline(series))
        assert len(structure.rows) == len(structure.timeline) == 0


def test_looks_at_the_same_moment_are_all_kept_and_none_lasts():
    series = build_series([5.0, 5.0], [0, 1], [], [dom_of(FOO), dom_of(BAZ)])
    assert look_timeline(series).seconds.tolist() == [0, 0]


def chain(depth: int, text: str) -> DomRows:
    """Return the rows of elements nested in each other, the innermost holding a text."""
    rows = np.arange(depth)
    paths = rows.astype(np.uint64) + np.uint64(1)
    own = np.zeros(depth, np.uint64)
    own[-1] = text_hash(text)
    blank = np.zeros(depth, np.int32)
    beneath = np.full(depth, text_hash(text), np.uint64)
    above = (rows - 1).astype(np.int32)
    return DomRows(("div",), blank, above, blank, paths, paths, own, beneath, blank, blank)


def deep_series() -> VersionSeries:
    doms = [chain(100_000, "one"), chain(100_000, "two")]
    return build_series([0, HOUR, 2 * HOUR], [0, 1, 0], [], doms)


def test_a_hundred_thousand_nested_elements_are_rows_like_any_others():
    series = deep_series()
    structure = dom_history(series, look_timeline(series))
    assert len(structure.rows) == 300_000
    assert len(structure.paths) == 100_000


@given(st.permutations(range(5)))
def test_the_order_of_storage_does_not_matter(order: list[int]):
    trees = [FOO, BAZ, {"/a[0]": "x"}, FOO | {"/c[0]": "new"}, {}]
    doms, times = [dom_of(tree) for tree in trees], [HOUR * row for row in range(5)]
    usual = build_series(times, range(5), [], doms)
    stored = build_series([times[row] for row in order], range(5), [], [doms[row] for row in order])
    first, second = (dom_history(series, look_timeline(series)) for series in (usual, stored))
    for column in ("full_path", "node_hash", "subtree_hash", "version", "parent", "tag"):
        assert sorted(first.rows[column].tolist()) == sorted(second.rows[column].tolist())
    ours, theirs = (
        (history.paths[history.rows["full_path"]]).tolist() for history in (first, second)
    )
    assert ours == theirs
