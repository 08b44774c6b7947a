"""Continuous backtest measured day by day, so that it compares with a crawl in cycles."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freshet.backtest.continuous.copies import ChangeDetections
from freshet.backtest.continuous.crawler import BATCHES_PER_DAY, SimulatedCrawler
from freshet.backtest.continuous.ground_truth import GroundTruth
from freshet.backtest.cycle_crawl import Selector, warm_up_cycles
from freshet.backtest.metrics import UNDEFINED, CycleMetrics, MetricCurves
from freshet.core.clock import CYCLE_SECONDS, from_epoch

# A visit due at the end of a day belongs to the next day.
DAY_END_MARGIN = 1e-3


def crawl_by_day(
    policy: Selector,
    truth: GroundTruth,
    visits_per_day: int,
    days: int,
    *,
    warm_up_seed: int | None = 0,
    on_day: Callable[[int], None] = lambda day: None,
) -> MetricCurves:
    """Let a policy visit pages at an even pace, in up to 24 batches a day, and measure every day.

    In the first days every page is looked at once a day, as in a crawl in cycles, and nothing
    counts; ``warm_up_seed`` draws the order of the pages. Without a seed the crawl is cold: nothing
    is known at the start, and every day counts. ``on_day`` is called with the number of each day
    that counts.
    """
    first_day = warm_up_cycles(cold=warm_up_seed is None)
    batch_size = max(1, visits_per_day // BATCHES_PER_DAY)
    crawler = SimulatedCrawler(
        policy,
        truth,
        visits_per_day,
        from_epoch(first_day * CYCLE_SECONDS),
        batch_size=batch_size,
    )
    if warm_up_seed is not None:
        order = np.random.default_rng(warm_up_seed).permutation(truth.pages.ids)
        crawler.warm_up(order, first_day)
    totals_before = _totals(crawler)
    days_measured = []
    for day in range(first_day, days):
        crawler.advance(from_epoch((day + 1) * CYCLE_SECONDS - DAY_END_MARGIN))
        totals = _totals(crawler)
        days_measured.append(_day_metrics(day, totals_before, totals))
        totals_before = totals
        on_day(day)
    return MetricCurves(tuple(days_measured), crawler.page_figures())


@dataclass(frozen=True, slots=True)
class _RunningTotals:
    """Totals of a crawler since its start."""

    visits: int
    changes_found: int
    importance_found: float
    unweighted_fresh_seconds: float
    fresh_seconds: float
    detections: ChangeDetections
    found_links: tuple[int, int] | None


def _totals(crawler: SimulatedCrawler) -> _RunningTotals:
    return _RunningTotals(
        crawler.visits,
        crawler.changes_found,
        crawler.importance_found,
        crawler.unweighted_fresh_seconds(),
        crawler.fresh_seconds(),
        crawler.detections(),
        crawler.found_links(),
    )


def _day_metrics(day: int, totals_before: _RunningTotals, totals: _RunningTotals) -> CycleMetrics:
    """Return the metrics of a day from the totals before and after it."""
    visits = totals.visits - totals_before.visits
    stale_visits = totals.changes_found - totals_before.changes_found
    importance_found = totals.importance_found - totals_before.importance_found
    today = ChangeDetections(
        totals.detections.changes - totals_before.detections.changes,
        totals.detections.waited_seconds - totals_before.detections.waited_seconds,
    )
    return CycleMetrics(
        cycle=day,
        visits=visits,
        changes_found=today.changes,
        changerate=stale_visits / visits if visits else 0.0,
        weighted_changerate=importance_found / visits if visits else 0.0,
        ndcg=UNDEFINED,
        freshness=(totals.unweighted_fresh_seconds - totals_before.unweighted_fresh_seconds)
        / CYCLE_SECONDS,
        weighted_freshness=(totals.fresh_seconds - totals_before.fresh_seconds) / CYCLE_SECONDS,
        stale_age=UNDEFINED,
        time_to_detection=today.time_to_detection,
        time_waited=totals.detections.time_waited,
        detected=totals.detections.detected_share,
        **_link_metrics(totals_before, totals, visits),
    )


def _link_metrics(
    totals_before: _RunningTotals, totals: _RunningTotals, visits: int
) -> dict[str, float]:
    """Return the new links found per visit of a day, and the share found of all so far."""
    if totals.found_links is None or totals_before.found_links is None:
        return dict.fromkeys(("links_found", "new_links", "links_detected"), UNDEFINED)
    found, appeared = totals.found_links
    found_today = found - totals_before.found_links[0]
    return {
        "links_found": found_today,
        "new_links": found_today / visits if visits else UNDEFINED,
        "links_detected": found / appeared if appeared else UNDEFINED,
    }
