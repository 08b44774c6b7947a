"""Forecasts for every step of a target page, by machines fitted to the window before the step.

The setting of Radinsky and Bennett (2013, sections 5 and 7): train on the previous n steps, predict
the next. Departures: C is chosen by past predictions, Hedge learns
the weights of experts, and every method has probabilities, calibrated on its own past decisions and
pooled with a chance from the page's own past if the problem has one, both weighted by past losses.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.predict.expert_problem import ExpertProblem, SlidingSettings
from freshet.predict.expert_votes import (
    VoteTable,
    expert_classes,
    fixed_weights,
    hedge_weights,
    past_sums,
)
from freshet.predict.kernels.platt_scaling import slide_platt
from freshet.predict.kernels.sliding_ensembles import slide_bagging, slide_boosting
from freshet.predict.kernels.sliding_svm import ExpertArrays, LabelArray, slide_experts
from freshet.predict.step_baselines import (
    BaselineRule,
    WindowCounts,
    count_labels,
    majority_classes,
    previous_labels,
)

DEFAULT_PENALTY = 0.03
TIE_BREAK = 1e-6
CALIBRATION_WINDOWS = 2
BATCH_PER_WORKER = 4
LEAST_POOLED_CHANCE = 0.01


class ForecastMethod(StrEnum):
    """The methods of sections 5.1 to 5.3, and Hedge."""

    COIN = "coin"
    MAJORITY = "majority"
    PREVIOUS = "previous"
    SINGLE_EXPERT = "single_expert"
    VOTE = "vote"
    VOTE_WITH_OWN = "vote_with_own"
    HEDGE = "hedge"
    HEDGE_WITH_OWN = "hedge_with_own"
    UNION = "union"
    BAGGING = "bagging"
    BOOSTING = "boosting"


@dataclass(frozen=True, slots=True)
class StepForecasts:
    """Score, class and calibrated probability of a change for every step.

    Steps for which a method has nothing to learn from (before the warm-up, no features) have the
    score NaN and the majority's class and probability. ``votes`` tells which experts said so.
    """

    scores: FloatArray
    classes: LabelArray
    probabilities: FloatArray
    votes: VoteTable | None = None


class SlidingExperts:
    """All methods for one target page; what several of them need is computed once."""

    def __init__(self, problem: ExpertProblem, settings: SlidingSettings | None = None) -> None:
        self._problem = problem
        self._settings = settings or SlidingSettings()
        self._labels = np.ascontiguousarray(problem.labels, np.int8)

    def forecast(self, method: ForecastMethod) -> StepForecasts:
        """Return the forecasts of a method."""
        match method:
            case ForecastMethod.COIN | ForecastMethod.MAJORITY | ForecastMethod.PREVIOUS:
                return self.baseline(BaselineRule(method.value))
            case ForecastMethod.SINGLE_EXPERT:
                return self._calibrate(self._own_decisions[0])
            case ForecastMethod.UNION:
                return self._calibrate(self._union_decisions[0][0])
            case ForecastMethod.BAGGING:
                return self.bagging()
            case ForecastMethod.BOOSTING:
                return self.boosting()
        return self.multiple_experts(
            hedge=method in {ForecastMethod.HEDGE, ForecastMethod.HEDGE_WITH_OWN},
            with_own=method in {ForecastMethod.VOTE_WITH_OWN, ForecastMethod.HEDGE_WITH_OWN},
        )

    def baseline(self, rule: BaselineRule) -> StepForecasts:
        """Return forecasts from the labels of the window alone.

        The coin is thrown with the frequency of the window; the previous label has the frequency
        of 1 after labels like it.
        """
        counts, previous = self._counts, self._previous
        probabilities = counts.smoothed
        if rule is BaselineRule.COIN:
            rng = np.random.default_rng(self._settings.seed)
            frequencies = counts.positive / np.maximum(counts.known, 1.0)
            classes = (rng.random(len(frequencies)) < frequencies).astype(np.int8)
        elif rule is BaselineRule.MAJORITY:
            classes = majority_classes(counts, previous)
        else:
            classes, probabilities = previous, self._repeat_probabilities()
        return StepForecasts(2.0 * probabilities - 1.0, classes, probabilities)

    def multiple_experts(self, *, hedge: bool, with_own: bool = False) -> StepForecasts:
        """Return the vote of all experts, weighted by relation or by Hedge."""
        decisions = self._with_own_decisions if with_own else self._expert_decisions
        classes, weights = expert_classes(decisions), self._problem.relation_weights()
        if hedge:
            table = hedge_weights(
                classes,
                self._labels,
                weights,
                learning_rate=self._settings.learning_rate,
                horizon=self._settings.horizon,
            )
        else:
            table = fixed_weights(classes, weights)
        is_known = (classes >= 0).any(axis=0)
        return self._calibrate(np.where(is_known, table.scores(), np.nan), table)

    def bagging(self) -> StepForecasts:
        """Return the vote of machines fitted to samples of the window, with all features."""
        rng = np.random.default_rng(self._settings.seed)
        window = self._settings.window
        draws = rng.multinomial(window, np.full(window, 1.0 / window), self._settings.models)
        votes = slide_bagging(
            self._problem.union_arrays(),
            self._union_decisions[1][0],
            draws.astype(float),
            self._settings.kernel_settings(),
        )
        return self._calibrate(votes)

    def boosting(self) -> StepForecasts:
        """Return the vote of boosted machines with all features (AdaBoost)."""
        votes = slide_boosting(
            self._problem.union_arrays(),
            self._union_decisions[1][0],
            self._settings.models,
            self._settings.kernel_settings(),
        )
        return self._calibrate(votes)

    @cached_property
    def _counts(self) -> WindowCounts:
        return count_labels(self._labels, self._settings.window, self._settings.horizon)

    @cached_property
    def _previous(self) -> LabelArray:
        return previous_labels(self._labels, self._settings.horizon)

    @cached_property
    def _own_decisions(self) -> FloatArray:
        return self._decide(self._problem.own_arrays())[0]

    @cached_property
    def _expert_decisions(self) -> FloatArray:
        return self._decide(self._problem.expert_arrays())[0]

    @cached_property
    def _with_own_decisions(self) -> FloatArray:
        return self._decide(self._problem.expert_arrays(), with_own=True)[0]

    @cached_property
    def _union_decisions(self) -> tuple[FloatArray, FloatArray]:
        return self._decide(self._problem.union_arrays())

    def _decide(
        self, experts: ExpertArrays, *, with_own: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Return decisions by the chosen penalties, and the penalties, per expert and step."""
        settings = self._settings
        penalties = np.array(sorted(settings.penalties))
        decisions = slide_experts(experts, penalties, settings.kernel_settings(with_own=with_own))
        indices = choose_penalties(decisions, self._labels, penalties, settings.horizon)
        chosen = np.take_along_axis(decisions, indices[:, None, :], axis=1)[:, 0]
        return chosen, penalties[indices]

    def _repeat_probabilities(self) -> FloatArray:
        """Return the frequency of 1 among steps of the window with the same previous label."""
        window, horizon = self._settings.window, self._settings.horizon
        after_one = count_labels(self._labels, window, horizon, self._previous.astype(float))
        after_zero = count_labels(
            self._labels, window, horizon, (self._previous == 0).astype(float)
        )
        return np.where(self._previous == 1, after_one.smoothed, after_zero.smoothed)

    def _calibrate(self, scores: FloatArray, votes: VoteTable | None = None) -> StepForecasts:
        """Return forecasts from scores, with probabilities from the scores before each step."""
        settings = self._settings
        labels = np.where(self._labels >= 0, self._labels, np.nan)
        span = CALIBRATION_WINDOWS * settings.window
        probabilities = slide_platt(scores, labels, span, settings.horizon, settings.prior_weight)
        fallback = self._counts.constant | np.isnan(scores)
        classes = np.where(
            np.isnan(scores) | (scores == 0),
            majority_classes(self._counts, self._previous),
            scores > 0,
        )
        if self._problem.own_chances is not None:
            probabilities = self._pool(probabilities, self._problem.own_chances)
            classes = np.where(fallback | (probabilities == 0.5), classes, probabilities > 0.5)
        return StepForecasts(
            scores,
            classes.astype(np.int8),
            np.where(fallback, self._counts.smoothed, probabilities),
            votes,
        )

    def _pool(self, chances: FloatArray, own_chances: FloatArray) -> FloatArray:
        """Return the chances whose log-odds are the mean of two forecasts, weighted by Hedge.

        The losses of Hedge are the past log-losses of the two.
        """
        is_judged = (self._labels >= 0) & ~np.isnan(chances)
        logits, own_logits = _logits(np.where(is_judged, chances, 0.5)), _logits(own_chances)
        signs = np.where(self._labels == 1, -1.0, 1.0)
        surplus = np.logaddexp(0.0, signs * logits) - np.logaddexp(0.0, signs * own_logits)
        past_surplus = past_sums(np.where(is_judged, surplus, 0.0), self._settings.horizon)
        own_weights = _chances(self._settings.learning_rate * past_surplus)
        return _chances(own_weights * own_logits + (1 - own_weights) * _logits(chances))


def _logits(chances: FloatArray) -> FloatArray:
    bounded = np.clip(chances, LEAST_POOLED_CHANCE, 1 - LEAST_POOLED_CHANCE)
    return np.asarray(np.log(bounded / (1 - bounded)), np.float64)


def _chances(logits: FloatArray) -> FloatArray:
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * logits), np.float64)


def choose_penalties(
    decisions: FloatArray, labels: LabelArray, penalties: FloatArray, horizon: int
) -> NDArray[np.intp]:
    """Return, per expert and step, the index of the penalty with the fewest errors before.

    ``decisions[expert, penalty, step]``; of equally good ones the nearest to the default is taken.
    """
    errors = (expert_classes(decisions) != labels) & ~np.isnan(decisions) & (labels >= 0)
    past_errors = past_sums(errors.astype(float), horizon)
    distances = np.abs(np.log(penalties / DEFAULT_PENALTY))
    chosen: NDArray[np.intp] = np.argmin(past_errors + TIE_BREAK * distances[:, None], axis=1)
    return chosen


def forecast_pages(
    problems: Iterable[ExpertProblem],
    methods: Sequence[ForecastMethod],
    settings: SlidingSettings | None = None,
    *,
    workers: int | None = None,
) -> Iterator[dict[ForecastMethod, StepForecasts]]:
    """Yield the forecasts of each page by each method, on all cores.

    Pages are taken from the iterable in batches, so a generator keeps memory bounded.
    """

    def forecast_page(problem: ExpertProblem) -> dict[ForecastMethod, StepForecasts]:
        page = SlidingExperts(problem, settings)
        return {method: page.forecast(method) for method in methods}

    threads = workers or os.cpu_count() or 1
    remaining = iter(problems)
    with ThreadPoolExecutor(threads, thread_name_prefix="forecast") as executor:
        while batch := list(islice(remaining, threads * BATCH_PER_WORKER)):
            yield from executor.map(forecast_page, batch)
