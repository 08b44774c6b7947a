"""Draw many pages at once: which of them change in which cycle, with rates, rhythms and groups.

Every page has a rate from a mixture of paces. A rank decides which page gets which rate. Pages of
one site, host and directory partly share their rank, and domain, depth, visitors and category shift
it. The mixture of rates therefore does not depend on the grouping.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, HashArray
from freshet.world.change_processes import Rng, week_profile
from freshet.world.parameters import (
    ActivityBursts,
    ChangePace,
    LinkYield,
    PageGrouping,
    PopulationGroup,
    PopulationParameters,
    RestRhythm,
)

GroupIndices = NDArray[np.int8]
LinkCountTable = NDArray[np.int32]
GroupNumbers = NDArray[np.int64]

DICE_EVENNESS = 6.0
DICE_BOUNDS = 0.02, 0.98


@dataclass(frozen=True, slots=True)
class PagePopulation:
    """Pages as columns; ``changed`` has a row per page and a column per cycle.

    ``rates`` are mean changes a day. ``dice`` is the similarity of a page's versions before and
    after a change. Directories, hosts and sites are numbered; paces, domains, depths, visitors and
    categories are indices into the parameters.
    """

    changed: BoolArray
    rates: FloatArray
    dice: FloatArray
    paces: GroupIndices
    domains: GroupIndices
    depths: GroupIndices
    visitors: GroupIndices
    categories: GroupIndices
    directories: HashArray
    hosts: HashArray
    sites: HashArray

    def __len__(self) -> int:
        return len(self.rates)


@dataclass(frozen=True, slots=True)
class _PageGroups:
    """The numbers of each page's directory, host and site."""

    directories: GroupNumbers
    hosts: GroupNumbers
    sites: GroupNumbers


def draw_population(
    parameters: PopulationParameters, pages: int, cycles: int, seed: int
) -> PagePopulation:
    """Draw a population; the first cycle begins on a Monday at midnight."""
    if pages < 1 or cycles < 1:
        raise ValueError(f"{pages} pages and {cycles} cycles: a population has at least one each")
    rng = np.random.default_rng(seed)
    groups = _draw_groups(rng, pages, parameters.grouping)
    domains = _draw_shares(rng, parameters.domains, _group_count(groups.sites))[groups.sites]
    depths = _draw_shares(rng, parameters.depths, pages)
    # These have their own random numbers, so that populations without them stay the same.
    group_rng = np.random.default_rng([seed, pages])
    visitors = _draw_shares(group_rng, parameters.visitors, pages)
    categories = _draw_shares(group_rng, parameters.categories, pages)
    memberships = (
        (parameters.domains, domains),
        (parameters.depths, depths),
        (parameters.visitors, visitors),
        (parameters.categories, categories),
    )
    ranks = _draw_ranks(rng, groups, parameters.grouping)
    for kinds, members in memberships:
        ranks += np.array([kind.rank_shift for kind in kinds])[members]
    pace_indices, rates = _assign_paces(rng, parameters.paces, ranks)
    mean_dice = np.array([pace.dice for pace in parameters.paces])[pace_indices]
    for kinds, members in memberships:
        mean_dice += np.array([kind.dice_shift for kind in kinds])[members]
    return PagePopulation(
        changed=_draw_changes(rng, rates, groups, cycles, parameters),
        rates=rates,
        dice=_draw_around(rng, np.clip(mean_dice, *DICE_BOUNDS), DICE_EVENNESS),
        paces=pace_indices,
        domains=domains,
        depths=depths,
        visitors=visitors,
        categories=categories,
        directories=groups.directories.astype(np.uint64),
        hosts=groups.hosts.astype(np.uint64),
        sites=groups.sites.astype(np.uint64),
    )


def draw_new_links(population: PagePopulation, links: LinkYield, seed: int) -> LinkCountTable:
    """Draw the number of new links of each page in each cycle."""
    rng = np.random.default_rng(seed)
    pages = len(population)
    chances = _draw_around(rng, np.full(pages, links.chance), links.evenness)
    medians = links.median * np.exp(links.by_page * rng.standard_normal(pages))
    rows, columns = np.nonzero(population.changed)
    has_links = rng.random(len(rows)) < chances[rows]
    rows, columns = rows[has_links], columns[has_links]
    counts = np.zeros(population.changed.shape, np.int32)
    drawn = medians[rows] * np.exp(links.by_change * rng.standard_normal(len(rows)))
    counts[rows, columns] = np.ceil(drawn)
    return counts


def _draw_groups(rng: Rng, pages: int, grouping: PageGrouping) -> _PageGroups:
    """Split pages into directories, directories into hosts and hosts into sites."""
    directories = _split_consecutive(rng, pages, grouping.pages_per_directory)
    hosts = _split_consecutive(rng, _group_count(directories), grouping.directories_per_host)
    sites = _split_consecutive(rng, _group_count(hosts), grouping.hosts_per_site)
    return _PageGroups(directories, hosts[directories], sites[hosts][directories])


def _split_consecutive(rng: Rng, count: int, mean_size: float) -> GroupNumbers:
    """Number the members of consecutive groups with geometric sizes."""
    starts_group = rng.random(count) < 1 / mean_size
    starts_group[0] = False
    return np.cumsum(starts_group)


def _group_count(members: GroupNumbers) -> int:
    return int(members[-1]) + 1


def _draw_shares(
    rng: Rng, groups: Sequence[PopulationGroup] | Sequence[ChangePace], count: int
) -> GroupIndices:
    """Draw a group for each page, as close to the groups' shares as the count allows."""
    bounds = np.cumsum([group.share for group in groups])
    positions = (np.arange(count) + rng.random()) / count * bounds[-1]
    return rng.permutation(np.searchsorted(bounds[:-1], positions, side="right")).astype(np.int8)


def _draw_ranks(rng: Rng, groups: _PageGroups, grouping: PageGrouping) -> FloatArray:
    """Draw the ranks of pages, with variance 1."""
    own_variance = 1 - grouping.by_site - grouping.by_host - grouping.by_directory
    ranks: FloatArray = np.sqrt(own_variance) * rng.standard_normal(len(groups.directories))
    levels = (
        (groups.sites, grouping.by_site),
        (groups.hosts, grouping.by_host),
        (groups.directories, grouping.by_directory),
    )
    for members, variance in levels:
        ranks += np.sqrt(variance) * rng.standard_normal(_group_count(members))[members]
    return ranks


def _assign_paces(
    rng: Rng, paces: Sequence[ChangePace], ranks: FloatArray
) -> tuple[GroupIndices, FloatArray]:
    """Assign a pace and a rate to every page; a higher rank gets a higher rate."""
    pages = len(ranks)
    pace_indices = _draw_shares(rng, paces, pages)
    medians = np.array([pace.median for pace in paces])[pace_indices]
    spreads = np.array([pace.spread for pace in paces])[pace_indices]
    rates = medians * np.exp(spreads * rng.standard_normal(pages))
    from_slowest = np.argsort(rates, kind="stable")
    positions = np.empty(pages, np.int64)
    positions[np.argsort(ranks)] = np.arange(pages)
    return pace_indices[from_slowest][positions], rates[from_slowest][positions]


def _draw_around(rng: Rng, means: FloatArray, evenness: float) -> FloatArray:
    """Draw shares around their means; a higher evenness draws them closer."""
    return rng.beta(means * evenness, (1 - means) * evenness)


def _draw_changes(
    rng: Rng, rates: FloatArray, groups: _PageGroups, cycles: int, parameters: PopulationParameters
) -> BoolArray:
    """Draw cycle by cycle which pages change, some of them by a draw of their directory."""
    changed = np.zeros((cycles, len(rates)), np.bool_)
    changing_pages = np.flatnonzero(rates)
    directories, expected = (
        groups.directories[changing_pages],
        rates[changing_pages] * parameters.cycle_days,
    )
    is_resting = (rng.random(_group_count(groups.hosts)) < parameters.rhythm.hosts)[
        groups.hosts[changing_pages]
    ]
    weights = _cycle_weights(parameters.rhythm, cycles, parameters.cycle_days)
    activity = _draw_activity(rng, parameters.bursts, len(changing_pages), parameters.cycle_days)
    for row, weight, factor in zip(changed, weights, activity, strict=False):
        expected_changes = expected * factor * np.where(is_resting, weight, 1.0)
        shared_draw = rng.random(_group_count(groups.directories))[directories]
        uses_shared_draw = rng.random(len(changing_pages)) < parameters.shared_chance
        row[changing_pages] = np.where(
            uses_shared_draw, shared_draw, rng.random(len(changing_pages))
        ) < -np.expm1(-expected_changes)
    return changed.T


def _draw_activity(
    rng: Rng, bursts: ActivityBursts | None, pages: int, cycle_days: float
) -> Iterator[FloatArray | float]:
    """Yield the relative activity of each page for cycle after cycle."""
    if bursts is None:
        yield from repeat(1.0)
        return
    leave_probability = min(1.0, cycle_days / bursts.days)
    enter_probability = leave_probability * bursts.time / (1 - bursts.time)
    burst_activity, quiet_activity = (
        bursts.changes / bursts.time,
        (1 - bursts.changes) / (1 - bursts.time),
    )
    is_active = rng.random(pages) < bursts.time
    while True:
        yield np.where(is_active, burst_activity, quiet_activity)
        is_active = rng.random(pages) < np.where(
            is_active, 1 - leave_probability, enter_probability
        )


def _cycle_weights(rhythm: RestRhythm, cycles: int, cycle_days: float) -> FloatArray:
    """Return the activity of resting hosts in each cycle, with mean 1 over a week."""
    week = week_profile(rhythm.night, rhythm.weekend)
    weeks = int(np.ceil(cycles * cycle_days / 7))
    mass = np.concatenate([[0.0], np.cumsum(np.tile(week, weeks))])
    edges = np.arange(cycles + 1) * cycle_days * 24
    return np.asarray(np.diff(np.interp(edges, np.arange(len(mass)), mass)) / np.diff(edges))
