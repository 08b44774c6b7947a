"""Learns when the next posts of a collection's threads come, and validates it on later looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from freshet.core.errors import UsageError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.learning.post_model.examples import (
    MINUTE_SECONDS,
    PostExamples,
    TooFewPostsError,
    WatchedThread,
    gather_posts,
)
from freshet.learning.post_model.validation import validate_posts
from freshet.predict.boosted_correction import check_installed
from freshet.predict.threads.hazard_training import train_hazard
from freshet.predict.threads.post_model import PostModel
from freshet.predict.threads.rate_model import RateModel, hazard_document, hazard_from_document
from freshet.record.collection_store import MODELS_FOLDER, CollectionStore
from freshet.record.models.model_file import check_writable
from freshet.record.models.post_model_file import read_post_model, save_post_model

VALIDATED_SHARE = 0.25
MIN_LATER_LOOKS, MIN_WITH_POSTS = 100, 25
MAX_LATER_LOOKS = 5_000
SEED = 1


@dataclass(frozen=True, slots=True)
class PostLearningResult:
    """The model of posts that was learned, or why there is none; and whether it is used.

    ``kept_model`` is the model of before if it stays in use, because the new one is not used.
    """

    model: PostModel | None
    used: bool
    why: str
    kept_model: PostModel | None = None


def learn_posts(
    collection: CollectionStore, *, progress: ProgressCallback = ignore_progress
) -> PostLearningResult:
    """Train the pooled hazard on the collection's own threads, and store it in the collection.

    It is validated on the last quarter of the looks against the hazard that the package has, and
    then trained on all posts. A model that is not used does not replace one that is. Without
    enough posts nothing is stored.
    """
    folder = collection.path / MODELS_FOLDER
    check_writable(folder)
    try:
        check_installed()
        examples = gather_posts(collection.catalog)
        model = train_post_model(examples, collection.clock.now(), progress)
    except (TooFewPostsError, UsageError) as error:
        return PostLearningResult(None, False, str(error))
    # A caller that was asked to stop meanwhile raises an error here, and the old model stays.
    progress(len(examples), len(examples))
    validation = model.validation
    kept_model = None if validation.is_better else _model_in_use(folder)
    if kept_model is None:
        save_post_model(folder, model)
    return PostLearningResult(model, validation.is_better, validation.reason, kept_model)


def _model_in_use(folder: Path) -> PostModel | None:
    """Return the stored model if it is used, else None."""
    try:
        model = read_post_model(folder)
    except UsageError:
        return None
    return model if model is not None and model.validation.is_better else None


def train_post_model(
    examples: PostExamples, now: datetime, progress: ProgressCallback = ignore_progress
) -> PostModel:
    """Return the model, validated on the last quarter of the looks and trained on all posts."""
    first_later = int((1.0 - VALIDATED_SHARE) * len(examples))
    numbers = np.arange(len(examples))
    later = examples.select(numbers >= first_later)
    if len(later) < MIN_LATER_LOOKS or later.has_post.sum() < MIN_WITH_POSTS:
        raise TooFewPostsError(
            f"{later.has_post.sum():,} of the latest {len(later):,} looks found new posts; "
            f"at least {MIN_WITH_POSTS} of {MIN_LATER_LOOKS} are needed"
        )
    progress(0, len(later))
    earlier_hazard = _train(examples.threads, before=float(later.times.min()))
    is_tested = np.zeros(len(later), np.bool_)
    drawn = np.random.default_rng(SEED).permutation(len(later))[:MAX_LATER_LOOKS]
    is_tested[drawn] = True
    validation = validate_posts(later.select(is_tested), earlier_hazard, SEED, progress)
    hazard = _train(examples.threads)
    posts = sum(len(thread.post_times) for thread in examples.threads)
    return PostModel(posts, examples.summary(), validation, hazard, now)


def _train(threads: Sequence[WatchedThread], *, before: float = np.inf) -> RateModel:
    """Return the hazard of the posts that looks before a time found, silent until the last look.

    Its numbers are rounded as those of a stored model are.
    """
    known, ends = [], []
    for thread in threads:
        looks = thread.looks[thread.looks < before]
        posts = thread.known_posts(float(looks[-1])) if len(looks) else None
        if posts is not None:
            known.append(posts)
            ends.append(float(looks[-1]) / MINUTE_SECONDS)
    if sum(map(len, known)) < 2:
        raise TooFewPostsError("hardly any posts were found before the latest looks")
    return hazard_from_document(hazard_document(train_hazard(known, ends=ends)))
