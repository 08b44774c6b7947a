"""What a learned model of changes is trained on, and what it does: it corrects given chances."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray
from freshet.predict.forecast_scores import LEAST_CHANCE

FORECAST_COLUMN = "forecast_log_odds"
"""The last column that a model sees, after the features: the log-odds of the given chance."""


class ChanceCorrection(Protocol):
    """A trained model of changes."""

    def correct(self, features: NDArray[np.float32], chances: FloatArray) -> FloatArray:
        """Return the corrected chances, from features and the given chances."""


@dataclass(frozen=True, slots=True)
class CorrectionExamples:
    """Examples in time order: features before a look, the chance given then, and what it found."""

    features: NDArray[np.float32]
    chances: FloatArray
    changed: BoolArray

    def __len__(self) -> int:
        return len(self.changed)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> "CorrectionExamples":
        return CorrectionExamples(self.features[rows], self.chances[rows], self.changed[rows])

    @property
    def table(self) -> NDArray[np.float32]:
        """Return the columns that a model sees."""
        return model_table(self.features, self.chances)


def model_table(features: NDArray[np.float32], chances: FloatArray) -> NDArray[np.float32]:
    """Return features with the log-odds of the given chance as the last column."""
    return np.column_stack((features, log_odds(chances).astype(np.float32)))


def model_columns(feature_names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns that a model sees."""
    return (*feature_names, FORECAST_COLUMN)


def log_odds(chances: FloatArray) -> FloatArray:
    """Return the log-odds of chances, kept away from 0 and 1.

    >>> log_odds(np.array([0.5, 0.0])).round(2).tolist()
    [0.0, -9.21]
    """
    bounded = np.clip(chances, LEAST_CHANCE, 1 - LEAST_CHANCE)
    return np.log(bounded / (1 - bounded))
