"""PageRank and TrustRank: where a random walk along links is found, by power iteration.

Dang et al. (2023), section 5.2, take both as features of a page's network. PageRank is that of Page
et al. (1999); TrustRank, of Gyöngyi et al. (2004), restarts at trusted pages only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from freshet.core.content.link_graph import LinkGraph
from freshet.core.errors import UsageError
from freshet.core.types import Float32Array, FloatArray, IndexArray


@dataclass(frozen=True, slots=True)
class RandomWalk:
    """A walk that follows a random link with the chance ``damping``, and else restarts.

    On a page without links it always restarts. The iteration ends when the shares change by less
    than ``tolerance`` in sum, or after ``max_iterations``.
    """

    damping: float = 0.85
    tolerance: float = 1e-9
    max_iterations: int = 1000

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise UsageError(f"damping is {self.damping}; it must be at least 0 and below 1")


@dataclass(frozen=True, slots=True)
class LinkRanks:
    """The share of the walk on each page, which sum to 1, and the iterations that it took."""

    shares: FloatArray
    iterations: int
    is_converged: bool


def page_rank(
    graph: LinkGraph, walk: RandomWalk | None = None, *, start: FloatArray | None = None
) -> LinkRanks:
    """Return the PageRank of all pages: the walk restarts at any page.

    ``start`` are shares of before, from which the iteration begins; if the graph has grown, they
    may lack the new pages at the end.
    """
    restart = np.full(len(graph), 1 / max(len(graph), 1))
    return walk_ranks(graph, restart, walk, start=start)


def trust_rank(
    graph: LinkGraph,
    trusted: IndexArray,
    walk: RandomWalk | None = None,
    *,
    start: FloatArray | None = None,
) -> LinkRanks:
    """Return the TrustRank of all pages: the walk restarts at one of the trusted pages.

    Pages that no path of links from a trusted page reaches have 0. ``start`` as in ``page_rank``.
    """
    pages = np.unique(trusted)
    if not len(pages) or pages[0] < 0 or pages[-1] >= len(graph):
        raise UsageError(f"TrustRank needs trusted pages, with numbers from 0 to {len(graph) - 1}")
    restart = np.zeros(len(graph))
    restart[pages] = 1 / len(pages)
    return walk_ranks(graph, restart, walk, start=start)


def walk_ranks(
    graph: LinkGraph,
    restart: FloatArray,
    walk: RandomWalk | None = None,
    *,
    start: FloatArray | None = None,
) -> LinkRanks:
    """Return the ranks of a walk that restarts at each page with a given chance."""
    walk = walk or RandomWalk()
    if not len(graph):
        return LinkRanks(np.empty(0), 0, is_converged=True)
    link_counts = np.diff(graph.starts)
    links = np.ones(len(graph.targets))
    followed = csr_array((links, graph.targets, graph.starts), shape=(len(graph), len(graph))).T
    chances = walk.damping / np.maximum(link_counts, 1)
    is_dead_end = link_counts == 0
    shares = _first_shares(start, restart)
    for iteration in range(1, walk.max_iterations + 1):
        restarting = 1 - walk.damping + walk.damping * shares[is_dead_end].sum()
        new_shares = followed @ (shares * chances) + restarting * restart
        change = np.abs(new_shares - shares).sum()
        shares = new_shares
        if change < walk.tolerance:
            return LinkRanks(shares, iteration, is_converged=True)
    return LinkRanks(shares, walk.max_iterations, is_converged=False)


def rank_steps(
    graphs: Sequence[LinkGraph], trusted: IndexArray, walk: RandomWalk | None = None
) -> tuple[Float32Array, Float32Array]:
    """Return PageRank and TrustRank of each page and step, from the link graph of each step.

    Every step starts from the ranks of the step before, so that it takes few iterations. Without
    trusted pages TrustRank is NaN. The tables are those of ``PageSteps.with_ranks``.
    """
    page_count = len(graphs[0]) if graphs else 0
    page_ranks = np.empty((page_count, len(graphs)), np.float32)
    trust_ranks = np.full((page_count, len(graphs)), np.nan, np.float32)
    page_shares: FloatArray | None = None
    trust_shares: FloatArray | None = None
    for step, graph in enumerate(graphs):
        page_shares = page_rank(graph, walk, start=page_shares).shares
        page_ranks[:, step] = page_shares
        if len(trusted):
            trust_shares = trust_rank(graph, trusted, walk, start=trust_shares).shares
            trust_ranks[:, step] = trust_shares
    return page_ranks, trust_ranks


def _first_shares(start: FloatArray | None, restart: FloatArray) -> FloatArray:
    """Return the shares to begin with; new pages have their chance of a restart."""
    if start is None:
        return restart
    if len(start) > len(restart):
        raise UsageError(f"ranks of {len(start)} pages cannot begin those of {len(restart)}")
    shares = np.concatenate([start, restart[len(start) :]])
    if not np.isfinite(shares).all() or shares.min() < 0 or not shares.sum() > 0:
        raise UsageError("ranks to begin with must be finite, not negative and not all zero")
    return np.asarray(shares / shares.sum())
