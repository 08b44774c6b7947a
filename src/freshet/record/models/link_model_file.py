"""The file of a collection's model of new links."""

from collections.abc import Sequence
from pathlib import Path

from freshet.predict.outlinks.link_model import (
    LinkModel,
    link_model_document,
    link_model_from_document,
)
from freshet.record.models.model_file import ModelFile

LINK_MODEL_FILE = "link-model.json"
_FILE = ModelFile(LINK_MODEL_FILE, "freshet-link-model", 1, "model of new links")


def save_link_model(folder: Path, model: LinkModel) -> Path:
    """Write a model into a folder; an interruption leaves the file of before."""
    return _FILE.write(folder, link_model_document(model))


def read_link_model(folder: Path, features: Sequence[str]) -> LinkModel | None:
    """Return the model in a folder, None if there is none; it must have these features."""
    model = _FILE.read(folder, link_model_from_document)
    if model is not None:
        _FILE.check_features(folder, model.booster.names, tuple(features))
    return model
