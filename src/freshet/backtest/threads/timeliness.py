"""T-score at equal visits: the mean delay of a post, read from a curve of many scales.

The curves are straight in logarithms over short distances: the delay at a number of visits per
post is that of a line through the nearest scales, so that about ten phases are averaged.
"""

from collections.abc import Sequence

import numpy as np

from freshet.backtest.threads.replay import ReplayCurve
from freshet.core.types import FloatArray

VISITS_PER_POST = (1.0, 2.0, 5.0, 16.0)
NEAR_SCALES = 10
NEAR_SCALES_OF_THREAD = 5
BOOTSTRAP_SAMPLES = 500
# A delay of 0 has no logarithm; in minutes this is well under a second.
MIN_VALUE = 0.01


def fleet_delay(curve: ReplayCurve, visits_per_post: float) -> float:
    """Return the mean delay in minutes of all posts, with one scale for all threads."""
    return _power_at(*_pooled(curve, np.ones(len(curve.posts))), visits_per_post, NEAR_SCALES)


def fleet_silent_visits(curve: ReplayCurve, visits_per_post: float) -> float:
    """Return visits per post in the 90 silent days, at the scale of a number of visits."""
    ratios, _ = _pooled(curve, np.ones(len(curve.posts)))
    silent = curve.silent_visits[curve.cut_scales :].sum(axis=1) / curve.posts.sum()
    return _power_at(ratios, silent, visits_per_post, NEAR_SCALES)


def thread_delays(curve: ReplayCurve, visits_per_post: float) -> FloatArray:
    """Return the mean delay of each thread with a scale of its own, that gives it the ratio."""
    ratios = curve.visits / curve.posts
    delays = curve.delays / curve.posts
    return np.array([
        _power_at(ratios[:, thread], delays[:, thread], visits_per_post, NEAR_SCALES_OF_THREAD)
        for thread in range(len(curve.posts))
    ])


def thread_delay(curve: ReplayCurve, visits_per_post: float) -> float:
    """Return the mean delay of all posts, each thread visited at the same ratio."""
    delays = thread_delays(curve, visits_per_post)
    return float(np.average(delays, weights=curve.posts))


def scale_for(curve: ReplayCurve, visits_per_post: float) -> float:
    """Return the scale at which all threads together have a number of visits per post."""
    ratios, _ = _pooled(curve, np.ones(len(curve.posts)))
    logarithm = _line_at(
        ratios, np.log(curve.scales[curve.cut_scales :]), visits_per_post, NEAR_SCALES
    )
    return float(np.exp(logarithm))


def visits_for_delay(curve: ReplayCurve, delay: float) -> float:
    """Return the visits per post that a mean delay costs all threads together."""
    ratios, delays = _pooled(curve, np.ones(len(curve.posts)))
    logarithm = _line_at(delays, np.log(ratios), delay, NEAR_SCALES)
    return float(np.exp(logarithm))


def bootstrap_delays(
    curves: Sequence[ReplayCurve], visits_per_post: float, *, seed: int = 0
) -> FloatArray:
    """Return fleet delays of all curves on the same resampled threads, a row for each sample."""
    generator = np.random.default_rng(seed)
    count = len(curves[0].posts)
    weights = generator.multinomial(count, np.full(count, 1.0 / count), BOOTSTRAP_SAMPLES)
    return np.array([
        [_power_at(*_pooled(curve, sample), visits_per_post, NEAR_SCALES) for curve in curves]
        for sample in weights.astype(np.float64)
    ])


def _pooled(curve: ReplayCurve, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return visits per post and mean delay at the scales at which no replay was cut short."""
    posts = float(curve.posts @ weights)
    first = curve.cut_scales
    return curve.visits[first:] @ weights / posts, curve.delays[first:] @ weights / posts


def _power_at(ratios: FloatArray, values: FloatArray, target: float, near: int) -> float:
    """Return the value of a power law through the points nearest to a target."""
    logarithms = np.log(np.maximum(values, MIN_VALUE))
    return float(np.exp(_line_at(ratios, logarithms, target, near)))


def _line_at(positions: FloatArray, values: FloatArray, target: float, near: int) -> float:
    """Return the value of a line in log(position) through the points nearest to a target.

    Beyond the positions it is that of the nearest one: a thread may never have so many visits.
    """
    known = np.isfinite(positions)
    positions, values = np.maximum(positions[known], 1e-9), values[known]
    distances = np.log(positions / np.clip(target, positions.min(), positions.max()))
    chosen = np.argsort(np.abs(distances), kind="stable")[:near]
    if np.ptp(distances[chosen]) < 1e-9:
        return float(values[chosen].mean())
    return float(np.polyfit(distances[chosen], values[chosen], 1)[1])
