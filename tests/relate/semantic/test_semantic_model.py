"""Semantic vectors, against scikit-learn's tf-idf and truncated SVD."""

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

from freshet.core.content.sparse_rows import SparseRows, count_rows
from freshet.core.errors import BadInputError, UsageError
from freshet.core.types import HashArray, TermCounts
from freshet.relate.semantic.semantic_model import (
    SemanticSettings,
    fit_semantic_model,
    model_from_arrays,
)
from freshet.relate.semantic.semantic_neighbours import SemanticNeighbours
from tests.relate.grids import counts_of, random_grid, text_grid, word_terms

SMALL = SemanticSettings(dimensions=4, min_pages=1)


def rows_of(*texts: str) -> tuple[SparseRows, HashArray]:
    """Return the counts of single-letter words; an empty text has none."""
    empty = TermCounts(np.empty(0, np.uint64), np.empty(0, np.uint32))
    return count_rows([word_terms(text) if text else empty for text in texts])


def test_vectors_have_the_cosines_of_scikit_learn() -> None:
    grid = random_grid(40, 1)
    counts = np.array([counts_of(grid, version) for version in grid.last_versions()])
    table = TfidfTransformer().fit_transform(counts)
    expected = TruncatedSVD(4, random_state=0, n_iter=20).fit_transform(table)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    settings = SemanticSettings(dimensions=4, min_pages=1, iterations=20)
    model = fit_semantic_model(grid.terms, grid.vocabulary, settings)
    vectors = model.transform(grid.terms, grid.vocabulary)
    assert vectors.dtype == np.float32
    assert vectors @ vectors.T == pytest.approx(expected @ expected.T, abs=1e-4)


def test_vectors_of_all_dimensions_have_the_cosines_of_the_words() -> None:
    rows, vocabulary = rows_of("aab", "abc", "cdd", "dddd")
    model = fit_semantic_model(rows, vocabulary, SemanticSettings(min_pages=1))
    vectors = model.transform(rows, vocabulary)
    assert vectors.shape == (4, 192)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert vectors[0] @ vectors[3] == pytest.approx(0, abs=1e-6)
    assert vectors[0] @ vectors[1] > vectors[1] @ vectors[2] > 0


def test_later_pages_get_the_vectors_that_they_would_have_had() -> None:
    rows, vocabulary = rows_of("aab", "abc", "cdd", "abd")
    model = fit_semantic_model(rows, vocabulary, SMALL)
    later, later_vocabulary = rows_of("zz", "cddz", "aab")
    vectors = model.transform(later, later_vocabulary)
    assert not vectors[0].any()
    assert vectors[1:] == pytest.approx(model.transform(rows, vocabulary)[[2, 0]], abs=1e-6)


def test_pages_without_words_have_a_vector_of_zeros() -> None:
    rows, vocabulary = rows_of("", "ab", "", "bc", "")
    model = fit_semantic_model(rows, vocabulary, SMALL)
    vectors = model.transform(rows, vocabulary)
    assert vectors.any(axis=1).tolist() == [False, True, False, True, False]


def test_nothing_and_unique_words_give_vectors_of_zeros() -> None:
    rows, vocabulary = rows_of()
    model = fit_semantic_model(rows, vocabulary)
    assert model.transform(rows, vocabulary).shape == (0, 192)
    rows, vocabulary = rows_of("ab")
    model = fit_semantic_model(rows, vocabulary)
    assert not model.transform(rows, vocabulary).any()


def test_identical_pages_have_one_direction() -> None:
    rows, vocabulary = rows_of(*["abc"] * 6)
    model = fit_semantic_model(rows, vocabulary, SMALL)
    vectors = model.transform(rows, vocabulary)
    assert vectors @ vectors.T == pytest.approx(np.ones((6, 6)))
    assert not model.components[:, 1:].any()


def test_only_the_words_on_the_most_pages_are_used() -> None:
    rows, vocabulary = rows_of("abc", "abd", "aef")
    model = fit_semantic_model(rows, vocabulary, SemanticSettings(max_words=1))
    assert model.vocabulary.tolist() == [ord("a")]
    model = fit_semantic_model(rows, vocabulary, SemanticSettings())
    assert model.vocabulary.tolist() == [ord("a"), ord("b")]


def test_a_sample_of_the_pages_gives_nearly_the_same_model() -> None:
    grid = random_grid(200, 1)
    settings = SemanticSettings(dimensions=6, max_pages=150)
    vectors = fit_semantic_model(grid.terms, grid.vocabulary, settings).transform(
        grid.terms, grid.vocabulary
    )
    assert vectors.shape == (200, 6)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)


def test_a_model_is_stored_as_plain_arrays() -> None:
    rows, vocabulary = rows_of("aab", "abc", "cdd", "abd")
    model = fit_semantic_model(rows, vocabulary, SMALL)
    stored = model_from_arrays(model.arrays())
    assert not any(array.dtype.hasobject for array in model.arrays().values())
    expected = model.transform(rows, vocabulary)
    assert stored.transform(rows, vocabulary).tolist() == expected.tolist()


def test_arrays_that_are_no_model_are_refused() -> None:
    rows, vocabulary = rows_of("aab", "abc")
    arrays = fit_semantic_model(rows, vocabulary, SMALL).arrays()
    with pytest.raises(BadInputError, match="idf is missing"):
        model_from_arrays({name: arrays[name] for name in ("vocabulary", "components")})
    with pytest.raises(BadInputError, match="do not fit together"):
        model_from_arrays(arrays | {"idf": arrays["idf"][1:]})
    with pytest.raises(BadInputError, match="do not fit together"):
        model_from_arrays(arrays | {"components": arrays["components"] * np.nan})


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_counts_that_are_no_counts_are_refused(value: float) -> None:
    rows, vocabulary = rows_of("aab", "abc")
    rows.values[1] = value
    with pytest.raises(UsageError, match="finite and not negative"):
        fit_semantic_model(rows, vocabulary)


def test_pages_of_a_grid_are_related_by_their_meaning() -> None:
    grid = text_grid(["aabb"], ["aab"], ["zzyy"], ["zyy"], [None])
    related = SemanticNeighbours(SMALL).related(grid, 1)
    assert related.pages.tolist() == [1, 0, 3, 2]
    assert len(related) == 5
