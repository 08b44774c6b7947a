"""Boosted trees on top of given scores, with as many rounds as cross-validation finds useful."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.extras import OptionalPackage
from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.predict.booster_text import load_booster
from freshet.predict.outlinks.outcome_family import OutcomeFamily

lightgbm = OptionalPackage("lightgbm", extra="learning")

ROUND_STEP = 10
# No more trees are grown once this many steps have brought no lower loss.
PATIENCE_STEPS = 6
# Larger trees must lower the loss by this share, or the smaller ones are kept.
MIN_GAIN = 0.02
MIN_PARALLEL_ROWS = 200_000
# The most rows that the default models of new links are fitted to.
MAX_ROWS = 200_000
PARAMETERS = {
    "learning_rate": 0.05,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "max_bin": 63,
    "boost_from_average": False,
    "deterministic": True,
    "force_col_wise": True,
    "verbosity": -1,
}


@dataclass(frozen=True, slots=True)
class TreeSize:
    """How much trees can learn: their leaves, the least rows in a leaf, and the L2 penalty.

    Trees with ``random_splits`` choose among one random split of each feature.
    """

    leaves: int
    min_leaf: int
    l2: float
    random_splits: bool = False


# Small trees hold for sites that were not seen; large ones learn the sites that were.
TREE_SIZES = (TreeSize(5, 40, 50.0, random_splits=True), TreeSize(15, 15, 5.0))


@dataclass(frozen=True, slots=True)
class BoosterSettings:
    """The sizes of trees to choose from, the most rounds, the number of folds, and the seed.

    ``plain_weight`` is how much the result is drawn to the plain posterior mean, 0 to 1.
    """

    sizes: tuple[TreeSize, ...] = TREE_SIZES
    rounds: int = 300
    folds: int = 4
    seed: int = 0
    plain_weight: float = 0.0


@dataclass(frozen=True, slots=True)
class CrossBoosted:
    """Trees fitted to all rows as text, the trees of each fold, and the rounds of all of them.

    ``loss`` is that of the rows left out.
    """

    trees: str = ""
    fold_boosters: tuple[Any, ...] = ()
    rounds: int = 0
    loss: float = np.inf

    def is_better_than(self, simpler: "CrossBoosted") -> bool:
        """Whether the loss is lower by a share that is worth the larger trees."""
        return self.loss < simpler.loss - MIN_GAIN * abs(simpler.loss)


@dataclass(frozen=True, slots=True)
class CrossBoosting:
    """Fits trees to outcomes, given the fold of each row."""

    family: OutcomeFamily
    outcomes: FloatArray
    folds: IndexArray
    settings: BoosterSettings

    def select(self, chosen: BoolArray, sizes: tuple[TreeSize, ...]) -> "CrossBoosting":
        """Return the same for some of the rows, and for some sizes of trees."""
        settings = replace(self.settings, sizes=sizes)
        return CrossBoosting(self.family, self.outcomes[chosen], self.folds[chosen], settings)

    def fit(self, rows: Float32Array, scores: FloatArray) -> CrossBoosted:
        """Return trees that correct the scores; there are none if no number of rounds helps."""
        is_constant = not rows.size or self.outcomes.min() == self.outcomes.max()
        if is_constant or self.folds.max() == self.folds.min():
            return CrossBoosted()
        best_size, fitted = self.settings.sizes[0], CrossBoosted()
        for size in self.settings.sizes:
            trial = self._cross_validate(rows, scores, size)
            if fitted.loss == np.inf or trial.is_better_than(fitted):
                best_size, fitted = size, trial
        if fitted.rounds == 0:
            return CrossBoosted(loss=fitted.loss)
        everything = np.ones(len(rows), np.bool_)
        booster = self._booster(rows, scores, everything, best_size)
        _add_rounds(booster, fitted.rounds)
        return replace(fitted, trees=booster.model_to_string())

    def out_of_fold(
        self, fitted: CrossBoosted, rows: Float32Array, scores: FloatArray
    ) -> FloatArray:
        """Return the corrected scores of each row by the trees of the other folds."""
        corrected = scores.copy()
        for fold, booster in enumerate(fitted.fold_boosters):
            inside = self.folds == fold
            corrected[inside] += _predict(booster, rows[inside], fitted.rounds)
        return corrected

    def _cross_validate(
        self, rows: Float32Array, scores: FloatArray, size: TreeSize
    ) -> CrossBoosted:
        """Return the trees of the folds, with the rounds of the lowest loss on rows left out."""
        boosters = tuple(
            self._booster(rows, scores, self.folds != fold, size)
            for fold in range(self.folds.max() + 1)
        )
        corrected = scores.copy()
        losses = [self._loss(corrected)]
        for first in range(0, self.settings.rounds, ROUND_STEP):
            if len(losses) - int(np.argmin(losses)) > PATIENCE_STEPS:
                break
            for fold, booster in enumerate(boosters):
                _add_rounds(booster, ROUND_STEP)
                inside = self.folds == fold
                corrected[inside] += _predict(booster, rows[inside], ROUND_STEP, first)
            losses.append(self._loss(corrected))
        best = int(np.argmin(losses))
        return CrossBoosted("", boosters, best * ROUND_STEP, losses[best])

    def _booster(
        self, rows: Float32Array, scores: FloatArray, chosen: BoolArray, size: TreeSize
    ) -> Any:
        """Return a booster of the chosen rows that has no trees yet."""
        count = int(np.count_nonzero(chosen))
        parameters = PARAMETERS | {
            "objective": self.family.objective,
            "num_leaves": size.leaves,
            "min_data_in_leaf": max(1, min(size.min_leaf, count // 5)),
            "lambda_l2": size.l2,
            "extra_trees": size.random_splits,
            "seed": self.settings.seed,
            "num_threads": _threads(count),
        }
        dataset = lightgbm.Dataset(
            rows[chosen], self.outcomes[chosen], init_score=scores[chosen], params=parameters
        )
        return lightgbm.Booster(parameters, dataset)

    def _loss(self, scores: FloatArray) -> float:
        return self.family.loss(self.family.means(scores), self.outcomes)


def assign_folds(groups: IndexArray, settings: BoosterSettings) -> IndexArray:
    """Return the fold of each row; the rows of a group are in one fold."""
    names, indices = np.unique(groups, return_inverse=True)
    count = min(settings.folds, len(names))
    order = np.random.default_rng(settings.seed).permutation(len(names))
    return (order % max(count, 1))[indices].astype(np.int32)


def choose_rows(count: int, limit: int, seed: int) -> NDArray[np.intp]:
    """Return the rows that are fitted to: all, or as many as the limit at random, in order."""
    if count <= limit:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, limit, replace=False))


def tree_scores(trees: str, rows: Float32Array) -> FloatArray:
    """Return what trees, given as text, add to the score of each row; 0 if there are none."""
    if not trees or not len(rows):
        return np.zeros(len(rows))
    return _predict(load_booster(trees), rows, -1)


def _add_rounds(booster: Any, rounds: int) -> None:
    for _ in range(rounds):
        booster.update()


def _predict(booster: Any, rows: Float32Array, rounds: int, first: int = 0) -> FloatArray:
    if not len(rows):
        return np.zeros(0)
    scores: FloatArray = booster.predict(
        rows,
        raw_score=True,
        start_iteration=first,
        num_iteration=rounds,
        num_threads=_threads(len(rows)),
    )
    return scores


def _threads(count: int) -> int:
    """Return 1 for small tables: threads that wait for each other cost more than they save."""
    return 1 if count < MIN_PARALLEL_ROWS else 0
