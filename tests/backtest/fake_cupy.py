"""A stand-in for cupy: arrays of numpy, and kernels that loop over their threads in Python."""

from typing import Any

import numpy as np

from freshet.backtest.gpu.histories import ABOVE_CUT, AT_CUT
from freshet.core.types import FloatArray
from freshet.formula.kernels import NAME, NUMBER, apply_function
from freshet.formula.variables import PAPER_VARIABLES, VariableSet


class FakeDriverError(Exception):
    """The error that the driver raises."""


class FakeRuntime:
    """The part of the driver that is asked for."""

    CUDARuntimeError = FakeDriverError


class FakeGpu:
    """A device with some free memory."""

    def __init__(self, number: int) -> None:
        self.mem_info = (2**20, 2**20)


class MissingGpu:
    """A device that is not there."""

    def __init__(self, number: int) -> None:
        raise FakeDriverError("no CUDA-capable device is detected")


class FakeCuda:
    """Devices and the driver."""

    def __init__(self, device: type) -> None:
        self.Device = device
        self.runtime = FakeRuntime


class FakeKernel:
    """Runs what a kernel of some name does, on the arguments that it is given."""

    def __init__(self, source: str, name: str, options: tuple[str, ...]) -> None:
        self._run = globals()[f"_{name}"]
        self._by_cycle = "#define BY_CYCLE 1\n" in source

    def __call__(self, grid: tuple[int], block: tuple[int], given: tuple[Any, ...]) -> None:
        threads = grid[0] * block[0]
        assert threads, "a kernel without threads cannot be started"
        if self._run is _values:
            _values(threads, self._by_cycle, *given)
        else:
            self._run(threads, *given)


class FakeCupy:
    """Stands in for the cupy module."""

    RawKernel = FakeKernel

    def __init__(self, device: type = FakeGpu) -> None:
        self.cuda = FakeCuda(device)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def asnumpy(self, array: Any) -> Any:
        return array


def _values(threads: int, by_cycle: bool, *given: Any) -> None:
    count, number, owners, last_visits, sums, firsts, steps, numbers, values = given
    assert threads >= count
    variable_set = VariableSet(PAPER_VARIABLES, "cycle" if by_cycle else "visit")
    variables = variable_set.values(sums, (number - last_visits).astype(np.float64))
    for row in range(count):
        first, end = firsts[owners[row]], firsts[owners[row] + 1]
        results: list[float] = []
        for (code, left, right, _), constant in zip(
            steps[first:end], numbers[first:end], strict=True
        ):
            if code == NUMBER:
                results.append(constant)
            elif code == NAME:
                results.append(_named(variables, left, row))
            else:
                results.append(apply_function(code, results[left], results[right]))
        values[row] = results[-1]


def _named(variables: dict[str, FloatArray], name: int, row: int) -> float:
    return float(variables[PAPER_VARIABLES[name]][row])


def _choose(threads: int, *given: Any) -> None:
    marks, history_of_page, order, missing, pages, k, chosen = given
    for formula in range(len(history_of_page)):
        at_cut, selected = 0, 0
        for page in order[:pages]:
            mark = marks[history_of_page[formula, page]]
            if mark == ABOVE_CUT or (mark == AT_CUT and at_cut < missing[formula]):
                chosen[formula, selected] = page
                selected += 1
            at_cut += mark == AT_CUT
        assert selected == k


def _refresh_copies(threads: int, *given: Any) -> None:
    count, k, pages, history_of_page, stale, chosen, numbers, counts = given
    assert threads >= count
    assert history_of_page.shape[1] == pages
    for index in range(count):
        cell = index // k, chosen.flat[index]
        numbers.flat[index] = 2 * history_of_page[cell] + stale[cell]
        stale[cell] = False
        counts[numbers.flat[index]] += 1


def _reassign_pages(threads: int, *given: Any) -> None:
    count, k, pages, history_of_page, chosen, numbers, target_rows = given
    assert threads >= count
    assert history_of_page.shape[1] == pages
    for index in range(count):
        history_of_page[index // k, chosen.flat[index]] = target_rows[numbers.flat[index]]


def _number_equal_rows(threads: int, *given: Any) -> None:
    count, owners, sums, last_slot, table, same = given
    assert threads >= count
    assert len(table) == last_slot + 1 > count
    first: dict[tuple[float, ...], int] = {}
    # Threads have no order: whichever of the equals comes first stands for all.
    for row in reversed(range(count)):
        same[row] = first.setdefault((owners[row], *sums[row]), row)
