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
from freshet.core.tables import BoolArray, ChoiceTable, HostCaps, PageIdArray, PageTable, VisitTable
from freshet.core.types import IndexArray

WARM_UP_CYCLES = 2


class Selector(Protocol):
    """What the simulated crawl asks of a policy; a policy that looks at the truth need not more."""

    name: str

    def add(self, pages: PageTable) -> None:
        """Take pages into account."""
        ...

    def learn(self, visits: VisitTable) -> None:
        """Take in what visits found."""
        ...

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return at most k pages worth a visit now, best first."""
        ...


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """Changes that visits found or copies miss, one by one, and the new links among them.

    A page that changed in three cycles since its last visit counts for three changes. ``waited_cycles`` is
    for how many cycles they had waited, in sum. ``new_links`` is None where the trace knows no links.
    """

    changes: int = 0
    waited_cycles: int = 0
    new_links: int | None = None


@dataclass(frozen=True, slots=True)
class CycleResult:
    """What a cycle's visits found; the arrays are the crawl's own and move on with it.

    ``visited_pages`` are the visited pages, best first, and ``changed`` whether each had changed.
    ``stale_before`` counts the pages that a visit would have found changed; ``stale`` says which
    copies differ from their page after the visits, and ``stale_since`` the cycle of the first change that
    such a copy misses. ``found_changes`` are the changes that the visits found, ``missed_changes`` those that no
    visit has found so far.
    """

    number: int
    visited_pages: PageIdArray
    changed: BoolArray
    stale_before: int
    stale: BoolArray
    stale_since: IndexArray
    found_changes: ChangeCounts
    missed_changes: ChangeCounts


class CycleCopies:
    """The copies of a trace's pages that a crawl keeps, and the changes that each misses."""

    def __init__(self, trace: Trace) -> None:
        pages = len(trace.pages)
        self._trace = trace
        self.stale: BoolArray = np.zeros(pages, np.bool_)
        self.stale_since: IndexArray = np.zeros(pages, np.int32)
        self.stale_count = 0
        self._counts = np.zeros(pages, np.int32)
        self._cycles = np.zeros(pages, np.int64)
        self._new_links = trace.new_links
        self._links = None if self._new_links is None else np.zeros(pages, np.int32)
        self._changes = self._sum = self._waiting_links = 0

    def apply_changes(self, number: int) -> None:
        """Let the pages change as they do in a cycle."""
        bits = np.asarray(self._trace.changed_bits[number])
        columns = (self.stale_since, self._counts, self._cycles)
        changes, more = kernels.apply_changes(bits, number, self.stale, columns)
        self.stale_count += more
        self._changes += changes
        self._sum += changes * number
        if self._links is not None and self._new_links is not None:
            self._links += self._new_links[number]
            self._waiting_links += int(self._new_links[number].sum(dtype=np.int64))

    def refresh(self, pages: PageIdArray, number: int) -> tuple[VisitTable, ChangeCounts]:
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
        visits = look_table(pages, float(number * CYCLE_SECONDS), stale, new_links=links)
        return visits, ChangeCounts(changes, changes * number - total, found_links)

    def missed_changes(self, number: int) -> ChangeCounts:
        """Return the changes that no visit has found by a cycle."""
        links = None if self._links is None else self._waiting_links
        return ChangeCounts(self._changes, self._changes * number - self._sum, links)


def visits_per_cycle(share: float, pages: int) -> int:
    """Return how many pages a share of them is, at least one.

    >>> visits_per_cycle(0.05, 412), visits_per_cycle(0.05, 3)
    (20, 1)
    """
    return max(1, int(share * pages + 1e-9))


def crawl_in_cycles(trace: Trace, policy: Selector, k: int) -> Iterator[CycleResult]:
    """Yield what each cycle's k visits found, warm-up left out, letting the policy learn."""
    policy.add(trace.pages)
    copies = CycleCopies(trace)
    for number in range(trace.cycles):
        copies.apply_changes(number)
        before = copies.stale_count
        chosen = _chosen(trace, policy, number, k)
        visits, finds = copies.refresh(chosen, number)
        policy.learn(visits)
        if number >= WARM_UP_CYCLES:
            missed = copies.missed_changes(number)
            found = visits.changed
            yield CycleResult(
                number, chosen, found, before, copies.stale, copies.stale_since, finds, missed
            )


def _chosen(trace: Trace, policy: Selector, number: int, k: int) -> PageIdArray:
    if number < WARM_UP_CYCLES:
        return trace.pages.ids
    return policy.choose(cycle_time(number), k, HostCaps()).pages


def cycle_time(number: int) -> datetime:
    """Return the time at which a cycle's visits are made.

    >>> cycle_time(1).isoformat()
    '1970-01-02T00:00:00+00:00'
    """
    return from_epoch(number * CYCLE_SECONDS)


def look_table(
    pages: PageIdArray,
    seconds: float,
    changed: BoolArray,
    *,
    measured: BoolArray | None = None,
    new_links: IndexArray | None = None,
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
