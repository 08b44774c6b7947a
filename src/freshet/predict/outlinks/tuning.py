"""Tuning of the paper's learners inside its ranges, by cross-validation on a development part."""

from typing import Any

import numpy as np
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GroupKFold, RandomizedSearchCV

from freshet.core.content.outlink_targets import OutlinkTarget
from freshet.predict.outlinks.tree_learners import (
    OutlinkClassifier,
    OutlinkRegressor,
    TreeLearner,
)

LOWEST_TREES, HIGHEST_TREES, TREE_STEP = 200, 500, 50
FOLDS = 3
LEARNING_RATES = (0.02, 0.03, 0.04, 0.06, 0.08, 0.1)
_SCORES = {
    OutlinkTarget.LCR: "r2",
    OutlinkTarget.NL: make_scorer(f1_score, zero_division=0.0),
    OutlinkTarget.NNL: "neg_mean_absolute_error",
}


def make_learner(
    learner: TreeLearner, target: OutlinkTarget, **parameters: Any
) -> OutlinkClassifier | OutlinkRegressor:
    """Return a learner for a target, with parameters of the class for that target."""
    if target is OutlinkTarget.NL:
        return OutlinkClassifier(learner, **parameters)
    return OutlinkRegressor(learner, target, **parameters)


def parameter_ranges(learner: TreeLearner) -> dict[str, tuple[float, ...]]:
    """Return the values that are tried: those of the paper's section 5.3.

    Extremely randomized trees have 200 to 500 trees with at least 2 to 25 samples in a leaf.
    Boosted trees have 200 to 500 rounds, at least 10 to 25 samples, and rates of .02 to .1.
    """
    trees = tuple(range(LOWEST_TREES, HIGHEST_TREES + 1, TREE_STEP))
    if learner is TreeLearner.EXTRA_TREES:
        return {"trees": trees, "min_leaf": (2, 3, 5, 8, 12, 18, 25)}
    return {"trees": trees, "min_leaf": (10, 13, 16, 20, 25), "learning_rate": LEARNING_RATES}


def tune_learner(
    estimator: OutlinkClassifier | OutlinkRegressor,
    rows: Any,
    targets: Any,
    *,
    groups: Any = None,
    draws: int = 8,
    seed: int = 0,
) -> OutlinkClassifier | OutlinkRegressor:
    """Return an unfitted estimator with the best of some random parameters inside the ranges.

    ``rows`` are the development part. With ``groups`` (sites), a group is in one fold only. With
    too few rows of a class, or too few groups, the estimator is returned as it is.
    """
    is_classifier = isinstance(estimator, OutlinkClassifier)
    if _is_too_small(targets, groups, is_classifier=is_classifier):
        return estimator
    target = OutlinkTarget.NL if is_classifier else OutlinkTarget(estimator.target)
    search = RandomizedSearchCV(
        _uncalibrated(estimator),
        parameter_ranges(TreeLearner(estimator.learner)),
        n_iter=draws,
        scoring=_SCORES[target],
        cv=FOLDS if groups is None else GroupKFold(FOLDS),
        refit=False,
        n_jobs=1,
        random_state=seed,
    )
    search.fit(rows, targets, groups=groups)
    tuned: OutlinkClassifier | OutlinkRegressor = estimator.set_params(**search.best_params_)
    return tuned


def _is_too_small(targets: Any, groups: Any, *, is_classifier: bool) -> bool:
    counts = np.unique(targets, return_counts=True)[1]
    if len(counts) < 2 or len(targets) < 2 * FOLDS or (is_classifier and counts.min() < FOLDS):
        return True
    return groups is not None and len(np.unique(groups)) < FOLDS


def _uncalibrated(estimator: OutlinkClassifier | OutlinkRegressor) -> Any:
    """Return the estimator without calibration, which does not alter its classes."""
    if isinstance(estimator, OutlinkRegressor):
        return estimator
    parameters = estimator.get_params() | {"calibration_folds": 0}
    return OutlinkClassifier(**parameters)
