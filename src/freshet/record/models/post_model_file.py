"""The file of a collection's model of posts."""

from pathlib import Path

from freshet.predict.threads.post_model import (
    PostModel,
    post_model_document,
    post_model_from_document,
)
from freshet.record.models.model_file import ModelFile

POST_MODEL_FILE = "post-model.json"
_FILE = ModelFile(POST_MODEL_FILE, "freshet-post-model", 1, "model of posts")


def save_post_model(folder: Path, model: PostModel) -> Path:
    """Write a model into a folder; an interruption leaves the file of before."""
    return _FILE.write(folder, post_model_document(model))


def read_post_model(folder: Path) -> PostModel | None:
    """Return the model in a folder, None if there is none."""
    return _FILE.read(folder, post_model_from_document)
