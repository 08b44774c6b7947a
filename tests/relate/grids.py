"""Small grids of pages with given words."""

from zlib import crc32

import numpy as np

from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.sparse_rows import count_rows
from freshet.core.types import FloatArray, IndexArray, TermCounts


def word_terms(words: str) -> TermCounts:
    """Return the counts of single-letter words."""
    codes, counts = np.unique([ord(word) for word in words], return_counts=True)
    return TermCounts(codes.astype(np.uint64), counts.astype(np.uint32))


def text_grid(*pages: list[str | None], links: dict[int, list[int]] | None = None) -> ContentGrid:
    """Return a grid of pages with a text of single-letter words at each step; None is unknown.

    ``links`` has the pages to which the versions of a page link.
    """
    texts = [text for page in pages for text in page if text is not None]
    rows, vocabulary = count_rows([word_terms(text) for text in texts])
    numbers = iter(range(len(texts)))
    versions = [[-1 if text is None else next(numbers) for text in page] for page in pages]
    linked = [
        (links or {}).get(index, [])
        for index, page in enumerate(pages)
        for text in page
        if text is not None
    ]
    link_rows, targets = count_rows([
        TermCounts(np.array(sorted(row), np.uint64), np.ones(len(row), np.uint32)) for row in linked
    ])
    return ContentGrid(
        tuple(f"page {index}" for index in range(len(pages))),
        np.arange(len(pages)).astype(np.uint64),
        np.arange(float(len(pages[0]) if pages else 0)),
        np.array(versions, np.int32).reshape(len(pages), len(pages[0]) if pages else 0),
        rows,
        vocabulary,
        np.array([crc32(text.encode()) for text in texts], np.uint64),
        link_rows,
        targets.astype(np.int32),
    )


def random_grid(page_count: int, step_count: int, *, seed: int = 0) -> ContentGrid:
    """Return a grid of pages with random texts, which change at some steps."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrst"))
    popularity = 1 / np.arange(1, len(letters) + 1)
    pages: list[list[str | None]] = []
    for _ in range(page_count):
        own = rng.permutation(letters)[:12]
        texts: list[str | None] = []
        for step in range(step_count):
            if step == 0 or rng.random() < 0.5:
                chances = popularity[:12] / popularity[:12].sum()
                text = "".join(rng.choice(own, rng.integers(5, 30), p=chances))
            texts.append(text)
        pages.append(texts)
    return text_grid(*pages)


def tfidf_series(grid: ContentGrid, page: int) -> FloatArray:
    """Return the length-normalised tf-idf of every word of the vocabulary at every step."""
    last = grid.versions[:, -1]
    page_counts = sum(counts_of(grid, version) > 0 for version in last)
    idf = np.log((1 + grid.page_count) / (1 + page_counts)) + 1
    rows = [counts_of(grid, version) for version in grid.versions[page]]
    series: FloatArray = np.array([row / row.sum() * idf for row in rows]).T
    return series


def counts_of(grid: ContentGrid, version: int) -> IndexArray:
    """Return the counts of a version over the whole vocabulary."""
    counts = np.zeros(len(grid.vocabulary), np.int32)
    columns, values = grid.terms.row(version)
    counts[columns] = values
    return counts
