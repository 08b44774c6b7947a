"""Host states are saved before anything else is written, and again after a failure."""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from freshet.archive.catalog.rows import HostState
from freshet.core.errors import NoSpaceError
from freshet.core.settings import PolitenessSettings
from freshet.fetch import collection_writer
from freshet.fetch.collection_writer import CollectionWriter
from freshet.fetch.environment import CrawlEnvironment
from freshet.fetch.politeness.host_schedule import HostSchedule

HOST = "a.example"


class FakeSession:
    """A crawl session that notes its calls; the first ``failures`` savings find a full disk."""

    def __init__(self, failures: int = 0) -> None:
        self.calls: list[str] = []
        self.failures = failures

    def save_host_states(self, states: Sequence[HostState]) -> None:
        if self.failures:
            self.failures -= 1
            raise NoSpaceError("the disk is full")
        self.calls.append(f"save {[state.host for state in states]}")

    def book_requests(self, requests: int) -> bool:
        self.calls.append(f"book {requests}")
        return True


async def run_now(work: Callable[..., Any], *arguments: Any) -> Any:
    return work(*arguments)


def book_twice(session: FakeSession) -> None:
    """Book a request after a host's state has changed, and another one."""
    hosts = HostSchedule(PolitenessSettings())
    hosts.add_page(HOST)
    hosts.start_delay(HOST, 0.0)
    environment = SimpleNamespace(
        host_schedule=hosts,
        collection_thread=SimpleNamespace(session=session, run=run_now),
        is_ending=False,
    )

    async def book() -> None:
        writer = CollectionWriter(cast("CrawlEnvironment", environment))
        assert await writer.book_requests(1)
        assert await writer.book_requests(2)

    asyncio.run(book())


def test_changed_host_states_are_saved_before_a_booking() -> None:
    session = FakeSession()
    book_twice(session)
    assert session.calls == [f"save ['{HOST}']", "book 1", "save []", "book 2"]


def test_host_states_that_could_not_be_saved_are_saved_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(collection_writer, "RETRY_SECONDS", 0.0)
    session = FakeSession(failures=1)
    book_twice(session)
    assert session.calls == [f"save ['{HOST}']", "book 1", "save []", "book 2"]
