"""What the default forecast said before each look of a history, never having seen later ones."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from freshet.core.clock import from_epoch
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.progress import ProgressCallback
from freshet.core.tables import PageTable, VisitTable
from freshet.core.types import FloatArray
from freshet.learning.collection_looks import look_visits
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.page_states import ranks_within_groups
from freshet.schedule.policies import make_policy
from freshet.schedule.visit_steps import replay_steps, select_visits, step_ranges


def default_chances(
    policy_name: str,
    pages: PageTable,
    looks: MeasuredLooks,
    progress: ProgressCallback,
    *,
    hourly_since: float = np.inf,
) -> FloatArray:
    """Return the chance that a policy gave to a change just before each look, NaN at a first look.

    The looks are in time order. Since ``hourly_since`` the policy is fitted every hour, as in a
    crawl; in earlier steps less often.
    """
    policy = make_policy(policy_name, live=True)
    if not isinstance(policy, BayesPolicy):
        raise TypeError(f"{policy_name} makes no forecasts")
    policy.add(pages)
    visits, chances = look_visits(looks), np.full(len(looks), np.nan)
    steps = replay_steps(visits.times, len(pages), hourly_since=hourly_since)
    for start, end in step_ranges(steps):
        policy.refit(from_epoch(float(visits.times[start])))
        for rows in _without_repeated_pages(visits, start, end):
            batch = select_visits(visits, rows)
            chances[rows] = policy.change_chances(batch.pages, batch.times)
            policy.learn(batch)
        progress(end, len(looks))
    return chances


def _without_repeated_pages(visits: VisitTable, start: int, end: int) -> Iterator[NDArray[np.intp]]:
    """Yield the rows of a step in parts in which no page occurs twice, in the order of time."""
    ranks = ranks_within_groups(visits.pages[start:end])
    for rank in range(int(ranks.max(initial=-1)) + 1):
        yield start + np.flatnonzero(ranks == rank)
