"""Many pages at once: which of them change in which cycle, with rates, rhythms and kin.

Every page has a rate from a mixture of paces. Which page has which rate is decided by a standing
that pages of one site, host and directory partly share and that their domain and depth shift; so
the mixture stays as it is given, whoever is related to whom.
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

Groups = NDArray[np.int8]
Counts = NDArray[np.int32]
Members = NDArray[np.int64]

DICE_EVENNESS = 6.0
DICE_BOUNDS = 0.02, 0.98


@dataclass(frozen=True, slots=True)
class PagePopulation:
    """Pages as columns; ``changed`` has a row per page and a column per cycle.

    ``rates`` are changes a day in the mean, ``dice_shift`` is how alike a page's versions are before and
    after a change. Directories, hosts and sites are numbered; paces, domains and depths are
    indices into what the parameters name.
    """

    changed: BoolArray
    rates: FloatArray
    dice: FloatArray
    paces: Groups
    domains: Groups
    depths: Groups
    directories: HashArray
    hosts: HashArray
    sites: HashArray

    def __len__(self) -> int:
        return len(self.rates)


@dataclass(frozen=True, slots=True)
class _PageGroups:
    """For each page the numbers of its directory, host and site."""

    directories: Members
    hosts: Members
    sites: Members


def draw_population(
    parameters: PopulationParameters, pages: int, cycles: int, seed: int
) -> PagePopulation:
    """Draw a population; the first cycle begins on a Monday at midnight."""
    if pages < 1 or cycles < 1:
        raise ValueError(f"{pages} pages and {cycles} cycles: a population has at least one each")
    rng = np.random.default_rng(seed)
    kin = _related(rng, pages, parameters.grouping)
    domains = _drawn(rng, parameters.domains, _count(kin.sites))[kin.sites]
    depths = _drawn(rng, parameters.depths, pages)
    standing = _standing(rng, kin, parameters.grouping)
    standing += np.array([group.rank_shift for group in parameters.domains])[domains]
    standing += np.array([group.rank_shift for group in parameters.depths])[depths]
    paces, rates = _paced(rng, parameters.paces, standing)
    alike = np.array([pace.dice for pace in parameters.paces])[paces]
    alike += np.array([group.dice_shift for group in parameters.domains])[domains]
    alike += np.array([group.dice_shift for group in parameters.depths])[depths]
    return PagePopulation(
        changed=_changes(rng, rates, kin, cycles, parameters),
        rates=rates,
        dice=_around(rng, np.clip(alike, *DICE_BOUNDS), DICE_EVENNESS),
        paces=paces,
        domains=domains,
        depths=depths,
        directories=kin.directories.astype(np.uint64),
        hosts=kin.hosts.astype(np.uint64),
        sites=kin.sites.astype(np.uint64),
    )


def draw_new_links(people: PagePopulation, links: LinkYield, seed: int) -> Counts:
    """Draw how many new links each page has in each cycle."""
    rng = np.random.default_rng(seed)
    pages = len(people)
    chances = _around(rng, np.full(pages, links.chance), links.evenness)
    medians = links.median * np.exp(links.by_page * rng.standard_normal(pages))
    rows, columns = np.nonzero(people.changed)
    bringing = rng.random(len(rows)) < chances[rows]
    rows, columns = rows[bringing], columns[bringing]
    counts = np.zeros(people.changed.shape, np.int32)
    drawn = medians[rows] * np.exp(links.by_change * rng.standard_normal(len(rows)))
    counts[rows, columns] = np.ceil(drawn)
    return counts


def _related(rng: Rng, pages: int, kinship: PageGrouping) -> _PageGroups:
    """Cut pages into directories, directories into hosts and hosts into sites."""
    directories = _cut(rng, pages, kinship.pages_per_directory)
    hosts = _cut(rng, _count(directories), kinship.directories_per_host)
    sites = _cut(rng, _count(hosts), kinship.hosts_per_site)
    return _PageGroups(directories, hosts[directories], sites[hosts][directories])


def _cut(rng: Rng, count: int, mean_size: float) -> Members:
    """Number the members of consecutive groups whose sizes are geometric."""
    begins = rng.random(count) < 1 / mean_size
    begins[0] = False
    return np.cumsum(begins)


def _count(members: Members) -> int:
    return int(members[-1]) + 1


def _drawn(rng: Rng, of: Sequence[PopulationGroup] | Sequence[ChangePace], count: int) -> Groups:
    """Draw which of some things each page is, as near to their shares as the count allows."""
    bounds = np.cumsum([one.share for one in of])
    spots = (np.arange(count) + rng.random()) / count * bounds[-1]
    return rng.permutation(np.searchsorted(bounds[:-1], spots, side="right")).astype(np.int8)


def _standing(rng: Rng, kin: _PageGroups, kinship: PageGrouping) -> FloatArray:
    """Draw where pages stand among each other, with variance 1."""
    own = 1 - kinship.by_site - kinship.by_host - kinship.by_directory
    standing: FloatArray = np.sqrt(own) * rng.standard_normal(len(kin.directories))
    levels = (
        (kin.sites, kinship.by_site),
        (kin.hosts, kinship.by_host),
        (kin.directories, kinship.by_directory),
    )
    for members, variance in levels:
        standing += np.sqrt(variance) * rng.standard_normal(_count(members))[members]
    return standing


def _paced(
    rng: Rng, paces: Sequence[ChangePace], standing: FloatArray
) -> tuple[Groups, FloatArray]:
    """Give every page a pace and a rate of it, the higher the higher the page stands."""
    pages = len(standing)
    drawn = _drawn(rng, paces, pages)
    medians = np.array([pace.median for pace in paces])[drawn]
    spreads = np.array([pace.spread for pace in paces])[drawn]
    rates = medians * np.exp(spreads * rng.standard_normal(pages))
    from_slowest = np.argsort(rates, kind="stable")
    ranks = np.empty(pages, np.int64)
    ranks[np.argsort(standing)] = np.arange(pages)
    return drawn[from_slowest][ranks], rates[from_slowest][ranks]


def _around(rng: Rng, means: FloatArray, evenness: float) -> FloatArray:
    """Draw shares around their means, the nearer the higher the evenness."""
    return rng.beta(means * evenness, (1 - means) * evenness)


def _changes(
    rng: Rng, rates: FloatArray, kin: _PageGroups, cycles: int, parameters: PopulationParameters
) -> BoolArray:
    """Draw cycle by cycle which pages change, some of them by the luck of their directory."""
    changed = np.zeros((cycles, len(rates)), np.bool_)
    live = np.flatnonzero(rates)
    directories, expected = kin.directories[live], rates[live] * parameters.cycle_days
    resting = (rng.random(_count(kin.hosts)) < parameters.rhythm.hosts)[kin.hosts[live]]
    weights = _cycle_weights(parameters.rhythm, cycles, parameters.cycle_days)
    lively = _liveliness(rng, parameters.bursts, len(live), parameters.cycle_days)
    for row, weight, factor in zip(changed, weights, lively, strict=False):
        pace = expected * factor * np.where(resting, weight, 1.0)
        common = rng.random(_count(kin.directories))[directories]
        together = rng.random(len(live)) < parameters.shared_chance
        row[live] = np.where(together, common, rng.random(len(live))) < -np.expm1(-pace)
    return changed.T


def _liveliness(
    rng: Rng, bursts: ActivityBursts | None, pages: int, cycle_days: float
) -> Iterator[FloatArray | float]:
    """Yield for cycle after cycle how much livelier than in the mean each page is."""
    if bursts is None:
        yield from repeat(1.0)
        return
    leaving = min(1.0, cycle_days / bursts.days)
    entering = leaving * bursts.time / (1 - bursts.time)
    within, without = bursts.changes / bursts.time, (1 - bursts.changes) / (1 - bursts.time)
    lively = rng.random(pages) < bursts.time
    while True:
        yield np.where(lively, within, without)
        lively = rng.random(pages) < np.where(lively, 1 - leaving, entering)


def _cycle_weights(rhythm: RestRhythm, cycles: int, cycle_days: float) -> FloatArray:
    """Return how lively hosts that rest are in each cycle, 1 in the mean of a week."""
    week = week_profile(rhythm.night, rhythm.weekend)
    weeks = int(np.ceil(cycles * cycle_days / 7))
    mass = np.concatenate([[0.0], np.cumsum(np.tile(week, weeks))])
    edges = np.arange(cycles + 1) * cycle_days * 24
    return np.asarray(np.diff(np.interp(edges, np.arange(len(mass)), mass)) / np.diff(edges))
