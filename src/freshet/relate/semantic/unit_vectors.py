"""Vectors of pages in rows of length 1, which all measures of this package take."""

import numpy as np
from numpy.typing import ArrayLike

from freshet.core.errors import UsageError
from freshet.core.types import Float32Array

_MAX_LENGTH_ERROR = 1e-4


def unit_rows(vectors: ArrayLike) -> Float32Array:
    """Return the vectors with an L2 norm of 1, as a C-ordered table; rows of zeros stay zero.

    A table of float32 that has this form already is returned itself, not a copy. NaN and infinite
    numbers are refused.

    >>> unit_rows([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    table = np.ascontiguousarray(vectors, dtype=np.float32)
    if table.ndim != 2:
        raise UsageError(f"vectors are a table with a row per page, not of {table.ndim} dimensions")
    squares = np.einsum("ij,ij->i", table, table, dtype=np.float64)
    if not np.isfinite(squares).all():
        row = int(np.flatnonzero(~np.isfinite(squares))[0])
        raise UsageError(
            f"the vector of page {row} has numbers that are not finite; leave it out or set it to 0"
        )
    is_unit = (np.abs(squares - 1) < _MAX_LENGTH_ERROR) | (squares == 0)
    if is_unit.all():
        return table
    lengths = np.sqrt(np.where(squares == 0, 1.0, squares)).astype(np.float32)
    return np.asarray(table / lengths[:, None])
