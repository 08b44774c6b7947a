"""The learners of the paper for new links: extremely randomized trees and boosted trees.

Which pages change their links, which bring new ones, and how many: the classifier is balanced and
calibrated, the regressors keep to the range of their target.
"""

from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from freshet.core.content.outlink_targets import OutlinkTarget
from freshet.core.extras import OptionalPackage
from freshet.core.types import Float32Array, FloatArray
from freshet.predict.kernels.platt_scaling import fit_platt
from freshet.predict.logit_classifier import BinaryExamples, LogitClassifier
from freshet.predict.outlinks.natural_poisson import NaturalPoissonBoosting

lightgbm = OptionalPackage("lightgbm", extra="learning")

# The paper sets no limit to the leaves of a tree; LightGBM needs one.
MOST_LEAVES = 1000
EVEN_CHANCE = 0.5
MIN_PARALLEL_ROWS = 200_000
_LEAST = 1e-6


class TreeLearner(StrEnum):
    """Extremely randomized trees, boosted trees, or boosting of the mean of a Poisson law.

    ``poisson_boosting`` and ``natural_poisson`` predict numbers of new links only.
    """

    EXTRA_TREES = "extra_trees"
    BOOSTED_TREES = "boosted_trees"
    POISSON_BOOSTING = "poisson_boosting"
    NATURAL_POISSON = "natural_poisson"


class OutlinkClassifier(LogitClassifier):
    """Predicts NL with balanced classes: a new link weighs as much as the many pages without one.

    ``predict`` follows the balanced model, as in the paper. The probabilities of ``predict_proba``
    are calibrated (Platt) on folds that were left out, so they are those of the examples.
    """

    def __init__(
        self,
        learner: str = "extra_trees",
        trees: int = 300,
        min_leaf: int = 10,
        learning_rate: float = 0.05,
        calibration_folds: int = 3,
        random_state: int = 0,
    ) -> None:
        self.learner = learner
        self.trees = trees
        self.min_leaf = min_leaf
        self.learning_rate = learning_rate
        self.calibration_folds = calibration_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the balanced model and the calibration curve."""
        examples = self._check_examples(X, y, None)
        self.model_ = None
        self.curve_ = 0.0, examples.constant_logit
        if not examples.is_constant:
            self.model_ = self._make_model().fit(examples.rows, examples.labels)
            self.curve_ = self._calibration_curve(examples)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the calibrated logits of the second class."""
        rows = self._check_rows(X)
        slope, intercept = self.curve_
        logits: FloatArray = slope * _logits(self._balanced(rows)) + intercept
        return logits

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that is more probable if both are equally frequent."""
        rows = self._check_rows(X)
        if self.model_ is None:
            return super().predict(X)
        is_second = self._balanced(rows) >= EVEN_CHANCE
        predicted: NDArray[Any] = self.classes_[is_second.astype(int)]
        return predicted

    def _balanced(self, rows: FloatArray) -> FloatArray:
        if self.model_ is None:
            return np.full(len(rows), EVEN_CHANCE)
        chances: FloatArray = self.model_.predict_proba(rows)[:, 1]
        return chances

    def _calibration_curve(self, examples: BinaryExamples) -> tuple[float, float]:
        """Return slope and intercept of Platt's curve on folds that were left out."""
        rarest = int(np.bincount(examples.labels).min())
        folds = min(self.calibration_folds, rarest)
        if folds < 2:  # too few of one class to leave some out
            scores = self._balanced(examples.rows)
        else:
            scores = np.empty(len(examples.labels))
            splits = StratifiedKFold(folds, shuffle=True, random_state=self.random_state)
            for inside, outside in splits.split(examples.rows, examples.labels):
                model = clone(self._make_model()).fit(
                    examples.rows[inside], examples.labels[inside]
                )
                scores[outside] = model.predict_proba(examples.rows[outside])[:, 1]
        return fit_platt(_logits(scores), examples.labels.astype(float), 1.0)

    def _make_model(self) -> Any:
        match TreeLearner(self.learner):
            case TreeLearner.EXTRA_TREES:
                return ExtraTreesClassifier(
                    self.trees,
                    min_samples_leaf=self.min_leaf,
                    class_weight="balanced",
                    n_jobs=1,
                    random_state=self.random_state,
                )
            case TreeLearner.BOOSTED_TREES:
                return lightgbm.LGBMClassifier(
                    n_estimators=self.trees,
                    min_child_samples=self.min_leaf,
                    learning_rate=self.learning_rate,
                    class_weight="balanced",
                    **_lightgbm_options(self.random_state),
                )
        raise ValueError(f"{self.learner} does not predict new links or none")


class OutlinkRegressor(RegressorMixin, BaseEstimator):
    """Predicts LCR, between 0 and 1, or NNL, not negative."""

    def __init__(
        self,
        learner: str = "extra_trees",
        target: str = "lcr",
        trees: int = 300,
        min_leaf: int = 10,
        learning_rate: float = 0.05,
        random_state: int = 0,
    ) -> None:
        self.learner = learner
        self.target = target
        self.trees = trees
        self.min_leaf = min_leaf
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the learner to the target."""
        rows, targets = validate_data(
            self, X, y, dtype=np.float32, ensure_all_finite="allow-nan", y_numeric=True
        )
        outcomes = np.asarray(targets, np.float64)
        highest = 1.0 if OutlinkTarget(self.target) is OutlinkTarget.LCR else np.inf
        if outcomes.min() < 0 or outcomes.max() > highest:
            raise ValueError(
                f"Some value(s) of y are negative or above {highest:g}; {self.target} is not"
            )
        self.constant_ = float(outcomes[0])
        is_constant = outcomes.min() == outcomes.max()
        self.model_ = None
        if not is_constant:
            with _few_threads(len(rows)):
                self.model_ = self._make_model().fit(rows, outcomes)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the expected target of each row, inside its range."""
        check_is_fitted(self)
        rows: Float32Array = validate_data(
            self, X, reset=False, dtype=np.float32, ensure_all_finite="allow-nan"
        )
        if self.model_ is None:
            return np.full(len(rows), self.constant_)
        highest = 1.0 if self.target == OutlinkTarget.LCR else np.inf
        with _few_threads(len(rows)):
            predicted: FloatArray = np.clip(self.model_.predict(rows), 0.0, highest)
        return predicted

    def _make_model(self) -> Any:
        learner = TreeLearner(self.learner)
        is_count_only = learner in {TreeLearner.POISSON_BOOSTING, TreeLearner.NATURAL_POISSON}
        if is_count_only and OutlinkTarget(self.target) is not OutlinkTarget.NNL:
            raise ValueError(f"{self.learner} predicts numbers of new links only")
        match learner:
            case TreeLearner.EXTRA_TREES:
                return ExtraTreesRegressor(
                    self.trees,
                    min_samples_leaf=self.min_leaf,
                    n_jobs=1,
                    random_state=self.random_state,
                )
            case TreeLearner.BOOSTED_TREES:
                return HistGradientBoostingRegressor(
                    max_iter=self.trees,
                    min_samples_leaf=self.min_leaf,
                    learning_rate=self.learning_rate,
                    max_leaf_nodes=None,
                    early_stopping=False,
                    random_state=self.random_state,
                )
            case TreeLearner.POISSON_BOOSTING:
                return lightgbm.LGBMRegressor(
                    objective="poisson",
                    n_estimators=self.trees,
                    min_child_samples=self.min_leaf,
                    learning_rate=self.learning_rate,
                    **_lightgbm_options(self.random_state, leaves=31),
                )
        return NaturalPoissonBoosting(
            rounds=self.trees,
            learning_rate=self.learning_rate,
            min_leaf=self.min_leaf,
            random_state=self.random_state,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.positive_only = True
        return tags


def _few_threads(count: int) -> Any:
    """Return a context with one OpenMP thread for small tables.

    Threads that wait for each other cost more than they save there.
    """
    return threadpool_limits(1 if count < MIN_PARALLEL_ROWS else None, user_api="openmp")


def _lightgbm_options(seed: int, leaves: int = MOST_LEAVES) -> dict[str, Any]:
    return {
        "num_leaves": leaves,
        "random_state": seed,
        "n_jobs": 1,
        "verbosity": -1,
        "deterministic": True,
        "force_col_wise": True,
    }


def _logits(chances: FloatArray) -> FloatArray:
    bounded = np.clip(chances, _LEAST, 1 - _LEAST)
    logits: FloatArray = np.log(bounded / (1 - bounded))
    return logits
