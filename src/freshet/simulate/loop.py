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

from freshet.core.clock import CYCLE_SECONDS, from_epoch
from freshet.core.tables import Caps, Choices, PageIds, PageTable, Truths, VisitTable
from freshet.core.types import Indices
from freshet.simulate.trace import Trace

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
class Cycle:
    """What a cycle's visits found; the arrays are the crawl's own and move on with it.

    ``chosen`` are the visited pages, best first, and ``found`` whether each had changed.
    ``stale_before`` counts the pages that a visit would have found changed; ``stale`` says which
    copies differ from their page after the visits, and ``since`` the cycle of the first change that
    such a copy misses.
    """

    number: int
    chosen: PageIds
    found: Truths
    stale_before: int
    stale: Truths
    since: Indices


def visits_per_cycle(share: float, pages: int) -> int:
    """Return how many pages a share of them is, at least one.

    >>> visits_per_cycle(0.05, 412), visits_per_cycle(0.05, 3)
    (20, 1)
    """
    return max(1, int(share * pages + 1e-9))


def crawl(trace: Trace, policy: Chooser, k: int) -> Iterator[Cycle]:
    """Yield what each cycle's k visits found, warm-up left out, letting the policy learn."""
    policy.add(trace.pages)
    stale = np.zeros(len(trace.pages), np.bool_)
    since = np.zeros(len(trace.pages), np.int32)
    for number in range(trace.cycles):
        changed = trace.changed(number)
        since[changed & ~stale] = number
        stale |= changed
        before = int(np.count_nonzero(stale))
        chosen = _chosen(trace, policy, number, k)
        found = stale[chosen]
        stale[chosen] = False
        policy.learn(looks(chosen, float(number * CYCLE_SECONDS), found))
        if number >= WARM_UP:
            yield Cycle(number, chosen, found, before, stale, since)


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
    pages: PageIds, seconds: float, changed: Truths, *, measured: Truths | None = None
) -> VisitTable:
    """Return looks at pages, all at one time, that found them changed or not."""
    count = len(pages)
    return VisitTable(
        pages=pages,
        times=np.full(count, seconds),
        looks=np.ones(count, np.bool_),
        measured=np.ones(count, np.bool_) if measured is None else measured,
        changed=changed,
        new_links=np.full(count, -1, np.int32),
    )
