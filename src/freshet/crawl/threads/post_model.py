"""The model that posts are forecast with: the shipped one, or the learned one if it is better."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from freshet.core.errors import BadInputError, UsageError
from freshet.predict.threads.rate_model import RateModel, pooled_hazard
from freshet.record.model_file_watch import ModelFileWatch
from freshet.record.models.post_model_file import POST_MODEL_FILE, read_post_model


@dataclass(frozen=True, slots=True)
class PostModelChoice:
    """The hazard to be used. ``title`` names a learned model, and is empty for the shipped one.

    ``problem`` says why a learned model that is there is not used.
    """

    hazard: RateModel
    title: str = ""
    problem: str = ""


def choose_post_model(folder: Path | None) -> PostModelChoice:
    """Return the model of a collection's folder of models, or the shipped one and why."""
    try:
        model = None if folder is None else read_post_model(folder)
    except (BadInputError, UsageError) as error:
        return PostModelChoice(pooled_hazard(), problem=str(error))
    if model is None:
        return PostModelChoice(pooled_hazard())
    if not model.validation.is_better:
        return PostModelChoice(pooled_hazard(), problem=model.validation.reason)
    return PostModelChoice(model.hazard, model.title)


class LivePostModel:
    """The model that a crawl forecasts posts with; a new one is taken within the hour."""

    def __init__(self, folder: Path | None, now: datetime) -> None:
        self._folder = folder
        self._watch = ModelFileWatch(None if folder is None else folder / POST_MODEL_FILE)
        self.hazard = pooled_hazard()
        self.refresh_if_due(now)

    def refresh_if_due(self, now: datetime) -> bool:
        """Look for a new model once an hour; return whether there was one."""
        if not self._watch.is_due(now):
            return False
        self._watch.looked = now
        if not self._watch.has_changed():
            return False
        self._watch.accept()
        self.hazard = choose_post_model(self._folder).hazard
        return True
