"""The model that ``freshet learn`` trains: trees that correct the default forecast.

It knows what the catalog of a collection knows: times, changes and sizes of looks, no words.
"""

import numpy as np

from experiments.content_change.crawl_choosers import CrawlSettings, PolicyChooser, page_table
from experiments.content_change.crawl_log import CrawlLog
from experiments.content_change.pooled import changed_words
from experiments.content_change.protocol import NO_SELECTION, ForecastTask, MethodForecasts
from freshet.core.clock import from_epoch
from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.measured_looks import MeasuredLooks, concatenate_looks
from freshet.core.progress import ignore_progress
from freshet.core.setting_checks import TREES
from freshet.core.types import FloatArray, IndexArray
from freshet.crawl.learned_correction import value_factors
from freshet.features.look_features import LookFeatures
from freshet.features.measured_looks import looks_of_grid
from freshet.learning.change_model.candidates import train_candidate
from freshet.learning.change_model.examples import CollectionExamples, examples_of_looks
from freshet.learning.change_model.learn import SEED, TooFewLooksError, train_model
from freshet.predict.boosted_correction import BoostedCorrection
from freshet.predict.chance_correction import ChanceCorrection

DEFAULT_FORECAST, LEARNED_CORRECTION = "default_forecast", "learned_correction"
POLICY = "bayes-freshness"
STEPS_BETWEEN_TRAININGS = 14


def forecast_corrected(
    task: ForecastTask, steps_between_trainings: int = STEPS_BETWEEN_TRAININGS
) -> list[MethodForecasts]:
    """Return the forecasts of the default policy, and those with the learned correction.

    All pages are looked at on every day. The correction is trained now and then on all looks
    before, as ``freshet learn`` does after its validation.
    """
    looks = looks_of_grid(task.grid, task.labels, changed_words(task.grid))
    examples = examples_of_looks(page_table(task.grid), looks, POLICY, ignore_progress)
    observed = examples.observed
    corrected = observed.chances.copy()
    times = task.grid.times[task.settings.window + 1 :: steps_between_trainings]
    for start, end in zip(times, np.append(times[1:], np.inf), strict=True):
        rows = (observed.times >= start) & (observed.times < end)
        model = _train(examples, float(start))
        corrected[rows] = model.correct(observed.features[rows], observed.chances[rows])
    steps = np.searchsorted(task.grid.times, observed.times) - task.settings.horizon
    return [
        _as_forecasts(name, task, chances, (observed.pages, steps.astype(np.int32)))
        for name, chances in (
            (DEFAULT_FORECAST, observed.chances),
            (LEARNED_CORRECTION, corrected),
        )
    ]


def _train(examples: CollectionExamples, until: float) -> ChanceCorrection:
    """Return the correction by the looks before a time."""
    inputs = examples.training(until=until).balanced(SEED).inputs
    return train_candidate(TREES, inputs, SEED).correction


def _as_forecasts(
    name: str, task: ForecastTask, chances: FloatArray, cells: tuple[IndexArray, IndexArray]
) -> MethodForecasts:
    """Return the chances of pages and steps as forecasts of the task's pages."""
    table = np.full(task.labels.shape, 0.5)
    table[cells] = chances
    table = table[task.pages]
    return MethodForecasts(name, NO_SELECTION, (table > 0.5).astype(np.int32), table)


class LearnedCorrectionChooser(PolicyChooser):
    """Visits what the default policy chooses when its values are corrected by a learned model.

    The model is learned, validated on later looks and applied as in a crawl of a collection: only
    if it is better than the default forecast. Unlike there, chances are those of the present step,
    at which all visits are made, and a model in use is not compared again with later visits.
    """

    def __init__(self, grid: ContentGrid, settings: CrawlSettings, seed: int) -> None:
        super().__init__(grid, POLICY, seed)
        self._settings = settings
        self._pages = page_table(grid)
        _, hosts = np.unique(grid.hosts, return_inverse=True)
        self._features = LookFeatures(hosts.astype(np.int32))
        self._looks: list[MeasuredLooks] = []
        self._correction: BoostedCorrection | None = None

    @property
    def has_correction(self) -> bool:
        """Whether a correction is applied now."""
        return self._correction is not None

    def choose(self, log: CrawlLog, step: int, count: int) -> IndexArray:
        """Return the pages to visit at a step."""
        if self._settings.is_training_step(step):
            self._correction = self._learn_correction(float(log.recorded.times[step]))
        if self._correction is None:
            self.policy.reset_value_factors()
        else:
            self._set_factors(self._correction, float(log.recorded.times[step]))
        return super().choose(log, step, count)

    def learn(self, looks: MeasuredLooks) -> None:
        """Learn what looks have found."""
        super().learn(looks)
        self._features.add_looks(looks)
        self._looks.append(looks)

    def _learn_correction(self, now: float) -> BoostedCorrection | None:
        """Return the correction if it is better on later looks, else None."""
        looks = concatenate_looks(self._looks)
        examples = examples_of_looks(self._pages, looks, POLICY, ignore_progress)
        try:
            model, _ = train_model(examples, POLICY, from_epoch(now))
        except TooFewLooksError:
            return None
        return BoostedCorrection(model.content) if model.validation.is_better else None

    def _set_factors(self, correction: BoostedCorrection, now: float) -> None:
        ids = self._pages.ids
        times = np.full(len(ids), now)
        chances = self.policy.change_chances(ids, times)
        features = self._features.at(ids.astype(np.int32), times)
        corrected = correction.correct(features, chances)
        self.policy.set_value_factors(ids, value_factors(corrected, chances))
