"""Pages, visits and choices as columns: the input and output of policies.

Hosts, sites and directories are 64-bit hashes (``hash_name``), so that no policy holds texts; times
are epoch seconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from freshet.core.humanize import duration_text, quantity_text
from freshet.core.types import FloatArray, HashArray, IndexArray, PageChoice

PageIdArray = NDArray[np.int64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

NO_VISIT_LIMIT = 1 << 31
HOUR_SECONDS, DAY_SECONDS = 3_600.0, 86_400.0
NEVER_SEEN_REASON = "nothing seen yet"
MIN_REGULAR_LOOKS, REGULAR_CHANCE = 10, 0.9
SENTINEL_REASON = "to learn whether its site has changed"


def hash_name(name: str) -> int:
    """Return the 64-bit hash of a host, site or directory.

    >>> hash_name("example.org") == hash_name("example.org") != hash_name("example.com")
    True
    """
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def hash_names(names: Sequence[str]) -> HashArray:
    """Return the hashes of many names."""
    hashes = {name: hash_name(name) for name in set(names)}
    return np.array([hashes[name] for name in names], np.uint64)


@dataclass(frozen=True, slots=True)
class PageTable:
    """Pages to be added to a policy.

    ``known_since`` is the time from which a page is known without a look at it (the start of a
    trace). It is NaN if the first look is only the reference, as in a live collection.
    """

    ids: PageIdArray
    hosts: HashArray
    sites: HashArray
    directories: HashArray
    importance: FloatArray
    known_since: FloatArray

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class VisitTable:
    """Visits to learn from; those of one page are in time order.

    ``looks`` says which visits showed the content, ``measured`` which were compared with the look
    before, and ``changed`` which found a change. ``new_links`` is -1 if it is not known.
    """

    pages: PageIdArray
    times: FloatArray
    looks: BoolArray
    measured: BoolArray
    changed: BoolArray
    new_links: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.pages)


ColumnTable = TypeVar("ColumnTable", PageTable, VisitTable)


def concatenate_tables(tables: Sequence[ColumnTable]) -> ColumnTable:
    """Return the rows of all tables, at least one, in one table."""
    columns = (column.name for column in fields(tables[0]))
    return type(tables[0])(
        *(np.concatenate([getattr(table, name) for table in tables]) for name in columns)
    )


@dataclass(frozen=True, slots=True)
class PageDayTable:
    """The changes of pages by day, a row per page and day (days since 1970).

    ``pages`` are indices into ``urls``, ``parts`` and, if given, ``importance``, which hold a value
    per page. ``new_links`` is -1 if it is not known. ``change_times`` are the moments of changes
    within the day in epoch seconds, NaN where they are not known. ``page_links`` is the number of
    links that a page has, -1 if it is not known.
    """

    pages: IndexArray
    days: IndexArray
    changed: BoolArray
    urls: tuple[str, ...]
    parts: tuple[str, ...]
    new_links: IndexArray | None = None
    importance: FloatArray | None = None
    change_times: FloatArray | None = None
    page_links: IndexArray | None = None

    def __len__(self) -> int:
        return len(self.pages)


@dataclass(frozen=True, slots=True)
class HostCaps:
    """How many visits each host may have in one choice, and which pages may have none.

    Hosts that are not named may have ``default_limit`` visits.
    """

    hosts: HashArray = field(default_factory=lambda: np.empty(0, np.uint64))
    limits: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    default_limit: int = NO_VISIT_LIMIT
    excluded_pages: PageIdArray = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class ChoiceTable:
    """Pages worth a visit now, best first; a chance is NaN if the policy has none.

    ``ages`` are the days since each page's last look, infinite if it had none. ``exploratory``
    pages are chosen for what their visits teach, beyond their own value; None if there are none.
    ``choosers`` are the names of the mixed policies that chose the pages, empty for the main one;
    None if the policy mixes none. ``new_links`` are the expected numbers of new links; None if the
    policy does not forecast them.
    """

    pages: PageIdArray
    values: FloatArray
    chances: FloatArray
    ages: FloatArray
    exploratory: BoolArray | None = None
    choosers: tuple[str, ...] | None = None
    new_links: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.pages)

    def __iter__(self) -> Iterator[PageChoice]:
        count = len(self.pages)
        columns = (self.pages, self.values, self.chances, self.ages)
        exploratory = [False] * count if self.exploratory is None else self.exploratory.tolist()
        choosers = ("",) * count if self.choosers is None else self.choosers
        links = [None] * count if self.new_links is None else self.new_links.tolist()
        rows = zip(
            *(column.tolist() for column in columns), exploratory, choosers, links, strict=True
        )
        for page, value, chance, age, is_exploratory, chooser, new_links in rows:
            reason = choice_reason(
                chance, age, chooser, is_exploratory=is_exploratory, new_links=new_links
            )
            yield PageChoice(page, value, reason, is_exploratory)


def choice_reason(
    chance: float,
    age_days: float,
    chooser: str = "",
    *,
    is_exploratory: bool = False,
    new_links: float | None = None,
) -> str:
    """Say why a page was chosen.

    >>> choice_reason(0.5, 2.0), choice_reason(float("nan"), float("inf"))
    ('changed with probability 0.5, last seen 2 days ago', 'nothing seen yet')
    >>> choice_reason(0.5, 2.0, is_exploratory=True)
    'changed with probability 0.5, last seen 2 days ago; to learn whether its site has changed'
    >>> choice_reason(0.5, 2.0, "nutch")
    'changed with probability 0.5, last seen 2 days ago; chosen by nutch'
    >>> choice_reason(float("nan"), 2.0, new_links=3.14)
    '3.1 new links expected, last seen 2 days ago'
    """
    if age_days == float("inf"):
        return NEVER_SEEN_REASON
    chance_text = "" if chance != chance else f"changed with probability {chance:.2g}, "
    links_text = "" if new_links is None else f"{quantity_text(new_links)} new links expected, "
    reason = f"{chance_text}{links_text}last seen {duration_text(age_days)} ago"
    if chooser:
        return f"{reason}; chosen by {chooser}"
    return f"{reason}; {SENTINEL_REASON}" if is_exploratory else reason


@dataclass(frozen=True, slots=True)
class FormulaEvaluation:
    """The score of a page by a formula, with the value of each variable of the formula."""

    formula: str
    names: Mapping[str, float]
    score: float


@dataclass(frozen=True, slots=True)
class SharedEventReport:
    """A time from which many pages of one host were found changed, as by a release of the site.

    ``looked`` pages were looked at after ``since`` (epoch seconds), and ``changed`` of them had
    changed. ``chance`` is the probability that the event has changed the explained page and no look
    at the page has shown it yet; ``is_seen`` says whether a look probably has.
    """

    since: float
    looked: int
    changed: int
    chance: float
    is_seen: bool


@dataclass(frozen=True, slots=True)
class PolicyExplanation:
    """Why a page has its place in the plan; a figure is None if the policy has none.

    Rates are the page's own changes a day: the median, and the bounds of the 90 % interval.
    ``host_looks`` and ``host_changes`` are the compared looks at all pages of its host, and those
    that found a change. ``event_rate`` is the mean number of shared events a day on that host, and
    ``event_hazard`` the expected number since the page's last look. ``regular_chance`` is the
    probability that the page changes regularly and not at random moments. ``exploration_value`` is
    what a visit teaches about other pages, in units of the value. ``clock`` is how fast the page's
    directory has been changing since its last look, relative to its usual pace; only formulas use
    it. ``weights`` are the shares of visits of mixed policies, by name. ``publication_hours`` are
    the hours of the day (UTC) at which the pages of its host change far more than at others.
    ``learned_factor`` multiplies the value: how much likelier a learned model finds a change.
    ``new_links`` is the number of new links that a look now is expected to find, ``link_rate`` the
    expected number a day, and ``prior_link_rate`` the same for pages of the same host.
    ``waiting_posts`` is the number of posts that a look at a thread now is expected to find.

    ``due`` is the time (epoch seconds) at which the page's value reaches the multiplier, by what is
    known now; if it is None, the page is visited only if budget is left. ``change_days`` is the
    time after a look by which a change of the page's own is 63 % likely (1 - 1/e, as for a page
    that changes every so many days), and ``prior_change_days`` the same for pages like it.
    """

    page: int
    policy: str
    looks: int
    changes: int
    value: float
    multiplier: float
    age_days: float
    look_chance: float
    not_before: float
    chance: float | None = None
    event_hazard: float | None = None
    event_rate: float | None = None
    shared_event: SharedEventReport | None = None
    rate: float | None = None
    rate_low: float | None = None
    rate_high: float | None = None
    prior_rate: float | None = None
    host_looks: int | None = None
    host_changes: int | None = None
    clock: float | None = None
    due: float | None = None
    reckoning: FormulaEvaluation | None = None
    change_days: float | None = None
    prior_change_days: float | None = None
    regular_chance: float | None = None
    exploration_value: float = 0.0
    weights: Mapping[str, float] | None = None
    publication_hours: tuple[int, ...] = ()
    learned_factor: float = 1.0
    new_links: float | None = None
    link_rate: float | None = None
    prior_link_rate: float | None = None
    waiting_posts: float | None = None

    @property
    def is_regular(self) -> bool:
        """Whether the page's looks show that it changes regularly."""
        return self.looks >= MIN_REGULAR_LOOKS and (self.regular_chance or 0.0) > REGULAR_CHANCE

    @property
    def is_sentinel(self) -> bool:
        """Whether the page is worth a visit only for what the visit teaches about other pages."""
        return self.value < self.multiplier <= self.value + self.exploration_value

    @property
    def readiness(self) -> int | None:
        """The value on a scale from 0 to 100, where 100 is worth a visit now; None if never seen.

        >>> PolicyExplanation(1, "age", 3, 1, 0.5, 2.0, 1.0, 1.0, 0.0).readiness
        25
        """
        if self.age_days == float("inf") or not self.multiplier > 0:
            return None
        return round(100 * min(1.0, max(0.0, self.value / self.multiplier)))
