import numpy as np
import pytest

from freshet.backtest.threads.kernels.replay import ReplayPlan, replay_thread
from freshet.backtest.threads.policies import NO_TERMS, ThreadPolicy
from freshet.backtest.threads.replay import NO_LIMIT, replay_curve, visit_times
from freshet.backtest.threads.timeliness import (
    bootstrap_delays,
    fleet_delay,
    fleet_silent_visits,
    scale_for,
    thread_delay,
)
from freshet.predict.threads.rate_model import kernel_rate
from freshet.predict.threads.thread_posts import ThreadPosts
from freshet.predict.threads.visit_rules import GapRule
from tests.predict.threads.generated_threads import generate_thread

FIXED = ThreadPolicy("fixed", GapRule.FIXED)
KERNEL = ThreadPolicy("kernel", rate_of=lambda _: kernel_rate())
THREADS = [generate_thread(seed) for seed in range(8)]


def test_a_fixed_interval_finds_posts_at_its_multiples() -> None:
    thread = ThreadPosts(np.array([0.0, 0.0, 0.0, 25.0, 30.0]), ())
    prepared = FIXED.prepare(thread)
    plan = ReplayPlan(3, int(GapRule.FIXED), 10.0, 0.5, 0.5, NO_LIMIT)
    times = np.zeros(5)
    result = replay_thread(prepared.tables, prepared.predictions, NO_TERMS, plan, times)
    assert result == (0.0 + 5.0, 4, 90 * 144 - 1)
    assert times.tolist() == [5.0, 15.0, 25.0, 35.0, 0.0]


@pytest.mark.parametrize("policy", [FIXED, KERNEL], ids=lambda policy: str(policy.name))
def test_a_policy_does_not_see_posts_that_no_visit_found(policy: ThreadPolicy) -> None:
    thread = generate_thread(5)
    cut = len(thread) - 4
    later = np.concatenate((thread.times[:cut], thread.times[cut:] + 1000.0))
    visits, changed_visits = (
        visit_times(policy, replayed, policy.prepare(replayed), 20.0, 0.3)
        for replayed in (thread, ThreadPosts(later))
    )
    until = thread.times[cut]
    before = visits[visits < until]
    assert before.tolist() == pytest.approx(changed_visits[changed_visits < until].tolist())
    assert len(before) > 0


@pytest.mark.parametrize("policy", [FIXED, KERNEL], ids=lambda policy: str(policy.name))
def test_delays_fall_as_visits_rise(policy: ThreadPolicy) -> None:
    curve = replay_curve(policy, THREADS, [policy.prepare(thread) for thread in THREADS])
    delays = [fleet_delay(curve, ratio) for ratio in (1.0, 2.0, 5.0, 16.0)]
    assert delays == sorted(delays, reverse=True)
    assert thread_delay(curve, 5.0) > 0.0
    assert fleet_silent_visits(curve, 5.0) > 0.0
    scale = scale_for(curve, 5.0)
    visits = [
        len(visit_times(policy, thread, policy.prepare(thread), scale, 0.5)) for thread in THREADS
    ]
    assert sum(visits) / curve.posts.sum() == pytest.approx(5.0, rel=0.3)
    samples = bootstrap_delays([curve, curve], 5.0)
    assert (samples[:, 0] == samples[:, 1]).all()
    assert samples.std() > 0.0
