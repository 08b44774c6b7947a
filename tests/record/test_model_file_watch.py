"""A crawl takes a new model within the hour, and tries one again that could not be loaded."""

from datetime import timedelta
from pathlib import Path

from freshet.record.model_file_watch import ModelFileWatch
from tests.record.record_samples import START


def test_a_look_is_due_at_first_and_after_an_hour_in_either_direction(tmp_path: Path) -> None:
    watch = ModelFileWatch(tmp_path / "model.json")
    assert watch.is_due(START)
    watch.looked = START
    assert not watch.is_due(START + timedelta(minutes=59))
    assert watch.is_due(START + timedelta(minutes=60))
    assert watch.is_due(START - timedelta(minutes=60))


def test_a_stored_replaced_or_removed_model_is_reported_until_it_is_accepted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.json"
    watch = ModelFileWatch(path)
    assert watch.has_changed()
    watch.accept()
    assert not watch.has_changed()
    for text in ("first", "a longer second"):
        path.write_text(text)
        assert watch.has_changed()
        assert watch.has_changed()
        watch.accept()
        assert not watch.has_changed()
    path.unlink()
    assert watch.has_changed()


def test_a_file_that_is_replaced_while_it_is_loaded_is_loaded_again(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("first")
    watch = ModelFileWatch(path)
    assert watch.has_changed()
    path.write_text("a longer second")
    watch.accept()
    assert watch.has_changed()


def test_without_a_folder_of_models_there_is_none() -> None:
    watch = ModelFileWatch(None)
    assert watch.has_changed()
    watch.accept()
    assert not watch.has_changed()
