"""How fast things may happen: the change rates that are thought possible, in cycles or in days."""

from dataclasses import dataclass

import numpy as np

from freshet.core.humanize import LONGEST_INTERVAL_DAYS, SHORTEST_INTERVAL_DAYS
from freshet.core.types import Floats

RATES = 28


@dataclass(frozen=True, slots=True)
class Cadence:
    """A grid of log-spaced change rates a day, and whether time passes in whole cycles.

    A crawl in cycles plans once a day over all of its pages; one in continuous time chooses a few
    pages at any moment.
    """

    slowest: float
    fastest: float
    in_cycles: bool

    @property
    def rates(self) -> Floats:
        """Return the rates, slowest first."""
        return np.geomspace(self.slowest, self.fastest, RATES)


CYCLES = Cadence(slowest=5e-4, fastest=5.0, in_cycles=True)
CONTINUOUS = Cadence(
    slowest=1 / LONGEST_INTERVAL_DAYS, fastest=1 / SHORTEST_INTERVAL_DAYS, in_cycles=False
)
