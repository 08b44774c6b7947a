"""The simulated crawl of a formula, in which pages with the same past are one class.

What a formula knows of a page follows from its past looks alone, so pages with the same past have
the same score: it is computed once for each of some thousand classes and not for each of hundreds
of thousands of pages. Choices are those that a policy makes with the same seed: whole classes by
their score, and within the last score that finds room the pages that draw the lowest lots.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import Truths
from freshet.core.types import Floats
from freshet.simulate.classes import kernels
from freshet.simulate.loop import WARM_UP
from freshet.simulate.trace import Trace

Rank = Callable[[Mapping[str, Floats], int], Floats]
LotKey = Callable[[int], np.uint64]
Ints = NDArray[np.int64]


class Memory(Protocol):
    """Keeps what a formula knows of pages, a row of numbers for each class."""

    def rows(self, count: int) -> Floats:
        """Return rows of pages that were never looked at."""
        ...

    def after(self, rows: Floats, gaps: Floats, changed: Truths) -> Floats:
        """Return rows after one more look each."""
        ...

    def told(self, rows: Floats, ages: Floats) -> Mapping[str, Floats]:
        """Return what every name stands for."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
    """What a cycle's visits found, and what there was to find.

    ``gain`` is the discounted gain of the changes found, in the mean over the order of pages with
    equal scores; ``stale_before`` and ``stale_after`` count the copies that differ from their page.
    """

    number: int
    found: int
    gain: float
    stale_before: int
    stale_after: int


@dataclass(frozen=True, slots=True)
class _Classes:
    """Classes as columns: their members from ``starts`` to ``ends``, ``seen`` in which cycle."""

    starts: Ints
    ends: Ints
    seen: Ints
    rows: Floats

    def only(self, kept: NDArray[Any]) -> "_Classes":
        return _Classes(self.starts[kept], self.ends[kept], self.seen[kept], self.rows[kept])

    def with_more(self, others: "_Classes") -> "_Classes":
        return _Classes(
            np.concatenate([self.starts, others.starts]),
            np.concatenate([self.ends, others.ends]),
            np.concatenate([self.seen, others.seen]),
            np.concatenate([self.rows, others.rows]),
        )


class ClassCrawl:
    """A crawl of a trace with k visits a cycle, ranked by scores of what a memory tells.

    ``key(cycle)`` gives what the lots of a cycle are drawn with, ``discounts`` the weights of the
    places in a cycle's order; without any, gains are not computed.
    """

    def __init__(
        self, trace: Trace, memory: Memory, k: int, key: LotKey, discounts: Floats | None = None
    ) -> None:
        self._trace = trace
        self._memory = memory
        self._k = min(k, len(trace.pages))
        self._key = key
        self._gains = None if discounts is None else np.concatenate([[0.0], np.cumsum(discounts)])
        pages, later = len(trace.pages), max(0, trace.cycles - WARM_UP)
        self._members = np.empty((1 + WARM_UP) * pages + later * self._k, np.int32)
        self._filled = 0
        self._stale = np.zeros(0, np.uint8)

    def run(self, rank: Rank) -> Iterator[Tally]:
        """Yield what each cycle after the warm-up found."""
        pages = len(self._trace.pages)
        self._members[:pages] = np.arange(pages, dtype=np.int32)
        self._filled = pages
        self._stale = np.zeros_like(self._trace.changed_bits[0])
        one = np.zeros(1, np.int64)
        classes = _Classes(one, one + pages, one - 1, self._memory.rows(1))
        for number in range(self._trace.cycles):
            self._stale |= self._trace.changed_bits[number]
            before = self._count_stale()
            if number < WARM_UP:
                classes, _ = self._visit(classes, classes.ends - classes.starts, number)
                continue
            ages = (number - classes.seen).astype(np.float64)
            scores = rank(self._memory.told(classes.rows, ages), len(ages))
            order = np.argsort(-scores, kind="stable")
            taken = self._chosen(classes, scores, order, number)
            classes, found = self._visit(classes, taken, number)
            gain = self._gain(scores[order], taken[order], found[order])
            yield Tally(number, int(found.sum()), gain, before, self._count_stale())

    def _count_stale(self) -> int:
        return int(np.bitwise_count(self._stale).sum())

    def _chosen(self, classes: _Classes, scores: Floats, order: Ints, number: int) -> Ints:
        """Return how many members of each class are visited, and put those first."""
        sizes = classes.ends - classes.starts
        reached = np.cumsum(sizes[order])
        lowest = scores[order[np.searchsorted(reached, self._k)]]
        taken = np.where(scores > lowest, sizes, 0)
        level = np.flatnonzero(scores == lowest)
        missing = self._k - int(taken.sum())
        if missing == sizes[level].sum():
            taken[level] = sizes[level]
            return taken
        starts, ends = classes.starts[level], classes.ends[level]
        key = self._key(number)
        highest = np.uint64(kernels.lowest_lots(self._members, starts, ends, missing, key))
        taken[level] = kernels.draw(self._members, starts, ends, highest, key)
        return taken

    def _visit(self, classes: _Classes, taken: Ints, number: int) -> tuple[_Classes, Ints]:
        """Visit the first members of each class; return the classes after that, and the finds."""
        visited = np.flatnonzero(taken)
        chosen, count = classes.only(visited), taken[visited]
        hits = kernels.split(self._members, chosen.starts, count, self._stale)
        children = self._children(chosen, hits, count, number)
        found = np.zeros_like(taken)
        found[visited] = hits
        left = replace(classes, starts=classes.starts + taken)
        return left.only(left.ends > left.starts).with_more(children), found

    def _children(self, chosen: _Classes, hits: Ints, count: Ints, number: int) -> _Classes:
        """Return the classes of the visited members, equal pasts joined."""
        middle = chosen.starts + hits
        starts = np.concatenate([chosen.starts, middle])
        ends = np.concatenate([middle, chosen.starts + count])
        some = np.flatnonzero(ends > starts)
        parents = some % len(hits)
        gaps = (number - chosen.seen[parents]).astype(np.float64)
        rows = self._memory.after(chosen.rows[parents], gaps, some < len(hits))
        numbers, firsts = kernels.alike(rows)
        bounds = kernels.join(
            self._members, starts[some], ends[some], numbers, len(firsts), self._filled
        )
        self._filled = int(bounds[-1])
        return _Classes(bounds[:-1], bounds[1:], np.full(len(firsts), number), rows[firsts])

    def _gain(self, scores: Floats, taken: Ints, found: Ints) -> float:
        """Return the discounted gain of classes in order, in the mean over equal scores."""
        if self._gains is None:
            return 0.0
        firsts = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
        sizes = np.add.reduceat(taken, firsts)
        hits = np.add.reduceat(found, firsts)
        ends = np.cumsum(sizes)
        gains = self._gains[ends] - self._gains[ends - sizes]
        return float(hits @ (gains / np.maximum(sizes, 1)))
