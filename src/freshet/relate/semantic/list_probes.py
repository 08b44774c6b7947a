"""How many lists an approximate index has to search to find enough neighbours."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import Float32Array
from freshet.relate.semantic.cpu_search import CpuSearch
from freshet.relate.semantic.neighbour_table import empty_table
from freshet.relate.semantic.vector_index import NEIGHBOURS

_SAMPLED_PAGES = 256


class ListProbes(NamedTuple):
    """The number of lists to search for a page whose neighbours also search for it; for a query."""

    page: int
    query: int


def choose_probes(
    vectors: Float32Array, centroids: Float32Array, recall: float, device: CpuSearch
) -> ListProbes:
    """Return how many lists must be searched to find a share of the nearest 30 pages.

    The neighbours of a sample of pages are searched exactly. A neighbour is found if its list is
    one of those searched, or for pages of the index, if the page's list is searched for it.
    """
    sample = vectors[np.linspace(0, len(vectors) - 1, _SAMPLED_PAGES).astype(int)]
    table = empty_table(len(sample), NEIGHBOURS + 1)
    device.compare_queries(sample, vectors, table)
    rows, ranks = np.nonzero(table.pages[:, 1:] >= 0)
    if not len(rows):
        return ListProbes(1, 1)
    first, second = sample[rows], vectors[table.pages[rows, ranks + 1]]
    query_ranks = _list_ranks(first, second, centroids)
    page_ranks = np.minimum(query_ranks, _list_ranks(second, first, centroids))
    chosen = (np.quantile(ranks, recall, method="higher") for ranks in (page_ranks, query_ranks))
    return ListProbes(*(int(rank) + 1 for rank in chosen))


def _list_ranks(
    vectors: Float32Array, others: Float32Array, centroids: Float32Array
) -> NDArray[np.int64]:
    """Return the number of lists that are nearer to each vector than the list of the other."""
    cosines = vectors @ centroids.T
    lists = (others @ centroids.T).argmax(axis=1)
    own = cosines[np.arange(len(cosines)), lists]
    ranks: NDArray[np.int64] = (cosines > own[:, None]).sum(axis=1)
    return ranks
