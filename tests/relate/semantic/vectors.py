"""Vectors for tests, and what a plain search finds."""

import numpy as np

from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import Float32Array
from freshet.relate.semantic.unit_vectors import unit_rows


def random_vectors(count: int, dimensions: int = 8, *, seed: int = 0) -> Float32Array:
    """Return vectors in random directions."""
    return unit_rows(np.random.default_rng(seed).normal(size=(count, dimensions)))


def clustered_vectors(count: int, dimensions: int = 16, *, clusters: int = 20) -> Float32Array:
    """Return vectors around random directions."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(clusters, dimensions))
    noise = rng.normal(size=(count, dimensions))
    return unit_rows(centres[rng.integers(0, clusters, count)] + 0.5 * noise)


def all_neighbours(vectors: Float32Array, count: int) -> list[list[int]]:
    """Return the nearest pages of every page, by sorting all cosines."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    orders = np.lexsort((np.broadcast_to(np.arange(len(vectors)), cosines.shape), -cosines))
    return [[int(p) for p in order[:count] if cosines[row, p] > 0]
            for row, order in enumerate(orders)]  # fmt: skip


def page_lists(related: RelatedPages) -> list[list[int]]:
    """Return the related pages of every page."""
    return [related.of(row)[0].tolist() for row in range(len(related))]
