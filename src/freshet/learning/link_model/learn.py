"""Learns the model of new links of a collection, validates it on later looks, and stores it."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from freshet.core.errors import UsageError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.types import FloatArray
from freshet.features.outlinks.look_steps import LOOK_FEATURES
from freshet.learning.link_model.examples import (
    CollectionLinks,
    LinkExamples,
    TooFewLinksError,
    gather_links,
)
from freshet.learning.link_model.validation import validate_links
from freshet.predict.boosted_correction import check_installed
from freshet.predict.outlinks.cross_boosting import MAX_ROWS, BoosterSettings, choose_rows
from freshet.predict.outlinks.link_model import LinkModel
from freshet.predict.outlinks.outcome_family import OutcomeKind
from freshet.predict.outlinks.shrunk_booster import ShrunkBooster, fit_shrunk_booster
from freshet.record.collection_store import MODELS_FOLDER, CollectionStore
from freshet.record.models.link_model_file import read_link_model, save_link_model
from freshet.record.models.model_file import check_writable

VALIDATED_SHARE = 0.25
ROUNDS = 300
SEED = 1


@dataclass(frozen=True, slots=True)
class LinkLearningResult:
    """The model of new links that was learned, or why there is none; and whether it is used.

    ``kept_model`` is the model of before if it stays in use, because the new one is not used.
    """

    model: LinkModel | None
    used: bool
    why: str
    kept_model: LinkModel | None = None


def learn_links(
    collection: CollectionStore, *, progress: ProgressCallback = ignore_progress
) -> LinkLearningResult:
    """Learn how many new links pages will bring, and store the model in the collection.

    It is validated on the last quarter of the intervals against the default forecast and the rules
    that repeat the past, and then trained on all of them. A model that is not used does not replace
    one that is. Without enough new links nothing is stored.
    """
    folder = collection.path / MODELS_FOLDER
    check_writable(folder)
    try:
        check_installed()
        links = gather_links(collection.catalog)
        model = train_link_model(links, collection.clock.now(), progress)
    except (TooFewLinksError, UsageError) as error:
        return LinkLearningResult(None, False, str(error))
    # A caller that was asked to stop meanwhile raises an error here, and the old model stays.
    progress(len(links.looks), len(links.looks))
    validation = model.validation
    kept_model = None if validation.is_better else _model_in_use(folder)
    if kept_model is None:
        save_link_model(folder, model)
    return LinkLearningResult(model, validation.is_better, validation.reason, kept_model)


def _model_in_use(folder: Path) -> LinkModel | None:
    """Return the stored model if it is used, else None."""
    try:
        model = read_link_model(folder, LOOK_FEATURES)
    except UsageError:
        return None
    return model if model is not None and model.validation.is_better else None


def train_link_model(
    collection: CollectionLinks, now: datetime, progress: ProgressCallback = ignore_progress
) -> LinkModel:
    """Return the model, validated on the last quarter of the intervals and trained on all."""
    examples = collection.examples
    last_step = int(examples.steps.max())
    first_later = last_step + 1 - max(1, round(VALIDATED_SHARE * (last_step - 1)))
    is_later = examples.steps >= first_later
    if is_later.all() or not np.count_nonzero(examples.new_links[is_later]):
        raise TooFewLinksError("no new links were found in the latest intervals")
    earlier, later = examples.select(~is_later), examples.select(is_later)
    expected: FloatArray = _fit(earlier).means(later.features)
    validation = validate_links(collection, later, expected, SEED, progress)
    return LinkModel(
        examples.grid.interval_days, examples.summary(), validation, _fit(examples), now
    )


def _fit(examples: LinkExamples) -> ShrunkBooster:
    """Return the default model of the number of new links; of many examples some are chosen.

    It serves the sites that it is fitted to. So its result is not drawn to the plain mean of the
    past, as that of ``NewLinkRegressor`` is for sites that were not seen.
    """
    chosen = np.zeros(len(examples), np.bool_)
    chosen[choose_rows(len(examples), MAX_ROWS, SEED)] = True
    examples = examples.select(chosen)
    return fit_shrunk_booster(
        examples.features,
        examples.new_links,
        LOOK_FEATURES,
        OutcomeKind.COUNT,
        examples.groups(),
        BoosterSettings(rounds=ROUNDS, seed=SEED, plain_weight=0.0),
    ).model
