"""Back-test policies in continuous time: the live form of each, at an even pace of its budget."""

from collections.abc import Iterator, Sequence
from functools import partial

from freshet.backtest.comparison import Result, check
from freshet.backtest.continuous import Truth, daily, truth_of
from freshet.backtest.continuous.oracles import CEILINGS
from freshet.backtest.cycle_crawl import WARM_UP, Chooser, visits_per_cycle
from freshet.backtest.trace import Trace
from freshet.core.progress import Progress, silent
from freshet.schedule import policies
from freshet.schedule.model_file import resolved


def race(
    trace: Trace,
    names: Sequence[str],
    budgets: Sequence[float],
    *,
    seeds: int = 3,
    progress: Progress = silent,
    truth: Truth | None = None,
) -> Iterator[Result]:
    """Yield how every policy did with every budget, day by day.

    Without a truth, each seed has its own moments of change within the cycles of the trace, the
    same for all policies.
    """
    check(names, budgets, seeds)
    measured = trace.cycles - WARM_UP
    total = len(budgets) * len(names) * seeds * measured
    truths = [truth or truth_of(trace, seed=seed) for seed in range(1, seeds + 1)]
    for number, (budget, name) in enumerate((each, name) for each in budgets for name in names):
        visits = visits_per_cycle(budget, len(trace.pages))
        runs = []
        for seed, moments in enumerate(truths, 1):
            told = partial(_tell, progress, (number * seeds + seed - 1) * measured, total)
            racer = live(name, moments, seed)
            runs.append(daily.run(racer, moments, visits, trace.cycles, seed=seed, watch=told))
        yield Result(name, budget, tuple(runs))


def live(name: str, truth: Truth, seed: int) -> Chooser:
    """Return the live form of the policy of that name, or the one that looks at the truth."""
    if name in CEILINGS:
        return CEILINGS[name](truth, seed=seed)
    return policies.make(resolved(name), seed=seed, live=True)


def _tell(progress: Progress, begun: int, total: int, day: int) -> None:
    progress(begun + day - WARM_UP + 1, total)
