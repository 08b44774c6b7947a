"""Simulated crawl in cycles: a policy visits the pages of a trace and learns from its visits.

Santos et al. 2015 (GP4C), section 5.2: the first cycles visit every page, then the policy selects k
pages at the start of each cycle. A visit finds a change if any cell since the previous visit of the
page is changed.

A cold crawl differs: nothing is known at the start, the policy selects k pages from the first cycle
on, and every cycle counts. A page has no copy before its first visit; that visit finds no change,
because there is nothing to compare with.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np

from freshet.backtest.kernels import copies as kernels
from freshet.backtest.trace import Trace, without_history
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
    is None if the trace has no link counts. A page shows at most as many new links as it has links;
    links that no visit can find any more count as missed.
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
    copy misses. ``missed_changes`` counts the changes that no visit has found so far. ``unseen``
    marks the pages without a copy; they are not among the stale ones, and their changes before
    their first visit count neither as found nor as missed.
    """

    number: int
    visited_pages: PageIdArray
    changed: BoolArray
    stale_before: int
    stale: BoolArray
    stale_since: IndexArray
    unseen: BoolArray
    found_changes: ChangeCounts
    missed_changes: ChangeCounts


class CycleCopies:
    """Stored copies of a trace's pages, and the changes that each copy misses.

    In a cold crawl there is no copy at the start.
    """

    def __init__(self, trace: Trace, *, cold: bool = False) -> None:
        pages = len(trace.pages)
        self._trace = trace
        self.stale: BoolArray = np.zeros(pages, np.bool_)
        self.stale_since: IndexArray = np.zeros(pages, np.int32)
        self.stale_count = 0
        self.unseen: BoolArray = np.full(pages, cold)
        self._unseen_count = pages if cold else 0
        self._change_counts = np.zeros(pages, np.int32)
        self._cycle_sums = np.zeros(pages, np.int64)
        self._links_by_cycle = trace.new_links
        self._link_counts = None if self._links_by_cycle is None else np.zeros(pages, np.int32)
        self._most_links = trace.most_links
        self._missed_count = self._missed_cycle_sum = self._missed_links = 0

    def apply_changes(self, number: int) -> None:
        """Apply the changes of a cycle to the pages that have a copy."""
        bits = np.asarray(self._trace.changed_bits[number])
        if self._unseen_count:
            bits = bits & ~np.packbits(self.unseen)
        columns = (self.stale_since, self._change_counts, self._cycle_sums)
        changes, new_stale = kernels.apply_changes(bits, number, self.stale, columns)
        self.stale_count += new_stale
        self._missed_count += changes
        self._missed_cycle_sum += changes * number
        if self._link_counts is not None and self._links_by_cycle is not None:
            links = self._links_by_cycle[number]
            links = np.where(self.unseen, 0, links) if self._unseen_count else links
            self._link_counts += links
            self._missed_links += int(links.sum(dtype=np.int64))

    def refresh(self, pages: PageIdArray, number: int) -> tuple[VisitTable, ChangeCounts]:
        """Replace pages' copies; return the looks and the changes they found."""
        stale, has_copy = self.stale[pages], ~self.unseen[pages]
        links = self._links_shown(pages)
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
        self.unseen[pages] = False
        self._unseen_count -= int(np.count_nonzero(~has_copy))
        visits = build_visit_table(
            pages, float(number * CYCLE_SECONDS), stale, measured=has_copy, new_links=links
        )
        return visits, ChangeCounts(changes, changes * number - cycle_sum, found_links)

    def _links_shown(self, pages: PageIdArray) -> IndexArray | None:
        """Return the new links that pages show now; further ones have come and gone."""
        if self._link_counts is None:
            return None
        links: IndexArray = self._link_counts[pages]
        return links if self._most_links is None else np.minimum(links, self._most_links[pages])

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


def warm_up_cycles(*, cold: bool) -> int:
    """Return the number of first cycles that visit every page and do not count."""
    return 0 if cold else WARM_UP_CYCLES


def crawl_in_cycles(
    trace: Trace, policy: Selector, k: int, *, cold: bool = False
) -> Iterator[CycleResult]:
    """Yield the result of every cycle after the warm-up; the policy learns from its own visits.

    A ``cold`` crawl has no warm-up.
    """
    warm_up = warm_up_cycles(cold=cold)
    policy.add(without_history(trace.pages) if cold else trace.pages)
    copies = CycleCopies(trace, cold=cold)
    for number in range(trace.cycles):
        copies.apply_changes(number)
        stale_before = copies.stale_count
        is_measured = number >= warm_up
        page_ids = _select_pages(policy, number, k) if is_measured else trace.pages.ids
        visits, found_changes = copies.refresh(page_ids, number)
        policy.learn(visits)
        if is_measured:
            yield CycleResult(
                number=number,
                visited_pages=page_ids,
                changed=visits.changed,
                stale_before=stale_before,
                stale=copies.stale,
                stale_since=copies.stale_since,
                unseen=copies.unseen,
                found_changes=found_changes,
                missed_changes=copies.missed_changes(number),
            )


def _select_pages(policy: Selector, number: int, k: int) -> PageIdArray:
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
