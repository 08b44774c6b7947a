"""The two kinds of crawl, in cycles and in continuous time, each with its grid of change rates."""

from dataclasses import dataclass

import numpy as np

from freshet.core.humanize import MAX_INTERVAL_DAYS, MIN_INTERVAL_DAYS
from freshet.core.types import FloatArray

RATE_COUNT = 28


@dataclass(frozen=True, slots=True)
class CrawlCadence:
    """A grid of log-spaced change rates per day, and whether time passes in whole cycles.

    A crawl in cycles plans once a day over all pages; a crawl in continuous time chooses a few
    pages at any moment.
    """

    slowest_rate: float
    fastest_rate: float
    in_cycles: bool

    @property
    def rates(self) -> FloatArray:
        """Return the rates in changes per day, slowest first."""
        return np.geomspace(self.slowest_rate, self.fastest_rate, RATE_COUNT)


CYCLE_CADENCE = CrawlCadence(slowest_rate=5e-4, fastest_rate=5.0, in_cycles=True)
CONTINUOUS_CADENCE = CrawlCadence(
    slowest_rate=1 / MAX_INTERVAL_DAYS, fastest_rate=1 / MIN_INTERVAL_DAYS, in_cycles=False
)
