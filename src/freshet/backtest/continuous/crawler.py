"""A simulated crawler: a policy visits pages at an even pace and is scored on the ground truth."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from freshet.backtest.continuous.copies import ChangeDetections, TimedCopies
from freshet.backtest.continuous.ground_truth import GroundTruth, index_lookup
from freshet.backtest.continuous.link_arrivals import FoundLinks
from freshet.backtest.cycle_crawl import Selector, build_visit_table
from freshet.backtest.metrics import CrawledPageFigures
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.tables import DAY_SECONDS, HostCaps, PageIdArray

BATCHES_PER_DAY = 24


@dataclass(frozen=True, slots=True)
class CrawlerScore:
    """Score of a crawler: mean freshness since the start, and freshness now.

    Both are shares of the pages weighted by importance; a page without a copy is not fresh.
    """

    policy: str
    visits: int
    changes_found: int
    freshness: float
    fresh_now: float


class SimulatedCrawler:
    """A policy that visits pages at an even pace, ``batch_size`` pages at a time.

    ``importance_found`` is the importance of the changed pages found; the mean of all pages is 1.
    """

    def __init__(
        self,
        policy: Selector,
        truth: GroundTruth,
        budget_per_day: float,
        start: datetime,
        *,
        batch_size: int = 1,
    ) -> None:
        self._policy = policy
        self._truth = truth
        self._batch_size = batch_size
        self._interval = batch_size * DAY_SECONDS / budget_per_day
        self._start = to_epoch(start)
        self._now = self._start
        self._batches_made = self.visits = self.changes_found = 0
        self.importance_found = 0.0
        self._weights = truth.weights / truth.weights.mean()
        self._page_indices = index_lookup(truth.pages.ids)
        self._copies = TimedCopies(truth)
        self._links = None if truth.links is None else FoundLinks(truth.links)
        self._page_visits, self._page_changes = (
            np.zeros(len(truth.pages), np.int32) for _ in range(2)
        )
        policy.add(truth.pages)

    def warm_up(
        self, order: PageIdArray, days: int, *, batches_per_day: int = BATCHES_PER_DAY
    ) -> None:
        """Look at every page once a day before the start; these looks do not count."""
        batches_per_day = min(batches_per_day, len(order))
        batches = np.array_split(order, batches_per_day)
        for batch_number in range(days * batches_per_day):
            seconds_before = days * DAY_SECONDS - batch_number * DAY_SECONDS / batches_per_day
            self._look(batches[batch_number % batches_per_day], self._start - seconds_before)
        self._copies.reset_totals(self._start)
        if self._links is not None:
            self._links.reset_totals()
        self.visits = self.changes_found = 0
        self.importance_found = 0.0
        self._page_visits[:], self._page_changes[:] = 0, 0

    def advance(self, until: datetime) -> CrawlerScore:
        """Make every visit due up to a moment, and return the score then."""
        end = to_epoch(until)
        while (visit_time := self._start + self._batches_made * self._interval) <= end:
            self._batches_made += 1
            self.visit(visit_time)
        self._now = max(self._now, end)
        return self.score()

    def score(self) -> CrawlerScore:
        """Return the score at the moment up to which the crawler has advanced."""
        elapsed, fresh_now = self._now - self._start, self._copies.fresh_share(self._now)
        return CrawlerScore(
            policy=self._policy.name,
            visits=self.visits,
            changes_found=self.changes_found,
            freshness=self._copies.fresh_seconds(self._now) / elapsed if elapsed > 0 else fresh_now,
            fresh_now=fresh_now,
        )

    def found_links(self) -> tuple[int, int] | None:
        """Return the new links found by that moment, and all that appeared; None if not known."""
        return None if self._links is None else (self._links.found, self._links.appeared(self._now))

    def detections(self) -> ChangeDetections:
        """Return the changes found by that moment."""
        return self._copies.detections(self._now)

    def unweighted_fresh_seconds(self) -> float:
        """Return the fresh time by that moment, with equal weights."""
        return self._copies.unweighted_fresh_seconds(self._now)

    def fresh_seconds(self) -> float:
        """Return the fresh time by that moment, weighted by importance."""
        return self._copies.fresh_seconds(self._now)

    def page_figures(self) -> CrawledPageFigures:
        """Return the figures of the pages by that moment."""
        fresh_seconds = self._copies.page_fresh_seconds(self._now)
        elapsed = max(self._now - self._start, 1e-9)
        return CrawledPageFigures(self._page_visits, self._page_changes, fresh_seconds / elapsed)

    def visit(self, now: float) -> None:
        """Let the policy select pages, look at them, and let it learn the results."""
        self._look(self._policy.choose(from_epoch(now), self._batch_size, HostCaps()).pages, now)

    def _look(self, pages: PageIdArray, now: float) -> None:
        page_indices = self._page_indices(pages)
        has_copy = self._copies.exists(page_indices)
        was_stale = self._copies.refresh(page_indices, now)
        links = None if self._links is None else self._links.look(page_indices, now, has_copy)
        self._page_visits[page_indices] += 1
        self._page_changes[page_indices] += was_stale
        self.visits += len(page_indices)
        self.changes_found += int(np.count_nonzero(was_stale))
        self.importance_found += float(self._weights[page_indices] @ was_stale)
        seems_changed = has_copy & (was_stale | self._truth.is_noisy[page_indices])
        self._policy.learn(
            build_visit_table(pages, now, seems_changed, measured=has_copy, new_links=links)
        )
