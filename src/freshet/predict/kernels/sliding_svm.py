"""Compiled loop of support vector machines that slide over the steps of one target page.

At each step one machine per expert is fitted to the examples of the window before it. The dot
products of term distributions come with the problem, one per pair of steps; those of the dense
features are taken anew because each window standardises them. Each dual starts from the solution
of the window before.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.predict.kernels.svm_dual import inverse_curvatures, solve_dual

LabelArray = NDArray[np.int8]
StepArray = NDArray[np.int64]

CONSTANT_DECISION = 1.0
BLOCK = 4


class ExpertArrays(NamedTuple):
    """The experts of a target page.

    ``dense[expert, step, feature]`` may hold NaN, which counts as the mean of the window;
    ``gram[expert, step, step]`` has the dot products of term distributions; ``labels[step]`` are
    0, 1, and -1 if unknown.
    """

    dense: FloatArray
    gram: FloatArray
    labels: LabelArray


class KernelSettings(NamedTuple):
    """Window in steps, distance of a label in steps, first step to predict, and the kernel.

    The kernel of two examples is (gamma * product + coef0) cubed. A gamma of 0 stands for one
    divided by the number of dense features that vary in the window, as ``scale`` does in
    scikit-learn for standardised features. With ``with_own`` every expert also has the features
    of the first one, the page itself.
    """

    window: int
    horizon: int
    first_step: int
    gamma: float
    coef0: float
    tolerance: float
    with_own: bool


@njit(cache=True, nogil=True)
def slide_experts(
    experts: ExpertArrays, penalties: FloatArray, settings: KernelSettings
) -> FloatArray:
    """Return the decision of every expert, for every penalty C and step.

    A decision is NaN before the first step, where no label of the window is known, and where the
    expert has no features. It is -1 or 1 if all labels of the window are equal.
    """
    expert_count, steps, _ = experts.dense.shape
    decisions = np.full((expert_count, len(penalties), steps), np.nan)
    coefficients = np.empty((len(penalties), steps))
    for expert in range(expert_count):
        coefficients[:] = 0.0
        for step in range(settings.first_step, steps):
            rows = window_rows(experts.labels, step, settings)
            positives = count_positives(experts.labels, rows)
            if len(rows) == 1:
                continue
            if positives == 0 or positives == len(rows) - 1:
                constant = CONSTANT_DECISION if positives else -CONSTANT_DECISION
                decisions[expert, :, step] = constant
            elif has_features(experts.dense, expert, step):
                kernel = _expert_kernel(experts, expert, rows, settings)
                signs = window_signs(experts.labels, rows)
                decisions[expert, :, step] = _fit_penalties(
                    kernel, signs, rows, penalties, coefficients, settings.tolerance
                )
    return decisions


@njit(cache=True, nogil=True)
def window_rows(labels: LabelArray, step: int, settings: KernelSettings) -> StepArray:
    """Return the steps of the window whose labels are known, and last the predicted step."""
    end = step - settings.horizon + 1
    rows = np.empty(settings.window + 1, np.int64)
    count = 0
    for row in range(max(0, end - settings.window), end):
        if labels[row] >= 0:
            rows[count] = row
            count += 1
    rows[count] = step
    return rows[: count + 1]


@njit(cache=True, nogil=True)
def count_positives(labels: LabelArray, rows: StepArray) -> int:
    """Return how many steps of the window have the label 1; the last row does not count."""
    positives = 0
    for row in rows[:-1]:
        positives += labels[row]
    return positives


@njit(cache=True, nogil=True)
def _expert_kernel(
    experts: ExpertArrays, expert: int, rows: StepArray, settings: KernelSettings
) -> FloatArray:
    """Return the kernel of an expert's rows."""
    products, varying = window_products(experts, expert, rows)
    if settings.with_own and expert > 0:
        own_products, own_varying = window_products(experts, 0, rows)
        products, varying = products + own_products, varying + own_varying
    return polynomial_kernel(products, varying, settings)


@njit(cache=True, nogil=True)
def _fit_penalties(
    kernel: FloatArray,
    signs: FloatArray,
    rows: StepArray,
    penalties: FloatArray,
    coefficients: FloatArray,
    tolerance: float,
) -> FloatArray:
    """Return the decision for the last row by each penalty; update the coefficients by step."""
    inverses = inverse_curvatures(kernel)
    decisions, limits, start = np.empty(len(penalties)), np.empty(len(signs)), np.empty(len(signs))
    for index in range(len(penalties)):
        limits[:] = penalties[index]
        for position in range(len(signs)):
            start[position] = coefficients[index, rows[position]]
        bias = solve_dual(kernel, inverses, signs, limits, start, tolerance)
        for position in range(len(signs)):
            coefficients[index, rows[position]] = start[position]
        decisions[index] = decide(kernel, start, bias, len(signs))
    return decisions


@njit(cache=True, nogil=True)
def has_features(dense: FloatArray, expert: int, step: int) -> bool:
    """Say whether any dense feature of the expert is known at a step."""
    return not np.isnan(dense[expert, step]).all()


@njit(cache=True, nogil=True)
def window_signs(labels: LabelArray, rows: StepArray) -> FloatArray:
    """Return the labels of the window as -1 and 1."""
    signs = np.empty(len(rows) - 1)
    for position in range(len(signs)):
        signs[position] = 1.0 if labels[rows[position]] == 1 else -1.0
    return signs


@njit(cache=True, nogil=True)
def window_products(experts: ExpertArrays, expert: int, rows: StepArray) -> tuple[FloatArray, int]:
    """Return the products of an expert's rows, and how many dense features vary in the window."""
    size = len(rows)
    products = _term_products(experts.gram[expert], rows)
    block, filled, varying = np.zeros((BLOCK, size)), 0, 0
    for feature in range(experts.dense.shape[2]):
        for row in range(size):
            block[filled, row] = experts.dense[expert, rows[row], feature]
        if standardise(block[filled]):
            filled, varying = filled + 1, varying + 1
        if filled == BLOCK:
            _add_products(products, block)
            filled = 0
    if filled > 0:
        block[filled:] = 0.0
        _add_products(products, block)
    return products, varying


@njit(cache=True, nogil=True)
def _term_products(gram: FloatArray, rows: StepArray) -> FloatArray:
    """Return the part of a Gram matrix that belongs to the rows."""
    size, first = len(rows), rows[0]
    is_contiguous = rows[-1] - first == size - 1
    products = np.empty((size, size))
    for row in range(size):
        source, target = gram[rows[row]], products[row]
        if is_contiguous:
            for other in range(size):
                target[other] = source[first + other]
        else:
            for other in range(size):
                target[other] = source[rows[other]]
    return products


@njit(cache=True, nogil=True, error_model="numpy")
def standardise(column: FloatArray) -> bool:
    """Standardise a feature by all rows but the last in place; return False if it is constant.

    An unknown value becomes 0, the mean.
    """
    total, square, count = 0.0, 0.0, 0
    for value in column[:-1]:
        if not np.isnan(value):
            total += value
            count += 1
    mean = total / max(count, 1)
    for value in column[:-1]:
        if not np.isnan(value):
            square += (value - mean) ** 2
    deviation = np.sqrt(square / max(count, 1))
    if not deviation > 1e-12 * max(1.0, abs(mean)):
        return False
    for row in range(len(column)):
        value = (column[row] - mean) / deviation
        column[row] = 0.0 if np.isnan(value) else value
    return True


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_products(products: FloatArray, block: FloatArray) -> None:
    """Add the products of a block of features; several at a time save memory accesses."""
    first, second, third, fourth = block[0], block[1], block[2], block[3]
    for row in range(len(products)):
        a, b, c, d = first[row], second[row], third[row], fourth[row]
        for other in range(len(products)):
            products[row, other] += (
                a * first[other] + b * second[other] + c * third[other] + d * fourth[other]
            )


@njit(cache=True, nogil=True, error_model="numpy")
def polynomial_kernel(products: FloatArray, varying: int, settings: KernelSettings) -> FloatArray:
    """Return (gamma * product + coef0) cubed."""
    gamma = settings.gamma if settings.gamma > 0.0 else 1.0 / max(varying, 1)
    kernel = np.empty_like(products)
    for row in range(len(products)):
        for other in range(len(products)):
            value = gamma * products[row, other] + settings.coef0
            kernel[row, other] = value * value * value
    return kernel


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def decide(kernel: FloatArray, coefficients: FloatArray, bias: float, row: int) -> float:
    """Return the decision for a row of the kernel."""
    decision = bias
    for position in range(len(coefficients)):
        decision += coefficients[position] * kernel[row, position]
    return decision
