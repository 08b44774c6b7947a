"""Comparison of vectors on a GPU by cupy: matrix products, and a kernel that merges blocks."""

from typing import Any, NamedTuple

import numpy as np

from freshet.core.errors import UsageError
from freshet.core.extras import OptionalPackage
from freshet.core.types import Float32Array
from freshet.relate.semantic.cuda_source import MERGE_ROWS, WARP_SIZE
from freshet.relate.semantic.neighbour_table import NeighbourTable

_MAX_NEIGHBOURS = 256
_MAX_SIDE, _THREADS = 16_384, 256
_BUFFER_SHARE = 16
# Not a page: the rows of a block are queries.
_NO_PAGE = -1


class _DeviceTable(NamedTuple):
    """Rows of a table of neighbours in the memory of the GPU."""

    cosines: Any
    pages: Any


class CudaSearch:
    """A ``SearchDevice`` on the first GPU, with products of float32 as on the processor."""

    def __init__(self) -> None:
        self._cupy: Any = OptionalPackage("cupy", extra="gpu")
        try:
            free_bytes, _ = self._cupy.cuda.Device(0).mem_info
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise UsageError(
                f"device 'cuda': no GPU can be used ({error}); use the device cpu"
            ) from error
        self._side = min(_MAX_SIDE, int((free_bytes // _BUFFER_SHARE) ** 0.5))

    def compare_pages(self, vectors: Float32Array, table: NeighbourTable, first_new: int) -> None:
        """Merge the cosines of all pairs of pages of which at least one is new."""
        pages, device_table = self._cupy.asarray(vectors), self._load(table)
        self._compare(pages[:first_new], pages, device_table, own_page=0, first_page=first_new)
        new_rows = _DeviceTable(*(column[first_new:] for column in device_table))
        self._compare(pages[first_new:], pages, new_rows, own_page=first_new, first_page=0)
        self._store(device_table, table)

    def compare_queries(
        self, queries: Float32Array, vectors: Float32Array, table: NeighbourTable
    ) -> None:
        """Merge the cosines of all queries with all pages."""
        asarray, device_table = self._cupy.asarray, self._load(table)
        self._compare(
            asarray(queries), asarray(vectors), device_table, own_page=_NO_PAGE, first_page=0
        )
        self._store(device_table, table)

    def _compare(
        self, rows: Any, pages: Any, table: _DeviceTable, *, own_page: int, first_page: int
    ) -> None:
        """Merge the cosines of rows with the pages from ``first_page`` on, block by block."""
        kernel = self._merge_kernel(table.pages.shape[1])
        buffer = self._cupy.empty(self._side**2, np.float32)
        for first_row in range(0, len(rows), self._side):
            span = slice(first_row, first_row + self._side)
            block_table = _DeviceTable(*(column[span] for column in table))
            own = own_page + first_row if own_page != _NO_PAGE else _NO_PAGE
            for first in range(first_page, len(pages), self._side):
                products = self._multiply(rows[span], pages[first : first + self._side], buffer)
                self._merge(kernel, products, own, first, block_table)

    def _multiply(self, rows: Any, columns: Any, buffer: Any) -> Any:
        products = buffer[: len(rows) * len(columns)].reshape(len(rows), len(columns))
        return self._cupy.dot(rows, columns.T, out=products)

    def _merge(
        self, kernel: Any, products: Any, own_page: int, first_page: int, table: _DeviceTable
    ) -> None:
        """Merge a block into rows of the table; a warp of threads has a row."""
        height, width = products.shape
        numbers = (height, width, own_page, first_page, table.pages.shape[1])
        grid = (-(-height * WARP_SIZE // _THREADS),)
        kernel(grid, (_THREADS,), (products, *map(np.int32, numbers), *table))

    def _merge_kernel(self, count: int) -> Any:
        if count > _MAX_NEIGHBOURS:
            raise UsageError(
                f"{count} neighbours are too many for the device cuda, which finds at most"
                f" {_MAX_NEIGHBOURS}; use the device cpu"
            )
        strips = -(-count // WARP_SIZE)
        options = (f"-DSTRIPS={strips}",)
        return self._cupy.RawKernel(MERGE_ROWS, "merge_rows", options=options)

    def _load(self, table: NeighbourTable) -> _DeviceTable:
        asarray = self._cupy.asarray
        return _DeviceTable(asarray(table.cosines), asarray(table.pages))

    def _store(self, device_table: _DeviceTable, table: NeighbourTable) -> None:
        table.cosines[:] = self._cupy.asnumpy(device_table.cosines)
        table.pages[:] = self._cupy.asnumpy(device_table.pages)
        table.least[:] = table.cosines[:, -1]
