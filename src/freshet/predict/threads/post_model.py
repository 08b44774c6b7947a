"""The learned model of the posts of a collection's threads, and how well it does."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from freshet.core import __version__
from freshet.predict.change_model import (
    DEFAULT_FORECAST,
    LEARNED,
    LookSummary,
    ModelValidation,
    summary_from_document,
    validation_from_document,
)
from freshet.predict.threads.rate_model import RateModel, hazard_document, hazard_from_document


@dataclass(frozen=True, slots=True)
class PostModel:
    """A pooled hazard of the next post, what it was trained on, and its validation.

    The looks are those at the threads, and their changes those that found new posts. ``posts`` is
    the number of posts that were trained on.
    """

    posts: int
    trained: LookSummary
    validation: ModelValidation
    hazard: RateModel
    made: datetime
    made_with: str = __version__

    @property
    def title(self) -> str:
        """Name the model by what it was learned on and how well it does."""
        learned, default = (
            self.validation.scores[name].log_loss for name in (LEARNED, DEFAULT_FORECAST)
        )
        return (
            f"a model learned on {self.posts:,} posts of {self.trained.pages:,} threads, "
            f"log-loss {learned:.3f} against {default:.3f}"
        )


def post_model_document(model: PostModel) -> dict[str, Any]:
    """Return a model as names and plain values."""
    return {
        "posts": model.posts,
        "trained": asdict(model.trained),
        "validation": asdict(model.validation),
        "hazard": hazard_document(model.hazard),
        "made": model.made,
        "made_with": model.made_with,
    }


def post_model_from_document(document: Mapping[str, Any]) -> PostModel:
    """Return the model of a document: its fields by name, as JSON has them."""
    return PostModel(
        int(document["posts"]),
        summary_from_document(document["trained"]),
        validation_from_document(document["validation"]),
        hazard_from_document(document["hazard"]),
        datetime.fromisoformat(document["made"]),
        document["made_with"],
    )
