"""Where arrays live: the module that makes them, and the steps that have a form of their own there.

Most of the crawl is array code that any module with numpy's functions runs. Behind this seam is
what would be a call for each part of a formula, or several passes where one is enough.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from numpy.typing import NDArray

from freshet.backtest.gpu.cpu import CpuDevice
from freshet.backtest.gpu.cuda import CudaDevice
from freshet.backtest.gpu.histories import Array, HistoryTable
from freshet.core.errors import UsageError
from freshet.formula.expression import Formula
from freshet.formula.variables import WeightClock

DEVICES = ("cpu", "cuda")


class BatchRanking(Protocol):
    """Computes the formulas of a batch."""

    def values(self, pasts: HistoryTable, number: int) -> Array:
        """Return the score of every past in a cycle, by the formula that it belongs to."""
        ...


class ArrayDevice(Protocol):
    """Makes arrays, and does what needs more than array code to be quick."""

    xp: Any
    max_cells: int
    """How many formulas times pages are crawled at a time."""

    def to_numpy(self, array: Array) -> NDArray[Any]:
        """Return an array as one of numpy."""
        ...

    def ranking(self, formulas: Sequence[Formula], clock: WeightClock) -> BatchRanking:
        """Make formulas ready to be computed."""
        ...

    def choose(self, marks: Array, places: Array, order: Array, missing: Array, k: int) -> Array:
        """Return k pages for each formula, a row each, in the order of their lots.

        ``marks`` says of each past whether its pages are all chosen, or some, or none; ``places``
        has the past of every page, a row per formula, and ``missing`` how many of some to take.
        """
        ...

    def refresh_copies(
        self, places: Array, stale: Array, pages: Array, count: int
    ) -> tuple[Array, Array]:
        """Make chosen copies fresh; return a number for each, and how often each number came.

        The number is twice that of the page's past, and one more where the copy was stale.
        """
        ...

    def reassign_pages(self, places: Array, pages: Array, numbers: Array, into: Array) -> None:
        """Put chosen pages into the pasts that their numbers lead to."""
        ...

    def number_equal_rows(self, owners: Array, sums: Array) -> tuple[Array, Array]:
        """Number equal pasts of a formula alike; return the numbers, and the first of each."""
        ...


def open_device(name: str) -> ArrayDevice:
    """Return a device by its name; that of a GPU needs a package that is not always there."""
    if name == "cpu":
        return CpuDevice()
    if name != "cuda":
        raise UsageError(f"device {name!r} is unknown; use one of {', '.join(DEVICES)}")
    return CudaDevice(_cupy())


def _cupy() -> Any:
    try:
        return import_module("cupy")
    except ImportError as error:
        raise UsageError(
            f"device 'cuda' needs the package cupy, which cannot be imported ({error});"
            " install freshet[gpu], or use the device cpu"
        ) from error
