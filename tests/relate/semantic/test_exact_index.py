"""Exact nearest pages, against all cosines at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.errors import UsageError
from freshet.relate.semantic.cpu_search import disjoint_rounds
from freshet.relate.semantic.exact_index import ExactIndex
from tests.relate.semantic.vectors import all_neighbours, page_lists, random_vectors


@pytest.mark.parametrize("page_count", [0, 1, 2, 5, 600, 1700])
def test_neighbours_are_those_with_the_largest_cosines(page_count: int) -> None:
    vectors = random_vectors(page_count)
    related = ExactIndex(vectors, workers=2).neighbours(5)
    assert page_lists(related) == all_neighbours(vectors, 5)
    for page in range(page_count):
        pages, weights, _ = related.of(page)
        assert weights == pytest.approx(vectors[pages] @ vectors[page], abs=1e-6)
        assert (weights <= 1).all()


def test_new_pages_extend_the_neighbours_of_before() -> None:
    vectors = random_vectors(1300)
    index = ExactIndex(vectors[:700], workers=2)
    before = index.neighbours(6)
    index.add(vectors[700:])
    assert page_lists(index.neighbours(6, known=before)) == all_neighbours(vectors, 6)


def test_queries_are_compared_with_all_pages() -> None:
    vectors, queries = random_vectors(900), random_vectors(550, seed=1)
    related = ExactIndex(vectors).query(queries, 3)
    expected = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :3]
    assert page_lists(related) == expected.tolist()


def test_a_query_finds_its_own_page() -> None:
    vectors = random_vectors(20)
    assert [row[0] for row in page_lists(ExactIndex(vectors).query(vectors, 1))] == list(range(20))


def test_pages_without_a_vector_have_no_neighbours_and_are_none() -> None:
    vectors = random_vectors(40)
    vectors[[3, 17]] = 0
    related = ExactIndex(vectors).neighbours(39)
    assert [len(related.of(page)[0]) for page in (3, 17)] == [0, 0]
    assert not np.isin([3, 17], related.pages).any()


def test_identical_pages_have_the_first_pages_as_neighbours() -> None:
    related = ExactIndex(np.ones((50, 4)) / 2).neighbours(3)
    assert page_lists(related)[:4] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert page_lists(related)[49] == [0, 1, 2]


def test_vectors_are_scaled_to_length_one() -> None:
    vectors = random_vectors(30)
    scales = np.linspace(1, 9, 30)[:, None]
    assert page_lists(ExactIndex(vectors * scales).neighbours(4)) == all_neighbours(vectors, 4)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(value: float) -> None:
    vectors = random_vectors(5)
    vectors[2, 1] = value
    with pytest.raises(UsageError, match="page 2"):
        ExactIndex(vectors)


def test_vectors_of_other_dimensions_are_refused() -> None:
    index = ExactIndex(random_vectors(5))
    with pytest.raises(UsageError, match="7 dimensions; the index has 8"):
        index.add(random_vectors(2, 7))
    with pytest.raises(UsageError, match="7 dimensions; the index has 8"):
        index.query(random_vectors(2, 7))


def test_unknown_devices_and_counts_are_refused() -> None:
    with pytest.raises(UsageError, match="'tpu' is unknown"):
        ExactIndex(random_vectors(2), device="tpu")
    with pytest.raises(UsageError, match="at least 1"):
        ExactIndex(random_vectors(2)).neighbours(0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 12))
def test_rounds_have_every_pair_once_and_no_block_twice(count: int) -> None:
    rounds = list(disjoint_rounds(count))
    pairs = [tuple(sorted(pair)) for pairs in rounds for pair in pairs]
    assert sorted(pairs) == [(i, j) for i in range(count) for j in range(i, count)]
    for pairs in rounds[1:]:
        blocks = [block for pair in pairs for block in pair]
        assert len(set(blocks)) == len(blocks)
