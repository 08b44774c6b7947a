"""The learned model of a collection: how to correct the default forecast, and how well it does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from freshet.core import __version__
from freshet.core.json_files import with_nan, with_times
from freshet.core.setting_checks import TREES
from freshet.predict.forecast_scores import ForecastScores
from freshet.predict.gain_reason import gain_reason

# A model must lower the log-loss by this share.
MIN_GAIN_SHARE = 0.01
LEARNED, DEFAULT_FORECAST = "learned model", "default forecast"
CHANGE_SHARE, LAST_LOOK = "page's own change share", "result of the last look"
PLAIN_RULES = (CHANGE_SHARE, LAST_LOOK)
BASELINES = (DEFAULT_FORECAST, *PLAIN_RULES)


@dataclass(frozen=True, slots=True)
class LookSummary:
    """How many looks of how many pages and hosts there are, and from when to when."""

    pages: int
    hosts: int
    looks: int
    changes: int
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class ModelValidation:
    """How well a model does on later looks that it was not trained on.

    ``scores`` are those of the model and of its baselines, by name. ``gain`` is how much lower its
    log-loss is than that of the default forecast, with its 95 % interval.
    """

    looks: LookSummary
    scores: Mapping[str, ForecastScores]
    gain: float
    gain_low: float
    gain_high: float

    @property
    def is_better(self) -> bool:
        """Whether the model is better than the default forecast, beyond chance and noticeably."""
        least_gain = MIN_GAIN_SHARE * self.scores[DEFAULT_FORECAST].log_loss
        return self.gain_low > 0 and self.gain >= least_gain

    @property
    def reason(self) -> str:
        """Say why the model is used or not."""
        return gain_reason(self, MIN_GAIN_SHARE)


@dataclass(frozen=True, slots=True)
class ChangeModel:
    """A correction of the forecast of ``policy``, what it was trained on, and its validation.

    ``estimator`` is ``trees`` or the name of a user's class, ``features`` its columns in order.
    ``content`` is the trained estimator as text: the trees, or what the user's class stores. A
    class that does not store itself is trained again on the examples in a file beside the model,
    which have the digest ``examples_digest``. ``left_out`` is the number of older looks that were
    not learned from. Hardly any look that it was trained on came more than ``longest_gap_days``
    after the one before.
    """

    policy: str
    estimator: str
    features: tuple[str, ...]
    trained: LookSummary
    left_out: int
    validation: ModelValidation
    longest_gap_days: float
    seed: int
    content: str = field(repr=False)
    examples_digest: str
    made: datetime
    made_with: str = __version__

    @property
    def title(self) -> str:
        """Name the model by what it was learned on and how well it does."""
        learned, default = (
            self.validation.scores[name].log_loss
            for name in (score_name(self.estimator), DEFAULT_FORECAST)
        )
        model = "a model" if self.estimator == TREES else self.estimator
        return (
            f"{model} learned on {self.trained.looks:,} looks, "
            f"log-loss {learned:.3f} against {default:.3f}"
        )


def score_name(estimator: str) -> str:
    """Return the name of an estimator among the scores of a validation."""
    return LEARNED if estimator == TREES else estimator


def change_model_from_document(document: Mapping[str, Any]) -> ChangeModel:
    """Return the model of a document: its fields by name, as JSON has them."""
    return ChangeModel(**{
        **document,
        "features": tuple(document["features"]),
        "trained": summary_from_document(document["trained"]),
        "validation": validation_from_document(document["validation"]),
        "made": datetime.fromisoformat(document["made"]),
    })


def validation_from_document(document: Mapping[str, Any]) -> ModelValidation:
    """Return the validation of a document."""
    scores = {
        name: ForecastScores(**with_nan(figures)) for name, figures in document["scores"].items()
    }
    looks = summary_from_document(document["looks"])
    return ModelValidation(**{**document, "looks": looks, "scores": scores})


def summary_from_document(values: Mapping[str, Any]) -> LookSummary:
    """Return the summary of a document."""
    return LookSummary(**with_times(values, "since", "until"))
