"""The same path replayed on a recorded or generated web."""

from collections.abc import Callable

from freshet.backtest.cycle_crawl import Chooser, Cycle, crawl, visits_per_cycle
from freshet.backtest.metrics import Curves, curves
from freshet.backtest.trace import Trace

__all__ = ["Trace", "simulate"]


def simulate(
    trace: Trace,
    policy: Chooser,
    budget: float,
    *,
    watch: Callable[[Cycle], None] = lambda cycle: None,
) -> Curves:
    """Let a policy visit a share of a trace's pages in every cycle, and measure each cycle.

    The policy must know no page yet; ``watch`` is shown every cycle after the warm-up.
    """
    k = visits_per_cycle(budget, len(trace.pages))
    cycles = (_shown(cycle, watch) for cycle in crawl(trace, policy, k))
    return curves(cycles, trace.pages.importance, k)


def _shown(cycle: Cycle, watch: Callable[[Cycle], None]) -> Cycle:
    watch(cycle)
    return cycle
