"""Live updates: visits as server-sent events, as the crawl records them."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from freshet.archive.catalog.rows import RecentVisit
from freshet.core.clock import monotonic_seconds
from freshet.core.strict_json import to_json_value
from freshet.serve.dashboard import Dashboard

POLL_SECONDS = 0.5
HEARTBEAT_SECONDS = 15.0
MAX_EVENTS = 200
MAX_STREAMS = 32


class StoppableServer(Protocol):
    """A server that can be asked to stop."""

    should_exit: bool


class EventStreams:
    """The open streams of events; there are at most so many at a time."""

    def __init__(self, dashboard: Dashboard) -> None:
        self._dashboard = dashboard
        self._open = 0
        self.server: StoppableServer | None = None

    @property
    def is_full(self) -> bool:
        """Whether no further stream is opened."""
        return self._open >= MAX_STREAMS

    async def events(self, request: Request, after: int | None) -> AsyncIterator[str]:
        """Yield the visits after one, by default after the last, until the client leaves."""
        self._open += 1
        try:
            catalog = self._dashboard.collection.catalog
            last = await run_in_threadpool(catalog.last_visit_id) if after is None else after
            yield "retry: 2000\n\n"
            sent_at = monotonic_seconds()
            while not await self._is_over(request):
                visits = await run_in_threadpool(catalog.visits_after, last, limit=MAX_EVENTS)
                for visit in visits:
                    yield _event(visit)
                    last = visit.id
                now = monotonic_seconds()
                if not visits and now - sent_at > HEARTBEAT_SECONDS:
                    yield ": nothing new\n\n"
                    sent_at = now
                await asyncio.sleep(POLL_SECONDS)
        finally:
            self._open -= 1

    async def _is_over(self, request: Request) -> bool:
        is_stopping = self.server is not None and self.server.should_exit
        return is_stopping or await request.is_disconnected()


def _event(visit: RecentVisit) -> str:
    text = json.dumps(to_json_value(visit))
    return f"id: {visit.id}\nevent: visit\ndata: {text}\n\n"
