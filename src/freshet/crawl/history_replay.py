"""Makes a new policy learn a history in the order of time, as the crawl learned it.

The prior, the shared events and the rates of pages are fitted to each other step by step, so that a
policy that learns everything at once and fits only then can end with other forecasts. After a
replay most choices are those that the crawl would have made: in simulated crawls 85 to 100 % of
them (``docs/results/wild.md``). A stored state of the policy (``policy_state.py``) comes closer.
"""

from collections.abc import Callable

import numpy as np

from freshet.core.clock import from_epoch
from freshet.core.policy import Policy, RefittingPolicy
from freshet.core.tables import DAY_SECONDS, VisitTable
from freshet.record.fault_isolation import isolate_faults
from freshet.schedule.visit_steps import replay_steps, select_visits, step_ranges

# Earlier visits of a very long history are learned at once.
REPLAYED_DAYS = 60.0
MAX_REPLAYED_VISITS = 5_000_000


def replay_visits(
    policy: RefittingPolicy,
    history: VisitTable,
    page_count: int,
    learn: Callable[[VisitTable, VisitTable], None],
) -> None:
    """Make a policy learn visits in the order of time, and fit it at every step.

    ``learn`` takes the visits of a step, and all visits up to then.
    """
    ordered = select_visits(history, np.lexsort((history.pages, history.times)))
    for start, end in step_ranges(replay_steps(ordered.times, page_count)):
        with isolate_faults("fitting it", f"policy {policy.name}"):
            policy.refit(from_epoch(float(ordered.times[start])))
        learn(select_visits(ordered, slice(start, end)), select_visits(ordered, slice(0, end)))
    if len(ordered):
        with isolate_faults("fitting it", f"policy {policy.name}"):
            policy.refit(from_epoch(float(ordered.times[-1])))


def first_replayed_time(policy: Policy, now: float, visit_count: int) -> float:
    """Return the time from which visits are replayed: all of them, or the last days of many."""
    if not isinstance(policy, RefittingPolicy):
        return np.inf
    return -np.inf if visit_count <= MAX_REPLAYED_VISITS else now - REPLAYED_DAYS * DAY_SECONDS
