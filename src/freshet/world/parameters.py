"""Parameters of a population: paces, groups, correlations, bursts and rhythms."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChangePace:
    """A share of the pages, their changes a day (lognormal around a median) and mean Dice.

    Pages with a median of 0 never change.
    """

    share: float
    median: float
    spread: float = 0.0
    dice: float = 0.8


@dataclass(frozen=True, slots=True)
class PopulationGroup:
    """A share of the pages, and its shifts of rank and Dice against other pages."""

    name: str
    share: float
    rank_shift: float = 0.0
    dice_shift: float = 0.0


@dataclass(frozen=True, slots=True)
class PageGrouping:
    """Mean sizes of directories, hosts and sites, and the share of the rank variance of each."""

    pages_per_directory: float = 8.0
    directories_per_host: float = 4.0
    hosts_per_site: float = 1.5
    by_site: float = 0.2
    by_host: float = 0.15
    by_directory: float = 0.2


@dataclass(frozen=True, slots=True)
class ActivityBursts:
    """Active periods: a share of the changes falls into a share of the time, for days on end."""

    changes: float
    time: float
    days: float


@dataclass(frozen=True, slots=True)
class RestRhythm:
    """The share of hosts that rest, and the share of changes left at night and on weekends."""

    hosts: float = 0.0
    night: float = 0.1
    weekend: float = 0.3


@dataclass(frozen=True, slots=True)
class LinkYield:
    """New links of changes.

    ``chance`` is the mean probability that a change brings any; pages differ more in it the lower
    the ``evenness``. The number of links is lognormal around ``median``, with spreads by page and
    by change.
    """

    chance: float
    evenness: float
    median: float
    by_page: float
    by_change: float


@dataclass(frozen=True, slots=True)
class PopulationParameters:
    """Parameters of a population; shares of one kind are normalised.

    ``shared_chance`` is the probability that in a cycle a page changes by its directory's random
    draw.
    """

    paces: tuple[ChangePace, ...]
    cycle_days: float = 1.0
    shared_chance: float = 0.0
    rhythm: RestRhythm = RestRhythm()
    bursts: ActivityBursts | None = None
    grouping: PageGrouping = PageGrouping()
    domains: tuple[PopulationGroup, ...] = (PopulationGroup("any", 1.0),)
    depths: tuple[PopulationGroup, ...] = (PopulationGroup("any", 1.0),)
    visitors: tuple[PopulationGroup, ...] = (PopulationGroup("any", 1.0),)
    categories: tuple[PopulationGroup, ...] = (PopulationGroup("any", 1.0),)
    internal_links: LinkYield | None = None
    external_links: LinkYield | None = None
