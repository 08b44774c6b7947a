"""Compiled loops of bagging and boosting with sliding support vector machines.

An example that is drawn twice is an example with twice the penalty: the duals have the same
solution. So both ensembles solve the dual of one window with different limits.
"""

import math

import numpy as np
from numba import njit

from freshet.core.types import FloatArray
from freshet.predict.kernels.sliding_svm import (
    CONSTANT_DECISION,
    ExpertArrays,
    KernelSettings,
    StepArray,
    count_positives,
    decide,
    has_features,
    polynomial_kernel,
    window_products,
    window_rows,
    window_signs,
)
from freshet.predict.kernels.svm_dual import inverse_curvatures, solve_dual

NO_ERROR = 1e-12


@njit(cache=True, nogil=True)
def slide_bagging(
    experts: ExpertArrays, penalties: FloatArray, draws: FloatArray, settings: KernelSettings
) -> FloatArray:
    """Return the mean vote of machines fitted to samples of each window, from -1 to 1.

    ``penalties[step]`` is the penalty C at a step, ``draws[model, position]`` how often a model's
    sample holds the example at a position of the window. Only the first expert is used.
    """
    votes = np.full(experts.dense.shape[1], np.nan)
    for step in range(settings.first_step, len(votes)):
        rows = window_rows(experts.labels, step, settings)
        votes[step] = _constant_vote(experts, rows)
        if votes[step] == 0.0:
            votes[step] = _bagged_vote(experts, rows, penalties[step], draws, settings)
    return votes


@njit(cache=True, nogil=True)
def slide_boosting(
    experts: ExpertArrays, penalties: FloatArray, rounds: int, settings: KernelSettings
) -> FloatArray:
    """Return the vote of machines boosted on each window, from -1 to 1.

    ``penalties[step]`` is the penalty C at a step. Only the first expert is used.
    """
    votes = np.full(experts.dense.shape[1], np.nan)
    for step in range(settings.first_step, len(votes)):
        rows = window_rows(experts.labels, step, settings)
        votes[step] = _constant_vote(experts, rows)
        if votes[step] == 0.0:
            votes[step] = _boosted_vote(experts, rows, penalties[step], rounds, settings)
    return votes


@njit(cache=True, nogil=True)
def _constant_vote(experts: ExpertArrays, rows: StepArray) -> float:
    """Return -1 or 1 if all labels are equal, NaN if nothing can be learnt, and otherwise 0."""
    positives = count_positives(experts.labels, rows)
    if len(rows) == 1 or not has_features(experts.dense, 0, rows[-1]):
        return np.nan
    if positives == 0:
        return -CONSTANT_DECISION
    return CONSTANT_DECISION if positives == len(rows) - 1 else 0.0


@njit(cache=True, nogil=True)
def _bagged_vote(
    experts: ExpertArrays,
    rows: StepArray,
    penalty: float,
    draws: FloatArray,
    settings: KernelSettings,
) -> float:
    signs = window_signs(experts.labels, rows)
    products, varying = window_products(experts, 0, rows)
    kernel = polynomial_kernel(products, varying, settings)
    inverses = inverse_curvatures(kernel)
    coefficients, total = np.zeros(len(signs)), 0.0
    for model in range(len(draws)):
        limits = penalty * draws[model, : len(signs)]
        drawn = signs * limits
        if drawn.min() >= 0.0 or drawn.max() <= 0.0:
            total += 1.0 if drawn.max() > 0.0 else -1.0
            continue
        bias = solve_dual(kernel, inverses, signs, limits, coefficients, settings.tolerance)
        total += 1.0 if decide(kernel, coefficients, bias, len(signs)) > 0.0 else -1.0
    return total / len(draws)


@njit(cache=True, nogil=True, error_model="numpy")
def _boosted_vote(
    experts: ExpertArrays, rows: StepArray, penalty: float, rounds: int, settings: KernelSettings
) -> float:
    """Boost by the weights and alphas of section 5.3.3.

    The section leaves open what to do where alpha is infinite or 0. A model without errors decides
    alone; a model that is as good as chance changes no weight, so the rounds end.
    """
    signs = window_signs(experts.labels, rows)
    products, varying = window_products(experts, 0, rows)
    kernel = polynomial_kernel(products, varying, settings)
    inverses, size = inverse_curvatures(kernel), len(signs)
    weights, coefficients, answers = np.full(size, 1.0 / size), np.zeros(size), np.empty(size + 1)
    vote, total_alpha = 0.0, 0.0
    for _ in range(rounds):
        limits = penalty * size * weights
        bias = solve_dual(kernel, inverses, signs, limits, coefficients, settings.tolerance)
        for row in range(size + 1):
            answers[row] = 1.0 if decide(kernel, coefficients, bias, row) > 0.0 else -1.0
        error = weights[answers[:-1] != signs].sum()
        if error < NO_ERROR:
            return float(answers[-1])
        alpha = 0.5 * math.log((1.0 - error) / error)
        vote += alpha * answers[-1]
        total_alpha += abs(alpha)
        if abs(alpha) < NO_ERROR:
            break
        weights *= np.exp(-alpha * signs * answers[:-1])
        weights /= weights.sum()
    return vote / max(total_alpha, NO_ERROR)
