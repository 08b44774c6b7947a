"""A race in continuous time: policies visit the same changing pages on the same budget.

Each racer keeps copies of its own and is scored on the truth, which no policy sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from freshet.core.clock import from_epoch, to_epoch
from freshet.core.tables import DAY_SECONDS, Caps, PageTable, Truths
from freshet.core.types import Floats
from freshet.simulate.loop import Chooser, looks

NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Truth:
    """When each page truly changes (epoch seconds, ascending), and which seem to at every look.

    ``times[starts[i]:starts[i + 1]]`` are those of the i-th page of ``pages``.
    """

    pages: PageTable
    starts: NDArray[np.int64]
    times: Floats
    noisy: Truths

    def next_change(self, place: int, after: float) -> float:
        """Return the time of a page's first change after a moment."""
        first, end = int(self.starts[place]), int(self.starts[place + 1])
        at = first + int(np.searchsorted(self.times[first:end], after, side="right"))
        return float(self.times[at]) if at < end else NEVER


@dataclass(frozen=True, slots=True)
class Standing:
    """How a racer stands: ``freshness`` is the mean since the start, ``fresh_now`` at this moment.

    Both are shares of the pages by importance; a page without a copy is not fresh.
    """

    policy: str
    visits: int
    changes_found: int
    freshness: float
    fresh_now: float


def truth(
    pages: PageTable, change_times: Sequence[Floats], *, noisy: Truths | None = None
) -> Truth:
    """Return the truth about pages from each one's change times."""
    counts = [len(times) for times in change_times]
    return Truth(
        pages=pages,
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        times=np.concatenate([np.empty(0), *(np.sort(times) for times in change_times)]),
        noisy=np.zeros(len(pages), np.bool_) if noisy is None else noisy,
    )


class Copies:
    """The copies of a truth's pages that a crawl keeps, and for how long they were fresh.

    Shares are by importance; a page without a copy is not fresh.
    """

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._weights = truth.pages.importance / truth.pages.importance.sum()
        self._taken = np.full(len(truth.pages), NEVER)
        self._stale_at = np.full(len(truth.pages), NEVER)
        self._fresh_seconds = 0.0

    def exist(self, places: NDArray[np.int64]) -> Truths:
        """Return which pages, by their places in the truth, have a copy."""
        kept: Truths = self._taken[places] < NEVER
        return kept

    def take(self, places: NDArray[np.int64], moment: float) -> Truths:
        """Replace pages' copies by what the pages are at a moment; say which were stale."""
        stale: Truths = self._stale_at[places] <= moment
        self._fresh_seconds += float(self._weights[places] @ self._lived(moment)[places])
        self._taken[places] = moment
        self._stale_at[places] = [self._truth.next_change(place, moment) for place in places]
        return stale

    def fresh_seconds(self, now: float) -> float:
        """Return for how long, in the mean, the copies were fresh by now."""
        return self._fresh_seconds + float(self._weights @ self._lived(now))

    def fresh_share(self, now: float) -> float:
        """Return the share of the pages whose copies are fresh now."""
        return float(self._weights @ ((self._taken <= now) & (self._stale_at > now)))

    def _lived(self, now: float) -> Floats:
        """Return for how long each copy was fresh between being taken and now."""
        lived: Floats = np.maximum(0.0, np.minimum(self._stale_at, now) - self._taken)
        return lived


class Racer:
    """A policy that visits pages at an even pace, ``at_once`` of them each time."""

    def __init__(
        self,
        policy: Chooser,
        truth: Truth,
        budget_per_day: float,
        start: datetime,
        *,
        at_once: int = 1,
    ) -> None:
        self._policy = policy
        self._truth = truth
        self._at_once = at_once
        self._pause = at_once * DAY_SECONDS / budget_per_day
        self._start = to_epoch(start)
        self._now = self._start
        self._turns = self.visits = self.changes_found = 0
        self._place = {page: place for place, page in enumerate(truth.pages.ids.tolist())}
        self._copies = Copies(truth)
        policy.add(truth.pages)

    def advance(self, until: datetime) -> Standing:
        """Make every visit that falls due up to a moment, and say how the race stands then."""
        end = to_epoch(until)
        while (turn := self._start + self._turns * self._pause) <= end:
            self._turns += 1
            self.visit(turn)
        self._now = max(self._now, end)
        return self.standing()

    def standing(self) -> Standing:
        """Say how the race stands at the moment it was advanced to."""
        passed, now = self._now - self._start, self._copies.fresh_share(self._now)
        return Standing(
            policy=self._policy.name,
            visits=self.visits,
            changes_found=self.changes_found,
            freshness=self._copies.fresh_seconds(self._now) / passed if passed > 0 else now,
            fresh_now=now,
        )

    def visit(self, now: float) -> None:
        """Let the policy choose, look at those pages, and let it learn what they showed."""
        chosen = self._policy.choose(from_epoch(now), self._at_once, Caps()).pages
        places = np.array([self._place[page] for page in chosen.tolist()], np.int64)
        seen_before = self._copies.exist(places)
        changed = self._copies.take(places, now)
        self.visits += len(places)
        self.changes_found += int(np.count_nonzero(changed))
        found = seen_before & (changed | self._truth.noisy[places])
        self._policy.learn(looks(chosen, now, found, measured=seen_before))
