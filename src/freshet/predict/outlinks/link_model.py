"""The learned model of new links of a collection, and how well it does."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from freshet.core import __version__
from freshet.core.json_files import with_nan, with_times
from freshet.predict.gain_reason import gain_reason
from freshet.predict.outlinks.booster_document import booster_document, booster_from_document
from freshet.predict.outlinks.outcome_family import OutcomeKind
from freshet.predict.outlinks.shrunk_booster import ShrunkBooster

# A model must lower the Poisson loss by this share of the deviance of the default forecast.
MIN_DEVIANCE_SHARE = 0.01
LEARNED_LINKS, DEFAULT_LINK_FORECAST = "learned model", "default forecast"


@dataclass(frozen=True, slots=True)
class LinkSummary:
    """How many intervals of how many pages there are, how many links they brought, and when."""

    pages: int
    intervals: int
    new_links: int
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class LinkScores:
    """Scores of expected numbers: mean Poisson deviance, mean absolute error, and area.

    ``auc`` is the chance that a page with new links had a higher number than one without; NaN if
    all pages or none had new links.
    """

    deviance: float
    error: float
    auc: float


@dataclass(frozen=True, slots=True)
class LinkValidation:
    """How well a model does in later intervals that it was not trained on.

    ``scores`` are those of the model and of its baselines, by name. ``gain`` is how much lower its
    deviance is than that of the default forecast, with its 95 % interval.
    """

    intervals: LinkSummary
    scores: Mapping[str, LinkScores]
    gain: float
    gain_low: float
    gain_high: float

    @property
    def is_better(self) -> bool:
        """Whether the model is better than the default forecast beyond chance, and than rules."""
        least_gain = MIN_DEVIANCE_SHARE * self.scores[DEFAULT_LINK_FORECAST].deviance
        return not self.better_rule and self.gain_low > 0 and self.gain >= least_gain

    @property
    def better_rule(self) -> str:
        """Return the best of the baselines if its deviance is lower than the model's, else ''."""
        best = min(self.scores, key=lambda name: self.scores[name].deviance)
        return best if self.scores[best].deviance < self.scores[LEARNED_LINKS].deviance else ""

    @property
    def reason(self) -> str:
        """Say why the model is used or not."""
        return gain_reason(self, MIN_DEVIANCE_SHARE, self.better_rule)


@dataclass(frozen=True, slots=True)
class LinkModel:
    """A model of the new links of an interval, what it was trained on, and its validation."""

    interval_days: float
    trained: LinkSummary
    validation: LinkValidation
    booster: ShrunkBooster
    made: datetime
    made_with: str = __version__

    @property
    def title(self) -> str:
        """Name the model by what it was learned on and how well it does."""
        learned, default = (
            self.validation.scores[name].deviance for name in (LEARNED_LINKS, DEFAULT_LINK_FORECAST)
        )
        return (
            f"a model learned on {self.trained.new_links:,} new links of "
            f"{self.trained.pages:,} pages, deviance {learned:.3f} against {default:.3f}"
        )


def link_model_document(model: LinkModel) -> dict[str, Any]:
    """Return a model as names and plain values."""
    return {
        "interval_days": model.interval_days,
        "trained": asdict(model.trained),
        "validation": asdict(model.validation),
        "booster": booster_document(model.booster),
        "made": model.made,
        "made_with": model.made_with,
    }


def link_model_from_document(document: Mapping[str, Any]) -> LinkModel:
    """Return the model of a document: its fields by name, as JSON has them."""
    stored = document["validation"]
    scores = {name: LinkScores(**with_nan(figures)) for name, figures in stored["scores"].items()}
    gains = (float(stored[name]) for name in ("gain", "gain_low", "gain_high"))
    return LinkModel(
        float(document["interval_days"]),
        _to_summary(document["trained"]),
        LinkValidation(_to_summary(stored["intervals"]), scores, *gains),
        booster_from_document(OutcomeKind.COUNT, document["booster"]),
        datetime.fromisoformat(document["made"]),
        document["made_with"],
    )


def _to_summary(values: Mapping[str, Any]) -> LinkSummary:
    return LinkSummary(**with_times(values, "since", "until"))
