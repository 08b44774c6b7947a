"""Averages of features over related pages: one sparse matrix product per block of features."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from freshet.core.content.related_pages import RelatedPages
from freshet.core.errors import UsageError

_BLOCK_FEATURES = 64


def neighbour_averages(related: RelatedPages, values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the average of each feature over the related pages, weighted by their weights.

    ``values`` has a row per page and a column per feature, NaN where a value is not known. Pages
    with an unknown value are left out, and the weights of the others count for the whole. The
    average is NaN if a page has no related page whose value is known. The result has a row for each
    row of ``related`` and the type of ``values``, float32 or float64.

    >>> starts, pages = np.array([0, 2], np.int32), np.array([0, 1], np.int32)
    >>> related = RelatedPages(starts, pages, np.array([0.75, 0.25]), np.zeros(2, np.int32))
    >>> neighbour_averages(related, np.array([[4.0, 1.0], [8.0, np.nan]])).tolist()
    [[5.0, 1.0]]
    """
    _check(related, values)
    weights = csr_array(
        (related.weights.astype(values.dtype), related.pages, related.starts),
        shape=(len(related), len(values)),
    )
    averages = np.empty((len(related), values.shape[1]), values.dtype)
    for first in range(0, values.shape[1], _BLOCK_FEATURES):
        block = slice(first, first + _BLOCK_FEATURES)
        averages[:, block] = _block_averages(weights, values[:, block])
    return averages


def _block_averages(weights: csr_array, values: NDArray[np.floating]) -> NDArray[np.floating]:
    is_known = ~np.isnan(values)
    if is_known.all():
        totals = weights @ np.ones((weights.shape[1], 1), values.dtype)
        sums = weights @ values
    else:
        totals = weights @ is_known.astype(values.dtype)
        sums = weights @ np.where(is_known, values, 0)
    averages = np.full(sums.shape, np.nan, values.dtype)
    np.divide(sums, totals, out=averages, where=totals > 0)
    return averages


def _check(related: RelatedPages, values: NDArray[np.floating]) -> None:
    if values.ndim != 2 or values.dtype not in (np.float32, np.float64):
        raise UsageError("values are a table of float32 or float64, a row per page")
    if np.isinf(values).any():
        raise UsageError("infinite values have no average; use NaN for what is not known")
    if len(related.pages) and related.pages.max() >= len(values):
        raise UsageError(
            f"page {related.pages.max()} is related to another, but there are values of"
            f" {len(values)} pages only"
        )
    if len(related.weights) and not related.weights.min() >= 0:
        raise UsageError("averages need weights that are not negative")
