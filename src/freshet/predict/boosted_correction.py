"""Boosted trees that correct given chances: they learn only what the given chances lack.

The trees are fitted to the log-odds that are left when those of the given chance are subtracted.
With little to learn from they are few and small, and the corrected chance stays near the given one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray
from freshet.predict.booster_text import lightgbm, load_booster

LEAST_CHANCE = 1e-4
MAX_ROUNDS, PATIENCE_ROUNDS = 400, 25
# The last share of the examples in time decides how many rounds are boosted.
STOPPING_SHARE = 0.2
MIN_LEAF_EXAMPLES, LEAF_SHARE = 20, 0.0015
# The trees are applied only in part: what they learned holds a little less in the future.
APPLIED_SHARE = 0.8
MIN_PARALLEL_EXAMPLES = 200_000
PARAMETERS = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 7,
    "lambda_l2": 50.0,
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
class CorrectionExamples:
    """Examples in time order: features before a look, the chance given then, and what it found."""

    features: NDArray[np.float32]
    chances: FloatArray
    changed: BoolArray

    def __len__(self) -> int:
        return len(self.changed)

    def __getitem__(self, rows: slice) -> "CorrectionExamples":
        return CorrectionExamples(self.features[rows], self.chances[rows], self.changed[rows])


class BoostedCorrection:
    """Trained trees, as LightGBM writes them to text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._booster = load_booster(text)

    def correct(self, features: NDArray[np.float32], chances: FloatArray) -> FloatArray:
        """Return the corrected chances, from features and the given chances."""
        if not len(chances):
            return np.empty(0)
        table = _table(features, chances)
        steps = self._booster.predict(table, raw_score=True, num_threads=1)
        odds = log_odds(chances) + APPLIED_SHARE * steps
        corrected: FloatArray = 1.0 / (1.0 + np.exp(-odds))
        return corrected


def check_installed() -> None:
    """Raise UsageError, which says how to install it, if LightGBM is missing."""
    _ = lightgbm.Booster


def log_odds(chances: FloatArray) -> FloatArray:
    """Return the log-odds of chances, kept away from 0 and 1.

    >>> log_odds(np.array([0.5, 0.0])).round(2).tolist()
    [0.0, -9.21]
    """
    bounded = np.clip(chances, LEAST_CHANCE, 1 - LEAST_CHANCE)
    return np.log(bounded / (1 - bounded))


def count_rounds(examples: CorrectionExamples, seed: int) -> int:
    """Return how many rounds improve the chances of the last examples, which are left out."""
    first = len(examples) - int(STOPPING_SHARE * len(examples))
    training = _dataset(examples[:first])
    booster = lightgbm.train(
        _parameters(first, seed),
        training,
        num_boost_round=MAX_ROUNDS,
        valid_sets=[_dataset(examples[first:], training)],
        callbacks=[lightgbm.early_stopping(PATIENCE_ROUNDS, verbose=False)],
    )
    return int(booster.best_iteration)


def train_correction(examples: CorrectionExamples, rounds: int, seed: int) -> BoostedCorrection:
    """Return trees that were boosted for some rounds on all examples."""
    parameters = _parameters(len(examples), seed)
    booster = lightgbm.train(parameters, _dataset(examples), num_boost_round=rounds)
    return BoostedCorrection(booster.model_to_string())


def _parameters(count: int, seed: int) -> dict[str, Any]:
    least = max(MIN_LEAF_EXAMPLES, int(LEAF_SHARE * count))
    # Threads that wait for each other cost more than they save on a small table.
    threads = 1 if count < MIN_PARALLEL_EXAMPLES else 0
    return {**PARAMETERS, "min_data_in_leaf": least, "seed": seed, "num_threads": threads}


def _dataset(examples: CorrectionExamples, reference: Any = None) -> Any:
    return lightgbm.Dataset(
        _table(examples.features, examples.chances),
        examples.changed.astype(np.float32),
        init_score=log_odds(examples.chances),
        reference=reference,
    )


def _table(features: NDArray[np.float32], chances: FloatArray) -> NDArray[np.float32]:
    """Return the features with the log-odds of the given chance as the last column."""
    return np.column_stack((features, log_odds(chances).astype(np.float32)))
