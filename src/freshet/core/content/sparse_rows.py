"""Rows of sparse numbers in compressed form, as scipy's CSR matrices have them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray, HashArray, IndexArray, TermCounts


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Sparse rows: row i has ``values[starts[i]:starts[i + 1]]`` in the columns of the same range.

    The columns of a row are ascending, and none occurs twice.
    """

    starts: IndexArray
    columns: IndexArray
    values: FloatArray
    column_count: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, index: int) -> tuple[IndexArray, FloatArray]:
        """Return the columns and values of a row."""
        start, end = self.starts[index], self.starts[index + 1]
        return self.columns[start:end], self.values[start:end]

    def row_sums(self) -> FloatArray:
        """Return the sum of each row."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.starts))
        return np.bincount(rows, self.values, minlength=len(self)).astype(np.float64)


def count_rows(versions: Sequence[TermCounts]) -> tuple[SparseRows, HashArray]:
    """Return the counts of terms as sparse rows, and the term of each column.

    >>> terms = TermCounts(np.array([5, 9], np.uint64), np.array([2, 1], np.uint32))
    >>> rows, vocabulary = count_rows([terms, terms])
    >>> rows.row(1), vocabulary
    ((array([0, 1], dtype=int32), array([2., 1.])), array([5, 9], dtype=uint64))
    """
    hashes = np.concatenate([np.empty(0, np.uint64), *(terms.hashes for terms in versions)])
    counts = np.concatenate([np.empty(0, np.uint32), *(terms.counts for terms in versions)])
    vocabulary, columns = np.unique(hashes, return_inverse=True)
    starts = np.zeros(len(versions) + 1, np.int32)
    np.cumsum([len(terms) for terms in versions], out=starts[1:])
    rows = SparseRows(starts, columns.astype(np.int32), counts.astype(np.float64), len(vocabulary))
    return rows, vocabulary
