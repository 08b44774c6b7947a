"""Compiled loops over inverted lists of words and over sparse rows."""

import numpy as np
from numba import njit

from freshet.core.types import FloatArray, IndexArray


@njit(cache=True, nogil=True)
def add_products(
    columns: IndexArray,
    values: FloatArray,
    starts: IndexArray,
    pages: IndexArray,
    page_values: FloatArray,
    scores: FloatArray,
) -> None:
    """Add to the score of each page its product with a query, over the lists of the words."""
    for k in range(len(columns)):
        value = values[k]
        for cell in range(starts[columns[k]], starts[columns[k] + 1]):
            scores[pages[cell]] += value * page_values[cell]


@njit(cache=True, nogil=True)
def row_products(
    page: int,
    others: IndexArray,
    starts: IndexArray,
    columns: IndexArray,
    values: FloatArray,
    scratch: FloatArray,
) -> FloatArray:
    """Return the products of a row with other rows; ``scratch`` is zero before and after."""
    for cell in range(starts[page], starts[page + 1]):
        scratch[columns[cell]] = values[cell]
    products = np.zeros(len(others))
    for k in range(len(others)):
        for cell in range(starts[others[k]], starts[others[k] + 1]):
            products[k] += scratch[columns[cell]] * values[cell]
    for cell in range(starts[page], starts[page + 1]):
        scratch[columns[cell]] = 0.0
    return products
