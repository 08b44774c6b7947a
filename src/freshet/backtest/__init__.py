"""Back-test policies on traces: simulated crawls in cycles or continuous time, metrics, oracles.

from freshet.backtest import Trace, simulate
"""

from collections.abc import Callable

from freshet.backtest.cycle_crawl import CycleResult, Selector, crawl_in_cycles, visits_per_cycle
from freshet.backtest.metrics import MetricCurves, measure_cycles
from freshet.backtest.trace import Trace

__all__ = ["Trace", "simulate"]


def simulate(
    trace: Trace,
    policy: Selector,
    budget: float,
    *,
    cold: bool = False,
    on_cycle: Callable[[CycleResult], None] = lambda cycle: None,
) -> MetricCurves:
    """Run a policy on a trace with a budget and return the metrics of every cycle.

    ``budget`` is the share of the pages visited in a cycle. The policy must not know any page yet.
    A ``cold`` crawl has no warm-up: nothing is known at the start, and every cycle counts.
    ``on_cycle`` is called with every cycle after the warm-up.
    """
    k = visits_per_cycle(budget, len(trace.pages))
    cycles = (_shown(cycle, on_cycle) for cycle in crawl_in_cycles(trace, policy, k, cold=cold))
    return measure_cycles(cycles, trace.weights, k)


def _shown(cycle: CycleResult, watch: Callable[[CycleResult], None]) -> CycleResult:
    watch(cycle)
    return cycle
