"""A generated web whose changes have their true moments, for races in continuous time.

Its pages change from once in minutes to never, with rhythms of day and week, together or alone; the
trace of the same pages tells on which days they did.
"""

from math import ceil

import numpy as np

from freshet.backtest.continuous import Truth, as_live, truth
from freshet.backtest.trace import Keys, Trace, packed
from freshet.core.clock import CYCLE_SECONDS, from_epoch
from freshet.core.tables import keys_of
from freshet.core.types import Floats
from freshet.world.simulated_web import LivingWeb
from freshet.world.site_specs import cast

NAME = "living"


def living(pages: int, days: int, *, seed: int = 1) -> tuple[Trace, Truth]:
    """Return the trace and the truth of so many pages of a living web, noise left out."""
    copies = ceil(pages / len(cast(1)[1]))
    web = LivingWeb(seed, from_epoch(0.0), days, copies)
    times = [web.change_times(page) for page in range(pages)]
    shown = web.pages[:pages]
    hosts = [web.hosts[page.host].name for page in shown]
    keys = Keys(
        hosts=keys_of(hosts),
        sites=keys_of(hosts),
        directories=keys_of([web.hosts[page.host].name + page.directory for page in shown]),
    )
    importance = np.array([page.importance for page in shown], np.float64)
    changed = np.zeros((pages, days), np.bool_)
    for row, moments in zip(changed, times, strict=True):
        row[_cycles(moments, days)] = True
    trace = packed(NAME, keys, changed, importance=importance)
    return trace, truth(as_live(trace.pages), times)


def _cycles(moments: Floats, days: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return the cycles in which moments lie."""
    return np.minimum(moments // CYCLE_SECONDS, days - 1).astype(np.int64)
