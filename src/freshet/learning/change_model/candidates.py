"""The estimators that are tried: Freshet's boosted trees, and classes of the user."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.setting_checks import TREES
from freshet.features.look_features import LOOK_FEATURE_NAMES
from freshet.predict.boosted_correction import (
    BoostedCorrection,
    check_installed,
    count_rounds,
    train_correction,
)
from freshet.predict.chance_correction import ChanceCorrection, CorrectionExamples
from freshet.predict.own_estimator import (
    OwnEstimator,
    can_be_stored,
    load_estimator_class,
    train_own_estimator,
)

# A class that does not store itself is trained on no more, because its examples are stored.
MAX_STORED_EXAMPLES = 100_000


@dataclass(frozen=True, slots=True)
class TrainedCandidate:
    """A trained estimator.

    ``rounds`` is the number of trees. ``stored_examples`` are those that a user's class is trained
    again on whenever it is loaded, because it does not store itself.
    """

    correction: ChanceCorrection
    rounds: int = 0
    stored_examples: CorrectionExamples | None = None

    def content(self) -> str:
        """Return the trained estimator as text, empty if it is trained again."""
        if isinstance(self.correction, BoostedCorrection):
            return self.correction.text
        if isinstance(self.correction, OwnEstimator):
            return self.correction.to_text()
        return ""


def check_estimators(names: Sequence[str]) -> None:
    """Raise UsageError if an estimator cannot be used, before anything is computed."""
    for name in names:
        if name == TREES:
            check_installed()
        else:
            load_estimator_class(name)


def train_candidate(
    name: str, examples: CorrectionExamples, seed: int, *, rounds: int = 0
) -> TrainedCandidate:
    """Return an estimator trained on examples; without ``rounds`` the last ones decide on them."""
    if name == TREES:
        rounds = rounds or count_rounds(examples, seed)
        return TrainedCandidate(train_correction(examples, rounds, seed), rounds)
    if can_be_stored(name):
        return TrainedCandidate(train_own_estimator(name, LOOK_FEATURE_NAMES, examples, seed))
    order = np.random.default_rng(seed).permutation(len(examples))
    examples = examples[np.sort(order[:MAX_STORED_EXAMPLES])]
    estimator = train_own_estimator(name, LOOK_FEATURE_NAMES, examples, seed)
    return TrainedCandidate(estimator, stored_examples=examples)
