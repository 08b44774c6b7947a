"""Simulated crawl in cycles: a policy visits the pages of a trace and learns from its visits.

Santos et al. 2015 (GP4C), section 5.2: the first cycles visit every page, then the policy selects k
pages at the start of each cycle. A visit finds a change if any cell since the previous visit of the
page is changed.
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
    """Interface between the simulated crawl and a policy; oracles implement no more than this."""

    name: str

    def add(self, pages: PageTable) -> None:
        """Add pages."""
        ...

    def learn(self, visits: VisitTable) -> None:
        """Update with the results of visits."""
        ...

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        """Return at most k pages worth visiting now, best first."""
        ...


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """Number of changes, of the cycles they waited for a visit, and of new links.

    A page that changed in three cycles since its last visit counts as three changes. ``new_links``
    is None if the trace has no link counts.
    """

    changes: int = 0
    waited_cycles: int = 0
    new_links: int | None = None


@dataclass(frozen=True, slots=True)
class CycleResult:
    """Result of one cycle; the arrays belong to the crawl and change with the next cycle.

    ``visited_pages`` are in the selected order, best first; ``changed`` says whether each had
    changed. ``stale_before`` counts the stale copies before the visits. ``stale`` marks the stale
    copies after the visits, and ``stale_since`` holds the cycle of the first change that a stale
    copy misses. ``missed_changes`` counts the changes that no visit has found so far.
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
    """Stored copies of a trace's pages, and the changes that each copy misses."""

    def __init__(self, trace: Trace) -> None:
        pages = len(trace.pages)
        self._trace = trace
        self.stale: BoolArray = np.zeros(pages, np.bool_)
        self.stale_since: IndexArray = np.zeros(pages, np.int32)
        self.stale_count = 0
        self._change_counts = np.zeros(pages, np.int32)
        self._cycle_sums = np.zeros(pages, np.int64)
        self._links_by_cycle = trace.new_links
        self._link_counts = None if self._links_by_cycle is None else np.zeros(pages, np.int32)
        self._missed_count = self._missed_cycle_sum = self._missed_links = 0

    def apply_changes(self, number: int) -> None:
        """Apply the changes of a cycle to the pages."""
        bits = np.asarray(self._trace.changed_bits[number])
        columns = (self.stale_since, self._change_counts, self._cycle_sums)
        changes, new_stale = kernels.apply_changes(bits, number, self.stale, columns)
        self.stale_count += new_stale
        self._missed_count += changes
        self._missed_cycle_sum += changes * number
        if self._link_counts is not None and self._links_by_cycle is not None:
            self._link_counts += self._links_by_cycle[number]
            self._missed_links += int(self._links_by_cycle[number].sum(dtype=np.int64))

    def refresh(self, pages: PageIdArray, number: int) -> tuple[VisitTable, ChangeCounts]:
        """Replace pages' copies; return the looks and the changes they found."""
        stale = self.stale[pages]
        links = None if self._link_counts is None else self._link_counts[pages]
        changes = int(self._change_counts[pages].sum(dtype=np.int64))
        cycle_sum = int(self._cycle_sums[pages].sum())
        found_links = None if links is None else int(links.sum(dtype=np.int64))
        self.stale_count -= int(np.count_nonzero(stale))
        self._missed_count -= changes
        self._missed_cycle_sum -= cycle_sum
        self._missed_links -= found_links or 0
        for column in (self.stale, self._change_counts, self._cycle_sums, self._link_counts):
            if column is not None:
                column[pages] = 0
        visits = build_visit_table(pages, float(number * CYCLE_SECONDS), stale, new_links=links)
        return visits, ChangeCounts(changes, changes * number - cycle_sum, found_links)

    def missed_changes(self, number: int) -> ChangeCounts:
        """Return the changes that no visit has found by a cycle."""
        links = None if self._link_counts is None else self._missed_links
        return ChangeCounts(
            self._missed_count, self._missed_count * number - self._missed_cycle_sum, links
        )


def visits_per_cycle(share: float, pages: int) -> int:
    """Return the number of pages in a share of them, at least one.

    >>> visits_per_cycle(0.05, 412), visits_per_cycle(0.05, 3)
    (20, 1)
    """
    return max(1, int(share * pages + 1e-9))


def crawl_in_cycles(trace: Trace, policy: Selector, k: int) -> Iterator[CycleResult]:
    """Yield the result of every cycle after the warm-up; the policy learns from its own visits."""
    policy.add(trace.pages)
    copies = CycleCopies(trace)
    for number in range(trace.cycles):
        copies.apply_changes(number)
        stale_before = copies.stale_count
        page_ids = _select_pages(trace, policy, number, k)
        visits, found_changes = copies.refresh(page_ids, number)
        policy.learn(visits)
        if number >= WARM_UP_CYCLES:
            yield CycleResult(
                number=number,
                visited_pages=page_ids,
                changed=visits.changed,
                stale_before=stale_before,
                stale=copies.stale,
                stale_since=copies.stale_since,
                found_changes=found_changes,
                missed_changes=copies.missed_changes(number),
            )


def _select_pages(trace: Trace, policy: Selector, number: int, k: int) -> PageIdArray:
    if number < WARM_UP_CYCLES:
        return trace.pages.ids
    return policy.choose(cycle_time(number), k, HostCaps()).pages


def cycle_time(number: int) -> datetime:
    """Return the time at which a cycle's visits are made.

    >>> cycle_time(1).isoformat()
    '1970-01-02T00:00:00+00:00'
    """
    return from_epoch(number * CYCLE_SECONDS)


def build_visit_table(
    pages: PageIdArray,
    seconds: float,
    changed: BoolArray,
    *,
    measured: BoolArray | None = None,
    new_links: IndexArray | None = None,
) -> VisitTable:
    """Return successful looks at pages, all at one time, with their change flags."""
    count = len(pages)
    return VisitTable(
        pages=pages,
        times=np.full(count, seconds),
        looks=np.ones(count, np.bool_),
        measured=np.ones(count, np.bool_) if measured is None else measured,
        changed=changed,
        new_links=np.full(count, -1, np.int32) if new_links is None else new_links,
    )
