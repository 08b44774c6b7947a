"""The file of a collection's model of changes."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from freshet.predict.change_model import ChangeModel, change_model_from_document
from freshet.record.models.model_file import ModelFile

CHANGE_MODEL_FILE = "change-model.json"
_FILE = ModelFile(CHANGE_MODEL_FILE, "freshet-change-model", 2, "model of changes")


def save_change_model(folder: Path, model: ChangeModel) -> Path:
    """Write a model into a folder; an interruption leaves the file of before."""
    return _FILE.write(folder, asdict(model))


def read_change_model(folder: Path, features: Sequence[str]) -> ChangeModel | None:
    """Return the model in a folder, None if there is none; it must have these features."""
    model = _FILE.read(folder, change_model_from_document)
    if model is not None:
        _FILE.check_features(folder, model.features, tuple(features))
    return model
