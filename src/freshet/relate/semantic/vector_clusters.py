"""Clusters of vectors by direction: the lists of the approximate index."""

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from freshet.core.types import Float32Array
from freshet.relate.semantic.unit_vectors import unit_rows

_ITERATIONS = 5
_VECTORS_PER_CLUSTER = 40
_BLOCK = 4096


def fit_centroids(vectors: Float32Array, count: int, *, seed: int = 0) -> Float32Array:
    """Return the centroids of clusters of vectors with length 1, by spherical k-means.

    They are fitted to a random sample of 40 vectors per cluster. A cluster that loses all its
    vectors begins again at a random one.
    """
    rng = np.random.default_rng(seed)
    if len(vectors) > count * _VECTORS_PER_CLUSTER:
        sample = rng.choice(len(vectors), count * _VECTORS_PER_CLUSTER, replace=False)
        vectors = vectors[np.sort(sample)]
    centroids = vectors[rng.choice(len(vectors), count, replace=False)]
    for _ in range(_ITERATIONS):
        clusters = _nearest_centroids(vectors, centroids)
        sizes = np.bincount(clusters, minlength=count)
        is_used = sizes > 0
        starts = (np.cumsum(sizes) - sizes)[is_used]
        centroids = vectors[rng.choice(len(vectors), count)]
        order = np.argsort(clusters, kind="stable")
        centroids[is_used] = np.add.reduceat(vectors[order], starts, axis=0)
        centroids = unit_rows(centroids)
    return centroids


def _nearest_centroids(vectors: Float32Array, centroids: Float32Array) -> NDArray[np.intp]:
    blocks = (vectors[first : first + _BLOCK] for first in range(0, len(vectors), _BLOCK))
    with threadpool_limits(1, "blas"):
        return np.concatenate([(block @ centroids.T).argmax(axis=1) for block in blocks])
