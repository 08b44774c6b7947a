"""The two kinds of crawl, in cycles and in continuous time, and the grid of change processes.

A page changes at some mean rate, either at random moments (a Poisson process) or regularly (gaps of
an Erlang distribution). Each combination of rate and kind is a cell of the grid: first the Poisson
cells from the slowest to the fastest rate, then the regular ones. Regular gaps longer than a few
days cannot be told from random ones in reasonable time, so that the regular cells are fast.
"""

from dataclasses import dataclass

import numpy as np

from freshet.core.humanize import MAX_INTERVAL_DAYS, MIN_INTERVAL_DAYS
from freshet.core.types import FloatArray

POISSON_CELLS, REGULAR_CELLS = 20, 8
CELL_COUNT = POISSON_CELLS + REGULAR_CELLS
SLOWEST_REGULAR_RATE, FASTEST_REGULAR_RATE = 0.25, 32.0


@dataclass(frozen=True, slots=True)
class CrawlCadence:
    """The range of change rates per day, and whether time passes in whole cycles.

    A crawl in cycles plans once a day over all pages; a crawl in continuous time chooses a few
    pages at any moment.
    """

    slowest_rate: float
    fastest_rate: float
    in_cycles: bool

    @property
    def rates(self) -> FloatArray:
        """Return the rate of every cell in changes per day, log-spaced within each kind."""
        return np.concatenate((
            np.geomspace(self.slowest_rate, self.fastest_rate, POISSON_CELLS),
            np.geomspace(SLOWEST_REGULAR_RATE, FASTEST_REGULAR_RATE, REGULAR_CELLS),
        ))


CYCLE_CADENCE = CrawlCadence(slowest_rate=5e-4, fastest_rate=5.0, in_cycles=True)
CONTINUOUS_CADENCE = CrawlCadence(
    slowest_rate=1 / MAX_INTERVAL_DAYS, fastest_rate=1 / MIN_INTERVAL_DAYS, in_cycles=False
)
