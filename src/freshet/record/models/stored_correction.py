"""A trained model of changes in a file: stored without pickle, and loaded again."""

import hashlib
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from freshet.core.errors import BadInputError
from freshet.core.files import PRIVATE_FILE_MODE, atomic_output
from freshet.core.setting_checks import TREES
from freshet.predict.boosted_correction import BoostedCorrection
from freshet.predict.chance_correction import ChanceCorrection, CorrectionExamples
from freshet.predict.change_model import ChangeModel
from freshet.predict.own_estimator import restore_own_estimator, train_own_estimator
from freshet.record.models.model_file import LEARN_AGAIN

EXAMPLES_PREFIX, EXAMPLES_SUFFIX = "change-model-examples-", ".npz"
DIGEST_DIGITS = 16
COLUMNS = CorrectionExamples.__slots__


def load_correction(model: ChangeModel, folder: Path) -> ChanceCorrection:
    """Return the trained estimator of a model.

    A user's class that does not store itself is trained again, which may take a while.
    """
    if model.estimator == TREES:
        return BoostedCorrection(model.content)
    if model.content:
        return restore_own_estimator(model.estimator, model.content)
    examples = read_examples(folder, model.examples_digest)
    return train_own_estimator(model.estimator, model.features, examples, model.seed)


def examples_path(folder: Path, digest: str) -> Path:
    """Return the file of the examples with a digest: those of different models have two files."""
    return folder / f"{EXAMPLES_PREFIX}{digest[:DIGEST_DIGITS]}{EXAMPLES_SUFFIX}"


def save_examples(folder: Path, examples: CorrectionExamples) -> None:
    """Write the examples that an estimator is trained again on, beside those of other models."""
    path = examples_path(folder, digest_of(examples))
    with (
        atomic_output(path, mode=PRIVATE_FILE_MODE) as part,
        part.open("wb") as file,
    ):
        np.savez(file, **{name: getattr(examples, name) for name in COLUMNS})


def remove_other_examples(folder: Path, digest: str) -> None:
    """Remove the examples of earlier models; those of a model without a digest are none."""
    kept = examples_path(folder, digest) if digest else None
    for path in folder.glob(f"{EXAMPLES_PREFIX}*{EXAMPLES_SUFFIX}"):
        if path != kept:
            path.unlink(missing_ok=True)


def read_examples(folder: Path, digest: str) -> CorrectionExamples:
    """Return the examples of a model; those with another digest are refused."""
    path = examples_path(folder, digest)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as columns:
            examples = CorrectionExamples(*(columns[name] for name in COLUMNS))
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}; {LEARN_AGAIN}") from error
    except (KeyError, ValueError, EOFError, BadZipFile) as error:
        raise BadInputError(f"{path}: damaged; {LEARN_AGAIN}") from error
    if digest_of(examples) != digest:
        raise BadInputError(f"{path}: not the examples of the model; {LEARN_AGAIN}")
    return examples


def digest_of(examples: CorrectionExamples | None) -> str:
    """Return a digest over examples, empty if there are none."""
    if examples is None:
        return ""
    digest = hashlib.sha256()
    for name in COLUMNS:
        digest.update(np.ascontiguousarray(getattr(examples, name)).data)
    return digest.hexdigest()
