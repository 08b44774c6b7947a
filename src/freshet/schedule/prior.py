"""The prior over a page's change rate, from its host, its site and the whole collection."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.hashing import TIE_BREAK_RANGE
from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.cadence import POISSON_CELLS
from freshet.schedule.columns import NOT_FOUND, row_blocks
from freshet.schedule.kernels import prior as kernels
from freshet.schedule.kernels.posterior import PriorRows
from freshet.schedule.page_states import PageStates
from freshet.schedule.posterior import RatePosterior
from freshet.schedule.top_k import tie_breaker

MEDIAN_RATE, LOG_RATE_SPREAD = 0.03, 2.0
REGULAR_SHARE = 0.3
INITIAL_SHARE, INITIAL_PAGES = 0.02, 4.0
# In so few pages the initial distribution has more than its share. They are fitted in more steps,
# so that the fit hardly depends on the fits before.
MAX_FEW_PAGES, FEW_PAGES_STEPS = 200, 12
SITE_WEIGHT, HOST_WEIGHT = 20.0, 4.0
MAX_SAMPLE_PAGES = 100_000
OVERSAMPLING = 2


class HierarchicalPrior:
    """The distributions of change rates in the collection, in each site and on each host.

    They are fitted by expectation maximisation to the pages' posteriors. The distribution one level
    up counts as a number of extra pages: ``SITE_WEIGHT`` for sites, ``HOST_WEIGHT`` for hosts. The
    collection's distribution keeps a share of the initial one: pages that changed at every look
    have no upper bound on their rate, and the fit would move them step by step to the fastest rate.
    In small collections the initial distribution counts as ``INITIAL_PAGES`` pages: a few pages
    that change fast say little about one that was only watched for minutes.
    Every distribution is a row of one table: first the collection's, then those of the sites and
    hosts that occur in the sample of pages.
    """

    def __init__(self, rates: FloatArray) -> None:
        density = np.exp(-0.5 * (np.log(rates / MEDIAN_RATE) / LOG_RATE_SPREAD) ** 2)
        # The mass of a cell is in proportion to its width on the logarithmic scale.
        widths = (
            np.gradient(np.log(rates[:POISSON_CELLS])),
            np.gradient(np.log(rates[POISSON_CELLS:])),
        )
        density *= np.concatenate(widths)
        density[POISSON_CELLS:] *= REGULAR_SHARE / (1.0 - REGULAR_SHARE)
        self._initial: FloatArray = density / density.sum()
        self.table: FloatArray = self._initial[np.newaxis]
        self._site_rows = np.empty(0, np.int32)
        self._host_rows = np.empty(0, np.int32)

    @property
    def nbytes(self) -> int:
        """Return the memory of the table and its indices in bytes."""
        return self.table.nbytes + self._site_rows.nbytes + self._host_rows.nbytes

    def rows_for(self, states: PageStates, rows: NDArray[Any]) -> PriorRows:
        """Return the table, and the row of it that applies to every page."""
        hosts = (states.host, _pad(self._host_rows, len(states.hosts)))
        sites = (states.site, _pad(self._site_rows, len(states.sites)))
        return self.table, kernels.nearest_prior_rows(rows, hosts, sites)

    def of_host(self, host: int) -> FloatArray | None:
        """Return the distribution of a host, None if no page of it was in the sample."""
        row = self._host_rows[host] if host < len(self._host_rows) else NOT_FOUND
        return None if row == NOT_FOUND else self.table[row]

    def fit(
        self, states: PageStates, posterior: RatePosterior, now: float, *, steps: int, seed: int
    ) -> None:
        """Fit the table to the pages, or to a sample of them, in that many steps or more."""
        rows = sample_rows(states, MAX_SAMPLE_PAGES, seed)
        if not len(rows):
            return
        ages = states.days_since_look(rows, now, never=0.0)
        likelihoods = posterior.faded_likelihoods(states.column("likelihood"), rows, ages)
        pairs, first_members = kernels.number_site_host_pairs(
            states.site[rows], states.host[rows], len(states.hosts)
        )
        pages_per_pair, members = np.bincount(pairs).astype(np.float64), rows[first_members]
        site_rows, sites = _assign_rows(states.site[members], len(states.sites), 1)
        host_rows, hosts = _assign_rows(
            states.host[members], len(states.hosts), 1 + int(sites.max())
        )
        table, prior_rows = self.rows_for(states, members)
        whole, weights = np.zeros(len(rows), np.int32), (SITE_WEIGHT, HOST_WEIGHT)
        initial_share = max(INITIAL_SHARE, INITIAL_PAGES / (len(rows) + INITIAL_PAGES))
        steps = max(steps, FEW_PAGES_STEPS) if len(rows) <= MAX_FEW_PAGES else steps
        for _ in range(steps):
            mean = kernels.posterior_sums(likelihoods, whole, table[:1])[0] / len(rows)
            collection = (1.0 - initial_share) * mean + initial_share * self._initial
            sums = kernels.posterior_sums(likelihoods, pairs, table[prior_rows])
            table = kernels.prior_table(sums, pages_per_pair, (sites, hosts), collection, weights)
            prior_rows = hosts
        self.table, self._site_rows, self._host_rows = table, site_rows, host_rows

    def state(self) -> dict[str, Any]:
        """Return the table and its indices as plain arrays."""
        return {
            "prior_table": self.table.copy(),
            "prior_sites": self._site_rows.copy(),
            "prior_hosts": self._host_rows.copy(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self.table = np.array(state["prior_table"], np.float64)
        self._site_rows = np.array(state["prior_sites"], np.int32)
        self._host_rows = np.array(state["prior_hosts"], np.int32)


def _assign_rows(
    groups: IndexArray, group_count: int, first_row: int
) -> tuple[IndexArray, IndexArray]:
    """Assign consecutive table rows to the groups that occur.

    Returns the row of every group, ``NOT_FOUND`` for groups that do not occur, and of every entry.
    """
    rows = np.full(group_count, NOT_FOUND, np.int32)
    rows[groups] = 0
    occurring = np.flatnonzero(rows == 0)
    rows[occurring] = np.arange(first_row, first_row + len(occurring))
    return rows, rows[groups]


def sample_rows(states: PageStates, max_pages: int, seed: int) -> IndexArray:
    """Return the rows of all pages, or of the ``max_pages`` with the lowest hashes, by page id.

    A page's hash never changes, so that a growing collection keeps most of its sample.
    """
    rows = states.rows_by_page_id()
    if len(rows) <= max_pages:
        return rows
    hash_ids = tie_breaker(seed)
    limit = min(1.0, OVERSAMPLING * max_pages / len(rows)) * TIE_BREAK_RANGE
    candidates = np.concatenate([
        block[hash_ids(states.ids[block]) < limit] for block in row_blocks(rows)
    ])
    lowest = np.argsort(hash_ids(states.ids[candidates]))[:max_pages]
    return candidates[np.sort(lowest)]


def _pad(rows: IndexArray, group_count: int) -> IndexArray:
    """Return the rows of groups, with ``NOT_FOUND`` for groups added since the last fit."""
    if group_count == len(rows):
        return rows
    return np.concatenate((rows, np.full(group_count - len(rows), NOT_FOUND, np.int32)))
