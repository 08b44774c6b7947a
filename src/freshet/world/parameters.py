"""What a population is drawn from: paces, groups, kinship, bursts and rhythms."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChangePace:
    """A share of the pages, their changes a day (lognormal about a median) and mean Dice.

    Pages whose median is 0 never change.
    """

    share: float
    median: float
    spread: float = 0.0
    dice: float = 0.8


@dataclass(frozen=True, slots=True)
class PopulationGroup:
    """A share of the pages, and how much livelier and more alike they are than others."""

    name: str
    share: float
    rank_shift: float = 0.0
    dice_shift: float = 0.0


@dataclass(frozen=True, slots=True)
class PageGrouping:
    """Mean sizes of what pages belong to, and how much of their standing each of it decides."""

    pages_per_directory: float = 8.0
    directories_per_host: float = 4.0
    hosts_per_site: float = 1.5
    by_site: float = 0.2
    by_host: float = 0.15
    by_directory: float = 0.2


@dataclass(frozen=True, slots=True)
class ActivityBursts:
    """Lively times: a share of the changes comes in a share of the time, for days on end."""

    changes: float
    time: float
    days: float


@dataclass(frozen=True, slots=True)
class RestRhythm:
    """The share of hosts that rest, and what is left of their changes at night and on weekends."""

    hosts: float = 0.0
    night: float = 0.1
    weekend: float = 0.3


@dataclass(frozen=True, slots=True)
class LinkYield:
    """How many new links changes bring.

    ``chance`` is the mean chance that a change brings any; pages differ in it, the more the lower
    the ``evenness``. How many is lognormal about ``median``, spread over pages and over changes.
    """

    chance: float
    evenness: float
    median: float
    by_page: float
    by_change: float


@dataclass(frozen=True, slots=True)
class PopulationParameters:
    """How a population changes; shares of one kind are taken in proportion.

    ``shared_chance`` is the chance that in a cycle a page's luck is that of its directory.
    """

    paces: tuple[ChangePace, ...]
    cycle_days: float = 1.0
    shared_chance: float = 0.0
    rhythm: RestRhythm = RestRhythm()
    bursts: ActivityBursts | None = None
    grouping: PageGrouping = PageGrouping()
    domains: tuple[PopulationGroup, ...] = (PopulationGroup("any", 1.0),)
    depths: tuple[PopulationGroup, ...] = (PopulationGroup("any", 1.0),)
    internal_links: LinkYield | None = None
    external_links: LinkYield | None = None
