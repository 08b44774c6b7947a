"""The simulated crawl: a policy visits the pages of a trace, cycle by cycle, and learns.

It follows Santos et al. 2015 (GP4C), section 5.2: in the first cycles every page is visited, then
the policy chooses k pages at the start of each cycle. A visit finds a change if any cell since the
page's previous visit is changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np

from freshet.backtest.kernels import copies as kernels
from freshet.backtest.trace import Trace
from freshet.core.clock import CYCLE_SECONDS, from_epoch
from freshet.core.tables import Caps, Choices, PageIds, PageTable, Truths, VisitTable
from freshet.core.types import Indices

WARM_UP = 2


class Chooser(Protocol):
    """What the simulated crawl asks of a policy; a policy that looks at the truth need not more."""

    name: str

    def add(self, pages: PageTable) -> None:
        """Take pages into account."""
        ...

    def learn(self, visits: VisitTable) -> None:
        """Take in what visits found."""
        ...

    def choose(self, now: datetime, k: int, caps: Caps) -> Choices:
        """Return at most k pages worth a visit now, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Finds:
    """Changes that visits found or copies miss, one by one, and the new links among them.

    A page that changed in three cycles since its last visit counts for three changes. ``waited`` is
    for how many cycles they had waited, in sum. ``links`` is None where the trace knows no links.
    """

    changes: int = 0
    waited: int = 0
    links: int | None = None


@dataclass(frozen=True, slots=True)
class Cycle:
    """What a cycle's visits found; the arrays are the crawl's own and move on with it.

    ``chosen`` are the visited pages, best first, and ``found`` whether each had changed.
    ``stale_before`` counts the pages that a visit would have found changed; ``stale`` says which
    copies differ from their page after the visits, and ``since`` the cycle of the first change that
    such a copy misses. ``finds`` are the changes that the visits found, ``missed`` those that no
    visit has found so far.
    """

    number: int
    chosen: PageIds
    found: Truths
    stale_before: int
    stale: Truths
    since: Indices
    finds: Finds
    missed: Finds


class Copies:
    """The copies of a trace's pages that a crawl keeps, and the changes that each misses."""

    def __init__(self, trace: Trace) -> None:
        pages = len(trace.pages)
        self._trace = trace
        self.stale: Truths = np.zeros(pages, np.bool_)
        self.since: Indices = np.zeros(pages, np.int32)
        self.stale_count = 0
        self._counts = np.zeros(pages, np.int32)
        self._cycles = np.zeros(pages, np.int64)
        self._new_links = trace.new_links
        self._links = None if self._new_links is None else np.zeros(pages, np.int32)
        self._changes = self._sum = self._waiting_links = 0

    def pass_cycle(self, number: int) -> None:
        """Let the pages change as they do in a cycle."""
        bits = np.asarray(self._trace.changed_bits[number])
        columns = (self.since, self._counts, self._cycles)
        changes, more = kernels.change(bits, number, self.stale, columns)
        self.stale_count += more
        self._changes += changes
        self._sum += changes * number
        if self._links is not None and self._new_links is not None:
            self._links += self._new_links[number]
            self._waiting_links += int(self._new_links[number].sum(dtype=np.int64))

    def take(self, pages: PageIds, number: int) -> tuple[VisitTable, Finds]:
        """Replace pages' copies; return the looks and what they found."""
        stale, counts, cycles = self.stale[pages], self._counts[pages], self._cycles[pages]
        links = None if self._links is None else self._links[pages]
        changes, total = int(counts.sum(dtype=np.int64)), int(cycles.sum())
        found_links = None if links is None else int(links.sum(dtype=np.int64))
        self.stale_count -= int(np.count_nonzero(stale))
        self._changes -= changes
        self._sum -= total
        self._waiting_links -= found_links or 0
        for column in (self.stale, self._counts, self._cycles, self._links):
            if column is not None:
                column[pages] = 0
        visits = looks(pages, float(number * CYCLE_SECONDS), stale, new_links=links)
        return visits, Finds(changes, changes * number - total, found_links)

    def missed(self, number: int) -> Finds:
        """Return the changes that no visit has found by a cycle."""
        links = None if self._links is None else self._waiting_links
        return Finds(self._changes, self._changes * number - self._sum, links)


def visits_per_cycle(share: float, pages: int) -> int:
    """Return how many pages a share of them is, at least one.

    >>> visits_per_cycle(0.05, 412), visits_per_cycle(0.05, 3)
    (20, 1)
    """
    return max(1, int(share * pages + 1e-9))


def crawl(trace: Trace, policy: Chooser, k: int) -> Iterator[Cycle]:
    """Yield what each cycle's k visits found, warm-up left out, letting the policy learn."""
    policy.add(trace.pages)
    copies = Copies(trace)
    for number in range(trace.cycles):
        copies.pass_cycle(number)
        before = copies.stale_count
        chosen = _chosen(trace, policy, number, k)
        visits, finds = copies.take(chosen, number)
        policy.learn(visits)
        if number >= WARM_UP:
            missed = copies.missed(number)
            found = visits.changed
            yield Cycle(number, chosen, found, before, copies.stale, copies.since, finds, missed)


def _chosen(trace: Trace, policy: Chooser, number: int, k: int) -> PageIds:
    if number < WARM_UP:
        return trace.pages.ids
    return policy.choose(moment(number), k, Caps()).pages


def moment(number: int) -> datetime:
    """Return the time at which a cycle's visits are made.

    >>> moment(1).isoformat()
    '1970-01-02T00:00:00+00:00'
    """
    return from_epoch(number * CYCLE_SECONDS)


def looks(
    pages: PageIds,
    seconds: float,
    changed: Truths,
    *,
    measured: Truths | None = None,
    new_links: Indices | None = None,
) -> VisitTable:
    """Return looks at pages, all at one time, that found them changed or not."""
    count = len(pages)
    return VisitTable(
        pages=pages,
        times=np.full(count, seconds),
        looks=np.ones(count, np.bool_),
        measured=np.ones(count, np.bool_) if measured is None else measured,
        changed=changed,
        new_links=np.full(count, -1, np.int32) if new_links is None else new_links,
    )
