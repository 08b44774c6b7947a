"""Compiled search for the moment at which a visit is worth its price."""

import math

import numpy as np
from numba import njit

from freshet.core.types import FloatArray
from freshet.predict.threads.kernels.post_rate import (
    RateTables,
    RateTerms,
    log_rate,
    rhythm_between,
)

MIN_GAP = 1.0
MAX_GAP = 525_600.0
# Steps are a quarter of the gap so far, and 90 minutes at most in the first two days: the rhythm.
# The first ones are a part of the gap that a constant rate would give.
STEP_SHARE = 0.25
FIRST_SHARE = 0.08
RHYTHM_STEP = 90.0
RHYTHM_RANGE = 2880.0
# The rate is computed at gaps that grow by this factor, and interpolated between them.
KNOT_FACTOR = 4.0
FIRST_KNOT = 3.0


@njit(cache=True, nogil=True)
def step_size(gap: float, first: float) -> float:
    """Return the next step of the search; ``first`` is the least step."""
    step = max(first, STEP_SHARE * gap)
    return min(step, RHYTHM_STEP) if gap < RHYTHM_RANGE else step


@njit(cache=True, nogil=True)
def next_visit_gap(
    tables: RateTables,
    post: int,
    now: float,
    terms: RateTerms,
    price: float,
    foresight: float,
) -> float:
    """Return the minutes from a visit to the next; ``post`` is the last post that was found.

    ``waiting`` is the expected number of posts that wait, ``accumulated`` its integral S. The
    visit is worth ``price`` post-minutes when S reaches it; with foresight, when the mix of
    log(S / price) / 2 and log(waiting / sqrt(2 x price x rate)) reaches 0.
    """
    elapsed = max(now - tables.times[post], 0.0)
    knots = np.array([0.0, FIRST_KNOT])
    rates = np.array([
        log_rate(tables, post, elapsed, terms),
        log_rate(tables, post, elapsed + FIRST_KNOT, terms),
    ])
    gap, waiting, accumulated, before = 0.0, 0.0, 0.0, -math.inf
    first = max(1.0, FIRST_SHARE * math.sqrt(2.0 * price * math.exp(-rates[0])))
    while gap < MAX_GAP:
        step = step_size(gap, first)
        middle = gap + 0.5 * step
        while middle > knots[1]:
            knots[0], rates[0] = knots[1], rates[1]
            knots[1] = KNOT_FACTOR * knots[0]
            rates[1] = log_rate(tables, post, elapsed + knots[1], terms)
        share = math.log((middle + 1.0) / (knots[0] + 1.0)) / math.log(
            (knots[1] + 1.0) / (knots[0] + 1.0)
        )
        rate = math.exp(rates[0] + (rates[1] - rates[0]) * share)
        arrivals = rate * rhythm_between(now + gap, now + gap + step, tables.cumulative_rhythm)
        accumulated += (waiting + 0.5 * arrivals) * step
        waiting += arrivals
        worth = (1.0 - foresight) * 0.5 * math.log(accumulated / price)
        worth += foresight * math.log(waiting / math.sqrt(2.0 * price * arrivals / step))
        if worth >= 0.0:
            part = 1.0 if before == -math.inf else before / (before - worth)
            return min(max(gap + part * step, MIN_GAP), MAX_GAP)
        before = worth
        gap += step
    return MAX_GAP


@njit(cache=True, nogil=True)
def waits_until(
    tables: RateTables, post: int, now: float, terms: RateTerms, hazards: FloatArray
) -> FloatArray:
    """Return the minutes until the cumulative hazard of the next post reaches each value.

    ``hazards`` are increasing. A value that is not reached within twenty years has an infinite
    wait.
    """
    elapsed = max(now - tables.times[post], 0.0)
    waits = np.full(len(hazards), np.inf)
    gap, hazard, index = 0.0, 0.0, 0
    while gap < 20.0 * MAX_GAP and index < len(hazards):
        step = step_size(gap, 1.0)
        rate = math.exp(log_rate(tables, post, elapsed + gap + 0.5 * step, terms))
        added = rate * rhythm_between(now + gap, now + gap + step, tables.cumulative_rhythm)
        while index < len(hazards) and hazard + added >= hazards[index]:
            waits[index] = gap + step * (hazards[index] - hazard) / added
            index += 1
        hazard += added
        gap += step
    return waits


@njit(cache=True, nogil=True)
def waiting_posts(
    tables: RateTables, post: int, now: float, terms: RateTerms, gaps: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the expected posts that wait after each gap, and their integral over the minutes.

    ``gaps`` increase.
    """
    elapsed = max(now - tables.times[post], 0.0)
    counts, integrals = np.zeros(len(gaps)), np.zeros(len(gaps))
    gap, waiting, accumulated = 0.0, 0.0, 0.0
    for index in range(len(gaps)):
        while gap < gaps[index]:
            step = min(step_size(gap, 1.0), gaps[index] - gap)
            rate = math.exp(log_rate(tables, post, elapsed + gap + 0.5 * step, terms))
            arrivals = rate * rhythm_between(now + gap, now + gap + step, tables.cumulative_rhythm)
            accumulated += (waiting + 0.5 * arrivals) * step
            waiting += arrivals
            gap += step
        counts[index], integrals[index] = waiting, accumulated
    return counts, integrals
