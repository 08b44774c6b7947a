"""The search on a GPU, with numpy in place of cupy."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from freshet.core.errors import UsageError
from freshet.relate.semantic.exact_index import ExactIndex
from freshet.relate.semantic.kernels.neighbour_table import merge_rows
from freshet.relate.semantic.neighbour_table import NeighbourTable
from tests.relate.semantic.vectors import all_neighbours, page_lists, random_vectors

BUFFER_BYTES = 16 * 100**2


class NoGpuError(Exception):
    """The error of a GPU that cannot be used."""


def raw_kernel(source: str, name: str, options: tuple[str, ...]) -> Any:
    """Return the merge of a block, done by the loop for the processor."""
    assert name in source

    def merge(grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...]) -> None:
        products, height, width, own_page, first_page, count, cosines, pages = arguments
        assert products.shape == (height, width)
        assert pages.shape[0] >= height
        assert pages.shape[1] == count
        assert grid[0] * block[0] >= 32 * height
        rows = np.arange(height, dtype=np.int32)
        own_pages = rows + own_page if own_page >= 0 else np.full_like(rows, -1)
        table = NeighbourTable(cosines, pages, cosines[:, -1].copy())
        merge_rows(products, rows, own_pages, first_page, table)

    return merge


def fake_cupy(*, has_gpu: bool = True) -> SimpleNamespace:
    def device(_: int) -> SimpleNamespace:
        if not has_gpu:
            raise NoGpuError("no device")
        return SimpleNamespace(mem_info=(BUFFER_BYTES, BUFFER_BYTES))

    runtime = SimpleNamespace(CUDARuntimeError=NoGpuError)
    return SimpleNamespace(
        asarray=np.array,
        asnumpy=np.asarray,
        empty=np.empty,
        dot=np.dot,
        RawKernel=raw_kernel,
        cuda=SimpleNamespace(Device=device, runtime=runtime),
    )


def test_the_blocks_of_a_gpu_cover_all_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    vectors = random_vectors(350)
    index = ExactIndex(vectors[:220], device="cuda")
    before = index.neighbours(5)
    assert page_lists(before) == all_neighbours(vectors[:220], 5)
    index.add(vectors[220:])
    assert page_lists(index.neighbours(5, known=before)) == all_neighbours(vectors, 5)
    queries = random_vectors(130, seed=1)
    expected = ExactIndex(vectors).query(queries, 4)
    assert page_lists(index.query(queries, 4)) == page_lists(expected)
    with pytest.raises(UsageError, match="at most 256"):
        index.neighbours(300)


def test_a_gpu_that_is_missing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(has_gpu=False))
    with pytest.raises(UsageError, match="no GPU can be used"):
        ExactIndex(random_vectors(2), device="cuda")
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(UsageError, match="package cupy"):
        ExactIndex(random_vectors(2), device="cuda")
