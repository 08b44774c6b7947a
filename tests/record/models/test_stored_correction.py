"""The examples of a model stay beside it until a new model is stored."""

from pathlib import Path

import numpy as np
import pytest

from freshet.core.errors import UsageError
from freshet.predict.chance_correction import CorrectionExamples
from freshet.record.models.model_file import check_writable
from freshet.record.models.stored_correction import (
    digest_of,
    read_examples,
    remove_other_examples,
    save_examples,
)


def examples_with(chance: float) -> CorrectionExamples:
    return CorrectionExamples(np.ones((2, 1), np.float32), np.full(2, chance), np.array([True] * 2))


def test_new_examples_leave_those_of_the_model_of_before_until_that_is_replaced(
    tmp_path: Path,
) -> None:
    old, new = examples_with(0.2), examples_with(0.4)
    save_examples(tmp_path, old)
    # The process may be killed here, before the new model is written.
    save_examples(tmp_path, new)
    assert read_examples(tmp_path, digest_of(old)).chances.tolist() == [0.2, 0.2]
    remove_other_examples(tmp_path, digest_of(new))
    assert read_examples(tmp_path, digest_of(new)).chances.tolist() == [0.4, 0.4]
    assert len(list(tmp_path.iterdir())) == 1
    remove_other_examples(tmp_path, "")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    check_writable(tmp_path / "models")
    assert not list((tmp_path / "models").iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file: a model cannot be stored there: .*writable"):
        check_writable(tmp_path / "file")
