"""Boosted trees that correct given chances: they learn only what the given chances lack.

The trees are fitted to the log-odds that are left when those of the given chance are subtracted.
With little to learn from they are few and small, and the corrected chance stays near the given one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray
from freshet.predict.booster_text import lightgbm, load_booster
from freshet.predict.chance_correction import CorrectionExamples, log_odds, model_table

MAX_ROUNDS, PATIENCE_ROUNDS = 400, 60
# The last share of the examples in time decides how many rounds are boosted.
STOPPING_SHARE = 0.2
MIN_LEAF_EXAMPLES, LEAF_SHARE = 20, 0.0015
# The penalty grows with the smallest leaf, so that a leaf is shrunk alike in large collections.
LEAF_PENALTY, LEAST_PENALTY, GREATEST_PENALTY = 0.09, 20.0, 50.0
# The trees are applied only in part: what they learned holds a little less in the future.
APPLIED_SHARE = 0.8
PARAMETERS = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 7,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "max_bin": 63,
    "boost_from_average": False,
    "deterministic": True,
    "force_col_wise": True,
    "verbosity": -1,
    # Threads that wait for each other cost more than they save beside a running crawl.
    "num_threads": 1,
}


class BoostedCorrection:
    """Trained trees, as LightGBM writes them to text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._booster = load_booster(text)

    def correct(self, features: NDArray[np.float32], chances: FloatArray) -> FloatArray:
        """Return the corrected chances, from features and the given chances."""
        if not len(chances):
            return np.empty(0)
        table = model_table(features, chances)
        steps = self._booster.predict(table, raw_score=True, num_threads=1)
        odds = log_odds(chances) + APPLIED_SHARE * steps
        corrected: FloatArray = 1.0 / (1.0 + np.exp(-odds))
        return corrected


def check_installed() -> None:
    """Raise UsageError, which says how to install it, if LightGBM is missing."""
    _ = lightgbm.Booster


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
    penalty = min(max(LEAF_PENALTY * least, LEAST_PENALTY), GREATEST_PENALTY)
    return {**PARAMETERS, "min_data_in_leaf": least, "lambda_l2": penalty, "seed": seed}


def _dataset(examples: CorrectionExamples, reference: Any = None) -> Any:
    return lightgbm.Dataset(
        examples.table,
        examples.changed.astype(np.float32),
        init_score=log_odds(examples.chances),
        reference=reference,
    )
