"""The learned model of new links of a collection, and how well it does.

The file is JSON with the trained model inside, and a digest over everything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from freshet.core import __version__
from freshet.core.errors import BadInputError
from freshet.core.json_files import (
    document_digest,
    read_json_object,
    to_json,
    write_json_object,
)
from freshet.predict.gain_reason import gain_reason
from freshet.predict.outlinks.booster_document import booster_document, booster_from_document
from freshet.predict.outlinks.outcome_family import OutcomeKind
from freshet.predict.outlinks.shrunk_booster import ShrunkBooster

LINK_MODEL_FILE = "link-model.json"
LINK_MODEL_FORMAT, LINK_MODEL_VERSION = "freshet-link-model", 1
MAX_LINK_MODEL_BYTES = 50_000_000
# A model must lower the Poisson loss by this share of the deviance of the default forecast.
MIN_DEVIANCE_SHARE = 0.01
LEARN_LINKS_AGAIN = "learn again with 'freshet learn'"
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

    def save(self, folder: Path) -> Path:
        """Write the model into a folder; an interruption leaves the file of before."""
        content = to_json({
            "interval_days": self.interval_days,
            "trained": asdict(self.trained),
            "validation": asdict(self.validation),
            "booster": booster_document(self.booster),
            "made": self.made,
            "made_with": self.made_with,
        })
        kind = {"format": LINK_MODEL_FORMAT, "version": LINK_MODEL_VERSION}
        path = folder / LINK_MODEL_FILE
        write_json_object(path, {**kind, "digest": document_digest(content), **content})
        return path


def read_link_model(folder: Path, features: Sequence[str]) -> LinkModel | None:
    """Return the model in a folder, None if there is none; it must have these features."""
    path = folder / LINK_MODEL_FILE
    if not path.exists():
        return None
    document = read_json_object(path, max_bytes=MAX_LINK_MODEL_BYTES, advice=LEARN_LINKS_AGAIN)
    kind = document.pop("format", None), document.pop("version", None)
    if kind != (LINK_MODEL_FORMAT, LINK_MODEL_VERSION):
        raise BadInputError(f"{path}: not a model of new links that is known; {LEARN_LINKS_AGAIN}")
    if document.pop("digest", None) != document_digest(document):
        raise BadInputError(f"{path}: damaged or edited, its digest is wrong; {LEARN_LINKS_AGAIN}")
    try:
        model = _to_link_model(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(f"{path}: not a complete model; {LEARN_LINKS_AGAIN}") from error
    if model.booster.names != tuple(features):
        raise BadInputError(f"{path}: learned with other features; {LEARN_LINKS_AGAIN}")
    return model


def _to_link_model(document: Mapping[str, Any]) -> LinkModel:
    stored = document["validation"]
    scores = {
        name: LinkScores(**{
            key: float("nan") if value is None else float(value) for key, value in figures.items()
        })
        for name, figures in stored["scores"].items()
    }
    gains = (float(stored[name]) for name in ("gain", "gain_low", "gain_high"))
    return LinkModel(
        float(document["interval_days"]),
        _to_link_summary(document["trained"]),
        LinkValidation(_to_link_summary(stored["intervals"]), scores, *gains),
        booster_from_document(OutcomeKind.COUNT, document["booster"]),
        datetime.fromisoformat(document["made"]),
        document["made_with"],
    )


def _to_link_summary(values: Mapping[str, Any]) -> LinkSummary:
    times = {name: datetime.fromisoformat(values[name]) for name in ("since", "until")}
    return LinkSummary(**{**values, **times})
