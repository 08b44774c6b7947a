"""A small grid of random pages for tests of features."""

import numpy as np

from freshet.core.content.content_grid import NO_VERSION, ContentGrid
from freshet.core.content.sparse_rows import SparseRows, count_rows
from freshet.core.types import FloatArray, TermCounts

WORDS = 12


def random_grid(pages: int, steps: int, seed: int) -> ContentGrid:
    """Return pages that change at random among a few versions, some of them not always known."""
    rng = np.random.default_rng(seed)
    counts = [random_terms(rng) for _ in range(pages * 4)]
    is_kept = rng.random((pages, steps)) < 0.6
    drawn = rng.integers(0, 4, (pages, steps)) + 4 * np.arange(pages)[:, None]
    last_drawn = np.maximum.accumulate(np.where(is_kept, 0, np.arange(steps)), axis=1)
    versions = np.take_along_axis(drawn, last_drawn, axis=1)
    versions[rng.random((pages, steps)) < 0.1] = NO_VERSION
    terms, vocabulary = count_rows(counts)
    return ContentGrid(
        tuple(f"page {page}" for page in range(pages)),
        rng.integers(0, 2, pages).astype(np.uint64),
        86_400.0 * np.arange(steps),
        versions.astype(np.int32),
        terms,
        vocabulary,
        rng.integers(1, 1 << 60, len(counts)).astype(np.uint64),
        count_rows([terms_without_words()] * len(counts))[0],
    )


def random_terms(rng: np.random.Generator) -> TermCounts:
    """Return counts of some words; sometimes none."""
    words = np.flatnonzero(rng.random(WORDS) < 0.4)
    return TermCounts(words.astype(np.uint64), rng.integers(1, 9, len(words)).astype(np.uint32))


def terms_without_words() -> TermCounts:
    """Return the counts of an empty page."""
    return TermCounts(np.empty(0, np.uint64), np.empty(0, np.uint32))


def dense_shares(rows: SparseRows, row: int) -> FloatArray:
    """Return the distribution of the words of a version."""
    shares = np.zeros(rows.column_count)
    columns, values = rows.row(row)
    shares[columns] = values
    return shares / max(shares.sum(), 1.0)
