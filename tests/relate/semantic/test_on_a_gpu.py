"""The search on a real GPU; these tests are collected only where FRESHET_GPU is set."""

import numpy as np
import pytest

from freshet.relate.semantic.exact_index import ExactIndex
from tests.relate.semantic.vectors import all_neighbours, page_lists, random_vectors


@pytest.mark.parametrize("count", [1, 5, 32, 33, 70, 256])
def test_neighbours_are_those_with_the_largest_cosines(count: int) -> None:
    vectors = random_vectors(1700, 24)
    index = ExactIndex(vectors[:900], device="cuda")
    before = index.neighbours(count)
    index.add(vectors[900:])
    for related in (index.neighbours(count), index.neighbours(count, known=before)):
        expected = all_neighbours(vectors, count)
        same = [len({*a} & {*b}) for a, b in zip(page_lists(related), expected, strict=True)]
        assert sum(same) >= 0.9999 * sum(map(len, expected))
        assert (np.diff(related.starts) == list(map(len, expected))).all()


def test_identical_pages_have_the_first_pages_as_neighbours() -> None:
    related = ExactIndex(np.ones((500, 4)) / 2, device="cuda").neighbours(40)
    assert page_lists(related)[499] == list(range(40))
    assert page_lists(related)[3] == [page for page in range(41) if page != 3]


def test_queries_are_compared_with_all_pages() -> None:
    vectors, queries = random_vectors(900), random_vectors(550, seed=1)
    vectors[7] = 0
    related = ExactIndex(vectors, device="cuda").query(queries, 3)
    expected = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :3]
    assert np.mean(np.array(page_lists(related)) == expected) > 0.999
