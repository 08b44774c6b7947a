"""The forecast by a learned model: it corrects the chances of the policy's own forecast."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.errors import BadInputError, UsageError
from freshet.core.policy import CorrectablePolicy
from freshet.core.tables import DAY_SECONDS, PageIdArray
from freshet.core.types import FloatArray
from freshet.crawl.page_features import GAP_COLUMN, PageFeatures
from freshet.features.look_features import LOOK_FEATURE_NAMES
from freshet.predict.chance_correction import ChanceCorrection
from freshet.predict.change_model import ChangeModel
from freshet.record.models.change_model_file import read_change_model
from freshet.record.models.stored_correction import load_correction

HIGHEST_CHANCE = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class UsableModel:
    """A stored model, and its trained estimator."""

    model: ChangeModel
    correction: ChanceCorrection


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A collection's model if it may be used, else why not; both are empty without a model."""

    usable: UsableModel | None = None
    problem: str = ""

    @property
    def model(self) -> ChangeModel | None:
        """Return the model, if it may be used."""
        return None if self.usable is None else self.usable.model


class LearnedForecast:
    """A model, and the features of the pages that it is applied to."""

    def __init__(self, usable: UsableModel, catalog: Catalog) -> None:
        self.model = usable.model
        self.correction = usable.correction
        self.features = PageFeatures(catalog)

    def change_chances(
        self, policy: CorrectablePolicy, ids: PageIdArray, times: FloatArray
    ) -> FloatArray:
        """Return the corrected chances that pages have changed by given times.

        The model knows no gaps beyond the longest it was trained on. What a page is expected to
        change after that is the policy's own forecast, so no correction grows with the gap.
        Pages that were never looked at have no chance (NaN).
        """
        gaps = self.features.at(ids, times)[:, GAP_COLUMN].astype(np.float64)
        excess = np.fmax(0.0, gaps - self.model.longest_gap_days)
        known_times = times - DAY_SECONDS * excess
        given = policy.change_chances(ids, known_times)
        chances = np.full(len(ids), np.nan)
        rows = np.flatnonzero(np.isfinite(given))
        features = self.features.at(ids[rows], known_times[rows])
        corrected = self.correction.correct(features, given[rows])
        later = policy.change_chances(ids[rows], times[rows])
        later_changes = np.maximum(0.0, _expected_changes(later) - _expected_changes(given[rows]))
        chances[rows] = -np.expm1(-_expected_changes(corrected) - later_changes)
        return chances


def choose_model(folder: Path | None) -> ModelChoice:
    """Return the model of a collection's folder of models, or why it is not used.

    A class of the user that does not store itself is trained again here.
    """
    if folder is None:
        return ModelChoice()
    try:
        model = read_change_model(folder, LOOK_FEATURE_NAMES)
        if model is None:
            return ModelChoice()
        if not model.validation.is_better:
            return ModelChoice(problem=model.validation.reason)
        return ModelChoice(UsableModel(model, load_correction(model, folder)))
    except (BadInputError, UsageError) as error:
        return ModelChoice(problem=str(error))


def _expected_changes(chances: FloatArray) -> FloatArray:
    """Return the expected numbers of changes that give these chances."""
    return -np.log1p(-np.minimum(chances, HIGHEST_CHANCE))
