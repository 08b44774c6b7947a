"""Compares a model with its baselines on looks that came after those it was trained on."""

from collections.abc import Mapping

import numpy as np

from freshet.core.tables import DAY_SECONDS
from freshet.core.types import FloatArray
from freshet.features.look_features import LOOK_FEATURE_NAMES
from freshet.learning.change_model.examples import ChangeExamples
from freshet.learning.resampling import mean_interval
from freshet.predict.change_model import (
    CHANGE_SHARE,
    DEFAULT_FORECAST,
    LAST_LOOK,
    ModelValidation,
    score_name,
)
from freshet.predict.forecast_scores import forecast_scores, log_losses

# With fewer hosts, pages and days are resampled instead of hosts.
MIN_HOSTS = 10


def validate_model(
    training: ChangeExamples,
    later: ChangeExamples,
    chances_by_estimator: Mapping[str, FloatArray],
    chosen: str,
    seed: int,
) -> ModelValidation:
    """Return the validation of the chosen estimator on later looks.

    It has the scores of all estimators and of the baselines.
    """
    chances = {
        **{score_name(name): values for name, values in chances_by_estimator.items()},
        DEFAULT_FORECAST: later.chances,
        CHANGE_SHARE: _feature(later, "change_share"),
        LAST_LOOK: _chances_by_last_look(training, later),
    }
    scores = {name: forecast_scores(values, later.changed) for name, values in chances.items()}
    losses = log_losses(chances_by_estimator[chosen], later.changed)
    gains = log_losses(later.chances, later.changed) - losses
    low, high = gain_interval(gains, later, seed)
    return ModelValidation(later.summary(), scores, float(gains.mean()), low, high)


def gain_interval(gains: FloatArray, examples: ChangeExamples, seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the mean gain of a look by the bootstrap.

    Pages of one host change together, so whole hosts are resampled. With few hosts, pages and days
    are resampled, and the wider interval is returned: it says nothing about other hosts.
    """
    if len(np.unique(examples.hosts)) >= MIN_HOSTS:
        return mean_interval(gains, examples.hosts, seed)
    days = np.floor(examples.times / DAY_SECONDS).astype(np.int64)
    intervals = [mean_interval(gains, groups, seed) for groups in (examples.pages, days)]
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def _chances_by_last_look(training: ChangeExamples, later: ChangeExamples) -> FloatArray:
    """Return the share of training looks with a change, after a look with and without one."""
    shares = np.empty(2)
    for was_changed in (0, 1):
        changed = training.changed[_feature(training, "was_changed") == was_changed]
        shares[was_changed] = (changed.sum() + 0.5) / (len(changed) + 1.0)
    chances: FloatArray = shares[_feature(later, "was_changed").astype(np.intp)]
    return chances


def _feature(examples: ChangeExamples, name: str) -> FloatArray:
    return examples.features[:, LOOK_FEATURE_NAMES.index(name)].astype(np.float64)
