"""Freshet's crawl against simulated rivals, all scored on the truth about the same pages."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from freshet.backtest.continuous import CrawlerScore, TimedCopies
from freshet.core.clock import to_epoch
from freshet.demo.baseline_crawler import BaselineCrawler
from freshet.demo.demo_collection import DemoCollection
from freshet.schedule.policies import make_policy

FRESHET = "freshet"
BASELINE_POLICIES = ("age", "nutch")
SCORING_DELAY = timedelta(days=1)


class DemoScoreboard:
    """How Freshet and its rivals stand; freshness counts from when all have met the pages."""

    def __init__(
        self, stage: DemoCollection, start: datetime, end: datetime, budget_per_day: int
    ) -> None:
        self._stage = stage
        self._start = start
        self._end = end
        self._copies = TimedCopies(stage.ground_truth())
        self._rivals = [
            BaselineCrawler(make_policy(name, live=True), stage, budget_per_day, start)
            for name in BASELINE_POLICIES
        ]
        self._visits = self._found = 0
        self._line = start
        self._before: tuple[CrawlerScore, ...] = ()

    def record_visit(self, page: int, taken: float | None) -> bool:
        """Count a visit of Freshet's; say whether the copy that it took, if any, was news."""
        self._visits += 1
        if taken is None or taken > to_epoch(self._end):
            return False
        place = np.array([self._stage.web_indices[page]])
        is_news = bool(self._copies.refresh(place, taken)[0])
        self._found += is_news
        return is_news

    def scores(self, now: datetime) -> tuple[CrawlerScore, ...]:
        """Return how all stand at a moment, Freshet first; the race ends with the web's time."""
        now = min(now, self._end)
        found = (self._freshet(now), *(rival.advance(now) for rival in self._rivals))
        if not self._before and now >= self._start + SCORING_DELAY:
            self._line, self._before = now, found
        if not self._before or now == self._line:
            return found
        pairs = zip(found, self._before, strict=True)
        return tuple(self._since_line(each, before, now) for each, before in pairs)

    def _freshet(self, now: datetime) -> CrawlerScore:
        seconds = to_epoch(now)
        passed = (now - self._start).total_seconds()
        return CrawlerScore(
            policy=FRESHET,
            visits=self._visits,
            changes_found=self._found,
            freshness=self._copies.fresh_seconds(seconds) / passed if passed > 0 else 0.0,
            fresh_now=self._copies.fresh_share(seconds),
        )

    def _since_line(self, each: CrawlerScore, before: CrawlerScore, now: datetime) -> CrawlerScore:
        """Return a standing whose freshness is the mean since the line."""
        head, whole = self._line - self._start, now - self._start
        fresh = each.freshness * whole - before.freshness * head
        return replace(each, freshness=fresh / (whole - head))
