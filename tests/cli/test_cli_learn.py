"""The commands learn and related."""

from dataclasses import replace
from pathlib import Path

import pytest

from freshet.cli.commands.research import learn as learn_command
from freshet.collection.collection import Collection
from freshet.core.extras import OptionalPackage
from freshet.learning.link_model.learn import LinkLearningResult, train_link_model
from freshet.predict import boosted_correction, change_model
from freshet.record.models.change_model_file import CHANGE_MODEL_FILE
from tests.cli.cli_runs import Run
from tests.learning.change_model.look_samples import add_looks, daily_looks, weekday_chances
from tests.learning.link_model.test_link_learning import NOW, links_of, steady_numbers
from tests.learning.post_model.thread_looks import URLS, add_threads
from tests.reference import missing_keys

WEEKDAYS = "tests.learning.change_model.own_estimators:WeekdayTable"


def test_an_empty_collection_says_that_there_is_nothing_to_learn(run: Run, empty: Path) -> None:
    result = run("learn")
    assert "Nothing was learned: there are 0 looks" in result.out
    assert result.code == 0
    document = run("learn", "--json").json
    assert (document["model"], document["used"]) == (None, False)
    assert not (empty / "models" / CHANGE_MODEL_FILE).exists()


def test_what_was_learned_is_compared_and_used_by_forecasts(run: Run, empty: Path) -> None:
    with Collection.open(empty) as collection:
        add_looks(collection.catalog, daily_looks(weekday_chances()))
    output = run("learn").out
    assert "Learned on 2,940 looks at 60 pages" in output
    assert "'freshet forecast' uses the learned model from now on, and a running crawl" in output
    document = run("learn", "--json").json
    for part in (document, document["model"], document["model"]["validation"], document["links"]):
        assert not missing_keys("learn", part)
    scores = document["model"]["validation"]["scores"]
    assert scores["learned model"]["log_loss"] < scores["default forecast"]["log_loss"]
    url = "https://host1.example/5"
    assert "by a model learned on 2,940 looks, log-loss" in run("forecast", url).out
    forecast = run("forecast", url, "--json").json
    assert not missing_keys("forecast", [*forecast, *forecast["horizons"][0]])
    assert "times as likely" in run("why", url).out
    related = run("related", url, "--limit", "3").out
    assert "by co-change, 59 of 59 other pages compared, 50 steps of 1 day" in related
    assert len(run("related", url, "--limit", "3", "--json").json["related"]) == 3
    assert run("related", url, "--by", "host", "--json").json["compared"] == 4
    by_host = run("related", url, "--by", "host").out
    assert "by host, 4 other pages of host1.example compared, 50 steps" in by_host


def test_a_model_that_is_not_better_is_no_error(
    run: Run, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_model, "MIN_GAIN_SHARE", 1.0)
    with Collection.open(empty) as collection:
        add_looks(collection.catalog, daily_looks(weekday_chances()))
    result = run("learn", "--estimator", "trees", "--estimator", WEEKDAYS)
    assert result.code == 0
    assert f"The best estimator is {WEEKDAYS}." in result.out
    assert "\ntrees " in result.out
    assert "learned model" not in result.out
    assert "No model is better yet: the crawl and 'freshet forecast' use the default" in result.out
    assert "its gain was below" in result.out


def test_a_plain_rule_that_is_better_than_the_forecast_used_is_named(
    run: Run, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_model, "MIN_GAIN_SHARE", 1.0)
    with Collection.open(empty) as collection:
        add_looks(collection.catalog, daily_looks(weekday_chances()))
        result = collection.learn()
    assert result.model is not None
    validation = result.model.validation
    better = replace(validation.scores["default forecast"], log_loss=0.01)
    scores = {**validation.scores, "page's own change share": better}
    for shown, found in ((validation.scores, False), (scores, True)):
        model = replace(result.model, validation=replace(validation, scores=shown))
        shown_result = replace(result, model=model)
        monkeypatch.setattr(learn_command, "learn_changes", lambda *_, r=shown_result, **__: r)
        output = run("learn").out
        assert found == ("a plain rule was better than what is used, the page's own" in output)


@pytest.mark.usefixtures("empty")
def test_a_worse_model_of_new_links_has_a_higher_deviance(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freshet.learning.link_model.learn.ROUNDS", 10)
    model = train_link_model(links_of(steady_numbers()), NOW)
    validation = replace(model.validation, gain=-0.039, gain_low=-0.05, gain_high=-0.02)
    result = LinkLearningResult(replace(model, validation=validation), False, validation.reason)
    monkeypatch.setattr(learn_command, "learn_links", lambda *_, **__: result)
    output = run("learn").out
    assert "Its deviance is 0.0390 higher than that of the default forecast" in output
    assert "'freshet forecast' uses the default forecast of new links. Reason: on later" in output
    assert "it was worse than the default forecast." in output


def test_a_missing_package_is_named_before_anything_is_read(
    run: Run, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = OptionalPackage("no_such_package", extra="learning")
    monkeypatch.setattr(boosted_correction, "lightgbm", missing)
    result = run("learn")
    assert result.code == 2
    assert "pip install '.[learning]' in the checkout of Freshet" in result.err


def test_the_forecast_of_posts_is_learned_and_named(run: Run, empty: Path) -> None:
    assert "No model of posts was learned: there are 0 posts" in run("learn").out
    with Collection.open(empty) as collection:
        add_threads(collection)
    output = run("learn").out
    assert "Posts: learned on 571 of 8 threads, tested at 286 later looks, 136 of which" in output
    assert "The learned model forecasts posts from now on" in output
    assert "posts by a model learned on 571 posts of 8 threads" in run("forecast", URLS[0]).out
    document = run("learn", "--json").json["posts"]
    assert document["used"]
    assert not missing_keys("learn", [*document, *document["model"]])
