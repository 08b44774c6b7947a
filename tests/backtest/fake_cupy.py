"""A stand-in for cupy: arrays of numpy, and kernels that loop over their threads in Python."""

from typing import Any

import numpy as np

from freshet.backtest.gpu.histories import ABOVE, LEVEL
from freshet.core.types import FloatArray
from freshet.formula.kernels import NAME, NUMBER, apply_function
from freshet.formula.variables import PAPER_VARIABLES, VariableSet


class Failed(Exception):
    """What the driver raises."""


class Runtime:
    """The part of the driver that is asked for."""

    CUDARuntimeError = Failed


class Gpu:
    """A device with some free memory."""

    def __init__(self, number: int) -> None:
        self.mem_info = (2**20, 2**20)


class Missing:
    """A device that is not there."""

    def __init__(self, number: int) -> None:
        raise Failed("no CUDA-capable device is detected")


class Cuda:
    """Devices and the driver."""

    def __init__(self, device: type) -> None:
        self.Device = device
        self.runtime = Runtime


class Kernel:
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


class Emulated:
    """Looks like cupy to whoever is given it."""

    RawKernel = Kernel

    def __init__(self, device: type = Gpu) -> None:
        self.cuda = Cuda(device)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def asnumpy(self, array: Any) -> Any:
        return array


def _values(threads: int, by_cycle: bool, *given: Any) -> None:
    count, number, owners, seen, sums, firsts, steps, numbers, values = given
    assert threads >= count
    known = VariableSet(PAPER_VARIABLES, "cycle" if by_cycle else "visit")
    told = known.values(sums, (number - seen).astype(np.float64))
    for past in range(count):
        first, end = firsts[owners[past]], firsts[owners[past] + 1]
        made: list[float] = []
        for (code, left, right, _), constant in zip(
            steps[first:end], numbers[first:end], strict=True
        ):
            if code == NUMBER:
                made.append(constant)
            elif code == NAME:
                made.append(_named(told, left, past))
            else:
                made.append(apply_function(code, made[left], made[right]))
        values[past] = made[-1]


def _named(told: dict[str, FloatArray], name: int, past: int) -> float:
    return float(told[PAPER_VARIABLES[name]][past])


def _choose(threads: int, *given: Any) -> None:
    marks, places, order, missing, pages, k, chosen = given
    for formula in range(len(places)):
        level, taken = 0, 0
        for page in order[:pages]:
            mark = marks[places[formula, page]]
            if mark == ABOVE or (mark == LEVEL and level < missing[formula]):
                chosen[formula, taken] = page
                taken += 1
            level += mark == LEVEL
        assert taken == k


def _look(threads: int, *given: Any) -> None:
    count, k, pages, places, stale, chosen, numbers, counts = given
    assert threads >= count
    assert places.shape[1] == pages
    for at in range(count):
        cell = at // k, chosen.flat[at]
        numbers.flat[at] = 2 * places[cell] + stale[cell]
        stale[cell] = False
        counts[numbers.flat[at]] += 1


def _move(threads: int, *given: Any) -> None:
    count, k, pages, places, chosen, numbers, into = given
    assert threads >= count
    assert places.shape[1] == pages
    for at in range(count):
        places[at // k, chosen.flat[at]] = into[numbers.flat[at]]


def _alike(threads: int, *given: Any) -> None:
    count, owners, sums, last_slot, table, same = given
    assert threads >= count
    assert len(table) == last_slot + 1 > count
    first: dict[tuple[float, ...], int] = {}
    # Threads have no order: whichever of the equals comes first stands for all.
    for past in reversed(range(count)):
        same[past] = first.setdefault((owners[past], *sums[past]), past)
