"""The interface of indexes of vectors, and the devices that compare vectors."""

from importlib import import_module
from typing import Any, Protocol

from numpy.typing import ArrayLike

from freshet.core.content.related_pages import RelatedPages
from freshet.core.errors import UsageError
from freshet.core.types import Float32Array
from freshet.relate.semantic.neighbour_table import NeighbourTable

NEIGHBOURS = 30
DEVICES = ("cpu", "cuda")


class VectorIndex(Protocol):
    """Finds the pages with the nearest vectors by their cosine.

    Pages are numbered in the order in which their vectors were added. Only pages with a positive
    cosine are neighbours, so a page whose vector is zero has none and is nobody's neighbour.
    """

    def __len__(self) -> int:
        """Return the number of pages."""
        ...

    def add(self, vectors: ArrayLike) -> None:
        """Add new pages, a row each; nothing that is there is computed again."""
        ...

    def neighbours(
        self, count: int = NEIGHBOURS, *, known: RelatedPages | None = None
    ) -> RelatedPages:
        """Return the nearest pages of every page of the index, itself excepted.

        ``known`` is what this method returned for the same count before pages were added. Then
        only the new pages are searched for, for themselves and for the pages of before.
        """
        ...

    def query(self, vectors: ArrayLike, count: int = NEIGHBOURS) -> RelatedPages:
        """Return the nearest pages of vectors that need not be in the index, a row each."""
        ...


class SearchDevice(Protocol):
    """Compares vectors in blocks, and merges each block into a table of neighbours."""

    def compare_pages(self, vectors: Float32Array, table: NeighbourTable, first_new: int) -> None:
        """Merge the cosines of all pairs of pages of which at least one is new.

        The pages from ``first_new`` on are new.
        """
        ...

    def compare_queries(
        self, queries: Float32Array, vectors: Float32Array, table: NeighbourTable
    ) -> None:
        """Merge the cosines of all queries, which have a row of the table each, with all pages."""
        ...


def open_search_device(name: str, *, workers: int | None = None) -> SearchDevice:
    """Return a device by name: ``cpu``, or ``cuda``, which needs the optional package cupy.

    ``workers`` is the number of threads of the processor, by default one per core.
    """
    if name not in DEVICES:
        raise UsageError(f"device {name!r} is unknown; use one of {', '.join(DEVICES)}")
    module: Any = import_module(f"freshet.relate.semantic.{name}_search")
    device: SearchDevice = module.CpuSearch(workers) if name == "cpu" else module.CudaSearch()
    return device
