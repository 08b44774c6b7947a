"""A page that cannot be read or measured costs itself an outcome, and others nothing."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import freshet.record.parsed_visit
from freshet.archive.catalog.catalog import Catalog
from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.errors import NoSpaceError
from freshet.core.types import Outcome, Snapshot
from tests.crawl.crawl_samples import NOON, make_folder, url

COUNT = 9
BAD = url(4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "c")


def observation(page: str, number: int, text: str = "plain words") -> Observation:
    body = f"<title>t</title><p>{text} of {page} {number}</p>".encode()
    time = NOON + timedelta(minutes=number)
    uid = number.to_bytes(16, "big")
    return Observation(
        page, "", time, uid, Snapshot(page, body, 200, (("content-type", "text/html"),))
    )


BATCH = [observation(url(number), number) for number in range(COUNT)]


def fail_to_parse(
    monkeypatch: pytest.MonkeyPatch, is_bad: Callable[[Snapshot], bool] = lambda s: s.url == BAD
) -> None:
    """Let parsing raise an error for some snapshots."""
    parse = freshet.record.parsed_visit.parse_snapshot

    def look(snapshot: Snapshot, **options: Any) -> Any:
        if is_bad(snapshot):
            raise IndexError("no such row")
        return parse(snapshot, **options)

    monkeypatch.setattr(freshet.record.parsed_visit, "parse_snapshot", look)


def outcomes(collection: Collection) -> dict[str, list[Outcome]]:
    pages = {page.url: page.history() for page in collection.pages()}
    return {url: [row.visit.outcome for row in rows] for url, rows in pages.items() if rows}


WITHOUT_BAD = {item.url: [Outcome.OK] for item in BATCH} | {BAD: [Outcome.UNREADABLE]}


def test_the_rest_of_a_batch_is_recorded_and_the_bytes_of_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_to_parse(monkeypatch)
    with Collection.open(folder) as collection:
        with collection.recording() as recorder:
            batch = recorder.record(BATCH)
            assert recorder.record(BATCH).known_count == COUNT
        assert (batch.visit_count, len(batch.recorded_visits), batch.unusable) == (COUNT, COUNT, ())
        assert outcomes(collection) == WITHOUT_BAD
        [visit] = [row.visit for row in collection.page(BAD).history()]
        assert visit.why == "a fault of Freshet while it was read: IndexError: no such row"
        snapshots = collection.snapshots.read(visit, BAD)
        assert snapshots is not None
        assert snapshots.body == BATCH[4].snapshot.body
        assert collection.check().is_sound


class FailingMeasure:
    """A user's measure that fails on every difference."""

    def is_change(self, old: object, new: object) -> bool:
        raise ValueError("no price")


def test_a_visit_that_a_users_measure_fails_on_names_the_class(folder: Path) -> None:
    with Collection.open(folder) as collection:
        page = collection.add(BAD)
        collection.change_settings(
            collection.find_page(BAD), [("counts_as", f"{__name__}:FailingMeasure")]
        )
        with collection.recording() as recorder:
            recorder.record([observation(BAD, number) for number in (1, 2)])
        visits = [row.visit for row in page.history()]
    assert [visit.outcome for visit in visits] == [Outcome.OK, Outcome.UNREADABLE]
    failed = f"measure method {__name__}:FailingMeasure.is_change failed: ValueError: no price"
    assert visits[1].why == failed


def test_a_full_disk_keeps_its_meaning_and_loses_no_visit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_to_parse(monkeypatch)
    with Collection.open(folder) as collection, collection.recording() as recorder:
        whole: Catalog = collection.catalog
        fill_up_after(monkeypatch, whole, calls=1)
        with pytest.raises(NoSpaceError):
            recorder.record(BATCH)
        monkeypatch.undo()
        fail_to_parse(monkeypatch)
        batch = recorder.record(BATCH)
        assert {visit.uid for visit, _ in batch.recorded_visits} == {item.uid for item in BATCH}
    with Collection.open(folder) as collection:
        assert outcomes(collection) == WITHOUT_BAD
        assert collection.check().is_sound


def fill_up_after(monkeypatch: pytest.MonkeyPatch, catalog: Catalog, calls: int) -> None:
    """Let the disk be full once so many batches of rows are written."""
    append_visits, made = catalog.append_visits, 0

    def append(*arguments: Any, **options: Any) -> None:
        nonlocal made
        made += 1
        if made > calls:
            raise NoSpaceError("the disk is full")
        append_visits(*arguments, **options)

    monkeypatch.setattr(catalog, "append_visits", append)


def test_a_record_that_cannot_be_read_does_not_keep_a_collection_closed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collection.open(folder) as collection:
        fill_up_after(monkeypatch, collection.catalog, calls=0)
        with collection.recording() as recorder, pytest.raises(NoSpaceError):
            recorder.record(BATCH)
    monkeypatch.undo()
    fail_to_parse(monkeypatch)
    with Collection.open(folder) as collection, collection.recording():
        assert outcomes(collection) == WITHOUT_BAD


def test_a_stored_version_that_cannot_be_read_any_more_does_not_spoil_the_next_visit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collection.open(folder) as collection, collection.recording() as recorder:
        recorder.record([observation(BAD, 1, "old words")])
        recorder.clear_cache()
        fail_to_parse(monkeypatch, lambda snapshot: b"old words" in snapshot.body)
        [(visit, change)] = recorder.record([observation(BAD, 2, "new words")]).recorded_visits
        assert (visit.outcome, change) == (Outcome.OK, None)


def test_late_visits_that_cannot_be_measured_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collection.open(folder) as collection:
        with collection.recording() as recorder:
            recorder.record([observation(BAD, 1), observation(BAD, 9)])
            monkeypatch.setattr("freshet.record.recorder.remeasure_history", _fail)
            recorder.record([observation(BAD, 5)])
        with collection.recording():
            assert len(collection.page(BAD).history()) == 3


def _fail(*_: object) -> None:
    raise ZeroDivisionError
