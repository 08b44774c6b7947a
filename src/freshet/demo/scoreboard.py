"""Scores of Freshet's crawl and of simulated baselines on the ground truth of the same pages."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from freshet.backtest.continuous.copies import TimedCopies
from freshet.backtest.continuous.crawler import CrawlerScore
from freshet.core.clock import to_epoch
from freshet.demo.baseline_crawler import BaselineCrawler
from freshet.demo.demo_collection import DemoCollection
from freshet.schedule.policies import make_policy

FRESHET = "freshet"
BASELINE_POLICIES = ("age", "nutch")
SCORING_DELAY = timedelta(days=1)


class DemoScoreboard:
    """Scores of Freshet and the baselines; freshness counts from the end of the first day."""

    def __init__(
        self, demo_collection: DemoCollection, start: datetime, end: datetime, budget_per_day: int
    ) -> None:
        self._demo_collection = demo_collection
        self._start = start
        self._end = end
        self._copies = TimedCopies(demo_collection.ground_truth())
        self._baselines = [
            BaselineCrawler(make_policy(name, live=True), demo_collection, budget_per_day, start)
            for name in BASELINE_POLICIES
        ]
        self._visits = self._changes_found = 0
        self._scoring_start = start
        self._scores_at_start: tuple[CrawlerScore, ...] = ()

    def record_visit(self, page: int, fetch_time: float | None) -> bool:
        """Count a visit of Freshet; return whether its copy, if any, had really changed."""
        self._visits += 1
        if fetch_time is None or fetch_time > to_epoch(self._end):
            return False
        web_index = np.array([self._demo_collection.web_indices[page]])
        is_news = bool(self._copies.refresh(web_index, fetch_time)[0])
        self._changes_found += is_news
        return is_news

    def scores(self, now: datetime) -> tuple[CrawlerScore, ...]:
        """Return all scores at a moment, Freshet's first; scoring ends with the web's time."""
        now = min(now, self._end)
        scores = (
            self._freshet_score(now),
            *(baseline.advance(now) for baseline in self._baselines),
        )
        if not self._scores_at_start and now >= self._start + SCORING_DELAY:
            self._scoring_start, self._scores_at_start = now, scores
        if not self._scores_at_start or now == self._scoring_start:
            return scores
        pairs = zip(scores, self._scores_at_start, strict=True)
        return tuple(self._since_scoring_start(score, before, now) for score, before in pairs)

    def _freshet_score(self, now: datetime) -> CrawlerScore:
        seconds = to_epoch(now)
        elapsed = (now - self._start).total_seconds()
        return CrawlerScore(
            policy=FRESHET,
            visits=self._visits,
            changes_found=self._changes_found,
            freshness=self._copies.fresh_seconds(seconds) / elapsed if elapsed > 0 else 0.0,
            fresh_now=self._copies.fresh_share(seconds),
        )

    def _since_scoring_start(
        self, score: CrawlerScore, before: CrawlerScore, now: datetime
    ) -> CrawlerScore:
        """Return a score whose freshness is the mean since scoring began."""
        skipped, elapsed = self._scoring_start - self._start, now - self._start
        fresh_time = score.freshness * elapsed - before.freshness * skipped
        return replace(score, freshness=fresh_time / (elapsed - skipped))
