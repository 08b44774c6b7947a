"""Corrects the values of a crawl's policy by a learned model, as long as that proves better.

Every hour the crawl looks for a new model and computes the factor of each page at the time of its
likely next visit. At every recorded look it compares the corrected chance with that of the policy
alone. If the policy alone has been better lately, the factors are switched off.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from math import isfinite
from typing import Any

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core.clock import to_epoch
from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.errors import BadInputError, OwnClassError, UsageError
from freshet.core.policy import CorrectablePolicy, Policy
from freshet.core.tables import PageIdArray, PageTable
from freshet.core.types import FloatArray
from freshet.crawl.learned_forecast import LearnedForecast, ModelChoice, choose_model
from freshet.features.look_features import LOOK_FEATURE_NAMES
from freshet.predict.change_model import ChangeModel
from freshet.predict.forecast_scores import LEAST_CHANCE, log_losses
from freshet.record.collection_store import MODELS_FOLDER, CollectionStore
from freshet.record.fault_isolation import isolate_faults
from freshet.record.model_file_watch import ModelFileWatch
from freshet.record.models.change_model_file import CHANGE_MODEL_FILE, read_change_model

log = logging.getLogger(__name__)

LEARNED_FORECAST_NOTE = "learned forecast"
MAX_FACTOR = 4.0
# The comparison counts about the last visits; it begins with the result of the validation.
RECENT_LOOKS, FIRST_WEIGHT = 500, 100.0
IN_USE = "it has been better than the policy's own forecast on the latest visits"
NEW_MODEL = "it is new; a crawl looks for a new model when it starts and every hour"
NOT_LOADED = "it could not be loaded; the log says why"
EQUALLY_GOOD = "it has been exactly as good as the policy's own forecast on the latest visits"
SWITCHED_OFF = "the policy's own forecast has been better on the latest visits"


@dataclass(frozen=True, slots=True)
class LearnedForecastStatus:
    """Whether a crawl uses a learned model, and why.

    ``gain`` is how much lower the model's log-loss is than that of the policy's own forecast over
    the latest looks, ``looks`` how many looks of the crawl have been compared. ``made`` is the time
    at which the model was learned, ``time`` that at which the crawl last looked for a new one.
    """

    model: str
    made: datetime | None
    in_use: bool
    why: str
    gain: float
    looks: int
    time: datetime


class ForecastComparison:
    """The faded mean of how much lower the model's log-loss is than that of the policy alone."""

    def __init__(self, first_gain: float) -> None:
        self.looks = 0
        self._weight, self._sum = FIRST_WEIGHT, FIRST_WEIGHT * first_gain

    @property
    def gain(self) -> float:
        """Return the mean gain in log-loss of the latest looks."""
        return self._sum / self._weight

    def add(self, gains: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        """Add the gains of looks in time order."""
        retention = 1.0 - 1.0 / RECENT_LOOKS
        faded = retention ** np.arange(len(gains))[::-1]
        self._sum = self._sum * retention ** len(gains) + float(gains @ faded)
        self._weight = self._weight * retention ** len(gains) + float(faded.sum())
        self.looks += len(gains)

    def resume(self, status: LearnedForecastStatus) -> None:
        """Continue with the gain of an earlier crawl."""
        self.looks = status.looks
        self._weight = min(FIRST_WEIGHT + status.looks, float(RECENT_LOOKS))
        self._sum = self._weight * status.gain


class LearnedCorrection:
    """The learned model of a crawl, its factors and its comparison with the policy alone."""

    def __init__(self, collection: CollectionStore) -> None:
        self._catalog = collection.catalog
        self._folder = collection.path / MODELS_FOLDER
        self._watch = ModelFileWatch(self._folder / CHANGE_MODEL_FILE)
        self._choice = ModelChoice()
        self._forecast: LearnedForecast | None = None
        self._comparison = ForecastComparison(0.0)

    @property
    def in_use(self) -> bool:
        """Whether factors are applied."""
        return self._forecast is not None and self._comparison.gain > 0

    def refresh_if_due(self, policy: Policy, now: datetime) -> None:
        """Look for a new model and compute all factors, unless that was done within the hour."""
        if self._watch.is_due(now):
            self.refresh(policy, now)

    def refresh(self, policy: Policy, now: datetime) -> None:
        """Look for a new model and compute all factors."""
        self._watch.looked = now
        with self._isolate_faults("applying it", policy):
            self._load_if_changed(policy)
            self._set_factors(policy, now)
        with isolate_faults("saving its status", "the learned model"):
            self.save(now)

    def add_pages(self, pages: PageTable) -> None:
        """Add pages of the crawl."""
        if self._forecast is not None:
            self._forecast.features.add_pages(pages.ids, pages.hosts)

    def relearn_pages(self, ids: PageIdArray) -> None:
        """Learn the looks of pages again that were measured by a new mask."""
        if self._forecast is not None and len(ids):
            with isolate_faults("learning pages again", "the learned model"):
                self._forecast.features.relearn_pages(ids)

    def learn_new_looks(self, policy: Policy) -> None:
        """Compare both forecasts on the looks just recorded, which the policy must not know yet."""
        if self._forecast is None or not isinstance(policy, CorrectablePolicy):
            return
        with self._isolate_faults("learning new looks", policy):
            was_in_use = self.in_use
            new = self._forecast.features.new_looks()
            looks = new.looks
            # What was applied did not know any of these looks yet.
            self._compare(policy, looks)
            self._forecast.features.learn_looks(new)
            if self.in_use:
                ids = np.unique(looks.pages).astype(np.int64)
                self._set_factors_of(policy, ids, float(looks.times.max(initial=0.0)))
            elif was_in_use:
                self._reset_factors(policy)

    def status(self, now: datetime) -> LearnedForecastStatus | None:
        """Say whether the model is used, and why; None if there is no model."""
        model = self._choice.model
        if model is None:
            problem = self._choice.problem
            return LearnedForecastStatus("", None, False, problem, 0.0, 0, now) if problem else None
        gain, looks = self._comparison.gain, self._comparison.looks
        why = IN_USE if self.in_use else SWITCHED_OFF if gain else EQUALLY_GOOD
        return LearnedForecastStatus(model.title, model.made, self.in_use, why, gain, looks, now)

    def save(self, now: datetime) -> None:
        """Store the status for ``status``, ``why`` and the next crawl."""
        status = self.status(self._watch.looked or now)
        note = "" if status is None else json.dumps(asdict(status), default=datetime.isoformat)
        self._catalog.write_note(LEARNED_FORECAST_NOTE, note)

    def apply_to_preview(self, policy: Policy, now: datetime) -> None:
        """Give a policy the factors that a crawl would use now; nothing is stored."""
        with self._isolate_faults("applying it", policy):
            self._load_if_changed(policy)
            self._set_factors(policy, now)

    @contextmanager
    def _isolate_faults(self, task: str, policy: Policy) -> Iterator[None]:
        """Log faults and go on; a class of the user that fails is not used until the next model."""
        with isolate_faults(task, "the learned model"):
            try:
                yield
            except OwnClassError as error:
                log.warning("the learned model is not used: %s", error)
                self._choice, self._forecast = ModelChoice(problem=str(error)), None
                self._watch.accept()
                self._reset_factors(policy)

    def change_chance(self, policy: Policy, page: int, now: datetime) -> float | None:
        """Return the corrected chance that a page has changed by now.

        It is None if no factors are applied, or the page was never looked at.
        """
        if self._forecast is None or not self.in_use or not isinstance(policy, CorrectablePolicy):
            return None
        ids, times = np.array([page], np.int64), np.array([to_epoch(now)])
        with isolate_faults("applying it", "the learned model"):
            chance = float(self._forecast.change_chances(policy, ids, times)[0])
            return chance if isfinite(chance) else None
        return None

    def _load_if_changed(self, policy: Policy) -> None:
        if not self._watch.has_changed():
            return
        # A fault below leaves this reason, and the model is loaded again in an hour.
        self._choice, self._forecast = ModelChoice(problem=NOT_LOADED), None
        choice = choose_model(self._folder)
        if choice.usable is not None and not isinstance(policy, CorrectablePolicy):
            choice = ModelChoice(problem=f"the policy {policy.name} makes no forecasts")
        if choice.usable is not None:
            comparison = self._begin_comparison(choice.usable.model)
            self._forecast = LearnedForecast(choice.usable, self._catalog)
            self._comparison = comparison
        self._choice = choice
        self._watch.accept()

    def _begin_comparison(self, model: ChangeModel) -> ForecastComparison:
        """Return the comparison of a model, as the last crawl with it left it."""
        comparison = ForecastComparison(model.validation.gain)
        stored = read_learned_forecast(self._catalog)
        if stored is not None and stored.made == model.made:
            comparison.resume(stored)
        return comparison

    def _set_factors(self, policy: Policy, now: datetime) -> None:
        if self._forecast is not None and self.in_use and isinstance(policy, CorrectablePolicy):
            self._set_factors_of(policy, self._forecast.features.ids, to_epoch(now))
        else:
            self._reset_factors(policy)

    def _set_factors_of(self, policy: CorrectablePolicy, ids: PageIdArray, now: float) -> None:
        if self._forecast is None:
            return
        times = self._forecast.features.expected_times(ids, now)
        # A higher rate adds nothing to the value of a page that has almost certainly changed.
        chances = policy.change_chances(ids, times)
        corrected = self._forecast.change_chances(policy, ids, times)
        policy.set_value_factors(ids, value_factors(corrected, chances))

    def _reset_factors(self, policy: Policy) -> None:
        if isinstance(policy, CorrectablePolicy):
            policy.reset_value_factors()

    def _compare(self, policy: CorrectablePolicy, looks: MeasuredLooks) -> None:
        """Compare the forecasts of the first new look of each page."""
        if self._forecast is None or not len(looks):
            return
        _, rows = np.unique(looks.pages, return_index=True)
        first = looks.select(np.sort(rows))
        ids = first.pages.astype(np.int64)
        given = policy.change_chances(ids, first.times)
        corrected = self._forecast.change_chances(policy, ids, first.times)
        gains = log_losses(given, first.changed) - log_losses(corrected, first.changed)
        self._comparison.add(gains[first.measured & np.isfinite(given)])


def value_factors(corrected: FloatArray, chances: FloatArray) -> FloatArray:
    """Return the factors of values: how much likelier a change is by corrected chances.

    They are between 1/4 and 4, and 1 where a chance is unknown.

    >>> value_factors(np.array([0.2, 0.9, np.nan]), np.array([0.1, 0.1, 0.1])).tolist()
    [2.0, 4.0, 1.0]
    """
    ratios = np.maximum(corrected, LEAST_CHANCE) / np.maximum(chances, LEAST_CHANCE)
    return np.clip(np.nan_to_num(ratios, nan=1.0), 1 / MAX_FACTOR, MAX_FACTOR)


def read_learned_forecast(catalog: Catalog) -> LearnedForecastStatus | None:
    """Return what the last crawl said of its learned model; None if it had none."""
    try:
        document = json.loads(catalog.read_note(LEARNED_FORECAST_NOTE) or "{}")
        made, time = document["made"], datetime.fromisoformat(document["time"])
        return LearnedForecastStatus(
            str(document["model"]),
            None if made is None else datetime.fromisoformat(made),
            bool(document["in_use"]),
            str(document["why"]),
            float(document["gain"]),
            int(document["looks"]),
            time,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def current_learned_forecast(
    collection: CollectionStore, now: datetime
) -> LearnedForecastStatus | None:
    """Return what is known of the stored model; None if there is none.

    That is what the last crawl said of it. Of a model that no crawl has loaded yet, it is whether a
    crawl will use it.
    """
    crawled = read_learned_forecast(collection.catalog)
    try:
        model = read_change_model(collection.path / MODELS_FOLDER, LOOK_FEATURE_NAMES)
    except (BadInputError, UsageError) as error:
        return LearnedForecastStatus("", None, False, str(error), 0.0, 0, now)
    if model is None:
        return crawled
    if crawled is not None and (crawled.made == model.made or crawled.time >= model.made):
        return crawled
    why = NEW_MODEL if model.validation.is_better else model.validation.reason
    return LearnedForecastStatus(model.title, model.made, False, why, 0.0, 0, now)


def is_switched_off(catalog: Catalog, model: ChangeModel) -> bool:
    """Whether a crawl has found the policy's own forecast better than a model."""
    status = read_learned_forecast(catalog)
    return status is not None and status.made == model.made and not status.in_use
