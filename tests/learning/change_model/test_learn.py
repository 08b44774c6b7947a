"""A model of changes is learned, validated on later looks, stored, and used if it is better."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freshet.collection.collection import Collection
from freshet.core.clock import from_epoch
from freshet.core.errors import BadInputError, StopRequestedError, UsageError
from freshet.core.progress import ignore_progress
from freshet.core.tables import DAY_SECONDS, HOUR_SECONDS
from freshet.core.types import FloatArray
from freshet.features.look_features import LOOK_FEATURE_NAMES
from freshet.learning.change_model import examples as examples_module
from freshet.learning.change_model import learn
from freshet.learning.change_model.default_forecast import default_chances
from freshet.learning.change_model.examples import (
    examples_of_looks,
    first_hourly_time,
    gather_examples,
)
from freshet.learning.change_model.learn import train_model
from freshet.predict.boosted_correction import BoostedCorrection
from freshet.predict.change_model import (
    CHANGE_SHARE,
    DEFAULT_FORECAST,
    LEARNED,
)
from freshet.record.models.change_model_file import CHANGE_MODEL_FILE, read_change_model
from tests.learning.change_model.look_samples import (
    DAYS,
    FIRST_DAY,
    PAGES,
    add_looks,
    daily_looks,
    examples_of,
    memoryless_chances,
    page_rows,
    weekday_chances,
)

NOW = from_epoch((FIRST_DAY + DAYS) * DAY_SECONDS)


@pytest.mark.parametrize(
    ("chances", "is_better"), [(weekday_chances, True), (memoryless_chances, False)]
)
def test_a_model_is_used_where_there_is_something_to_learn(
    chances: Callable[[], FloatArray], is_better: bool
) -> None:
    model, stored_examples = train_model(examples_of(chances()), "bayes-freshness", NOW)
    assert stored_examples is None
    scores = model.validation.scores
    assert model.validation.is_better == is_better
    if is_better:
        assert scores[LEARNED].log_loss < 0.8 * scores[DEFAULT_FORECAST].log_loss
        assert scores[LEARNED].log_loss < scores[CHANGE_SHARE].log_loss
    assert model.validation.looks.since > model.trained.since


def test_a_host_with_very_many_looks_does_not_outweigh_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(examples_module, "MIN_HOST_EXAMPLES", 100)
    examples = examples_of(memoryless_chances()).observed
    small = examples[(examples.hosts == 0) | (np.arange(len(examples)) % 20 == 0)].balanced(1)
    counts = np.bincount(small.hosts)
    assert counts[1:].max() < counts[0] < 120 < np.count_nonzero(examples.hosts == 0)
    assert (np.diff(small.times) >= 0).all()


def test_later_looks_do_not_alter_what_was_known_before_a_look() -> None:
    chances, later_chances = weekday_chances(), weekday_chances()
    later_chances[:, 30:] = 0.5
    before = np.s_[: 28 * PAGES]
    one, other = (examples_of(item).observed[before] for item in (chances, later_chances))
    assert one.chances.tolist() == other.chances.tolist()
    np.testing.assert_array_equal(one.features, other.features)


def test_examples_have_the_forecast_of_a_policy_that_is_fitted_every_hour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    daily = daily_looks(weekday_chances())
    hour = HOUR_SECONDS * (daily.pages % 12)
    looks = replace(daily, times=daily.times + hour).in_time_order()
    every_hour, less_often = (
        default_chances(
            "bayes-freshness", page_rows(), looks, ignore_progress, hourly_since=hourly_since
        )[looks.measured]
        for hourly_since in (-np.inf, np.inf)
    )
    assert not np.array_equal(every_hour, less_often)
    examples = examples_of_looks(page_rows(), looks, "bayes-freshness", ignore_progress)
    assert examples.observed.chances.tolist() == every_hour.tolist()
    monkeypatch.setattr(examples_module, "MAX_PAGE_FITS", 24 * PAGES)
    assert looks.times[-1] - first_hourly_time(looks, PAGES) < 3 * DAY_SECONDS


def test_a_collection_learns_and_stores_its_model(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        add_looks(collection.catalog, daily_looks(weekday_chances()))
        result = collection.learn()
        gathered = gather_examples(collection.catalog, "bayes-freshness", ignore_progress)
        examples = gathered.observed
    folder = tmp_path / "c" / "models"
    path = folder / CHANGE_MODEL_FILE
    assert result.used
    assert result.model is not None
    assert path.stat().st_mode & 0o777 == 0o600
    stored = read_change_model(folder, LOOK_FEATURE_NAMES)
    assert stored == result.model
    assert stored.trained.looks == len(examples) == PAGES * (DAYS - 1)
    chances = BoostedCorrection(stored.content).correct(examples.features, examples.chances)
    with pytest.raises(StopRequestedError), Collection.open(tmp_path / "c") as collection:
        collection.learn(progress=stop_at_the_end)
    assert read_change_model(folder, LOOK_FEATURE_NAMES) == stored
    assert chances[examples.changed].mean() > 2 * chances[~examples.changed].mean()
    check_bad_files(path)


def test_a_model_that_is_not_better_leaves_the_one_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = examples_of(weekday_chances())
    better, _ = train_model(examples, "bayes-freshness", NOW)
    worse = replace(better, validation=replace(better.validation, gain=-0.1, gain_low=-0.2))
    trained = [better, worse]
    monkeypatch.setattr(learn, "gather_examples", lambda *_: examples)
    monkeypatch.setattr(learn, "train_model", lambda *_: (trained[-1], None))
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        first = collection.learn()
        assert (first.model, first.used, first.kept_model) == (worse, False, None)
        trained.append(better)
        assert collection.learn().used
        trained.append(worse)
        again = collection.learn()
    assert (again.used, again.kept_model) == (False, better)
    assert "worse than the default forecast" in again.why
    assert read_change_model(tmp_path / "c" / "models", LOOK_FEATURE_NAMES) == better


def test_a_collection_that_cannot_be_written_is_noticed_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learn, "gather_examples", lambda *_: pytest.fail("looks were read"))
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        shutil.rmtree(tmp_path / "c" / "models")
        (tmp_path / "c" / "models").write_text("")
        with pytest.raises(UsageError, match="cannot be stored"):
            collection.learn()


def stop_at_the_end(done: int, total: int) -> None:
    """Interrupt the learning when all looks are done."""
    if done == total:
        raise StopRequestedError("stopped")


def check_bad_files(path: Path) -> None:
    """Check that altered files are refused with one line that says what to do."""
    text = path.read_text("utf-8")
    for altered in ("", "[]", "{}", text[:-100], text.replace('"seed": ', '"seed": 1')):
        path.write_text(altered, "utf-8")
        with pytest.raises(BadInputError, match="learn again") as caught:
            read_change_model(path.parent, LOOK_FEATURE_NAMES)
        assert "\n" not in str(caught.value)
    path.write_text(text, "utf-8")
    with pytest.raises(BadInputError, match="other features"):
        read_change_model(path.parent, LOOK_FEATURE_NAMES[:-1])


def test_without_enough_looks_nothing_is_learned(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        assert "at least 800 are needed" in collection.learn().why
        add_looks(collection.catalog, daily_looks(np.zeros((PAGES, DAYS))))
        result = collection.learn()
    assert (result.model, result.used) == (None, False)
    assert "at least 20 looks with and without a change" in result.why
    assert read_change_model(tmp_path / "c" / "models", LOOK_FEATURE_NAMES) is None
