"""Learns the model of changes of a collection, validates it on later looks, and stores it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from freshet.core.errors import FreshetError, UsageError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.setting_checks import TREES
from freshet.core.settings import Settings
from freshet.features.look_features import LOOK_FEATURE_NAMES
from freshet.learning.change_model.candidates import check_estimators, train_candidate
from freshet.learning.change_model.examples import (
    ChangeExamples,
    CollectionExamples,
    gather_examples,
)
from freshet.learning.change_model.validation import validate_model
from freshet.predict.chance_correction import CorrectionExamples
from freshet.predict.change_model import ChangeModel
from freshet.predict.forecast_scores import log_losses
from freshet.record.collection_store import MODELS_FOLDER, CollectionStore
from freshet.record.models.change_model_file import read_change_model, save_change_model
from freshet.record.models.model_file import check_writable
from freshet.record.models.stored_correction import (
    digest_of,
    remove_other_examples,
    save_examples,
)
from freshet.schedule.policies import FORECASTING_POLICIES

VALIDATED_SHARE = 0.25
MIN_LOOKS, MIN_OF_EACH_RESULT = 800, 20
DEFAULT_OBJECTIVE = "freshness"
LONGEST_GAP_SHARE = 0.99
SEED = 1


class TooFewLooksError(FreshetError):
    """There are too few looks to learn from."""


@dataclass(frozen=True, slots=True)
class LearningResult:
    """The model that was learned, or why there is none; and whether a crawl will use it.

    ``kept_model`` is the model of before if it stays in use, because the new one is not better than
    the default forecast.
    """

    model: ChangeModel | None
    used: bool
    why: str
    kept_model: ChangeModel | None = None


def learn_changes(
    collection: CollectionStore,
    *,
    estimators: Sequence[str] = (),
    progress: ProgressCallback = ignore_progress,
) -> LearningResult:
    """Learn how to correct the default forecast, and store the model in the collection.

    The estimators are ``trees`` or classes of the user, those of the settings if none is given. Of
    several the best one on the last looks before the validated quarter is chosen. It is validated
    on the last quarter, and then trained on all looks. It replaces the model of before, unless that
    one is used and the new one is not better than the default forecast. Without enough looks
    nothing is stored.
    """
    names = tuple(dict.fromkeys(estimators or collection.settings.estimators))
    check_estimators(names)
    folder = collection.path / MODELS_FOLDER
    check_writable(folder)
    policy_name = default_policy_name(collection.settings)
    examples = gather_examples(collection.catalog, policy_name, progress)
    try:
        model, stored_examples = train_model(examples, policy_name, collection.clock.now(), names)
    except TooFewLooksError as error:
        return LearningResult(None, False, str(error))
    # A caller that was asked to stop meanwhile raises an error here, and the old model stays.
    progress(len(examples.observed), len(examples.observed))
    validation = model.validation
    kept_model = None if validation.is_better else _model_in_use(folder, policy_name)
    if kept_model is None:
        _store(folder, model, stored_examples)
    return LearningResult(model, validation.is_better, validation.reason, kept_model)


def _model_in_use(folder: Path, policy_name: str) -> ChangeModel | None:
    """Return the stored model if it is better than the forecast of a policy, else None."""
    try:
        model = read_change_model(folder, LOOK_FEATURE_NAMES)
    except UsageError:
        return None
    is_used = model is not None and model.policy == policy_name and model.validation.is_better
    return model if is_used else None


def _store(folder: Path, model: ChangeModel, examples: CorrectionExamples | None) -> None:
    """Write a model and its examples; an interruption leaves the model of before with its own."""
    if examples is not None:
        save_examples(folder, examples)
    save_change_model(folder, model)
    remove_other_examples(folder, model.examples_digest)


def train_model(
    examples: CollectionExamples,
    policy_name: str,
    now: datetime,
    estimators: Sequence[str] = (TREES,),
) -> tuple[ChangeModel, CorrectionExamples | None]:
    """Return the best model, validated on the last quarter of the looks and trained on all.

    With it come the examples to be stored beside it, if its estimator is trained again on them.
    """
    observed = examples.observed
    if len(observed) < MIN_LOOKS:
        raise TooFewLooksError(
            f"there are {len(observed):,} looks that were compared with the one before; "
            f"at least {MIN_LOOKS:,} are needed"
        )
    first_later_time = _first_later_time(observed)
    later = observed[observed.times >= first_later_time]
    training = examples.training(until=first_later_time)
    inputs = training.balanced(SEED).inputs
    candidates = {name: train_candidate(name, inputs, SEED) for name in estimators}
    chances = {
        name: candidate.correction.correct(later.features, later.chances)
        for name, candidate in candidates.items()
    }
    best = _choose_estimator(examples, estimators, first_later_time)
    validation = validate_model(training, later, chances, best, SEED)
    all_examples = examples.training()
    final = train_candidate(
        best, all_examples.balanced(SEED).inputs, SEED, rounds=candidates[best].rounds
    )
    gaps = all_examples.features[:, LOOK_FEATURE_NAMES.index("gap")]
    model = ChangeModel(
        policy_name, best, LOOK_FEATURE_NAMES, observed.summary(), examples.left_out,
        validation, float(np.quantile(gaps, LONGEST_GAP_SHARE)), SEED, final.content(),
        digest_of(final.stored_examples), now,
    )  # fmt: skip
    return model, final.stored_examples


def _choose_estimator(examples: CollectionExamples, names: Sequence[str], until: float) -> str:
    """Return the best estimator on the last quarter of the looks before a time.

    The looks that it is validated on have no part in the choice: their figures would favour it.
    """
    if len(names) == 1:
        return names[0]
    earlier = examples.observed[examples.observed.times < until]
    first_time = _first_later_time(earlier)
    choosing = earlier[earlier.times >= first_time]
    inputs = examples.training(until=first_time).balanced(SEED).inputs

    def loss(name: str) -> float:
        correction = train_candidate(name, inputs, SEED).correction
        chances = correction.correct(choosing.features, choosing.chances)
        return float(log_losses(chances, choosing.changed).mean())

    return min(names, key=loss)


def _first_later_time(examples: ChangeExamples) -> float:
    """Return when the last quarter of looks begins; both parts must have enough of each result."""
    first_time = float(examples.times[len(examples) - int(VALIDATED_SHARE * len(examples))])
    is_later = examples.times >= first_time
    for part, name in ((examples[~is_later], "earlier"), (examples[is_later], "later")):
        changes = int(part.changed.sum())
        if min(changes, len(part) - changes) < MIN_OF_EACH_RESULT:
            raise TooFewLooksError(
                f"the {name} looks found {changes:,} changes in {len(part):,} looks; at least "
                f"{MIN_OF_EACH_RESULT} looks with and without a change are needed"
            )
    return first_time


def default_policy_name(settings: Settings) -> str:
    """Return the policy whose forecast is corrected: the default one of the collection's objective.

    >>> default_policy_name(Settings(objective="changes")), default_policy_name(Settings())
    ('bayes-changes', 'bayes-freshness')
    """
    if settings.policy in FORECASTING_POLICIES:
        objective = settings.policy.partition("-")[2]
    else:
        objective = settings.objective
    name = f"bayes-{objective}"
    return name if name in FORECASTING_POLICIES else f"bayes-{DEFAULT_OBJECTIVE}"
