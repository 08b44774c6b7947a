"""The content of pages on a grid, sparse rows, and matrices of related pages."""

from dataclasses import replace

import numpy as np

from freshet.core.content.content_grid import ContentGrid, changed_steps
from freshet.core.content.related_pages import collect_related
from freshet.core.content.sparse_rows import count_rows
from freshet.core.types import TermCounts


def terms(**counts: int) -> TermCounts:
    pairs = sorted((ord(word), count) for word, count in counts.items())
    return TermCounts(
        np.array([pair[0] for pair in pairs], np.uint64),
        np.array([pair[1] for pair in pairs], np.uint32),
    )


def small_grid() -> ContentGrid:
    rows, vocabulary = count_rows([terms(a=1, b=2), terms(b=3), terms()])
    links, _ = count_rows([terms(), terms(x=1), terms()])
    versions = np.array([[0, 0, 1, 2], [-1, 2, 2, 0]], np.int32)
    return ContentGrid(
        ("one", "two"),
        np.array([1, 2], np.uint64),
        np.arange(4.0),
        versions,
        rows,
        vocabulary,
        np.array([10, 11, 12], np.uint64),
        links,
    )


def test_rows_of_counts_share_the_columns_of_their_terms() -> None:
    grid = small_grid()
    assert grid.vocabulary.tolist() == [ord("a"), ord("b")]
    assert [len(grid.terms.row(index)[0]) for index in range(3)] == [2, 1, 0]
    assert grid.terms.row_sums().tolist() == [3.0, 3.0, 0.0]


def test_a_change_is_known_where_both_versions_are() -> None:
    assert changed_steps(small_grid()).tolist() == [[0, 1, 1], [-1, 0, 1]]
    assert changed_steps(small_grid(), 2).tolist() == [[1, 1], [-1, 1]]


def test_a_grid_until_a_step_and_of_some_pages() -> None:
    grid = small_grid()
    assert grid.until(1).versions.tolist() == [[0, 0], [-1, 2]]
    assert grid.select(np.array([1], np.int32)).page_names == ("two",)
    assert (grid.page_count, grid.until(2).step_count) == (2, 3)


def test_links_keep_the_targets_that_are_still_in_the_grid() -> None:
    grid = replace(small_grid(), link_targets=np.array([1], np.int32))
    assert grid.select(np.array([1], np.int32)).link_targets.tolist() == [0]
    assert grid.select(np.array([0], np.int32)).link_targets.tolist() == [-1]
    assert small_grid().select(np.array([0], np.int32)).link_targets.tolist() == []


def test_the_last_version_of_a_page_is_the_last_known_one() -> None:
    grid = small_grid()
    assert grid.until(2).last_versions().tolist() == [1, 2]
    assert grid.until(0).last_versions().tolist() == [0, -1]


def test_texts_that_are_equal_in_two_versions_are_no_change() -> None:
    grid = small_grid()
    same = grid.text_hashes.copy()
    same[1] = same[0]
    grid = ContentGrid(
        grid.page_names, grid.hosts, grid.times, grid.versions, grid.terms, grid.vocabulary,
        same, grid.links,
    )  # fmt: skip
    assert changed_steps(grid)[0].tolist() == [0, 0, 1]


def test_related_pages_are_sorted_by_weight_and_cut() -> None:
    none = np.zeros(3, np.int32)
    first = np.array([3, 5, 1], np.int32), np.array([0.2, 0.9, 0.2]), none
    empty = none[:0], np.empty(0), none[:0]
    related = collect_related([first, empty])
    assert len(related) == 2
    assert related.of(0)[0].tolist() == [5, 1, 3]
    assert related.closest(2).of(0)[1].tolist() == [0.9, 0.2]
    assert related.closest(2).of(1)[0].tolist() == []
    assert len(collect_related([])) == 0
    assert collect_related([first], is_sorted=True).of(0)[0].tolist() == [3, 5, 1]
