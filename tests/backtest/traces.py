"""Small traces: written by hand, a line per page, or random with hosts, sites and directories."""

import numpy as np

from freshet.backtest.cycle_crawl import Selector, crawl_in_cycles
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.core.tables import BoolArray

GROUP = 10


def drawn(*lines: str) -> Trace:
    """Return a trace of lines such as ``x..x?``: changed, unchanged, unknown."""
    cells = np.array([list(line) for line in lines])
    keys = PageGroupKeys(*(np.zeros(len(lines), np.uint64),) * 3)
    return build_trace("drawn", keys, cells == "x", unknown=cells == "?")


def in_groups(changed: BoolArray) -> Trace:
    """Return a trace whose pages lie in directories of ten, two a host and six a site."""
    group = np.arange(len(changed), dtype=np.uint64) // GROUP
    return build_trace("groups", PageGroupKeys(group // 2, group // 6, group), changed)


def by_chance(pages: int, cycles: int, *, seed: int) -> BoolArray:
    """Return cells of pages with very different rates that sometimes change together."""
    rng = np.random.default_rng(seed)
    rates = np.exp(rng.normal(np.log(0.05), 1.5, pages))
    together = rng.random((pages // GROUP + 1, cycles)) < 0.03
    groups = np.arange(pages) // GROUP
    alone = rng.random((pages, cycles)) < 1 - np.exp(-rates)[:, None]
    return alone | (together[groups] & (rng.random((pages, cycles)) < 0.8))


def choices(trace: Trace, policy: Selector, k: int) -> list[list[int]]:
    """Return the pages that each cycle after the warm-up visits, best first."""
    return [cycle.visited_pages.tolist() for cycle in crawl_in_cycles(trace, policy, k)]


def lines_of(trace: Trace) -> list[str]:
    """Return each page's cells as ``drawn`` takes them; a guessed change is an ``X``."""
    signs = np.array([".", "x", "?", "X"])
    columns = [
        signs[trace.changed(cycle) + 2 * trace.unknown(cycle)] for cycle in range(trace.cycles)
    ]
    return ["".join(line) for line in np.column_stack(columns)]
