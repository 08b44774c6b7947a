"""Device interface: the array module, and the steps with an implementation per device.

Most of the crawl is array code that runs with numpy or cupy. The device implements the steps that
would need one call per formula node or several passes over the arrays.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from freshet.backtest.gpu.histories import Array, HistoryTable
from freshet.formula.expression import Formula
from freshet.formula.variables import WeightClock


class BatchRanking(Protocol):
    """Computes the formulas of a batch."""

    def values(self, histories: HistoryTable, number: int) -> Array:
        """Return the score of every history in a cycle by its own formula."""
        ...


class ArrayDevice(Protocol):
    """Makes arrays, and implements the steps that array code does slowly."""

    xp: Any
    max_cells: int
    """Maximum number of formulas times pages crawled at a time."""

    def to_numpy(self, array: Array) -> NDArray[Any]:
        """Return an array as a numpy array."""
        ...

    def ranking(self, formulas: Sequence[Formula], clock: WeightClock) -> BatchRanking:
        """Prepare formulas for scoring."""
        ...

    def choose(
        self, marks: Array, history_of_page: Array, order: Array, missing: Array, k: int
    ) -> Array:
        """Return k pages for each formula, a row each, in tie break order.

        ``marks`` says whether all pages of a history are selected, some, or none.
        ``history_of_page`` has the history of every page, a row per formula. ``missing`` is the
        number of pages to take at the cut.
        """
        ...

    def refresh_copies(
        self, history_of_page: Array, stale: Array, pages: Array, count: int
    ) -> tuple[Array, Array]:
        """Refresh selected copies; return a number for each, and the count of each number.

        The number is twice that of the page's history, plus one if the copy was stale.
        """
        ...

    def reassign_pages(
        self, history_of_page: Array, pages: Array, numbers: Array, target_rows: Array
    ) -> None:
        """Assign selected pages to the histories of their numbers."""
        ...

    def number_equal_rows(self, owners: Array, sums: Array) -> tuple[Array, Array]:
        """Number equal rows of a formula alike; return the numbers and the first row of each."""
        ...
