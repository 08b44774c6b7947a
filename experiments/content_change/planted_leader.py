"""Targets with one planted leader among twenty experts: the vote cannot use it, Hedge can."""

from collections.abc import Iterator, Sequence

import numpy as np

from experiments.content_change.evaluation import ForecastRow, JudgedPages, forecast_row
from experiments.content_change.protocol import NO_SELECTION, MethodForecasts
from freshet.predict.expert_problem import ExpertProblem, SlidingSettings
from freshet.predict.sliding_window import ForecastMethod, forecast_pages

PLANTED = "planted"
TARGETS, EXPERTS, STEPS, LEADER = 20, 20, 180, 7
CHANGE_SHARE, MISS_SHARE = 0.33, 0.08
OWN_METHODS = (ForecastMethod.MAJORITY, ForecastMethod.SINGLE_EXPERT)
METHODS = (
    *OWN_METHODS,
    ForecastMethod.VOTE,
    ForecastMethod.UNION,
    ForecastMethod.BAGGING,
    ForecastMethod.BOOSTING,
    ForecastMethod.HEDGE,
)


def plant_leader(seed: int, steps: int = STEPS) -> ExpertProblem:
    """Return a target that changes a step after one of its experts, with few exceptions."""
    rng = np.random.default_rng(seed)
    changes = rng.random((EXPERTS + 1, steps)) < CHANGE_SHARE
    labels = changes[LEADER] ^ (rng.random(steps) < MISS_SHARE)
    changes[0] = np.roll(labels, 1)
    distances = changes * rng.exponential(0.1, changes.shape)
    cosines = 0.9 + 0.05 * rng.random(changes.shape)
    dense = np.stack([distances, np.roll(distances, 1, 1), changes, cosines], 2)
    return ExpertProblem(dense, labels.astype(np.int8))


def planted_rows(
    targets: int = TARGETS,
    methods: Sequence[ForecastMethod] = METHODS,
    settings: SlidingSettings | None = None,
) -> list[ForecastRow]:
    """Return the figures of methods on targets with a planted leader."""
    settings = settings or SlidingSettings()
    problems = [plant_leader(seed) for seed in range(targets)]
    labels = np.stack([problem.labels for problem in problems]).astype(np.int32)
    hosts = np.arange(targets, dtype=np.uint64)
    tested = JudgedPages(PLANTED, "any_text", 0.0, labels, hosts, settings.window)
    return [
        forecast_row(tested, forecasts) for forecasts in _forecasts(problems, methods, settings)
    ]


def _forecasts(
    problems: Sequence[ExpertProblem], methods: Sequence[ForecastMethod], settings: SlidingSettings
) -> Iterator[MethodForecasts]:
    results = list(forecast_pages(problems, methods, settings))
    for method in methods:
        yield MethodForecasts(
            method.value,
            NO_SELECTION if method in OWN_METHODS else PLANTED,
            np.stack([forecasts[method].classes for forecasts in results]).astype(np.int32),
            np.stack([forecasts[method].probabilities for forecasts in results]),
        )
