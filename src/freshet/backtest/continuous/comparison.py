"""Compare policies in continuous time: the live form of each visits pages at an even pace."""

from collections.abc import Iterator, Sequence
from itertools import product

from freshet.backtest.comparison import PolicyResult, check_request, cycle_counter
from freshet.backtest.continuous.daily import crawl_by_day
from freshet.backtest.continuous.ground_truth import GroundTruth, ground_truth_of_trace
from freshet.backtest.continuous.oracles import CONTINUOUS_ORACLES
from freshet.backtest.cycle_crawl import Selector, visits_per_cycle, warm_up_cycles
from freshet.backtest.trace import Trace
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.schedule import policies
from freshet.schedule.model_file import resolve_policy


def run_policies_continuously(
    trace: Trace,
    names: Sequence[str],
    budgets: Sequence[float],
    *,
    seeds: int = 3,
    cold: bool = False,
    progress: ProgressCallback = ignore_progress,
) -> Iterator[PolicyResult]:
    """Yield the result of every policy with every budget, day by day.

    If the trace has no change times, each seed draws its own moments within the cycles; they are
    the same for all policies. A ``cold`` crawl has no warm-up.
    """
    check_request(names, budgets, seeds)
    measured_days = trace.cycles - warm_up_cycles(cold=cold)
    on_day = cycle_counter(progress, len(budgets) * len(names) * seeds * measured_days)
    truths = [ground_truth_of_trace(trace, seed=seed) for seed in range(1, seeds + 1)]
    for budget, name in product(budgets, names):
        visits = visits_per_cycle(budget, len(trace.pages))
        runs = []
        for seed, seed_truth in enumerate(truths, 1):
            selector = make_live_selector(name, seed_truth, seed)
            runs.append(
                crawl_by_day(
                    selector,
                    seed_truth,
                    visits,
                    trace.cycles,
                    warm_up_seed=None if cold else seed,
                    on_day=on_day,
                )
            )
        yield PolicyResult(name, budget, tuple(runs), cold)


def make_live_selector(name: str, truth: GroundTruth, seed: int) -> Selector:
    """Return the live form of the policy of that name, or an oracle of the ground truth."""
    if name in CONTINUOUS_ORACLES:
        return CONTINUOUS_ORACLES[name](truth, seed=seed)
    return policies.make_policy(resolve_policy(name), seed=seed, live=True)
