"""A race measured day by day, so that it can be compared like a crawl in cycles."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freshet.backtest.continuous import TURNS_A_DAY, Detections, Racer, Truth
from freshet.backtest.cycle_crawl import WARM_UP, Chooser
from freshet.backtest.metrics import NOTHING, Curves, Measures
from freshet.core.clock import CYCLE_SECONDS, from_epoch

# A visit that falls due as the last day ends is one of the next day.
LAST_MOMENT = 1e-3


def run(
    policy: Chooser,
    truth: Truth,
    visits_a_day: int,
    days: int,
    *,
    seed: int = 0,
    watch: Callable[[int], None] = lambda day: None,
) -> Curves:
    """Let a policy visit pages at an even pace, some an hour, and measure every day.

    In the first days every page is looked at once a day, as in a crawl in cycles, and nothing
    counts. ``watch`` is shown the number of each later day.
    """
    start = WARM_UP * CYCLE_SECONDS
    at_once = max(1, visits_a_day // TURNS_A_DAY)
    racer = Racer(policy, truth, visits_a_day, from_epoch(start), at_once=at_once)
    racer.warm_up(np.random.default_rng(seed).permutation(truth.pages.ids), WARM_UP)
    before = _sums(racer)
    measured = []
    for day in range(WARM_UP, days):
        racer.advance(from_epoch((day + 1) * CYCLE_SECONDS - LAST_MOMENT))
        now = _sums(racer)
        measured.append(_measures(day, before, now))
        before = now
        watch(day)
    return Curves(tuple(measured))


@dataclass(frozen=True, slots=True)
class _Sums:
    """Where a race stands: sums since its start."""

    visits: int
    changes_found: int
    even_seconds: float
    fresh_seconds: float
    detections: Detections


def _sums(racer: Racer) -> _Sums:
    return _Sums(
        racer.visits,
        racer.changes_found,
        racer.even_seconds(),
        racer.fresh_seconds(),
        racer.detections(),
    )


def _measures(day: int, before: _Sums, now: _Sums) -> Measures:
    """Return the measures of a day from how the race stood before and after it."""
    visits, found = now.visits - before.visits, now.changes_found - before.changes_found
    today = Detections(
        now.detections.changes - before.detections.changes,
        now.detections.waited - before.detections.waited,
    )
    return Measures(
        cycle=day,
        visits=visits,
        changes_found=today.changes,
        changerate=found / visits if visits else 0.0,
        ndcg=NOTHING,
        freshness=(now.even_seconds - before.even_seconds) / CYCLE_SECONDS,
        weighted_freshness=(now.fresh_seconds - before.fresh_seconds) / CYCLE_SECONDS,
        stale_age=NOTHING,
        time_to_detection=today.time_to_detection,
        time_waited=now.detections.time_waited,
        detected=now.detections.detected,
        new_links=NOTHING,
        links_detected=NOTHING,
    )
