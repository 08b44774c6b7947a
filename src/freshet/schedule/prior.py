"""What is expected of a page before it is known: by its host, its site and the whole collection."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tie_break import TIE_BREAK_RANGE
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.columns import NOT_FOUND, row_blocks
from freshet.schedule.kernels import posterior as kernels
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.states import PageStates
from freshet.schedule.top_k import tie_breaker

MEDIAN_RATE, LOG_RATE_SPREAD = 0.03, 2.0
INITIAL_SHARE = 0.02
SITE_WEIGHT, HOST_WEIGHT = 20.0, 4.0
MAX_SAMPLE_PAGES = 100_000
OVERSAMPLING = 2


class HierarchicalPrior:
    """The distribution of change rates in the collection, in each site and on each host.

    Learnt by expectation maximisation from the pages' posteriors. Each level leans on the one
    above as if that were so many more pages. The collection's keeps a share of what was thought at
    first: pages that changed at every look tell nothing of how fast they are, and step by step the
    fit would take them for the fastest there can be. Every distribution is a row of one table: the
    collection's, then those of sites and hosts that the sample of pages has.
    """

    def __init__(self, rates: FloatArray) -> None:
        first = np.exp(-0.5 * (np.log(rates / MEDIAN_RATE) / LOG_RATE_SPREAD) ** 2)
        self._first: FloatArray = first / first.sum()
        self.table: FloatArray = self._first[np.newaxis]
        self._site_rows = np.empty(0, np.int32)
        self._host_rows = np.empty(0, np.int32)

    @property
    def nbytes(self) -> int:
        """Return the memory that the table and its indices take."""
        return self.table.nbytes + self._site_rows.nbytes + self._host_rows.nbytes

    def rows_for(self, states: PageStates, rows: NDArray[Any]) -> kernels.PriorRows:
        """Return the table, and which row of it holds for every page."""
        hosts = (states.host, _padded(self._host_rows, len(states.hosts)))
        sites = (states.site, _padded(self._site_rows, len(states.sites)))
        return self.table, kernels.nearest_prior_rows(rows, hosts, sites)

    def fit(
        self, states: PageStates, learning: RatePosterior, now: float, *, steps: int, seed: int
    ) -> None:
        """Fit the table to the pages, or to a sample of them, by that many steps."""
        rows = sample_rows(states, MAX_SAMPLE_PAGES, seed)
        if not len(rows):
            return
        ages = states.days_since_look(rows, now, never=0.0)
        weights = learning.faded_likelihoods(states.column("likelihood"), rows, ages)
        pairs, firsts = kernels.number_site_host_pairs(
            states.site[rows], states.host[rows], len(states.hosts)
        )
        counts, members = np.bincount(pairs).astype(np.float64), rows[firsts]
        site_rows, sites = _numbered(states.site[members], len(states.sites), 1)
        host_rows, hosts = _numbered(states.host[members], len(states.hosts), 1 + int(sites.max()))
        firm = (INITIAL_SHARE, SITE_WEIGHT, HOST_WEIGHT)
        table, which = self.rows_for(states, members)
        for _ in range(steps):
            sums = kernels.posterior_sums(weights, pairs, table[which])
            table, which = (
                kernels.prior_table(sums, counts, (sites, hosts), self._first, firm),
                hosts,
            )
        self.table, self._site_rows, self._host_rows = table, site_rows, host_rows

    def state(self) -> dict[str, Any]:
        """Return the table and its indices as plain arrays."""
        return {
            "prior_table": self.table.copy(),
            "prior_sites": self._site_rows.copy(),
            "prior_hosts": self._host_rows.copy(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what ``state`` describes."""
        self.table = np.array(state["prior_table"], np.float64)
        self._site_rows = np.array(state["prior_sites"], np.int32)
        self._host_rows = np.array(state["prior_hosts"], np.int32)


def _numbered(groups: IndexArray, count: int, first: int) -> tuple[IndexArray, IndexArray]:
    """Return the table's row of every group, those that occur numbered from one, and of entries."""
    rows = np.full(count, NOT_FOUND, np.int32)
    rows[groups] = 0
    occurring = np.flatnonzero(rows == 0)
    rows[occurring] = np.arange(first, first + len(occurring))
    return rows, rows[groups]


def sample_rows(states: PageStates, max_pages: int, seed: int) -> IndexArray:
    """Return the rows of all pages, or of the ``max_pages`` with the lowest lots, by their ids.

    A page's lot stays the same, so that a growing collection keeps most of its sample.
    """
    rows = states.rows_by_page_id()
    if len(rows) <= max_pages:
        return rows
    draw, low = tie_breaker(seed), min(1.0, OVERSAMPLING * max_pages / len(rows)) * TIE_BREAK_RANGE
    drawn = np.concatenate([part[draw(states.ids[part]) < low] for part in row_blocks(rows)])
    lowest = np.argsort(draw(states.ids[drawn]))[:max_pages]
    return drawn[np.sort(lowest)]


def _padded(rows: IndexArray, count: int) -> IndexArray:
    """Return rows with as many more as there are groups that came since."""
    if count == len(rows):
        return rows
    return np.concatenate((rows, np.full(count - len(rows), NOT_FOUND, np.int32)))
