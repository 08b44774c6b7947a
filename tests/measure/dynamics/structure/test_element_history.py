import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.analysis.stored_doms import StoredDoms
from freshet.core.types import DomRows
from freshet.core.version_series import build_series
from freshet.measure.dynamics.structure.column_table import ColumnTable
from freshet.measure.dynamics.structure.dom_history import look_timeline
from freshet.measure.dynamics.structure.element_history import ElementHistory, element_history
from freshet.measure.dynamics.structure.survival import element_survival
from tests.measure.dynamics.structure.test_content_lifespans import TREES
from tests.measure.dynamics.structure.trees import HOUR, Tree, elements_of, history

BLOCKS = frozenset({"a", "b", "li"})


def rows(table: ColumnTable) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in table.columns.values()), strict=True))


def in_parts(trees: list[Tree], **bounds: int) -> ElementHistory:
    series = history(trees)
    return element_history(series, look_timeline(series), BLOCKS, **bounds)


@given(TREES, st.integers(1, 6))
def test_a_history_read_in_parts_is_the_whole_one(trees: list[Tree], part_rows: int):
    parts, whole = in_parts(trees, part_rows=part_rows), elements_of(trees, BLOCKS)
    for name in ("elements", "blocks", "path_table"):
        assert rows(getattr(parts, name)) == rows(getattr(whole, name)), name
    assert parts.stride == 1


def test_a_move_across_the_edge_of_two_parts_is_seen():
    def posts(*texts: str) -> Tree:
        return {f"/li[{place}]": text for place, text in enumerate(texts)}

    parts = in_parts([posts("b", "c"), posts("a", "b")], part_rows=2)
    assert parts.blocks["came"].sum() == 1


@given(TREES)
def test_too_many_runs_are_those_of_every_second_version(trees: list[Tree]):
    thinned = in_parts(trees, part_rows=2, max_runs=6)
    assert len(thinned.elements) + len(thinned.blocks) <= 6
    fewer = in_parts(trees[:: thinned.stride])
    names = ("full_path", "content", "first", "last")
    assert rows(thinned.elements.select(*names)) == rows(fewer.elements.select(*names))
    assert len(thinned.timeline) == len(fewer.timeline)


def wide_dom(version: int, rows_each: int) -> DomRows:
    """Return the rows of a flat page of which one element in a hundred is new in each version."""
    numbers = np.arange(rows_each)
    texts = numbers.astype(np.uint64) + np.uint64(1)
    texts[version % 100 :: 100] += np.uint64(rows_each * (version + 1))
    blank = np.zeros(rows_each, np.int32)
    paths = numbers.astype(np.uint64) + np.uint64(1)
    above = np.full(rows_each, -1, np.int32)
    return DomRows(("p",), blank, above, numbers.astype(np.int32), paths, paths, texts, texts,
                   blank, blank)  # fmt: skip


def test_ten_thousand_versions_are_all_used_and_few_are_in_memory():
    versions, rows_each, held = 10_000, 100, 20_000
    reads: list[int] = []

    def read(version: int) -> DomRows:
        reads.append(version)
        return wide_dom(version, rows_each)

    doms = StoredDoms(read, held)
    for version in range(versions):
        doms.append(wide_dom(version, rows_each))
    times = [HOUR * hour for hour in range(versions)]
    series = build_series(times, range(versions), [], doms, has_dom=doms.has_dom)
    structure = element_history(
        series, look_timeline(series), frozenset({"p"}), part_rows=held // 4
    )
    assert structure.stride == 1
    assert len(structure.timeline) == versions
    assert structure.elements["last"].max() == versions - 1
    assert len(structure.elements) < versions * 3
    assert element_survival(structure).shares == (1.0,) * 6
    assert len(reads) <= 2 * versions
