"""Learns the model of changes of a collection, validates it on later looks, and stores it."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from freshet.core.errors import FreshetError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.settings import Settings
from freshet.features.visit_features import FEATURE_NAMES
from freshet.learning.change_model.examples import ChangeExamples, gather_examples
from freshet.learning.change_model.validation import validate_model
from freshet.predict.boosted_correction import check_installed, count_rounds, train_correction
from freshet.predict.change_model import ChangeModel
from freshet.record.collection_store import MODELS_FOLDER, CollectionStore
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
    """The model that was learned, or why there is none; and whether a crawl will use it."""

    model: ChangeModel | None
    used: bool
    why: str


def learn_changes(
    collection: CollectionStore, *, progress: ProgressCallback = ignore_progress
) -> LearningResult:
    """Learn how to correct the default forecast, and store the model in the collection.

    The model is validated on the last quarter of the looks, and then trained on all of them. It
    replaces the one of before, also if it is no better than the default forecast: the latest looks
    decide. Without enough looks nothing is stored.
    """
    check_installed()
    policy_name = default_policy_name(collection.settings)
    examples = gather_examples(collection.catalog, policy_name, progress)
    try:
        model = train_model(examples, policy_name, collection.clock.now())
    except TooFewLooksError as error:
        return LearningResult(None, False, str(error))
    # A caller that was asked to stop meanwhile raises an error here, and the old model stays.
    progress(len(examples), len(examples))
    model.save(collection.path / MODELS_FOLDER)
    return describe_result(model)


def train_model(examples: ChangeExamples, policy_name: str, now: datetime) -> ChangeModel:
    """Return a model trained on all examples, validated on the last quarter of them."""
    if len(examples) < MIN_LOOKS:
        raise TooFewLooksError(
            f"there are {len(examples):,} looks that were compared with the one before; "
            f"at least {MIN_LOOKS:,} are needed"
        )
    first_later_time = examples.times[len(examples) - int(VALIDATED_SHARE * len(examples))]
    is_later = examples.times >= first_later_time
    training, later = examples[~is_later], examples[is_later]
    for part, name in ((training, "earlier"), (later, "later")):
        changes = int(part.changed.sum())
        if min(changes, len(part) - changes) < MIN_OF_EACH_RESULT:
            raise TooFewLooksError(
                f"the {name} looks found {changes:,} changes in {len(part):,} looks; at least "
                f"{MIN_OF_EACH_RESULT} looks with and without a change are needed"
            )
    inputs = training.balanced(SEED).inputs
    rounds = count_rounds(inputs, SEED)
    correction = train_correction(inputs, rounds, SEED)
    learned = correction.correct(later.features, later.chances)
    validation = validate_model(training, later, learned, SEED)
    final = train_correction(examples.balanced(SEED).inputs, rounds, SEED)
    gaps = examples.features[:, FEATURE_NAMES.index("gap")]
    return ChangeModel(
        policy_name, FEATURE_NAMES, examples.summary(), validation,
        float(np.quantile(gaps, LONGEST_GAP_SHARE)), rounds, SEED, final.text, now,
    )  # fmt: skip


def describe_result(model: ChangeModel) -> LearningResult:
    """Say whether a crawl will use a model, and why."""
    if model.validation.is_better:
        why = "it is better than the default forecast on visits that it did not see"
    else:
        why = "on visits that it did not see, it is not better than the default forecast for sure"
    return LearningResult(model, model.validation.is_better, why)


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
