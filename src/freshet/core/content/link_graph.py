"""Links between the pages of a collection as a directed graph."""

from dataclasses import dataclass

import numpy as np

from freshet.core.tables import PageIdArray
from freshet.core.types import Float32Array, HashArray, IndexArray


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """The pages that each page links to: those of page i are ``targets[starts[i]:starts[i + 1]]``.

    The targets of a page are ascending, none occurs twice, and none is the page itself.
    """

    starts: PageIdArray
    targets: IndexArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def sources(self) -> IndexArray:
        """Return the page on which each link is, in the order of ``targets``."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))

    def count_inlinks(self, sites: HashArray) -> tuple[Float32Array, Float32Array]:
        """Return how many pages of the same site, and of other sites, link to each page."""
        is_internal = sites[self.sources()] == sites[self.targets]
        internal = np.bincount(self.targets[is_internal], minlength=len(self))
        external = np.bincount(self.targets[~is_internal], minlength=len(self))
        return internal.astype(np.float32), external.astype(np.float32)


def build_link_graph(sources: IndexArray, targets: IndexArray, page_count: int) -> LinkGraph:
    """Build the graph from pairs of pages in any order; self links and repetitions are dropped.

    >>> graph = build_link_graph(np.array([1, 0, 1, 1]), np.array([0, 0, 0, 2]), 3)
    >>> graph.starts.tolist(), graph.targets.tolist()
    ([0, 0, 2, 2], [0, 2])
    """
    is_link = sources != targets
    keys = sources[is_link].astype(np.int64) * page_count + targets[is_link]
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    starts = np.searchsorted(keys, np.arange(page_count + 1, dtype=np.int64) * page_count)
    return LinkGraph(starts.astype(np.int64), (keys % max(page_count, 1)).astype(np.int32))
