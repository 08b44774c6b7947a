"""The pooled model: one gradient boosting over all pages, trained anew now and then on the past."""

from dataclasses import dataclass

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from experiments.content_change.protocol import NO_SELECTION, ForecastTask, MethodForecasts
from freshet.core.content.content_grid import ContentGrid
from freshet.core.types import FloatArray, IndexArray
from freshet.features.kernels.row_pairs import count_differences
from freshet.features.measured_looks import looks_of_grid
from freshet.features.visit_features import FeatureArray, VisitFeatures

POOLED = "pooled"
SKIPPED_STEPS = 10


@dataclass(frozen=True, slots=True)
class PooledSettings:
    """The size of the model, and every how many steps it is trained anew."""

    steps_between_trainings: int = 14
    trees: int = 150
    learning_rate: float = 0.04
    leaves: int = 15
    seed: int = 0

    def make_model(self) -> lgb.LGBMClassifier:
        """Return the model before training."""
        return lgb.LGBMClassifier(
            n_estimators=self.trees,
            learning_rate=self.learning_rate,
            num_leaves=self.leaves,
            min_child_samples=40,
            subsample=0.8,
            subsample_freq=1,
            colsample_bytree=0.4,
            reg_lambda=5.0,
            random_state=self.seed,
            n_jobs=1,
            verbose=-1,
        )


def forecast_pooled(task: ForecastTask, settings: PooledSettings | None = None) -> MethodForecasts:
    """Return the forecasts of the pooled model; it learns from all pages of the grid.

    A model that is trained at a step has seen the labels that were known at that step, and
    forecasts the steps until the next training.
    """
    settings = settings or PooledSettings()
    labels, features = task.labels, step_features(task.grid, task.labels)
    chances = np.zeros(labels.shape)
    horizon, window = task.settings.horizon, task.settings.window
    for step in range(window, labels.shape[1], settings.steps_between_trainings):
        known = slice(min(SKIPPED_STEPS, window // 2), step - horizon + 1)
        is_known = labels[:, known] >= 0
        tested = slice(step, step + settings.steps_between_trainings)
        chances[:, tested] = _train_and_forecast(
            settings,
            (features[:, known][is_known], labels[:, known][is_known]),
            features[:, tested],
        )
    chances = chances[task.pages]
    return MethodForecasts(POOLED, NO_SELECTION, (chances > 0.5).astype(np.int32), chances)


def step_features(grid: ContentGrid, labels: IndexArray) -> FeatureArray:
    """Return the features of each page and step: what was known at the step of the next look."""
    _, hosts = np.unique(grid.hosts, return_inverse=True)
    looks = looks_of_grid(grid, labels, changed_words(grid))
    rows = VisitFeatures(hosts.astype(np.int32)).add_looks(looks)
    steps = np.searchsorted(grid.times, looks.times)
    features = np.full((grid.page_count, grid.step_count, rows.shape[1]), np.nan, np.float32)
    is_next = steps > 0
    features[looks.pages[is_next], steps[is_next] - 1] = rows[is_next]
    return features[:, : labels.shape[1]]


def changed_words(grid: ContentGrid) -> FloatArray:
    """Return how many words of each page change by the next step; NaN where that is not known."""
    before, after = grid.versions[:, :-1], grid.versions[:, 1:]
    is_known = (before >= 0) & (after >= 0)
    is_other = is_known & (before != after)
    words = np.where(is_known, 0.0, np.nan)
    terms = grid.terms
    words[is_other] = count_differences(
        terms.starts, terms.columns, terms.values, before[is_other], after[is_other]
    ).sum(axis=1)
    return words


def _train_and_forecast(
    settings: PooledSettings,
    examples: tuple[FeatureArray, IndexArray],
    tested: FeatureArray,
) -> NDArray[np.float64]:
    rows, labels = examples
    if len(np.unique(labels)) < 2:
        chance = (labels.sum() + 1) / (len(labels) + 2)
        return np.full(tested.shape[:2], chance)
    model = settings.make_model().fit(rows, labels)
    chances = model.predict_proba(tested.reshape(-1, tested.shape[2]))[:, 1]
    return np.asarray(chances.reshape(tested.shape[:2]), np.float64)
