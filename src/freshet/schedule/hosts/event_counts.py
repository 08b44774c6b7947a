"""How often shared events happen at a host, for forecasts that are shown.

``SharedEvents.event_rates`` adds up hazards. The hazard of an event that changed all pages is above
1, so that this rate is too high for a site that changes as a whole. The policy uses it all the
same: it makes the policy look for events early, and its constants were tuned with it.
"""

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.schedule.hosts.event_columns import INITIAL_EVENT_RATE
from freshet.schedule.hosts.kernels.shared_events import WINDOW_DAYS
from freshet.schedule.hosts.shared_events import SharedEvents

# The prior rate counts as much as this many days of looks.
PRIOR_DAYS = 2.0


def counted_event_rates(events: SharedEvents, hosts: NDArray[np.int32], day: float) -> FloatArray:
    """Return the mean number of shared events a day up to now, at most one on each day.

    An event that changes a part of the pages counts as that part. ``day`` is now. Hosts without
    shared events have 0.
    """
    unique_hosts, positions = np.unique(hosts, return_inverse=True)
    rates = np.array([_counted_rate(events, int(host), day) for host in unique_hosts])
    return rates[positions] if len(rates) else np.zeros(0)


def _counted_rate(events: SharedEvents, host: int, day: float) -> float:
    observation = events.observed_days(host, day)
    if observation is None:
        return 0.0
    days, days_since = min(observation[0], float(WINDOW_DAYS)), observation[1]
    day -= days_since
    ends = day - np.arange(0.0, days)
    begins = np.maximum(ends - 1.0, day - days)
    hazards = events.hazards(np.full(len(ends), host, np.int32), begins, ends)
    count = float(-np.expm1(-hazards).sum())
    return (PRIOR_DAYS * INITIAL_EVENT_RATE + count) / (PRIOR_DAYS + days)
