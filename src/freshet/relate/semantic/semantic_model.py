"""Semantic vectors of pages by latent semantic analysis: tf-idf and a truncated SVD."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from freshet.core.content.sparse_rows import SparseRows
from freshet.core.errors import BadInputError, UsageError
from freshet.core.types import Float32Array, FloatArray, HashArray, IndexArray
from freshet.relate.semantic.unit_vectors import unit_rows
from freshet.relate.tfidf import take_rows

DIMENSIONS = 192
NO_COLUMN = -1
_BLOCK_PAGES = 20_000
_ARRAYS = ("vocabulary", "idf", "components")


@dataclass(frozen=True, slots=True)
class SemanticModel:
    """A fitted model: its words (ascending hashes), their idf, and their vectors, a row each.

    The columns of ``components`` are in the order of their share of the variance; those beyond the
    rank of the training pages are zero.
    """

    vocabulary: HashArray
    idf: FloatArray
    components: Float32Array

    @property
    def dimensions(self) -> int:
        """Return the number of dimensions of a vector."""
        return int(self.components.shape[1])

    def transform(self, counts: SparseRows, vocabulary: HashArray) -> Float32Array:
        """Return the vectors of pages, with an L2 norm of 1, from the counts of their words.

        ``vocabulary`` has the hash of the word of each column of ``counts``; it need not be that
        of the training pages. Words that the model does not know are ignored. A page without known
        words has a vector of zeros.
        """
        vectors = np.zeros((len(counts), self.dimensions), np.float32)
        columns = _columns_of(vocabulary, self.vocabulary)
        weighted = self.components * self.idf[:, None].astype(np.float32)
        for first in range(0, len(counts), _BLOCK_PAGES):
            pages = np.arange(first, min(first + _BLOCK_PAGES, len(counts)), dtype=np.int32)
            matrix = _count_matrix(take_rows(counts, pages), columns, len(self.vocabulary))
            vectors[pages] = unit_rows(matrix @ weighted)
        return vectors

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the model as plain arrays, which ``np.savez`` can store without pickle."""
        return {name: getattr(self, name) for name in _ARRAYS}


def model_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> SemanticModel:
    """Return the model that ``arrays`` returned; raise BadInputError if they do not fit."""
    missing = [name for name in _ARRAYS if name not in arrays]
    if missing:
        raise BadInputError(f"not a semantic model: {missing[0]} is missing; fit it again")
    vocabulary, idf, components = (np.asarray(arrays[name]) for name in _ARRAYS)
    has_shapes = vocabulary.shape == idf.shape == components.shape[:1] and components.ndim == 2
    is_typed = vocabulary.dtype == np.uint64 and idf.dtype.kind == components.dtype.kind == "f"
    if not has_shapes or not is_typed or not np.isfinite(components).all():
        raise BadInputError("not a semantic model: its arrays do not fit together; fit it again")
    return SemanticModel(vocabulary, idf.astype(np.float64), components.astype(np.float32))


@dataclass(frozen=True, slots=True)
class SemanticSettings:
    """How a model is fitted.

    Words on fewer than ``min_pages`` pages are left out, and if there are more than ``max_words``,
    those on the fewest pages. With more than ``max_pages`` pages the model is fitted to a random
    sample of them; ``transform`` takes any number of pages.
    """

    dimensions: int = DIMENSIONS
    min_pages: int = 2
    max_words: int = 200_000
    max_pages: int = 50_000
    iterations: int = 5
    seed: int = 0


def fit_semantic_model(
    counts: SparseRows, vocabulary: HashArray, settings: SemanticSettings | None = None
) -> SemanticModel:
    """Fit a model to pages: a row per page, with the counts of its words.

    ``vocabulary`` has the hash of the word of each column, as in ``ContentGrid``. The weight of a
    word on a page is its count times log((1 + pages) / (1 + pages with the word)) + 1; the rows of
    weights are scaled to an L2 norm of 1 before the randomized SVD.
    """
    settings = settings or SemanticSettings()
    rows = _sample_pages(counts, settings)
    if not np.isfinite(rows.values).all() or (len(rows.values) and rows.values.min() < 0):
        raise UsageError("counts of words must be finite and not negative")
    page_counts = np.bincount(rows.columns[rows.values > 0], minlength=rows.column_count)
    words = _frequent_words(page_counts, settings)
    words = words[np.argsort(vocabulary[words])]
    page_count = np.count_nonzero(np.diff(rows.starts))
    idf: FloatArray = np.log((1 + page_count) / (1 + page_counts[words])) + 1
    columns = _columns_of(vocabulary, vocabulary[words])
    weights = _tfidf(_count_matrix(rows, columns, len(words)), idf)
    components = np.zeros((len(words), settings.dimensions), np.float32)
    if len(words) and len(rows):
        vectors = _right_vectors(weights, settings)
        components[:, : len(vectors)] = vectors.T
    return SemanticModel(vocabulary[words], idf, components)


def _sample_pages(counts: SparseRows, settings: SemanticSettings) -> SparseRows:
    """Return the rows to fit to: all that have words, or a random sample of them."""
    pages: IndexArray = np.flatnonzero(np.diff(counts.starts)).astype(np.int32)
    if len(pages) > settings.max_pages:
        rng = np.random.default_rng(settings.seed)
        pages = np.sort(rng.choice(pages, settings.max_pages, replace=False))
    return take_rows(counts, pages)


def _frequent_words(page_counts: NDArray[np.int64], settings: SemanticSettings) -> NDArray[np.intp]:
    """Return the columns of the words to use: those on enough pages, the most frequent first."""
    words = np.flatnonzero(page_counts >= settings.min_pages)
    if len(words) > settings.max_words:
        words = words[np.argsort(-page_counts[words], kind="stable")[: settings.max_words]]
    return words


def _right_vectors(weights: csr_array, settings: SemanticSettings) -> Float32Array:
    """Return the right singular vectors with a singular value above rounding, a row each."""
    with threadpool_limits(1, "blas"):
        _, values, vectors = randomized_svd(
            weights,
            settings.dimensions,
            n_iter=settings.iterations,
            power_iteration_normalizer="QR",
            random_state=settings.seed,
        )
    is_real = values > values[0] * np.sqrt(np.finfo(np.float32).eps)
    right: Float32Array = vectors[is_real].astype(np.float32)
    return right


def _columns_of(vocabulary: HashArray, words: HashArray) -> IndexArray:
    """Return the place of each word of a vocabulary among ascending words, or NO_COLUMN."""
    if not len(words):
        return np.full(len(vocabulary), NO_COLUMN, np.int32)
    columns = np.minimum(np.searchsorted(words, vocabulary), len(words) - 1)
    return np.where(words[columns] == vocabulary, columns, NO_COLUMN).astype(np.int32)


def _count_matrix(counts: SparseRows, columns: IndexArray, column_count: int) -> csr_array:
    """Return the counts in the given columns; words with NO_COLUMN are left out."""
    cell_columns = columns[counts.columns]
    is_kept = cell_columns != NO_COLUMN
    starts = np.append(0, np.cumsum(is_kept))[counts.starts]
    values = counts.values[is_kept].astype(np.float32)
    return csr_array((values, cell_columns[is_kept], starts), shape=(len(counts), column_count))


def _tfidf(matrix: csr_array, idf: FloatArray) -> csr_array:
    """Return the weights of the words of each page, with an L2 norm of 1."""
    weights = matrix.data * idf[matrix.indices].astype(np.float32)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    norms = np.sqrt(np.bincount(rows, weights.astype(np.float64) ** 2, minlength=matrix.shape[0]))
    scaled = (weights / np.where(norms == 0, 1, norms)[rows]).astype(np.float32)
    return csr_array((scaled, matrix.indices, matrix.indptr), shape=matrix.shape)
