"""An estimator of the user is trained, validated, stored without pickle, and used if better."""

import base64
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock, from_epoch
from freshet.core.errors import BadInputError, OwnClassError, UsageError
from freshet.core.tables import DAY_SECONDS
from freshet.crawl.forecast import forecasts
from freshet.crawl.learned_correction import LearnedCorrection
from freshet.crawl.live_policy import build_live_policy
from freshet.features.look_features import LOOK_FEATURE_NAMES
from freshet.learning.change_model.learn import train_model
from freshet.predict.change_model import DEFAULT_FORECAST, LEARNED
from freshet.record.models.change_model_file import CHANGE_MODEL_FILE, read_change_model
from freshet.record.models.stored_correction import examples_path, load_correction, read_examples
from tests.learning.change_model.look_samples import (
    DAYS,
    FIRST_DAY,
    add_looks,
    daily_looks,
    examples_of,
    memoryless_chances,
    weekday_chances,
)

NOW = from_epoch((FIRST_DAY + DAYS) * DAY_SECONDS)
MODULE = "tests.learning.change_model.own_estimators"
TABLE, FORGETFUL = f"{MODULE}:WeekdayTable", f"{MODULE}:ForgetfulTable"


@pytest.fixture(scope="module")
def looks_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("looks") / "c"
    with Collection.create(folder, contact="me@example.org", clock=FixedClock(NOW)) as collection:
        add_looks(collection.catalog, daily_looks(weekday_chances()))
    return folder


@pytest.fixture
def folder(looks_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(looks_folder, tmp_path / "c"))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that declares an estimator."""
    site = tmp_path / "site"
    (site / "tables-1.0.dist-info").mkdir(parents=True)
    (site / "tables-1.0.dist-info" / "METADATA").write_text("Name: tables\nVersion: 1.0\n")
    (site / "tables-1.0.dist-info" / "entry_points.txt").write_text(
        "[freshet.estimators]\nweekday-table = tables:WeekdayTable\n"
    )
    (site / "tables.py").write_text(f"from {MODULE} import WeekdayTable\n")
    monkeypatch.syspath_prepend(site)


@pytest.mark.usefixtures("installed")
def test_an_installed_estimator_is_learned_stored_and_used(folder: Path) -> None:
    with (folder / "freshet.toml").open("a") as file:
        file.write('estimators = ["weekday-table"]\n')
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        result = collection.learn()
        page = next(iter(collection.pages()))
        forecast = forecasts(collection, [page], NOW)[0]
        policy = build_live_policy(collection.catalog, collection.settings, now=NOW)
        correction = LearnedCorrection(collection)
        correction.refresh(policy, NOW)
    assert result.used
    assert result.model is not None
    assert result.model.estimator == "weekday-table"
    stored = json.loads(result.model.content)
    assert len(json.loads(base64.b64decode(stored["classifier"]))[1]) == 10
    assert not list((folder / "models").glob("*.npz"))
    assert forecast.model.startswith("weekday-table learned on 2,940 looks, log-loss 0.")
    assert correction.in_use


def test_the_best_of_several_estimators_is_stored(folder: Path) -> None:
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        model = collection.learn(estimators=["trees", TABLE]).model
    assert model is not None
    scores = model.validation.scores
    assert set(scores) > {LEARNED, TABLE, DEFAULT_FORECAST}
    best = min((LEARNED, TABLE), key=lambda name: scores[name].log_loss)
    assert model.estimator == {LEARNED: "trees", TABLE: TABLE}[best]


def test_later_looks_have_no_part_in_the_choice_of_the_estimator() -> None:
    examples = examples_of(weekday_chances())
    observed = examples.observed
    first_later = int(0.75 * len(observed))
    is_later = observed.times >= observed.times[first_later]
    altered = replace(examples, observed=replace(observed, changed=observed.changed ^ is_later))
    models = [
        train_model(part, "bayes-freshness", NOW, ("trees", TABLE))[0]
        for part in (examples, altered)
    ]
    assert models[0].estimator == models[1].estimator
    gains = [model.validation.gain for model in models]
    assert gains[0] > 0 > gains[1]


def test_an_estimator_that_does_not_store_itself_is_trained_again(folder: Path) -> None:
    models = folder / "models"
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        assert collection.learn(estimators=[FORGETFUL]).used
        model = read_change_model(models, LOOK_FEATURE_NAMES)
        assert model is not None
        assert model.content == ""
        examples = read_examples(models, model.examples_digest)
        again = load_correction(model, models).correct(examples.features, examples.chances)
        assert again[examples.changed].mean() > 2 * again[~examples.changed].mean()
        page = next(iter(collection.pages()))
        path = examples_path(models, model.examples_digest)
        path.write_bytes(path.read_bytes()[:-1000])
        forecast = forecasts(collection, [page], NOW)[0]
        assert forecast.model == ""
        assert "learn again with 'freshet learn'" in forecast.problem
    path.unlink()
    with pytest.raises(BadInputError, match="cannot be read: No such file"):
        load_correction(model, models)
    np.savez(path, features=examples.features[1:], chances=[0.0], changed=[True])
    with pytest.raises(BadInputError, match="not the examples of the model"):
        load_correction(model, models)


def test_a_classifier_of_scikit_learn_needs_no_code(folder: Path) -> None:
    name = "sklearn.ensemble:RandomForestClassifier"
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        result = collection.learn(estimators=[name])
        page = next(iter(collection.pages()))
        assert forecasts(collection, [page], NOW)[0].model.startswith(f"{name} learned on")
    assert result.used


def test_an_estimator_that_is_not_better_is_not_used(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        add_looks(collection.catalog, daily_looks(memoryless_chances()))
        result = collection.learn(estimators=[TABLE])
    assert result.model is not None
    assert not result.used


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("FitRaises", "FitRaises.fit failed: ValueError: Input X contains NaN."),
        ("WrongShape", r"WrongShape.predict_proba failed: it returned an array of shape \(780,\)"),
        ("NotProbabilities", "predict_proba failed: it returned values that are not from 0 to 1"),
        ("SumsToTwo", "predict_proba failed: the probabilities of a row do not sum to 1"),
    ],
)
def test_a_method_that_fails_is_named(folder: Path, name: str, problem: str) -> None:
    with (
        Collection.open(folder, clock=FixedClock(NOW)) as collection,
        pytest.raises(OwnClassError, match=problem),
    ):
        collection.learn(estimators=[f"{MODULE}:{name}"])
    assert not (folder / "models" / CHANGE_MODEL_FILE).exists()


def test_a_class_that_is_no_estimator_is_refused_before_anything_is_read(folder: Path) -> None:
    with Collection.open(folder) as collection:
        for name, problem in (("json:JSONDecoder", "has no method fit"), ("no.such:X", "imported")):
            with pytest.raises(UsageError, match=problem):
                collection.learn(estimators=[name])


def test_a_crawl_goes_on_without_an_estimator_that_fails(folder: Path) -> None:
    with Collection.open(folder, clock=FixedClock(NOW)) as collection:
        assert collection.learn(estimators=[f"{MODULE}:FailsLater"]).used
        page = next(iter(collection.pages()))
        assert "predict_proba failed" in forecasts(collection, [page], NOW)[0].problem
        policy = build_live_policy(collection.catalog, collection.settings, now=NOW)
        correction = LearnedCorrection(collection)
        correction.refresh(policy, NOW)
        status = correction.status(NOW)
    assert not correction.in_use
    assert status is not None
    assert "predict_proba failed" in status.why
