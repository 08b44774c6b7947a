"""GPU device by cupy, with custom kernels for the steps that array code does slowly.

Sums and tie breaks equal those of the processor. Logarithms, powers and exponentials may differ in
the last bit, so pages whose scores differ by no more may change history_of_page.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.gpu.cuda_source import (
    CHOOSE,
    NUMBER_EQUAL_ROWS,
    REASSIGN_PAGES,
    REFRESH_COPIES,
    VALUES,
    define_constants,
)
from freshet.backtest.gpu.histories import Array, HistoryTable
from freshet.core.errors import UsageError
from freshet.formula.expression import Formula
from freshet.formula.kernels import NAME
from freshet.formula.program import FormulaProgram, compile_formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock

_CELL_BYTES, _MAX_CELLS = 64, 2**28
_THREADS, _MAX_THREADS = 128, 1024
_MIN_STEPS = 16


class CudaDevice:
    """Arrays of cupy, which is passed in, on the first GPU; formulas are interpreted there."""

    def __init__(self, cupy: Any) -> None:
        self.xp = cupy
        try:
            free, _ = cupy.cuda.Device(0).mem_info
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise UsageError(
                f"device 'cuda': no GPU can be used ({error}); use the device cpu"
            ) from error
        self.max_cells = min(_MAX_CELLS, int(free) // _CELL_BYTES)
        self._choose = self._kernel("choose", CHOOSE)
        self._refresh_copies = self._kernel("refresh_copies", REFRESH_COPIES)
        self._reassign_pages = self._kernel("reassign_pages", REASSIGN_PAGES)
        self._number_equal_rows = self._kernel("number_equal_rows", NUMBER_EQUAL_ROWS)

    def _kernel(self, name: str, source: str, **names: int) -> Any:
        # Without fused multiply-add, products and sums are rounded as on the processor.
        return self.xp.RawKernel(define_constants(source, names), name, options=("--fmad=false",))

    def to_numpy(self, array: Array) -> NDArray[Any]:
        """Return an array as a numpy array."""
        return np.asarray(self.xp.asnumpy(array))

    def ranking(self, formulas: Sequence[Formula], clock: WeightClock) -> "_InterpretedRanking":
        """Prepare formulas for scoring."""
        programs = [compile_formula(formula) for formula in formulas]
        longest = max((len(compiled.steps) for compiled in programs), default=1)
        room = max(_MIN_STEPS, 1 << (longest - 1).bit_length())
        kernel = self._kernel("values", VALUES, ROOM=room, BY_CYCLE=int(clock == "cycle"))
        return _InterpretedRanking(self.xp, kernel, programs)

    def choose(
        self, marks: Array, history_of_page: Array, order: Array, missing: Array, k: int
    ) -> Array:
        """Return k pages for each formula, a row each, in tie break order."""
        formulas, pages = history_of_page.shape
        chosen = self.xp.empty((formulas, k), np.int32)
        arguments = (marks, history_of_page, order, missing, np.int32(pages), np.int32(k), chosen)
        self._choose((formulas,), (_MAX_THREADS,), arguments)
        return chosen

    def refresh_copies(
        self, history_of_page: Array, stale: Array, pages: Array, count: int
    ) -> tuple[Array, Array]:
        """Refresh selected copies; return a number for each, and the count of each number."""
        numbers = self.xp.empty(pages.shape, np.int32)
        counts = self.xp.zeros(2 * count, np.int32)
        grid, sizes = _grid(pages.size), _sizes(history_of_page, pages)
        self._refresh_copies(
            grid, (_THREADS,), (*sizes, history_of_page, stale, pages, numbers, counts)
        )
        return numbers, counts

    def reassign_pages(
        self, history_of_page: Array, pages: Array, numbers: Array, target_rows: Array
    ) -> None:
        """Assign selected pages to the histories of their numbers."""
        grid, sizes = _grid(pages.size), _sizes(history_of_page, pages)
        self._reassign_pages(
            grid, (_THREADS,), (*sizes, history_of_page, pages, numbers, target_rows)
        )

    def number_equal_rows(self, owners: Array, sums: Array) -> tuple[Array, Array]:
        """Number equal rows of a formula alike; return the numbers and the first row of each."""
        count = len(owners)
        slots = 1 << (2 * count).bit_length()
        table, first_rows = self.xp.full(slots, -1, np.int32), self.xp.empty(count, np.int32)
        arguments = (np.int32(count), owners, sums, np.int32(slots - 1), table, first_rows)
        self._number_equal_rows(_grid(count), (_THREADS,), arguments)
        is_first = first_rows == self.xp.arange(count, dtype=np.int32)
        numbers = self.xp.cumsum(is_first, dtype=np.int32) - 1
        return numbers[first_rows], self.xp.flatnonzero(is_first)


class _InterpretedRanking:
    """Programs one after another in device memory; a thread computes one history."""

    def __init__(self, xp: Any, kernel: Any, programs: Sequence[FormulaProgram]) -> None:
        self._xp = xp
        self._kernel = kernel
        firsts = [0, *accumulate(len(compiled.steps) for compiled in programs)]
        steps = np.zeros((firsts[-1], 4), np.int32)
        for first, compiled in zip(firsts, programs, strict=False):
            steps[first : first + len(compiled.steps)] = _numbered(compiled)
        numbers = np.concatenate([np.zeros(0), *(compiled.numbers for compiled in programs)])
        self._programs = tuple(map(xp.asarray, (np.array(firsts, np.int32), steps, numbers)))

    def values(self, histories: HistoryTable, number: int) -> Array:
        """Return the score of every history in a cycle by its own formula."""
        count = len(histories)
        values = self._xp.empty(count)
        arguments = (
            np.int32(count),
            np.int32(number),
            histories.owners,
            histories.last_visits,
            histories.sums,
        )
        self._kernel(_grid(count), (_THREADS,), (*arguments, *self._programs, values))
        return values


def _numbered(compiled: FormulaProgram) -> NDArray[np.int32]:
    """Return a program's steps in rows of four, with name indices shared by all programs."""
    steps = np.zeros((len(compiled.steps), 4), np.int32)
    steps[:, :3] = compiled.steps
    numbers = np.array([*(PAPER_VARIABLES.index(name) for name in compiled.variables), 0], np.int32)
    is_name = steps[:, 0] == NAME
    steps[is_name, 1] = numbers[steps[is_name, 1]]
    return steps


def _grid(threads: int) -> tuple[int]:
    return (max(1, -(-threads // _THREADS)),)


def _sizes(history_of_page: Array, pages: Array) -> tuple[np.int64, np.int32, np.int32]:
    """Return the number of selected pages, the number per formula, and the number of pages."""
    return np.int64(pages.size), np.int32(pages.shape[1]), np.int32(history_of_page.shape[1])
