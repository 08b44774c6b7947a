"""Nearest neighbours by words, against scikit-learn."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer

from freshet.relate.content_neighbours import ContentNeighbours
from freshet.relate.recall import neighbour_recall
from tests.relate.grids import counts_of, random_grid


def test_weights_are_the_cosines_of_scikit_learn() -> None:
    grid = random_grid(10, 3)
    counts = np.array([counts_of(grid, version) for version in grid.last_versions()])
    table = TfidfTransformer().fit_transform(counts).toarray()
    cosines = table @ table.T
    related = ContentNeighbours().related(grid, 4)
    for page in range(10):
        pages, weights, _ = related.of(page)
        expected = np.sort(np.delete(cosines[page], page))[::-1][:4]
        assert weights == pytest.approx(expected)
        assert cosines[page, pages] == pytest.approx(expected)


def test_an_approximate_search_that_looks_everywhere_is_exact() -> None:
    grid = random_grid(20, 2)
    exact = ContentNeighbours().related(grid, 5)
    everywhere = ContentNeighbours(exact_limit=0, words=100, candidates=20).related(grid, 5)
    assert everywhere.weights == pytest.approx(exact.weights)
    assert neighbour_recall(everywhere, exact) == 1.0


def test_an_approximate_search_finds_most_neighbours() -> None:
    grid = random_grid(60, 2)
    exact = ContentNeighbours().related(grid, 5)
    search = ContentNeighbours(exact_limit=0, words=6, pages_per_word=20, candidates=15)
    assert 0.7 < neighbour_recall(search.related(grid, 5), exact) <= 1.0


def test_the_recall_without_any_neighbour_is_one() -> None:
    empty = ContentNeighbours().related(random_grid(1, 2), 5)
    assert neighbour_recall(empty, empty) == 1.0
