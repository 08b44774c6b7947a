"""The same path replayed on a recorded or generated web."""

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
    on_cycle: Callable[[CycleResult], None] = lambda cycle: None,
) -> MetricCurves:
    """Let a policy visit a share of a trace's pages in every cycle, and measure each cycle.

    The policy must know no page yet; ``on_cycle`` is shown every cycle after the warm-up.
    """
    k = visits_per_cycle(budget, len(trace.pages))
    cycles = (_shown(cycle, on_cycle) for cycle in crawl_in_cycles(trace, policy, k))
    return measure_cycles(cycles, trace.pages.importance, k)


def _shown(cycle: CycleResult, watch: Callable[[CycleResult], None]) -> CycleResult:
    watch(cycle)
    return cycle
