"""Commands beside and after a crawl plan for the objective of that crawl."""

from pathlib import Path

import pytest

from freshet.archive.warc.lock import ArchiveLock
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.crawl.live_policy import policy_name
from freshet.crawl.plan import objective_origin
from freshet.record.record_store import RecordStore
from freshet.record.recorder import Recorder
from tests.crawl.crawl_samples import crawling
from tests.record.record_samples import START, URL, observe
from tests.record.thread_samples import thread_page

CONTACT = 'contact = "me@example.org"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        collection.add(URL)
    return tmp_path / "c"


@pytest.fixture
def for_timeliness(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run and end a crawl for timeliness, as ``freshet run --objective`` does."""
    monkeypatch.setenv("FRESHET_OBJECTIVE", "timeliness")
    with crawling(folder, FixedClock(START), "10/day") as session:
        session.release_all()
    monkeypatch.delenv("FRESHET_OBJECTIVE")
    return folder


def test_after_a_crawl_plans_have_its_objective(for_timeliness: Path) -> None:
    with Collection.open(for_timeliness) as collection:
        assert collection.settings.objective == "freshness"
        assert collection.plan().objective == "timeliness"
        assert collection.plan(objective="changes").objective == "changes"
        assert collection.why(collection.page(URL)).objective == "timeliness"
        assert collection.why(collection.page(URL), objective="links").objective == "links"
        status = collection.status()
        assert status.objective == "timeliness"
        assert status.objective_origin == "of the last crawl; the setting is freshness"
        assert status.policy is not None
        assert status.policy.policy == policy_name(collection.planning_settings())
        assert not status.policy.previous


def test_a_setting_that_is_newer_than_the_crawl_is_used(for_timeliness: Path) -> None:
    (for_timeliness / "freshet.toml").write_text(f'{CONTACT}objective = "changes"\n')
    with Collection.open(for_timeliness) as collection:
        assert collection.plan().objective == "changes"
        assert not collection.status().objective_origin


def test_the_environment_is_newer_than_the_last_crawl(
    for_timeliness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRESHET_OBJECTIVE", "links")
    with Collection.open(for_timeliness) as collection:
        assert collection.plan().objective == "links"


def test_the_objective_of_a_running_crawl_is_used_in_any_case(
    for_timeliness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (for_timeliness / "freshet.toml").write_text(f'{CONTACT}objective = "changes"\n')
    with (
        Collection.open(for_timeliness) as collection,
        ArchiveLock(collection.archive_folder, command="freshet run"),
    ):
        assert collection.plan().objective == "timeliness"
        assert collection.plan(objective="links").objective == "links"
        assert objective_origin(collection) == "of the running crawl; the setting is changes"
        monkeypatch.setenv("FRESHET_OBJECTIVE", "links")
        with Collection.open(for_timeliness) as told:
            assert told.plan().objective == "timeliness"


def test_a_crawl_by_the_settings_changes_nothing(folder: Path) -> None:
    with crawling(folder, FixedClock(START), "10/day"):
        pass
    with Collection.open(folder) as collection:
        assert (collection.plan().objective, objective_origin(collection)) == ("freshness", "")


def test_records_of_a_killed_crawl_are_adopted_with_their_posts(for_timeliness: Path) -> None:
    with (
        Collection.open(for_timeliness) as collection,
        ArchiveLock(collection.archive_folder, clock=collection.clock) as lock,
    ):
        store = RecordStore(lock, collection)
        recorder = Recorder(collection, store)
        observation = observe(1, thread_page([0, 2, 5, 9]))
        recorder._find_pages([observation])
        store.append(recorder._page_observation(observation))
        store.sync()
        store.close()
    with Collection.open(for_timeliness) as collection:
        with collection.recording():
            assert collection.settings.objective == "freshness"
        assert collection.page(URL).posts().total == 4
