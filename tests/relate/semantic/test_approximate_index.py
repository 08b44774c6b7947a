"""The approximate index, against the exact one."""

import numpy as np
import pytest

from freshet.core.errors import UsageError
from freshet.relate.recall import neighbour_recall
from freshet.relate.semantic.approximate_index import ApproximateIndex
from freshet.relate.semantic.exact_index import ExactIndex
from tests.relate.semantic.vectors import clustered_vectors, page_lists, random_vectors


@pytest.mark.parametrize("workers", [1, 3])
def test_most_neighbours_are_found(workers: int) -> None:
    vectors = clustered_vectors(3000)
    related = ApproximateIndex(vectors, workers=workers).neighbours(30)
    exact = ExactIndex(vectors).neighbours(30)
    assert neighbour_recall(related, exact) > 0.95
    for page in range(0, 3000, 100):
        pages, weights, _ = related.of(page)
        assert weights == pytest.approx(vectors[pages] @ vectors[page], abs=1e-6)
        assert (np.diff(weights) <= 0).all()
        assert len({*pages.tolist(), page}) == len(pages) + 1


def test_more_recall_finds_more_neighbours_up_to_all() -> None:
    vectors = random_vectors(800)
    exact = ExactIndex(vectors).neighbours(10)
    recalls = [
        neighbour_recall(ApproximateIndex(vectors, recall=recall).neighbours(10), exact)
        for recall in (0.6, 0.9, 1.0)
    ]
    assert recalls == sorted(recalls)
    assert recalls[-1] > 0.999


def test_new_pages_are_found_and_find_others() -> None:
    vectors = clustered_vectors(2000)
    index = ApproximateIndex(vectors[:1500])
    before = index.neighbours(20)
    index.add(vectors[1500:])
    exact = ExactIndex(vectors).neighbours(20)
    assert neighbour_recall(index.neighbours(20, known=before), exact) > 0.95
    assert index.vectors.tolist() == vectors.tolist()


def test_an_index_that_grows_a_lot_makes_its_lists_again() -> None:
    vectors = clustered_vectors(1500)
    index = ApproximateIndex(vectors[:10])
    for first in range(10, 1500, 298):
        index.add(vectors[first : first + 298])
    assert len(index) == 1500
    exact = ExactIndex(vectors).neighbours(20)
    assert neighbour_recall(index.neighbours(20), exact) > 0.95


def test_queries_find_most_of_their_nearest_pages() -> None:
    vectors = clustered_vectors(2500)
    found = ApproximateIndex(vectors[:2000]).query(vectors[2000:], 15)
    assert neighbour_recall(found, ExactIndex(vectors[:2000]).query(vectors[2000:], 15)) > 0.95


@pytest.mark.parametrize("page_count", [0, 1, 2, 7])
def test_few_pages_are_searched_exactly_enough(page_count: int) -> None:
    vectors = np.abs(random_vectors(page_count))
    related = ApproximateIndex(vectors, recall=1.0).neighbours(30)
    assert [len(pages) for pages in page_lists(related)] == [max(page_count - 1, 0)] * page_count


def test_pages_without_a_vector_have_no_neighbours_and_are_none() -> None:
    vectors = clustered_vectors(300)
    vectors[::3] = 0
    index = ApproximateIndex(vectors)
    related = index.neighbours(30)
    assert {len(pages) for pages in page_lists(related)[::3]} == {0}
    assert not np.isin(np.arange(0, 300, 3), related.pages).any()
    assert page_lists(index.query(np.zeros((1, 16)))) == [[]]
    assert len(ApproximateIndex(np.zeros((5, 3))).neighbours(2).pages) == 0


def test_identical_pages_are_neighbours() -> None:
    related = ApproximateIndex(np.ones((200, 4))).neighbours(5)
    assert [len(pages) for pages in page_lists(related)] == [5] * 200


def test_bad_vectors_are_refused() -> None:
    with pytest.raises(UsageError, match="page 1"):
        ApproximateIndex(np.array([[1.0], [np.nan]]))
    with pytest.raises(UsageError, match="7 dimensions; the index has 8"):
        ApproximateIndex(random_vectors(5)).add(random_vectors(2, 7))
