"""Sends events of a crawl to listeners without delaying the crawl."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread

from freshet.crawl.fetch_job import CrawlDaySpending
from freshet.fetch.politeness.host_closing import HostClosing
from freshet.fetch.politeness.request_queue import QueueStatus
from freshet.record.recorder import RecordedVisit


@dataclass(frozen=True, slots=True)
class CrawlEvent:
    """A report of a running crawl: new visits, the day's spending, the queue, closed hosts.

    ``recording_seconds`` is the time that recording the visits took. ``host_closings`` are the
    hosts that have closed since the last event. A crawl without visits reports every second.
    """

    visits: Sequence[RecordedVisit]
    spending: CrawlDaySpending
    queue: QueueStatus
    recording_seconds: float
    host_closings: Sequence[HostClosing] = ()


EventListener = Callable[[CrawlEvent], None]


class EventDispatcher:
    """Calls listeners in a thread of its own, so a slow terminal or file delays no request.

    A listener that fails, for example because its output was closed, ends the crawl.
    """

    def __init__(self, listeners: Sequence[EventListener], stop: Callable[[str], None]) -> None:
        self._listeners = listeners
        self._stop = stop
        self._events: SimpleQueue[CrawlEvent | None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.failure: Exception | None = None
        self._thread = Thread(target=self._dispatch_all, name="event-dispatcher", daemon=True)
        self._thread.start()

    def __call__(self, event: CrawlEvent) -> None:
        """Queue an event for the listeners."""
        self._loop = asyncio.get_running_loop()
        self._events.put(event)

    def close(self) -> None:
        """Send the remaining events, and stop."""
        self._events.put(None)
        self._thread.join()

    def _dispatch_all(self) -> None:
        while (event := self._events.get()) is not None:
            if self.failure is None:
                self._dispatch(event)

    def _dispatch(self, event: CrawlEvent) -> None:
        try:
            for listener in self._listeners:
                listener(event)
        except Exception as error:  # noqa: BLE001 (it is raised when the crawl has ended)
            self.failure = error
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop, "failed")
