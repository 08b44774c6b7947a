"""Learns the model of new links of a collection, validates it on later looks, and stores it."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from freshet.core.errors import UsageError
from freshet.core.types import FloatArray
from freshet.features.outlinks.rate_features import RATE_FEATURES
from freshet.learning.link_model.examples import (
    CollectionLinks,
    LinkExamples,
    TooFewLinksError,
    gather_links,
)
from freshet.learning.link_model.validation import validate_links
from freshet.predict.boosted_correction import check_installed
from freshet.predict.outlinks.cross_boosting import BoosterSettings
from freshet.predict.outlinks.link_model import LinkModel
from freshet.predict.outlinks.outcome_family import OutcomeKind
from freshet.predict.outlinks.shrunk_booster import ShrunkBooster, fit_shrunk_booster
from freshet.record.collection_store import MODELS_FOLDER, CollectionStore

VALIDATED_SHARE = 0.25
MAX_TRAINED = 200_000
ROUNDS = 300
SEED = 1


@dataclass(frozen=True, slots=True)
class LinkLearningResult:
    """The model of new links that was learned, or why there is none; and whether it is used."""

    model: LinkModel | None
    used: bool
    why: str


def learn_links(collection: CollectionStore) -> LinkLearningResult:
    """Learn how many new links pages will bring, and store the model in the collection.

    It is validated on the last quarter of the intervals against the default forecast and the rules
    that repeat the past, and then trained on all of them. Without enough new links nothing is
    stored.
    """
    try:
        check_installed()
        model = train_link_model(gather_links(collection.catalog), collection.clock.now())
    except (TooFewLinksError, UsageError) as error:
        return LinkLearningResult(None, False, str(error))
    model.save(collection.path / MODELS_FOLDER)
    if model.validation.is_better:
        why = "it is better than the default forecast on looks that it did not see"
    else:
        why = "on looks that it did not see, it is not better than the default forecast for sure"
    return LinkLearningResult(model, model.validation.is_better, why)


def train_link_model(collection: CollectionLinks, now: datetime) -> LinkModel:
    """Return the model, validated on the last quarter of the intervals and trained on all."""
    examples = collection.examples
    last_step = int(examples.steps.max())
    first_later = last_step + 1 - max(1, round(VALIDATED_SHARE * (last_step - 1)))
    is_later = examples.steps >= first_later
    if is_later.all() or not np.count_nonzero(examples.new_links[is_later]):
        raise TooFewLinksError("no new links were found in the latest intervals")
    earlier, later = examples.select(~is_later), examples.select(is_later)
    expected: FloatArray = _fit(earlier).means(later.features)
    validation = validate_links(collection, later, expected, SEED)
    return LinkModel(
        examples.grid.interval_days, examples.summary(), validation, _fit(examples), now
    )


def _fit(examples: LinkExamples) -> ShrunkBooster:
    """Return the default model of the number of new links; of many examples some are chosen."""
    if len(examples) > MAX_TRAINED:
        chosen = np.zeros(len(examples), np.bool_)
        order = np.random.default_rng(SEED).permutation(len(examples))
        chosen[order[:MAX_TRAINED]] = True
        examples = examples.select(chosen)
    return fit_shrunk_booster(
        examples.features,
        examples.new_links,
        tuple(RATE_FEATURES),
        OutcomeKind.COUNT,
        examples.sites,
        BoosterSettings(rounds=ROUNDS, seed=SEED),
    ).model
