"""A simulated web with the true times of its changes, for continuous backtests.

Its pages change from every few minutes to never, with daily and weekly rhythms, together or alone.
The trace of the same pages has the days of these changes.
"""

from dataclasses import replace
from math import ceil

import numpy as np

from freshet.backtest.continuous.ground_truth import ground_truth
from freshet.backtest.trace import ChangeTimes, PageGroupKeys, Trace, build_trace
from freshet.core.clock import CYCLE_SECONDS, from_epoch
from freshet.core.tables import hash_names
from freshet.core.types import FloatArray
from freshet.world.simulated_web import SimulatedWeb
from freshet.world.site_specs import make_site_specs

GENERATED_WEB = "living"


def generate_web_trace(pages: int, days: int, *, seed: int = 1) -> Trace:
    """Return the trace of so many pages of a simulated web, with change times, without noise."""
    copies = ceil(pages / len(make_site_specs(1)[1]))
    web = SimulatedWeb(seed, from_epoch(0.0), days, copies)
    times_by_page = [web.change_times(page) for page in range(pages)]
    page_specs = web.pages[:pages]
    hosts = [web.hosts[page.host].name for page in page_specs]
    keys = PageGroupKeys(
        hosts=hash_names(hosts),
        sites=hash_names(hosts),
        directories=hash_names([web.hosts[page.host].name + page.directory for page in page_specs]),
    )
    importance = np.array([page.importance for page in page_specs], np.float64)
    changed = np.zeros((pages, days), np.bool_)
    for row, change_times in zip(changed, times_by_page, strict=True):
        row[_cycles_of_times(change_times, days)] = True
    trace = build_trace(GENERATED_WEB, keys, changed, importance=importance)
    truth = ground_truth(trace.pages, times_by_page)
    return replace(trace, change_times=ChangeTimes(truth.starts, truth.times))


def _cycles_of_times(
    change_times: FloatArray, days: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return the cycles that contain the given times."""
    return np.minimum(change_times // CYCLE_SECONDS, days - 1).astype(np.int64)
