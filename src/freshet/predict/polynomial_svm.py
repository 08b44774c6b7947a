"""The paper's weak learner in scikit-learn's form: an SVM with a polynomial kernel of degree 3."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.predict.calibrated_classifier import CalibratedClassifier
from freshet.predict.expert_problem import PENALTIES
from freshet.predict.kernels.svm_dual import inverse_curvatures, solve_dual
from freshet.predict.logit_classifier import BinaryExamples, ClassArray

CHOICE_FOLDS = 5
TOLERANCE = 1e-3


class PolynomialModel:
    """Standardised examples with their coefficients.

    A feature too large for its deviation to be computed counts as constant.
    """

    @np.errstate(over="ignore", invalid="ignore")
    def __init__(self, rows: FloatArray, *, gamma: float | None, coef0: float) -> None:
        is_known = ~np.isnan(rows)
        counts = np.maximum(is_known.sum(axis=0), 1)
        self._means = np.where(is_known, rows, 0.0).sum(axis=0) / counts
        offsets = np.where(is_known, rows - self._means, 0.0)
        deviations = np.sqrt((offsets**2).sum(axis=0) / counts)
        varies = deviations > 1e-12 * np.maximum(1.0, np.abs(self._means))
        self._scales = np.where(varies, 1.0 / np.where(varies, deviations, 1.0), 0.0)
        self._gamma = 1.0 / max(int(varies.sum()), 1) if gamma is None else gamma
        self._coef0 = coef0
        self._examples = self._standardise(rows)
        self._coefficients, self._bias = np.zeros(len(rows)), 0.0

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return the decisions for rows."""
        kernel = self._kernel(self._standardise(rows), self._examples)
        decisions: FloatArray = kernel @ self._coefficients + self._bias
        return decisions

    def fit(self, labels: ClassArray, penalties: Sequence[float], weights: FloatArray) -> float:
        """Fit to the labels with the best penalty C, and return it.

        The best penalty has the fewest errors on blocks of neighbouring examples when fitted to the
        other blocks; of equally good ones the smallest is taken.
        """
        kernel, signs = (
            self._kernel(self._examples, self._examples),
            np.where(labels == 1, 1.0, -1.0),
        )
        penalties = sorted(penalties)
        penalty = penalties[0]
        if len(penalties) > 1:
            blocks = np.array_split(np.arange(len(signs)), min(CHOICE_FOLDS, len(signs)))
            errors = [_block_errors(kernel, signs, weights, penalties, block) for block in blocks]
            penalty = penalties[int(np.argmin(np.sum(errors, axis=0)))]
        inverses = inverse_curvatures(kernel)
        self._bias = solve_dual(
            kernel, inverses, signs, penalty * weights, self._coefficients, TOLERANCE
        )
        return penalty

    @np.errstate(over="ignore", invalid="ignore")
    def _standardise(self, rows: FloatArray) -> FloatArray:
        standardised: FloatArray = np.nan_to_num(
            (rows - self._means) * self._scales, posinf=0.0, neginf=0.0
        )
        return standardised

    def _kernel(self, rows: FloatArray, others: FloatArray) -> FloatArray:
        kernel: FloatArray = (self._gamma * (rows @ others.T) + self._coef0) ** 3
        return kernel


class PolynomialSVM(CalibratedClassifier):
    """Support vector classifier for some hundred examples in time order, with calibrated output.

    Features are standardised on the examples; NaN counts as the mean. The penalty C is chosen from
    ``penalties``. ``gamma`` None is one divided by the number of features that vary. Weights of
    examples scale their penalty, and neither the standardisation nor the blocks.
    """

    def __init__(
        self,
        penalties: Sequence[float] = PENALTIES,
        gamma: float | None = None,
        coef0: float = 1.0,
        calibration_folds: int = 5,
        prior_weight: float = 1.0,
    ) -> None:
        self.penalties = penalties
        self.gamma = gamma
        self.coef0 = coef0
        self.calibration_folds = calibration_folds
        self.prior_weight = prior_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to examples in time order; weights scale the penalty of each."""
        return self._fit_weighted(X, y, sample_weight)

    def _fit_model(self, examples: BinaryExamples) -> PolynomialModel:
        model = PolynomialModel(examples.rows, gamma=self.gamma, coef0=self.coef0)
        self.penalty_ = model.fit(examples.labels, self.penalties, examples.weights)
        return model


def _block_errors(
    kernel: FloatArray,
    signs: FloatArray,
    weights: FloatArray,
    penalties: Sequence[float],
    block: NDArray[np.intp],
) -> FloatArray:
    """Return how many examples of a block each penalty gets wrong, fitted to the others."""
    others = np.delete(np.arange(len(signs)), block)
    inner = np.ascontiguousarray(kernel[np.ix_(others, others)])
    inverses, coefficients = inverse_curvatures(inner), np.zeros(len(others))
    errors = np.empty(len(penalties))
    other_signs = signs[others]
    for index, penalty in enumerate(penalties):
        if other_signs.min() == other_signs.max():
            decisions = np.full(len(block), other_signs[0])
        else:
            limits = penalty * weights[others]
            bias = solve_dual(inner, inverses, other_signs, limits, coefficients, TOLERANCE)
            decisions = kernel[np.ix_(block, others)] @ coefficients + bias
        errors[index] = (weights[block] * ((decisions > 0) != (signs[block] > 0))).sum()
    return errors
