"""Compiled replay: the visits of one thread from event to event."""

from typing import NamedTuple

import numpy as np
from numba import njit

from freshet.core.types import FloatArray
from freshet.predict.threads.kernels.gap_rules import rule_gap
from freshet.predict.threads.kernels.next_visit import next_visit_gap
from freshet.predict.threads.kernels.post_rate import RateTables, RateTerms

RATE_RULE = -1
SILENT_MINUTES = 90 * 1440.0


class ReplayPlan(NamedTuple):
    """One replay: the posts known at its start, the rule with its scale, and the phase.

    The rule is that of `kernels/gap_rules.py`, or ``RATE_RULE``, whose price is the square of the
    scale: gaps of all rules are proportional to the scale. The replay ends after ``max_visits``.
    """

    known_posts: int
    rule: int
    scale: float
    phase: float
    foresight: float
    max_visits: int


@njit(cache=True, nogil=True)
def replay_thread(
    tables: RateTables,
    predictions: FloatArray,
    terms: RateTerms,
    plan: ReplayPlan,
    visit_times: FloatArray,
) -> tuple[float, int, int]:
    """Return the sum of delays, the visits until the last post is found, and the silent ones.

    ``predictions`` has the predicted interval after each post. The first visit comes at a share
    ``phase`` of the first gap. The policy sees the posts that its visits found. The times of the
    first visits are written to ``visit_times``, as many as there is room for.
    """
    times = tables.times
    last_post = len(times) - 1
    post = plan.known_posts - 1
    now, share = times[post], plan.phase
    delays, visits, silent_visits = 0.0, 0, 0
    while visits < plan.max_visits:
        if plan.rule == RATE_RULE:
            price = plan.scale * plan.scale
            gap = next_visit_gap(tables, post, now, terms, price, plan.foresight)
        else:
            gap = rule_gap(plan.rule, predictions[post], now - times[post], plan.scale)
        now += gap * share
        share = 1.0
        if post == last_post:
            if now > times[last_post] + SILENT_MINUTES:
                break
            silent_visits += 1
            continue
        if visits < len(visit_times):
            visit_times[visits] = now
        visits += 1
        while post < last_post and times[post + 1] <= now:
            post += 1
            delays += now - times[post]
    return delays, visits, silent_visits


@njit(cache=True, nogil=True)
def replay_scales(
    tables: RateTables,
    predictions: FloatArray,
    terms: RateTerms,
    plan: ReplayPlan,
    scales: FloatArray,
    phases: FloatArray,
) -> FloatArray:
    """Return delays, visits and silent visits of a thread at each scale, each with its phase.

    Scales increase. Below a scale at which the replay reaches its most visits, all is NaN.
    """
    results = np.full((len(scales), 3), np.nan)
    no_times = np.empty(0)
    for index in range(len(scales) - 1, -1, -1):
        scaled = ReplayPlan(
            plan.known_posts,
            plan.rule,
            scales[index],
            phases[index],
            plan.foresight,
            plan.max_visits,
        )
        delays, visits, silent = replay_thread(tables, predictions, terms, scaled, no_times)
        if visits >= plan.max_visits:
            break
        results[index, 0], results[index, 1], results[index, 2] = delays, visits, silent
    return results
