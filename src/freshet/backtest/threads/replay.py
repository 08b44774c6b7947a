"""Replays threads at many scales of a policy, and reads the delay at equal visits.

The last quarter of each thread is replayed. The policy knows the first three quarters, and then the
posts that its own visits found.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from freshet.backtest.threads.kernels.replay import ReplayPlan, replay_scales, replay_thread
from freshet.backtest.threads.policies import NO_TERMS, PreparedThread, ThreadPolicy
from freshet.core.types import FloatArray
from freshet.predict.threads.thread_posts import ThreadPosts

# Replays of single threads at the smallest scales end at so many visits per post.
MAX_RATIO = 30
NO_LIMIT = 2**40
SCALE_STEP = 1.15
COARSE_STEP = 1.5
COARSE_SCALES = 10
FLEET_RANGE = (0.65, 24.0)
WORKERS = 2
SEARCH_STEP = 2.0
FIRST_SCALE = 30.0
SEARCH_THREADS = 60
SEARCH_LIMITS = (1e-5, 1e9)


@dataclass(frozen=True, slots=True)
class ReplayCurve:
    """Results of a policy: delays, visits and silent visits by scale and thread.

    ``posts`` are the test posts of each thread. Scales increase. At the first ``cut_scales``
    replays that needed too many visits are NaN: these scales serve single threads only.
    """

    policy: str
    scales: FloatArray
    delays: FloatArray
    visits: FloatArray
    silent_visits: FloatArray
    posts: FloatArray
    cut_scales: int = COARSE_SCALES


def replay_curve(
    policy: ThreadPolicy,
    threads: Sequence[ThreadPosts],
    prepared: Sequence[PreparedThread],
    *,
    seed: int = 0,
) -> ReplayCurve:
    """Return the curve of a policy; the scales are chosen for 0.7 to 22 visits per post.

    Beyond these, coarser steps give each single thread its own ratio. Each scale and thread has a
    phase of its own, drawn with the seed.
    """
    posts = np.array([len(thread) - thread.training_posts for thread in threads], np.float64)
    every = max(1, len(threads) // SEARCH_THREADS)
    scales = _find_scales(policy, threads[::every], prepared[::every], posts[::every])
    phases = np.random.default_rng(seed).random((len(threads), len(scales)))
    with ThreadPoolExecutor(WORKERS) as workers:
        results = np.stack(
            list(workers.map(partial(_replay, policy, scales), threads, prepared, phases)), axis=1
        )
    return ReplayCurve(
        policy.name, scales, results[:, :, 0], results[:, :, 1], results[:, :, 2], posts
    )


def _replay(
    policy: ThreadPolicy,
    scales: FloatArray,
    thread: ThreadPosts,
    prepared: PreparedThread,
    phases: FloatArray,
) -> FloatArray:
    terms = NO_TERMS if prepared.model is None else prepared.model.terms
    plan = _plan(policy, thread)
    max_visits = MAX_RATIO * (len(thread) - thread.training_posts)
    parts = [
        replay_scales(
            prepared.tables, prepared.predictions, terms, part_plan, scales[part], phases[part]
        )
        for part_plan, part in (
            (plan._replace(max_visits=max_visits), slice(COARSE_SCALES)),
            (plan, slice(COARSE_SCALES, None)),
        )
    ]
    return np.concatenate(parts)


def _plan(policy: ThreadPolicy, thread: ThreadPosts) -> ReplayPlan:
    known = thread.training_posts
    return ReplayPlan(known, policy.rule_code, 1.0, 0.5, policy.foresight, NO_LIMIT)


def _find_scales(
    policy: ThreadPolicy,
    threads: Sequence[ThreadPosts],
    prepared: Sequence[PreparedThread],
    posts: FloatArray,
) -> FloatArray:
    """Return scales that give the range of visits per post of all threads together."""

    def ratio(scale: float) -> float:
        with ThreadPoolExecutor(WORKERS) as workers:
            visits = list(workers.map(partial(_visits, policy, scale), threads, prepared))
        return float(np.sum(visits) / posts.sum())

    low, high = FLEET_RANGE
    smallest, largest = SEARCH_LIMITS
    shortest = FIRST_SCALE
    while ratio(shortest) > high and shortest < largest:
        shortest *= SEARCH_STEP
    while ratio(shortest) < high and shortest > smallest:
        shortest /= SEARCH_STEP
    longest = shortest
    while ratio(longest) > low and longest < largest:
        longest *= SEARCH_STEP
    fine = np.exp(np.arange(np.log(shortest), np.log(longest), np.log(SCALE_STEP)))
    steps = COARSE_STEP ** np.arange(1, COARSE_SCALES + 1)
    return np.concatenate((fine[0] / steps[::-1], fine, fine[-1] * steps))


def _visits(
    policy: ThreadPolicy, scale: float, thread: ThreadPosts, prepared: PreparedThread
) -> int:
    terms = NO_TERMS if prepared.model is None else prepared.model.terms
    plan = _plan(policy, thread)._replace(scale=scale)
    no_times = np.empty(0)
    return int(replay_thread(prepared.tables, prepared.predictions, terms, plan, no_times)[1])


def visit_times(
    policy: ThreadPolicy,
    thread: ThreadPosts,
    prepared: PreparedThread,
    scale: float,
    phase: float,
) -> FloatArray:
    """Return the times of the visits of one replay, until the last post is found."""
    terms = NO_TERMS if prepared.model is None else prepared.model.terms
    plan = _plan(policy, thread)._replace(scale=scale, phase=phase)
    arguments = prepared.tables, prepared.predictions, terms, plan
    _, visits, _ = replay_thread(*arguments, np.empty(0))
    times = np.empty(visits)
    replay_thread(*arguments, times)
    return times
