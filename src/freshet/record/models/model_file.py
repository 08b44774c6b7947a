"""A file with one learned model: JSON with its format, version and a digest over everything.

No damaged or edited file reaches LightGBM or a class of the user.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

from freshet.core.errors import BadInputError, UsageError
from freshet.core.files import make_private_folder
from freshet.core.json_files import (
    document_digest,
    read_json_object,
    to_json,
    write_json_object,
)

Model = TypeVar("Model")

MAX_MODEL_BYTES = 50_000_000
LEARN_AGAIN = "learn again with 'freshet learn'"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The name and the form of a model's file; ``contents`` says what it holds."""

    name: str
    format: str
    version: int
    contents: str

    def write(self, folder: Path, content: Mapping[str, Any]) -> Path:
        """Write a model into a folder; an interruption leaves the file of before."""
        stored = to_json(content)
        kind = {"format": self.format, "version": self.version}
        path = folder / self.name
        write_json_object(path, {**kind, "digest": document_digest(stored), **stored})
        return path

    def read(
        self, folder: Path, from_document: Callable[[Mapping[str, Any]], Model]
    ) -> Model | None:
        """Return the model in a folder, None if there is none."""
        path = folder / self.name
        if not path.exists():
            return None
        document = read_json_object(path, max_bytes=MAX_MODEL_BYTES, advice=LEARN_AGAIN)
        if document.pop("format", None) != self.format:
            raise BadInputError(f"{path}: not a {self.contents}; {LEARN_AGAIN}")
        version = document.pop("version", None)
        if version != self.version:
            raise BadInputError(
                f"{path}: a model of version {version!r:.20}, but this Freshet reads version "
                f"{self.version}; {LEARN_AGAIN}"
            )
        if document.pop("digest", None) != document_digest(document):
            raise BadInputError(f"{path}: damaged or edited, its digest is wrong; {LEARN_AGAIN}")
        try:
            return from_document(document)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInputError(f"{path}: not a complete model; {LEARN_AGAIN}") from error

    def check_features(self, folder: Path, learned: tuple[str, ...], features: object) -> None:
        """Raise BadInputError if a model was learned with other features than the present ones."""
        if learned != features:
            path = folder / self.name
            raise BadInputError(
                f"{path}: learned with other features than this Freshet; {LEARN_AGAIN}"
            )


def check_writable(folder: Path) -> None:
    """Raise UsageError if no model can be written into a folder; it is made if it is missing."""
    try:
        make_private_folder(folder)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError(
            f"{folder}: a model cannot be stored there: {reason}; make the folder writable"
        ) from error
