"""Compiled walk through the time after a visit: the posts that wait, and when the next one comes.

The moment of the next visit and the value of a visit at any moment come from the same walk.
"""

import math

import numpy as np
from numba import njit

from freshet.core.types import FloatArray
from freshet.predict.threads.kernels.post_rate import (
    MIN_RATE,
    RateTables,
    RateTerms,
    log_rate,
    rhythm_between,
)
from freshet.predict.threads.kernels.regular_gaps import (
    chance_until,
    regular_share,
    regular_step,
)

MIN_GAP = 1.0
MAX_GAP = 525_600.0
# Steps are a quarter of the gap so far, and 90 minutes at most in the first two days: the rhythm.
STEP_SHARE = 0.25
FIRST_STEP = 1.0
RHYTHM_STEP = 90.0
RHYTHM_RANGE = 2880.0
# The rate is computed at gaps that grow by this factor, and interpolated between them.
KNOT_FACTOR = 4.0
FIRST_KNOT = 3.0
MAX_STEPS = 128
# A regular gap that is less likely is not looked for.
MIN_REGULAR_SHARE = 0.01
GAPS, WAITING, VALUES = range(3)


@njit(cache=True, nogil=True)
def step_size(gap: float) -> float:
    """Return the next step of a walk."""
    step = max(FIRST_STEP, STEP_SHARE * gap)
    return min(step, RHYTHM_STEP) if gap < RHYTHM_RANGE else step


@njit(cache=True, nogil=True)
def waiting_walk(
    tables: RateTables,
    post: int,
    now: float,
    terms: RateTerms,
    limits: tuple[float, float],
    foresight: float,
) -> FloatArray:
    """Return gaps after a visit, the posts that wait then, and what a visit is worth then.

    ``post`` is the last post that was found. The walk ends at the first of the ``limits``: a value
    and a gap. The value of a visit is S, the integral of the waiting posts; with foresight, a mix
    of the logarithms of S and of waiting^2 / (2 x rate) (docs/decisions/0057). Regular gaps are
    left out.
    """
    elapsed = max(now - tables.times[post], 0.0)
    knots = np.array([0.0, FIRST_KNOT])
    rates = np.array([
        log_rate(tables, post, elapsed, terms, elapsed),
        log_rate(tables, post, elapsed + FIRST_KNOT, terms, elapsed),
    ])
    walk = np.empty((3, MAX_STEPS))
    gap, waiting, integral, count = 0.0, 0.0, 0.0, 0
    while count < MAX_STEPS:
        step = step_size(gap)
        while gap + 0.5 * step > knots[1]:
            knots[0], rates[0] = knots[1], rates[1]
            knots[1] = KNOT_FACTOR * knots[0]
            rates[1] = log_rate(tables, post, elapsed + knots[1], terms, elapsed)
        rate = interpolated_rate(gap + 0.5 * step, knots, rates)
        arrivals = rate * rhythm_between(now + gap, now + gap + step, tables.cumulative_rhythm)
        integral += (waiting + 0.5 * arrivals) * step
        waiting += arrivals
        gap += step
        value = visit_value(waiting, integral, arrivals / step, foresight)
        walk[GAPS, count], walk[WAITING, count], walk[VALUES, count] = gap, waiting, value
        count += 1
        if value >= limits[0] or gap >= limits[1]:
            break
    return walk[:, :count]


@njit(cache=True, nogil=True)
def interpolated_rate(gap: float, knots: FloatArray, rates: FloatArray) -> float:
    """Return the rate at a gap between two knots, given the logarithms of the rates there."""
    part = math.log((gap + 1.0) / (knots[0] + 1.0)) / math.log((knots[1] + 1.0) / (knots[0] + 1.0))
    return math.exp(rates[0] + (rates[1] - rates[0]) * part)


@njit(cache=True, nogil=True)
def visit_value(waiting: float, integral: float, rate: float, foresight: float) -> float:
    """Return what a visit is worth: S; with foresight, less if more posts are coming now."""
    by_rate = 0.5 * waiting * waiting / max(rate, MIN_RATE)
    return float(integral ** (1.0 - foresight) * by_rate**foresight)


@njit(cache=True, nogil=True)
def regular_state(tables: RateTables, post: int, elapsed: float) -> tuple[int, float, float]:
    """Return the row of the regular gap or -1, its chance by now, and the minutes it has lasted."""
    row = tables.regular.rows[post]
    if row < 0:
        return -1, 0.0, elapsed
    waited = elapsed + tables.regular.offsets[row]
    share = regular_share(tables.regular, row, waited)
    return (row if share > MIN_REGULAR_SHARE else -1), share, waited


@njit(cache=True, nogil=True)
def next_visit_gap(
    tables: RateTables,
    post: int,
    now: float,
    terms: RateTerms,
    price: float,
    foresight: float,
) -> float:
    """Return the minutes from a visit to the next, whose value is ``price`` post-minutes."""
    walk = waiting_walk(tables, post, now, terms, (price, MAX_GAP), foresight)
    last = walk.shape[1] - 1
    gap, value = walk[GAPS, last], walk[VALUES, last]
    if value < price:
        return float(min(gap, MAX_GAP))
    if last == 0:
        return MIN_GAP
    before, greatest = walk[GAPS, last - 1], walk[VALUES, :last].max()
    part = math.log(price / greatest) / math.log(value / greatest)
    return float(min(max(before * (gap / before) ** part, MIN_GAP), MAX_GAP))


@njit(cache=True, nogil=True)
def waits_until(
    tables: RateTables,
    post: int,
    now: float,
    terms: RateTerms,
    chances: FloatArray,
    frailty: float,
) -> FloatArray:
    """Return the minutes until the next post has come with each of some chances.

    ``chances`` increase. One that is not reached within twenty years has an infinite wait. The
    rate is known up to a factor that varies by ``frailty``: with the cumulative rate H no post
    has come with the chance (1 + frailty x H)^(-1 / frailty).
    """
    elapsed = max(now - tables.times[post], 0.0)
    row, share, waited = regular_state(tables, post, elapsed)
    waits = np.full(len(chances), np.inf)
    gap, hazard, chance, index = 0.0, 0.0, 0.0, 0
    missed = chance_until(tables.regular.atoms[row], waited) if row >= 0 else 0.0
    while gap < 20.0 * MAX_GAP and index < len(chances):
        step = step_size(gap)
        if row >= 0:
            step = regular_step(tables.regular.atoms[row], waited + gap, step)
        later = elapsed + gap + 0.5 * step
        rate = math.exp(log_rate(tables, post, later, terms, elapsed))
        hazard += rate * rhythm_between(now + gap, now + gap + step, tables.cumulative_rhythm)
        after = -math.expm1(-math.log1p(frailty * hazard) / frailty)
        if row >= 0:
            by_then = chance_until(tables.regular.atoms[row], waited + gap + step)
            regular = (by_then - missed) / (1.0 - missed + 1e-12)
            after = (1.0 - share) * after + share * regular
        while index < len(chances) and after >= chances[index]:
            waits[index] = gap + step * (chances[index] - chance) / (after - chance)
            index += 1
        chance = after
        gap += step
    return waits
