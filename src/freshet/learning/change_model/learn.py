"""Learns the model of changes of a collection, validates it on later looks, and stores it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from freshet.core.errors import FreshetError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.setting_checks import TREES
from freshet.core.settings import Settings
from freshet.features.visit_features import COLLECTION_FEATURE_NAMES
from freshet.learning.change_model.candidates import check_estimators, train_candidate
from freshet.learning.change_model.examples import (
    ChangeExamples,
    CollectionExamples,
    gather_examples,
)
from freshet.learning.change_model.validation import validate_candidates
from freshet.predict.chance_correction import CorrectionExamples
from freshet.predict.change_model import ChangeModel
from freshet.predict.stored_correction import digest_of, save_examples
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
    collection: CollectionStore,
    *,
    estimators: Sequence[str] = (),
    progress: ProgressCallback = ignore_progress,
) -> LearningResult:
    """Learn how to correct the default forecast, and store the model in the collection.

    Every estimator (``trees``, or a user's class; those of the settings if none is given) is
    validated on the last quarter of the looks. The best one is then trained on all of them. It
    replaces the model of before, also if it is no better than the default forecast: the latest
    looks decide. Without enough looks nothing is stored.
    """
    names = tuple(dict.fromkeys(estimators or collection.settings.estimators))
    check_estimators(names)
    policy_name = default_policy_name(collection.settings)
    examples = gather_examples(collection.catalog, policy_name, progress)
    try:
        model, stored_examples = train_model(examples, policy_name, collection.clock.now(), names)
    except TooFewLooksError as error:
        return LearningResult(None, False, str(error))
    # A caller that was asked to stop meanwhile raises an error here, and the old model stays.
    progress(len(examples.observed), len(examples.observed))
    folder = collection.path / MODELS_FOLDER
    if stored_examples is not None:
        save_examples(folder, stored_examples)
    model.save(folder)
    return describe_result(model)


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
    first_later_time = _first_later_time(observed)
    later = observed[observed.times >= first_later_time]
    training = examples.training(until=first_later_time)
    inputs = training.balanced(SEED).inputs
    candidates = {name: train_candidate(name, inputs, SEED) for name in estimators}
    chances = {
        name: candidate.correction.correct(later.features, later.chances)
        for name, candidate in candidates.items()
    }
    best, validation = validate_candidates(training, later, chances, SEED)
    all_examples = examples.training()
    final = train_candidate(
        best, all_examples.balanced(SEED).inputs, SEED, rounds=candidates[best].rounds
    )
    gaps = all_examples.features[:, COLLECTION_FEATURE_NAMES.index("gap")]
    model = ChangeModel(
        policy_name, best, COLLECTION_FEATURE_NAMES, observed.summary(), examples.left_out,
        validation, float(np.quantile(gaps, LONGEST_GAP_SHARE)), SEED, final.content(),
        digest_of(final.stored_examples), now,
    )  # fmt: skip
    return model, final.stored_examples


def _first_later_time(examples: ChangeExamples) -> float:
    """Return when the looks begin that models are validated on; there must be enough of both."""
    if len(examples) < MIN_LOOKS:
        raise TooFewLooksError(
            f"there are {len(examples):,} looks that were compared with the one before; "
            f"at least {MIN_LOOKS:,} are needed"
        )
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


def describe_result(model: ChangeModel) -> LearningResult:
    """Say whether a crawl will use a model, and why."""
    return LearningResult(model, model.validation.is_better, model.validation.reason)


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
