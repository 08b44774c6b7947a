"""Switch off single parts of a default policy, to measure what each of them brings."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.schedule.bayes_policy import BayesPolicy
from freshet.schedule.cadence import POISSON_CELLS
from freshet.schedule.kernels.posterior import Exposure
from freshet.schedule.objectives import PageScores

NEGLIGIBLE = 1e-12


def without_shared_events(policy: BayesPolicy) -> None:
    """Let no host have shared events."""
    events = policy._model.events

    def no_hazards(hosts: NDArray[Any], begins: FloatArray, ends: FloatArray) -> FloatArray:
        return np.zeros(len(hosts))

    def no_rates(hosts: NDArray[Any]) -> FloatArray:
        return np.zeros(len(hosts))

    for name, function in (
        ("hazards", no_hazards),
        ("unconfirmed_hazards", no_hazards),
        ("event_rates", no_rates),
    ):
        setattr(events, name, function)


def without_sentinels(policy: BayesPolicy) -> None:
    """Give no page a bonus for what a look at it teaches."""

    def no_bonuses(rows: NDArray[Any], now: float, multiplier: float) -> FloatArray:
        return np.zeros(len(rows))

    policy._sentinels.bonuses = no_bonuses  # type: ignore[method-assign]


def without_publication_times(policy: BayesPolicy) -> None:
    """Let time pass evenly for all hosts."""

    def calendar_days(hosts: NDArray[Any], begins: FloatArray, ends: FloatArray) -> FloatArray:
        return ends - begins

    policy._model.elapsed_days = calendar_days  # type: ignore[method-assign]


def without_regular_changes(policy: BayesPolicy) -> None:
    """Take all changes as those of a Poisson process."""
    prior = policy._model.prior
    prior._initial[POISSON_CELLS:] *= NEGLIGIBLE
    prior._initial /= prior._initial.sum()
    prior.table = prior._initial[np.newaxis]


def without_learned_prior(policy: BayesPolicy) -> None:
    """Keep the initial distribution of change rates for all hosts."""

    def keep_prior(now: float) -> None:
        return None

    policy._model.refit_prior = keep_prior  # type: ignore[method-assign]


def without_waiting(policy: BayesPolicy) -> None:
    """Value a look for changes by the chance of a change alone."""
    model, scores_of = policy._model, policy._model._scores

    def chances_as_values(rows: NDArray[Any], exposure: Exposure) -> PageScores:
        scores = scores_of(rows, exposure)
        weights = model.page_states.importance[rows] * model.page_states.look_chances(rows)
        values = np.where(np.isnan(scores.chances), scores.values, scores.chances * weights)
        return replace(scores, values=values)

    if policy.objective.name == "changes":
        model._scores = chances_as_values  # type: ignore[method-assign]


ABLATED_PARTS: Mapping[str, Callable[[BayesPolicy], None]] = {
    "shared events": without_shared_events,
    "sentinels": without_sentinels,
    "publication times": without_publication_times,
    "regular changes": without_regular_changes,
    "a learned prior": without_learned_prior,
    "waiting": without_waiting,
}
