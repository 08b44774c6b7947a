"""Compiled loops of the hierarchical prior: fitting its levels, and the level of each page."""

import numpy as np
from numba import njit

from freshet.core.types import FloatArray, IndexArray
from freshet.schedule.cadence import CELL_COUNT
from freshet.schedule.kernels.posterior import RowNumbers


@njit(cache=True, nogil=True, fastmath=True)
def posterior_sums(likelihoods: FloatArray, groups: RowNumbers, priors: FloatArray) -> FloatArray:
    """Return the sum of the posteriors of every group, given a prior per group."""
    sums = np.zeros(priors.shape)
    for row in range(len(likelihoods)):
        total, prior, group_sum = 0.0, priors[groups[row]], sums[groups[row]]
        for rate in range(CELL_COUNT):
            total += likelihoods[row, rate] * prior[rate]
        scale = 1.0 / total
        for rate in range(CELL_COUNT):
            group_sum[rate] += likelihoods[row, rate] * scale
    return sums * priors


@njit(cache=True, nogil=True)
def number_site_host_pairs(
    sites: IndexArray, hosts: IndexArray, host_count: int
) -> tuple[IndexArray, IndexArray]:
    """Number the pairs of site and host in order of appearance.

    Returns the number of every row's pair, and the first row of every pair.
    """
    numbers, first_rows = np.empty(len(hosts), np.int32), np.empty(len(hosts), np.int32)
    newest_pair_of_host = np.full(host_count, -1, np.int32)
    previous_pair = np.empty(len(hosts), np.int32)
    pair_count = 0
    for row in range(len(hosts)):
        pair = newest_pair_of_host[hosts[row]]
        while pair >= 0 and sites[first_rows[pair]] != sites[row]:
            pair = previous_pair[pair]
        if pair < 0:
            pair = pair_count
            first_rows[pair], previous_pair[pair] = row, newest_pair_of_host[hosts[row]]
            newest_pair_of_host[hosts[row]] = pair
            pair_count += 1
        numbers[row] = pair
    return numbers, first_rows[:pair_count]


@njit(cache=True, nogil=True)
def prior_table(
    sums: FloatArray,
    pages_per_pair: FloatArray,
    group_rows: tuple[IndexArray, IndexArray],
    collection: FloatArray,
    weights: tuple[float, float],
) -> FloatArray:
    """Return the distributions of the collection, of sites and of hosts, a row each.

    ``sums`` are the posterior sums of pairs of site and host, ``group_rows`` the rows of every
    pair's site and host in the result. Sites are pulled towards the ``collection``, and hosts
    towards their sites.
    """
    (sites, hosts), (site_weight, host_weight) = group_rows, weights
    first_host = sites.max() + 1
    table, counts = np.zeros((hosts.max() + 1, CELL_COUNT)), np.zeros(hosts.max() + 1)
    for pair in range(len(sums)):
        for level in (sites[pair], hosts[pair]):
            counts[level] += pages_per_pair[pair]
            add_scaled(table[level], sums[pair], 1.0)
    table[0] = collection
    for site in range(1, first_host):
        add_scaled(table[site], collection, site_weight)
        table[site] /= counts[site] + site_weight
    for pair in range(len(sums)):
        share = host_weight * pages_per_pair[pair] / counts[hosts[pair]]
        add_scaled(table[hosts[pair]], table[sites[pair]], share)
    for host in range(first_host, len(table)):
        table[host] /= counts[host] + host_weight
    return table


@njit(cache=True)
def add_scaled(total: FloatArray, distribution: FloatArray, factor: float) -> None:
    """Add a multiple of a distribution to a total."""
    for rate in range(CELL_COUNT):
        total[rate] += factor * distribution[rate]


@njit(cache=True, nogil=True)
def nearest_prior_rows(
    rows: RowNumbers, hosts: tuple[IndexArray, IndexArray], sites: tuple[IndexArray, IndexArray]
) -> IndexArray:
    """Return the prior's row for every page: its host's, else its site's, else the collection's.

    ``hosts`` and ``sites`` each hold the group of every page and the prior's row of every group,
    which is negative if the group has none.
    """
    prior_rows = np.zeros(len(rows), np.int32)
    for index in range(len(rows)):
        prior_row = hosts[1][hosts[0][rows[index]]]
        if prior_row < 0:
            prior_row = max(0, sites[1][sites[0][rows[index]]])
        prior_rows[index] = prior_row
    return prior_rows
