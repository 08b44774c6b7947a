"""A crawl that begins after a kill: hosts that may have been asked at the last moment must wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock, to_epoch
from freshet.core.tables import HostCaps
from freshet.crawl.session import CrawlSession
from freshet.fetch.collection_thread import CollectionThread
from freshet.fetch.runtime import CrawlRuntime
from tests.fetch.crawls import make_collection

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DELAY = 3 * 3600.0
HOST = "slow.example"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    politeness = {"delay": DELAY, "longest_delay": DELAY}
    return make_collection(tmp_path / "c", [f"https://{HOST}/"], (), politeness)


def die_with_a_request_out(folder: Path) -> None:
    """Leave a collection as a crawl does that is killed while its first request is out."""
    opened = Collection.open(folder, clock=FixedClock(NOON))
    with opened as collection, collection.recording() as recorder:
        session = CrawlSession(collection, recorder)
        session.start()
        assert session.draw_jobs(NOON, 1, HostCaps()).jobs


@contextmanager
def begun(folder: Path, now: datetime) -> Iterator[CrawlRuntime]:
    worker = CollectionThread(folder, clock=FixedClock(now))
    worker.open()
    try:
        yield CrawlRuntime(SimpleNamespace(), worker)  # type: ignore[arg-type]
    finally:
        worker.close()


@pytest.mark.parametrize("hours", [0, 2, 30])
def test_a_host_requested_just_before_the_kill_waits_its_delay(folder: Path, hours: int) -> None:
    die_with_a_request_out(folder)
    found_dead = to_epoch(NOON + timedelta(hours=hours))
    with begun(folder, NOON + timedelta(hours=hours)) as runtime:
        assert runtime.environment.host_schedule.open_from(HOST, found_dead) == found_dead + DELAY


def test_an_import_between_kill_and_restart_does_not_hide_the_kill(folder: Path) -> None:
    die_with_a_request_out(folder)
    table = folder.parent / "past.csv"
    table.write_text("page,time,changed\nhttps://other.example/,2026-01-01T00:00:00Z,1\n")
    later = NOON + timedelta(hours=2)
    with Collection.open(folder, clock=FixedClock(later)) as collection:
        collection.import_history("csv", table)
    with begun(folder, later) as runtime:
        assert (
            runtime.environment.host_schedule.open_from(HOST, to_epoch(later))
            == to_epoch(later) + DELAY
        )


def test_after_an_orderly_end_no_host_waits(folder: Path) -> None:
    with begun(folder, NOON):
        pass
    with begun(folder, NOON) as runtime:
        assert runtime.environment.host_schedule.open_from(HOST, to_epoch(NOON)) <= to_epoch(NOON)
