"""The pooled model: one gradient boosting over all pages, trained anew now and then on the past."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.content_change.protocol import NO_SELECTION, ForecastTask, MethodForecasts
from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages
from freshet.core.types import FloatArray, IndexArray
from freshet.features.kernels.row_pairs import count_differences
from freshet.features.look_patterns import PATTERN_NAMES, LookPatterns
from freshet.features.measured_looks import looks_of_grid
from freshet.features.text_patterns import TEXT_PATTERN_NAMES, text_patterns
from freshet.features.visit_features import FEATURE_NAMES, FeatureArray, VisitFeatures
from freshet.predict.pooled_forecaster import PooledForecaster

POOLED = "pooled"
SKIPPED_STEPS = 10
LOOK_FEATURES = (*FEATURE_NAMES, *PATTERN_NAMES)
STEP_FEATURES = (*LOOK_FEATURES, *TEXT_PATTERN_NAMES)


@dataclass(frozen=True, slots=True)
class PooledSettings:
    """The size of the model, and every how many steps it is trained anew."""

    steps_between_trainings: int = 14
    rounds: int = 120
    learning_rate: float = 0.04
    leaves: int = 15
    min_leaf: int = 40
    column_share: float = 0.4
    l2: float = 5.0

    def make_model(self, feature_names: Sequence[str] = STEP_FEATURES) -> PooledForecaster:
        """Return the model before training; a model of many pages needs no calibration."""
        return PooledForecaster(
            self.rounds,
            self.learning_rate,
            self.leaves,
            self.min_leaf,
            self.column_share,
            self.l2,
            calibration="none",
            feature_names=feature_names,
            threads=1,
        )


def forecast_pooled(
    task: ForecastTask,
    related: RelatedPages | None = None,
    selection: str = NO_SELECTION,
    settings: PooledSettings | None = None,
) -> MethodForecasts:
    """Return the forecasts of the pooled model; it learns from all pages of the grid.

    A model that is trained at a step has seen the labels that were known at that step, and
    forecasts the steps until the next training. With related pages, three of its features say
    what these did lately.
    """
    settings = settings or PooledSettings()
    labels, features = task.labels, step_features(task.grid, task.labels, related)
    chances = np.zeros(labels.shape)
    horizon, window = task.settings.horizon, task.settings.window
    for step in range(window, labels.shape[1], settings.steps_between_trainings):
        past = slice(min(SKIPPED_STEPS, window // 2), step - horizon + 1)
        is_known = labels[:, past].T >= 0
        rows = features[:, past].swapaxes(0, 1)[is_known]
        model = settings.make_model().fit(rows, labels[:, past].T[is_known])
        tested = features[:, step : step + settings.steps_between_trainings]
        forecast = model.predict_proba(tested.reshape(-1, tested.shape[2]))
        chances[:, step : step + tested.shape[1]] = chance_of_change(model, forecast).reshape(
            tested.shape[:2]
        )
    chances = chances[task.pages]
    return MethodForecasts(POOLED, selection, (chances > 0.5).astype(np.int32), chances)


def step_features(
    grid: ContentGrid, labels: IndexArray, related: RelatedPages | None = None
) -> FeatureArray:
    """Return the features of each page and step: what was known at the step of the next look."""
    _, hosts = np.unique(grid.hosts, return_inverse=True)
    looks = looks_of_grid(grid, labels, changed_words(grid))
    visits = VisitFeatures(hosts.astype(np.int32), related).add_looks(looks)
    patterns = LookPatterns(grid.page_count).add_looks(looks)
    rows = np.concatenate([visits, patterns], axis=1)
    steps = np.searchsorted(grid.times, looks.times)
    features = np.full((grid.page_count, grid.step_count, rows.shape[1]), np.nan, np.float32)
    is_next = steps > 0
    features[looks.pages[is_next], steps[is_next] - 1] = rows[is_next]
    known_steps = features[:, : labels.shape[1]]
    return np.concatenate([known_steps, text_patterns(grid, labels)], axis=2)


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


def chance_of_change(model: PooledForecaster, forecast: FloatArray) -> FloatArray:
    """Return the column of changes; if all labels were equal, there may be none."""
    classes = model.classes_.tolist()
    return forecast[:, classes.index(1)] if 1 in classes else np.zeros(len(forecast))
